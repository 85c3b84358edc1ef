//! Progress reports of a run.

/// Called with the name of a stage, the completed part and the whole of it. Returns false to stop the run.
pub type Progress<'a> = dyn FnMut(&str, u64, u64) -> bool + 'a;

/// The caller stopped the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interruption;

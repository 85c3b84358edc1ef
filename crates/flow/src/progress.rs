//! How a run tells its caller how far it is.

/// Called with the name of a stage, how much of it is done and how much there is; returns false to stop the run.
pub type Progress<'a> = dyn FnMut(&str, u64, u64) -> bool + 'a;

/// The caller asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interruption;

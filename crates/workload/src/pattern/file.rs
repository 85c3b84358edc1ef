//! The pattern of a communication graph that was read from a file.

use crate::{CommunicationGraph, WorkloadError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters of `file`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FilePatternParameters {
    /// Path as the user gives it. This crate reads no files: whoever resolves the path attaches the graph.
    pub path: String,
    /// What the file holds, once it has been read.
    #[serde(skip)]
    pub graph: Option<Arc<CommunicationGraph>>,
}

/// The graph as the pattern of a job of `ranks` ranks; ranks that the file does not mention send nothing.
pub(super) fn graph_for(
    owner: &str,
    parameters: &FilePatternParameters,
    ranks: u32,
) -> Result<Arc<CommunicationGraph>, WorkloadError> {
    let wrong = |reason: String| Err(WorkloadError::parameter(owner, "path", reason));
    let Some(graph) = &parameters.graph else {
        return wrong(match parameters.path.as_str() {
            "" => "missing; write the path of a communication graph".into(),
            path => format!("no communication graph was read from '{path}'"),
        });
    };
    let mentioned = crate::Pattern::ranks(&**graph);
    match mentioned.cmp(&ranks) {
        std::cmp::Ordering::Equal => Ok(Arc::clone(graph)),
        std::cmp::Ordering::Less => Ok(Arc::new(graph.widened(ranks))),
        std::cmp::Ordering::Greater => {
            wrong(format!("'{}' has {mentioned} ranks, but the job has {ranks}", parameters.path))
        }
    }
}

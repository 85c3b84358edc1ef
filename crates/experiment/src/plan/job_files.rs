//! Files that patterns and placements name: opened, read and attached.

use crate::fields::Report;
use crate::input::Files;
use crate::problem::ProblemKind;
use crate::spec::chosen::Chosen;
use crate::spec::job::JobEntry;
use odonata_workload::import::{csv, damselfly};
use odonata_workload::{CommunicationGraph, PatternSpec, PlacementSpec, PlacementTable, WorkloadError};
use std::sync::Arc;

/// The parameter that names the file.
const PATH: &str = "path";

/// Attaches what the files of a job of `ranks` ranks hold; `None` if a problem was reported.
pub(super) fn attach(
    job: &JobEntry,
    ranks: u32,
    pattern: &mut PatternSpec,
    placement: &mut PlacementSpec,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Option<()> {
    if let Some(name) = pattern.file().map(str::to_owned) {
        let bytes = open(&name, &job.pattern, files, report)?;
        pattern.attach(Arc::new(accept(graph(&name, &bytes, ranks), &job.pattern, report)?));
    }
    if let Some(name) = placement.file().map(str::to_owned) {
        let bytes = open(&name, &job.placement, files, report)?;
        placement.attach(Arc::new(accept(table(&name, &bytes), &job.placement, report)?));
    }
    Some(())
}

fn open(name: &str, chosen: &Chosen, files: &mut Files<'_>, report: &mut Report<'_>) -> Option<Vec<u8>> {
    let read = files.read(name).and_then(|bytes| match bytes.is_empty() {
        true => Err(format!("{name} is empty; expected a table or records")),
        false => Ok(bytes),
    });
    read.map_err(|reason| report.add(ProblemKind::File, chosen.place_of(PATH), reason, None)).ok()
}

fn accept<T>(read: Result<T, WorkloadError>, chosen: &Chosen, report: &mut Report<'_>) -> Option<T> {
    read.map_err(|error| report.add(ProblemKind::File, chosen.place_of(PATH), error.to_string(), None)).ok()
}

fn graph(name: &str, bytes: &[u8], ranks: u32) -> Result<CommunicationGraph, WorkloadError> {
    if is_text(bytes) {
        csv::communication_graph(name, bytes, Some(ranks))
    } else {
        damselfly::communication_graph(name, bytes, Some(ranks))
    }
}

fn table(name: &str, bytes: &[u8]) -> Result<PlacementTable, WorkloadError> {
    if is_text(bytes) {
        csv::placement(name, bytes)
    } else {
        damselfly::placement(name, bytes)
    }
}

/// Whether a file is a table with a header rather than 32-bit numbers, of which the smaller ones have zero bytes.
fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    !start.contains(&0) && start.iter().any(u8::is_ascii_alphabetic)
}

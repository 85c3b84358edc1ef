//! Trace files: a trace of any format in compressed blocks, and back.
//!
//! ```text
//! Recording ──► header, columns of each block (file/calls, tasks, nodes) ──► file
//! file ──► header ──► calls, read block by block · task graph · nodes
//! ```
//! `docs/decisions/trace-file.md` explains the format.

mod calls;
mod nodes;
mod tasks;
#[cfg(test)]
mod tests;
mod values;

use super::communicators::Members;
use super::compute_times::ComputeTimes;
use super::rank::TracedCall;
use super::{chakra, Calls, ChakraSettings, Content, Recording, Trace, TraceFormat};
use crate::collective::Collectives;
use crate::expansion::JobProgram;
use crate::mistakes::{examine, examine_graph, Mistake};
use crate::rank_program::RankProgram;
pub(super) use calls::CallFile;
use calls::{CallHeader, MAX_BLOCK_RECORDS};
use nodes::NodeHeader;
use odonata_checkpoint as encoding;
use odonata_declare::{Reader, Word};
use odonata_trace::chakra::UnknownNames;
use odonata_trace::{BlockFile, BlockWriter, Survey};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;
use values::place_word;

/// Fewest, unless a rank has fewer.
const MIN_BLOCK_RECORDS: usize = 256;
/// Records of the blocks that the ranks of a run hold together: 64 MiB of 32 B each.
const HELD_RECORDS: usize = 1 << 21;

/// What a file says of the trace.
#[derive(Serialize, Deserialize)]
struct Header {
    /// Format of the original.
    source: String,
    survey: Survey,
    kind: RecordsOf,
}

/// What the records of a file are.
#[derive(Serialize, Deserialize)]
enum RecordsOf {
    Calls(CallHeader),
    /// What places of tasks count.
    Tasks(String),
    Nodes(NodeHeader),
}

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteReport {
    /// Records of all ranks.
    pub records: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub hash: String,
    /// What a run would refuse, or a user should know.
    pub warnings: Vec<String>,
}

/// Reads a trace file: the format of the original, and the content.
pub(super) fn read(
    path: &str,
    ranks: Option<u32>,
    settings: &ChakraSettings,
    files: &mut dyn Reader,
) -> Result<(TraceFormat, Content), String> {
    let wrong = |reason: String| format!("{path}: {reason}");
    let file = BlockFile::open(path, files.open_parts(path)?)?;
    let of = file.ranks();
    if of == 0 {
        return Err(wrong("no ranks; expected at least one".into()));
    }
    if let Some(ranks) = ranks.filter(|&ranks| ranks != of) {
        return Err(wrong(format!("a trace of {of} ranks, but the job has {ranks}")));
    }
    let mut from = encoding::Reader::new(file.header());
    let header = from.get::<Header>().and_then(|header| from.end().map(|()| header));
    let header = header.map_err(|error| wrong(format!("the header: {error}")))?;
    let source = TraceFormat::from_word(&header.source);
    let source = source.ok_or_else(|| wrong(format!("the header: unknown format '{}'", header.source)))?;
    let content = match header.kind {
        RecordsOf::Calls(calls) => {
            let trace = Trace::of_file(file, calls, header.survey, settings.times).map_err(wrong)?;
            Content::Calls(Arc::new(trace))
        }
        RecordsOf::Tasks(place) => {
            let graph = tasks::read(&file, &place)?;
            Content::Tasks(Arc::new(settings.times.of_graph(graph).map_err(wrong)?), header.survey)
        }
        RecordsOf::Nodes(header_of_nodes) => {
            let nodes = nodes::read(&file, &header_of_nodes)?;
            let name = |rank: u32| format!("{path}: rank {rank}");
            let (graph, mut survey) = chakra::graph(nodes, header_of_nodes.groups, settings, &name)?;
            // Columns of nodes have no names of keys: what the reader of the original said of them stays.
            survey.notes.extend(header.survey.notes.iter().filter(|note| UnknownNames::is_note(note)).cloned());
            // The survey of a workload counts its layers.
            Content::Nodes(Arc::new(graph), if source == TraceFormat::Astra { header.survey } else { survey })
        }
    };
    Ok((source, content))
}

impl Trace {
    /// The calls of a block.
    fn traced(&self, rank: u32, index: u64) -> Result<Cow<'_, [TracedCall]>, String> {
        let calls = self.calls.block(rank, index);
        self.failure().map_or(Ok(calls), Err)
    }

    /// What its calls have in common. `has_operations`: they compute floating-point operations of 1 ns each.
    fn header(&self, has_operations: bool) -> Result<CallHeader, String> {
        let sizes = self.sizes.iter().map(|(members, sizes)| (members.ranks().to_vec(), sizes.clone()));
        let place = self.place_word().to_owned();
        let mut header = CallHeader { place, has_operations, sizes: sizes.collect(), ..CallHeader::default() };
        for rank in 0..self.ranks() {
            for index in 0..self.blocks(rank) {
                self.traced(rank, index)?.iter().for_each(|(call, _)| header.add(call));
            }
        }
        Ok(header)
    }

    /// The trace of an open file, with other times of computation.
    fn of_file(file: BlockFile, mut header: CallHeader, survey: Survey, times: ComputeTimes) -> Result<Self, String> {
        let place = place_word(&header.place);
        let fingerprint = u64::from_str_radix(&file.hash()[..16], 16).expect("hexadecimal digits");
        let mut all = Vec::new();
        for (members, sizes) in std::mem::take(&mut header.sizes) {
            sizes.check(members.len())?;
            all.push((Arc::new(Members::new(members)), sizes));
        }
        let calls = Calls::File(Box::new(CallFile::new(file, header, times)?));
        Ok(Self { calls, sizes: all, place, survey, fingerprint })
    }
}

impl Recording {
    /// Checks the trace and writes it as a trace file.
    ///
    /// # Errors
    /// A mistake in the trace; `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> Result<WriteReport, String> {
        let wrong = |reason: String| format!("{}: {reason}", self.path);
        let unwritten = |error: io::Error| format!("the trace file cannot be written: {error}");
        let mut warnings = self.survey().warnings();
        let mut writer = BlockWriter::new(out).map_err(unwritten)?;
        let each = (HELD_RECORDS / self.ranks().max(1) as usize).clamp(MIN_BLOCK_RECORDS, MAX_BLOCK_RECORDS);
        let mut records = 0;
        let kind = match &self.content {
            Content::Calls(trace) => {
                let program = JobProgram::new(Arc::clone(trace) as _, Arc::new(Collectives::study()));
                let examined = examine(&program, false, u64::MAX).map_err(|Mistake(reason)| wrong(reason))?;
                warnings.extend(examined.unmatched.map(|reason| format!("unmatched messages: {reason}")));
                warnings.extend(examined.left_out);
                let header = trace.header(self.source == TraceFormat::SimGrid)?;
                records = write_calls(trace, &header, each, &mut writer).map_err(wrong)?;
                RecordsOf::Calls(header)
            }
            Content::Tasks(graph, _) => {
                warnings.extend(examine_graph(graph).unmatched.map(|reason| format!("unmatched messages: {reason}")));
                for tasks in &graph.ranks {
                    writer.rank();
                    let all = tasks.tasks().len();
                    for first in (0..all).step_by(each) {
                        let count = each.min(all - first);
                        writer.block(count, &tasks::encode(tasks, first, count)).map_err(unwritten)?;
                    }
                    records += all as u64;
                }
                RecordsOf::Tasks(graph.place_word.into())
            }
            Content::Nodes(graph, _) => {
                let header = NodeHeader::of(graph);
                let names = (0..).zip(&header.names).map(|(number, name)| (&**name, number)).collect();
                for rank in 0..graph.ranks() {
                    writer.rank();
                    for nodes in graph.nodes(rank).chunks(each) {
                        writer.block(nodes.len(), &nodes::encode(nodes, &names)).map_err(unwritten)?;
                        records += nodes.len() as u64;
                    }
                }
                RecordsOf::Nodes(header)
            }
        };
        let header = Header { source: self.source.word().into(), survey: self.survey().clone(), kind };
        let mut bytes = encoding::Writer::default();
        bytes.put(&header);
        let (bytes, hash) = writer.finish(bytes.into_bytes()).map_err(unwritten)?;
        Ok(WriteReport { records, bytes, hash, warnings })
    }
}

/// Writes the calls of all ranks in blocks of so many. Returns how many there are.
fn write_calls<W: Write>(
    trace: &Trace,
    header: &CallHeader,
    each: usize,
    writer: &mut BlockWriter<W>,
) -> Result<u64, String> {
    let mut records = 0;
    for rank in 0..trace.ranks() {
        writer.rank();
        let (mut open, blocks) = (Vec::new(), trace.blocks(rank));
        for index in 0..blocks {
            open.extend_from_slice(&trace.traced(rank, index)?);
            while open.len() >= each || (index + 1 == blocks && !open.is_empty()) {
                let block: Vec<_> = open.drain(..each.min(open.len())).collect();
                let columns = calls::encode(&block, header)?;
                let written = writer.block(block.len(), &columns);
                written.map_err(|error| format!("the trace file cannot be written: {error}"))?;
                records += block.len() as u64;
            }
        }
    }
    Ok(records)
}

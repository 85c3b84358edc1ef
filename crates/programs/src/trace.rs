//! Traces: replay of the calls of a real run.
//!
//! ```text
//! list of files, or one file ──► lines (trace/line.rs) ──┬─► calls of each rank (trace/rank.rs) ──► Trace : RankProgram
//! DUMPI, OTF2, liballprof ──► records (trace/dumpi.rs ..) ┘                                           ▲
//! trace file (trace/file.rs) ──► one block at a time ─────────────────────────────────────────────────┘
//! ```
//! The format of lines is the time-independent trace of SimGrid (`smpirun -trace-ti`): one line per action, with the rank, sizes
//! in elements of a data type, and computation in floating-point operations. It has no communicators, but the traces of
//! virtual ranks do (`vmpi/src/trace.c`). `docs/models/programs.md` explains the consequences.

mod actions;
pub(crate) mod allprof;
mod astra;
pub(crate) mod chakra;
mod communicators;
mod compute_times;
pub(crate) mod dumpi;
mod file;
pub(crate) mod foreign;
mod formats;
mod graph;
mod line;
pub(crate) mod otf2;
mod rank;
mod reading;
mod recording;
mod records;
mod report;

use crate::call::Call;
use crate::code::Code;
use crate::rank_program::RankProgram;
pub(crate) use chakra::ChakraSettings;
use communicators::{Members, Sizes};
pub(crate) use compute_times::ComputeTimes;
use file::CallFile;
pub use file::WriteReport;
pub use formats::TraceFormatNotes;
pub(crate) use graph::NodeGraph;
use line::Line;
use odonata_declare::Reader;
use odonata_trace::Survey;
use odonata_units::Bytes;
use rank::{RankTrace, TracedCall};
pub(crate) use recording::Content;
pub use recording::{Recording, TraceFormat};
pub use records::TraceRecords;
pub use report::{trace_report, CollectiveTotal, Pair, TraceReport};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, Read};
use std::sync::Arc;

/// Instructions of a block. Each rank stores one block; a smaller value costs more calls of `block`.
const BLOCK: usize = 256;

/// Where the calls are.
#[derive(Debug)]
enum Calls {
    /// By rank.
    Memory(Vec<Vec<TracedCall>>),
    File(Box<CallFile>),
}

/// Calls of all ranks of a run.
#[derive(Debug)]
pub struct Trace {
    calls: Calls,
    /// Sizes of vector collectives, by communicator and then in the order of the calls.
    sizes: Vec<(Arc<Members>, Sizes)>,
    /// What calls are numbered by in the files: lines or records.
    place: &'static str,
    survey: Survey,
    /// Of all calls: the same for traces that replay the same.
    pub(crate) fingerprint: u64,
}

impl Trace {
    /// Reads the time-independent trace in the file called `path`. `ranks` is the number of ranks of the job, if it is given.
    pub(crate) fn read(
        path: &str,
        ranks: Option<u32>,
        times: ComputeTimes,
        files: &mut dyn Reader,
    ) -> Result<Self, String> {
        let names = file_names(path, files)?;
        let (mut traced, mut lines) = (0, 0u64);
        for name in &names {
            each_line(name, files, |line| {
                traced = traced.max(line.rank()?.saturating_add(1));
                lines += 1;
                Ok(())
            })?;
        }
        if let Some(ranks) = ranks.filter(|&ranks| ranks != traced) {
            return Err(format!("{path}: a trace of {traced} ranks, but the job has {ranks}"));
        }
        // Each rank has a line, so without the ranks of a job a wrong number takes no memory.
        if ranks.is_none() && u64::from(traced) > lines {
            return Err(format!("{path}: a line of rank {}, but only {lines} lines; expected all ranks", traced - 1));
        }
        let mut all: Vec<RankTrace> = (0..traced).map(|rank| RankTrace::new(rank, traced, times)).collect();
        let mut survey = Survey::default();
        for name in &names {
            each_line(name, files, |line| all[line.rank()? as usize].follow(line, &mut survey))?;
        }
        const WORLD: &str =
            "SimGrid traces have no communicators, so a trace with collectives of only some ranks cannot \
            be replayed (traces of vmpirun can)";
        Self::of(path, all, "line", WORLD, survey)
    }

    /// Joins the ranks of a run, if they agree. `place` is what calls are numbered by in the files, `world` the reason
    /// why all ranks must call the same collectives.
    fn of(
        path: &str,
        mut ranks: Vec<RankTrace>,
        place: &'static str,
        world: &str,
        survey: Survey,
    ) -> Result<Self, String> {
        if ranks.is_empty() {
            return Err(format!("{path}: no {place} of any rank; expected calls of at least one"));
        }
        if let Some(silent) = ranks.iter().position(RankTrace::is_empty) {
            return Err(format!(
                "{path}: no {place} of rank {silent}; expected {place}s of ranks 0 to {}",
                ranks.len() - 1
            ));
        }
        for rank in &mut ranks {
            rank.end();
        }
        let members = communicators::members(&ranks, place).map_err(|reason| format!("{path}: {reason}"))?;
        if let Some(reason) = communicators::disagreement(&ranks, &members, place, world) {
            return Err(format!("{path}: {reason}"));
        }
        let sizes = communicators::sizes(&mut ranks, &members);
        let mut hasher = DefaultHasher::new();
        ranks.iter().for_each(|rank| rank.calls.hash(&mut hasher));
        sizes.iter().for_each(|(_, sizes)| sizes.hash(&mut hasher));
        let calls = Calls::Memory(ranks.into_iter().map(|rank| rank.calls).collect());
        Ok(Self { calls, sizes, place, survey, fingerprint: hasher.finish() })
    }

    /// What the files have, and what of it is replayed.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }
}

/// Whether a line is empty or a comment.
fn is_empty(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

const EXPECTED: &str = "expected a trace with one action per line";

/// Text without control characters, which would reach the terminal with a message about it. Else the reason and place.
fn plain_text(bytes: &[u8]) -> Result<&str, (&'static str, usize)> {
    let text = std::str::from_utf8(bytes).map_err(|error| ("not UTF-8 text", error.valid_up_to()))?;
    match text.find(|char: char| char.is_control() && !char.is_whitespace()) {
        Some(place) => Err(("binary data", place)),
        None => Ok(text),
    }
}

fn text_of<'a>(label: &str, bytes: &'a [u8]) -> Result<&'a str, String> {
    plain_text(bytes).map_err(|(reason, place)| {
        let line = 1 + bytes[..place].iter().filter(|&&byte| byte == b'\n').count();
        format!("{label}: line {line}: {reason}; {EXPECTED}")
    })
}

/// Names of the files of a trace: the lines of a list, or the file itself.
fn file_names(path: &str, files: &mut dyn Reader) -> Result<Vec<String>, String> {
    if !is_list(path, files)? {
        return Ok(vec![path.to_owned()]);
    }
    let bytes = files.read_filled(path)?;
    let directory = path.rfind('/').map_or("", |at| &path[..=at]);
    let lines = text_of(path, &bytes)?.lines().map(str::trim).filter(|line| !is_empty(line));
    let named = lines.map(|name| {
        let name = if name.starts_with('/') { name.to_owned() } else { format!("{directory}{name}") };
        // SimGrid takes names relative to its working directory, so the list's own folder may be in them.
        let in_folder = format!("{directory}{}", name.rsplit('/').next().unwrap_or_default());
        match files.open(&name).map(drop) {
            Err(_) if files.open(&in_folder).is_ok() => Ok(in_folder),
            Err(reason) => Err(reason),
            Ok(()) => Ok(name),
        }
    });
    named.collect()
}

/// Whether a file is a list of files: its first line has one word instead of an action.
fn is_list(path: &str, files: &mut dyn Reader) -> Result<bool, String> {
    let (mut input, mut bytes, mut number) = (files.open(path)?, Vec::new(), 1);
    while next_line(path, number, &mut *input, &mut bytes)? {
        let line = String::from_utf8_lossy(&bytes);
        if !is_empty(line.trim()) {
            return Ok(line.split_whitespace().nth(1).is_none());
        }
        number += 1;
    }
    Ok(true)
}

/// Longest line: counts of an all-to-all among a million ranks.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Reads the next line with its end. Returns whether there is one.
fn next_line(label: &str, number: u32, input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<bool, String> {
    line.clear();
    let read = input.take(MAX_LINE_BYTES).read_until(b'\n', line).map_err(|error| format!("{label}: {error}"))?;
    if read as u64 == MAX_LINE_BYTES {
        let reason = format!("more than {MAX_LINE_BYTES} bytes; expected a trace with shorter lines");
        return Err(format!("{label}: line {number}: {reason}"));
    }
    Ok(read > 0)
}

/// Handles each line of a file that is not empty. An error names its place.
fn each_line(
    label: &str,
    files: &mut dyn Reader,
    mut follow: impl FnMut(&Line<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let (mut input, mut bytes, mut number) = (files.open(label)?, Vec::new(), 1);
    while next_line(label, number, &mut *input, &mut bytes)? {
        let wrong = |reason: String| format!("{label}: line {number}: {reason}");
        let line = plain_text(&bytes).map_err(|(reason, _)| wrong(format!("{reason}; {EXPECTED}")))?;
        if !is_empty(line.trim()) {
            follow(&Line::new(line, number)).map_err(wrong)?;
        }
        number += 1;
    }
    Ok(())
}

impl Calls {
    fn ranks(&self) -> u32 {
        match self {
            Self::Memory(ranks) => ranks.len() as u32,
            Self::File(file) => file.ranks(),
        }
    }

    fn blocks(&self, rank: u32) -> u64 {
        match self {
            Self::Memory(ranks) => ranks[rank as usize].len().div_ceil(BLOCK) as u64,
            Self::File(file) => file.blocks(rank),
        }
    }

    /// The calls of a block. None after the failure of a file.
    fn block(&self, rank: u32, index: u64) -> Cow<'_, [TracedCall]> {
        match self {
            Self::Memory(ranks) => {
                let calls = ranks[rank as usize].chunks(BLOCK).nth(index as usize);
                Cow::Borrowed(calls.unwrap_or_default())
            }
            Self::File(file) => Cow::Owned(file.block(rank, index)),
        }
    }
}

impl RankProgram for Trace {
    fn ranks(&self) -> u32 {
        self.calls.ranks()
    }

    fn blocks(&self, rank: u32) -> u64 {
        self.calls.blocks(rank)
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        self.calls.block(rank, index).iter().for_each(|(call, _)| code.push(*call));
    }

    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let Some((members, sizes)) = self.sizes.get(sizes as usize) else { return Bytes(0) };
        let (Some(from), Some(to)) = (members.place(from), members.place(to)) else { return Bytes(0) };
        Bytes(match sizes {
            Sizes::From(by) => by[from],
            Sizes::To(by) => by[to],
            Sizes::Pairs(by) => by[from].get(to).copied().unwrap_or(0),
        })
    }

    fn splits(&self) -> bool {
        match &self.calls {
            Calls::Memory(ranks) => ranks.iter().flatten().any(|(call, _)| matches!(call, Call::CommSplit { .. })),
            Calls::File(file) => file.splits(),
        }
    }

    fn phases(&self) -> Vec<String> {
        vec!["trace".into()]
    }

    fn place_word(&self) -> &'static str {
        self.place
    }

    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        (index < self.blocks(rank)).then(|| self.calls.block(rank, index).get(place).map(|(_, line)| *line))?
    }

    fn failure(&self) -> Option<String> {
        match &self.calls {
            Calls::Memory(_) => None,
            Calls::File(file) => file.failure(),
        }
    }
}

#[cfg(test)]
mod tests;

//! A trace of liballprof as calls: the lines of each rank, in the order of its file.
//!
//! ```text
//! NAME-0.dat, NAME-1.dat .. ──► first pass: communicators (allprof/communicators.rs)
//!                          └──► second pass: calls (allprof/rank.rs)
//! ```
//! Both passes read one line at a time. A line has the addresses of arrays, requests and results, not their values: what
//! a test found and which request ended a wait for any is not in a trace. `allprof/ignored.rs` says what replaces it.

mod collective;
mod communicators;
mod ignored;
mod layout;
mod rank;
#[cfg(test)]
mod tests;

use super::compute_times::ComputeTimes;
use super::Trace;
use communicators::{creation, LineStep, Step};
use odonata_declare::Reader;
use odonata_trace::allprof::{AllprofCall, AllprofCalls, AllprofCommunicator};
use odonata_trace::Survey;
use rank::RankCalls;
use std::collections::HashMap;

/// Reads the trace of all ranks. `path` is the file of any rank; `ranks` is the number of ranks of the job, if given.
pub(super) fn read(
    path: &str,
    ranks: Option<u32>,
    times: ComputeTimes,
    files: &mut dyn Reader,
) -> Result<Trace, String> {
    let name = FileNames::of(path)?;
    let mut steps = Vec::new();
    while ranks.is_none_or(|ranks| (steps.len() as u32) < ranks) {
        let rank = steps.len() as u32;
        let label = name.of_rank(rank);
        match files.open(&label) {
            Ok(mut input) => steps.push(first_pass(&label, &mut AllprofCalls::new(&label, &mut *input))?),
            Err(_) if ranks.is_none() && rank > name.given => break,
            Err(reason) => return Err(format!("{path}: the file of rank {rank} is missing: {reason}")),
        }
    }
    let count = steps.len() as u32;
    if ranks.is_some() && files.locate("traces", &name.of_rank(count)).is_ok() {
        return Err(format!(
            "{path}: a trace of more ranks: {} is there, but the job has {count}",
            name.of_rank(count)
        ));
    }
    let created = communicators::resolve(steps).map_err(|reason| format!("{path}: {reason}"))?;
    let (mut traced, mut survey) = (Vec::new(), Survey::default());
    for (rank, created) in (0..).zip(created) {
        let label = name.of_rank(rank);
        let mut calls = RankCalls::new(rank, count, times, created, &mut survey);
        AllprofCalls::new(&label, &mut *files.open(&label)?).each(|call| calls.follow(call))?;
        traced.push(calls.end());
    }
    Trace::of(path, traced, "line", "both on MPI_COMM_WORLD; lines may be missing", survey)
}

/// Names of the files of a trace: the last number after a hyphen is the rank.
struct FileNames {
    before: String,
    digits: usize,
    after: String,
    given: u32,
}

impl FileNames {
    fn of(path: &str) -> Result<Self, String> {
        let parsed = path.rsplit_once('-').and_then(|(before, rest)| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let given = rest[..digits].parse().ok()?;
            // Numbers with zeros in front have one width.
            let width = if rest.starts_with('0') { digits } else { 1 };
            Some(Self { before: format!("{before}-"), digits: width, after: rest[digits..].to_owned(), given })
        });
        parsed.ok_or_else(|| format!("{path}: expected the file of a rank, such as NAME-0.dat"))
    }

    fn of_rank(&self, rank: u32) -> String {
        format!("{}{rank:0width$}{}", self.before, self.after, width = self.digits)
    }
}

/// What a rank does with communicators.
fn first_pass(label: &str, calls: &mut AllprofCalls<'_>) -> Result<Vec<LineStep>, String> {
    let mut steps = Vec::new();
    // A communicator in use matters when it differs from what its handle was before.
    let mut latest: HashMap<u64, AllprofCommunicator> = HashMap::new();
    let mut is_empty = true;
    calls.each(|call| {
        is_empty = false;
        if let Some(step) = creation(call)? {
            steps.push((call.line, step));
        } else if let Some(seen) = used(call)? {
            if latest.insert(seen.handle, seen) != Some(seen) {
                steps.push((call.line, Step::Use(seen)));
            }
        }
        Ok(())
    })?;
    if is_empty {
        return Err(format!("{label}: no call; expected MPI_Init"));
    }
    Ok(steps)
}

/// The communicator of a call that is replayed.
fn used(call: &AllprofCall<'_>) -> Result<Option<AllprofCommunicator>, String> {
    let place = match call.name {
        "Send" | "Bsend" | "Ssend" | "Rsend" | "Recv" | "Isend" | "Ibsend" | "Issend" | "Irsend" | "Irecv"
        | "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Recv_init" => Some(5),
        "Sendrecv" => Some(10),
        "Sendrecv_replace" => Some(7),
        _ => layout::communicator_place(call),
    };
    place.map(|place| call.communicator(place)).transpose()
}

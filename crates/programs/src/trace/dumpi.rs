//! A DUMPI set as calls: the records of each rank, in the order of its file.
//!
//! ```text
//! NAME.meta ──► NAME-0000.bin, ... ──► first pass: communicators (dumpi/communicators.rs)
//!                                 └──► second pass: calls (dumpi/rank.rs)
//! ```
//! Only one file is in memory at a time. Requests complete as they did in the recorded run: a wait for any is a wait for
//! the request that completed, a test that found nothing is nothing.

mod collective;
mod communicators;
mod ignored;
mod rank;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer;

use super::compute_times::ComputeTimes;
use super::Trace;
use communicators::CommunicatorAction;
use odonata_declare::Reader;
use odonata_trace::dumpi::{is_dumpi, is_meta, kind_name, File, Records};
use odonata_trace::Survey;
use rank::RankRecords;
use std::collections::BTreeMap;

/// Whether a file belongs to a set.
pub(crate) fn is_set(start: &[u8]) -> bool {
    is_dumpi(start) || is_meta(start)
}

/// Reads the set of a `.meta` file, or of the file of a rank. `ranks` is the number of ranks of the job, if it is given.
pub(super) fn read(
    path: &str,
    ranks: Option<u32>,
    times: ComputeTimes,
    files: &mut dyn Reader,
) -> Result<Trace, String> {
    let names = names(path, ranks, files)?;
    let mut survey = Survey::default();
    let mut actions = Vec::new();
    for name in &names {
        actions.push(first_pass(name, &files.read_filled(name)?, &mut survey)?);
    }
    let created = communicators::resolve(actions).map_err(|reason| format!("{path}: {reason}"))?;
    let mut traced = Vec::new();
    for ((rank, name), created) in (0..).zip(&names).zip(created) {
        let bytes = files.read_filled(name)?;
        let file = File::open(name, &bytes)?;
        let mut records = Records::new(&file)?;
        let mut calls = RankRecords::new(rank, names.len() as u32, times, &file.type_sizes, created);
        while let Some(record) = records.next_record()? {
            calls
                .follow(record, &mut survey)
                .map_err(|reason| format!("{name}: record {} ({}): {reason}", record.number, kind_name(record.kind)))?;
        }
        traced.push(calls.end());
    }
    let world = "both on MPI_COMM_WORLD; records may be missing";
    Trace::of(path, traced, "record", world, survey)
}

/// Reads the actions on communicators, and counts what the file says of calls without records.
fn first_pass(name: &str, bytes: &[u8], survey: &mut Survey) -> Result<Vec<CommunicatorAction>, String> {
    let file = File::open(name, bytes)?;
    let (mut actions, mut seen) = (Vec::new(), BTreeMap::new());
    let mut records = Records::new(&file)?;
    while let Some(record) = records.next_record()? {
        *seen.entry(record.kind).or_insert(0u32) += 1;
        actions.extend(communicators::action_of(record));
    }
    if let Some(at) = records.cut_at {
        let count: u32 = seen.values().sum();
        survey.notes.push(format!("{name}: no index; read up to byte {at} of {}: {count} records", bytes.len()));
    }
    for (kind, calls) in (0..).zip(file.calls.iter().flatten()) {
        let recorded = seen.get(&kind).copied().unwrap_or(0);
        if calls.recorded != recorded && records.cut_at.is_none() {
            let counted = calls.recorded;
            survey
                .notes
                .push(format!("{name}: {}: {recorded} records, but the footer counts {counted}", kind_name(kind)));
        }
        if calls.missing > 0 {
            survey.kinds.entry(kind_name(kind)).or_default().missing += u64::from(calls.missing);
        }
    }
    Ok(actions)
}

/// Names of the files of all ranks.
fn names(path: &str, ranks: Option<u32>, files: &mut dyn Reader) -> Result<Vec<String>, String> {
    let start = files.read_filled(path)?;
    let stem = if is_meta(&start) {
        path.strip_suffix(".meta").unwrap_or(path)
    } else {
        let base = path.strip_suffix(".bin").and_then(|base| base.rsplit_once('-'));
        let base = base.filter(|(_, number)| number.parse::<u32>().is_ok()).map(|(stem, _)| stem);
        base.ok_or_else(|| format!("{path}: expected a name like NAME-0000.bin, or NAME.meta"))?
    };
    let meta = format!("{stem}.meta");
    let bytes = if is_meta(&start) { start } else { files.read_filled(&meta)? };
    let label = if is_meta(&bytes) && stem != path { &meta } else { path };
    let keys = keys(label, &bytes)?;
    let Some(&(line, count)) = keys.get("numprocs") else {
        return Err(format!("{label}: no line numprocs=N; expected the number of ranks"));
    };
    let count: u32 = count
        .parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| format!("{label}: line {line}: numprocs '{count}'; expected the number of ranks"))?;
    if let Some(ranks) = ranks.filter(|&ranks| ranks != count) {
        return Err(format!("{label}: a trace of {count} ranks, but the job has {ranks}"));
    }
    let in_folder = |name: &str| match stem.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    };
    let name = |stem: &str, rank: u32| format!("{stem}-{rank:04}.bin");
    // A set that was renamed keeps its prefix in the file.
    let prefix = keys.get("fileprefix").map(|(_, prefix)| in_folder(prefix));
    let stem = match prefix {
        Some(prefix) if files.read(&name(stem, 0)).is_err() => prefix,
        _ => stem.to_owned(),
    };
    // A number beyond the files that are there ends at the first missing one, so it takes no memory.
    let mut names = Vec::new();
    for rank in 0..count {
        let name = name(&stem, rank);
        if let Err(reason) = files.read_filled(&name) {
            return Err(format!(
                "{label}: the set has {count} ranks, but the file of rank {rank} is missing: {reason}"
            ));
        }
        names.push(name);
    }
    Ok(names)
}

/// Lines `key=value`, with their numbers.
fn keys<'a>(label: &str, bytes: &'a [u8]) -> Result<BTreeMap<&'a str, (u32, &'a str)>, String> {
    let text = super::text_of(label, bytes)?;
    let lines = (1..).zip(text.lines());
    Ok(lines
        .filter_map(|(line, text)| text.split_once('=').map(|(key, value)| (key.trim(), (line, value.trim()))))
        .collect())
}

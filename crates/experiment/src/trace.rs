//! Traces for `odonata trace`: what one has, its records, and a trace file of it.

use odonata_declare::{hint, Reader, Word};
use odonata_document::Files;
use odonata_programs::{trace_report, Recording, TraceFormat, TraceRecords};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A trace of a user: its path relative to the working directory, and what the files do not say.
#[derive(Clone, Debug)]
pub struct TraceInput<'a> {
    /// Its path.
    pub path: &'a Path,
    /// Name of the format, if the content does not show it.
    pub format: Option<&'a str>,
    /// Number of ranks, for workloads of ASTRA-sim.
    pub ranks: Option<u32>,
    /// File with the groups of Chakra's nodes.
    pub groups: Option<String>,
}

impl TraceInput<'_> {
    fn format(&self) -> Result<Option<TraceFormat>, String> {
        let known = |word| {
            let names = || TraceFormat::CHOICES.iter().map(|choice| choice.name);
            TraceFormat::from_word(word).ok_or_else(|| format!("unknown format '{word}'{}", hint(word, names())))
        };
        self.format.map(known).transpose()
    }

    fn open(&self) -> Result<Recording, String> {
        let path = self.path.to_string_lossy();
        Recording::open(&path, self.format()?, self.ranks, self.groups.clone(), &mut files() as &mut dyn Reader)
    }
}

fn files() -> Files<'static> {
    Files::next_to(Path::new("experiment.toml"))
}

/// The records of a trace.
///
/// # Errors
/// An unknown format, or a mistake in a file: its place and what was expected.
pub fn trace_records(input: &TraceInput<'_>) -> Result<TraceRecords, String> {
    input.open().map(TraceRecords::new)
}

/// Writes a trace as a trace file at `out`, which is complete or not there. Returns what was written.
///
/// # Errors
/// Errors of [`trace_records`]; the file cannot be written.
pub fn convert_trace(input: &TraceInput<'_>, out: &Path) -> Result<Value, String> {
    let recording = input.open()?;
    let fail = |error: std::io::Error| format!("can't write {}: {error}", out.display());
    let mut part = out.as_os_str().to_owned();
    part.push(".part");
    let written = File::create(&part).map_err(fail).and_then(|file| {
        let written = recording.write(&mut BufWriter::new(file))?;
        std::fs::rename(&part, out).map_err(fail).map(|()| written)
    });
    let written = written.inspect_err(|_| drop(std::fs::remove_file(&part)))?;
    Ok(json!({
        "format": recording.source.word(),
        "ranks": recording.ranks(),
        "records": written.records,
        "bytes": written.bytes,
        "sha256": written.hash,
        "warnings": written.warnings,
    }))
}

/// Name, files, first bytes, what is read and what is not, of each format of traces.
pub fn trace_formats() -> Vec<[&'static str; 5]> {
    let row = |choice: &odonata_declare::Choice| {
        let notes = TraceFormat::from_word(choice.name).expect("a word of its list").notes();
        [choice.name, notes.files, notes.start, notes.read, notes.not_read]
    };
    TraceFormat::CHOICES.iter().map(row).collect()
}

/// Ranks, messages, collectives, computation and records of a trace, and which of the records a replay uses. `path` is
/// relative to the working directory.
///
/// # Errors
/// Errors of [`trace_records`].
pub fn trace(path: &Path, format: Option<&str>) -> Result<Value, String> {
    let format = TraceInput { path, format, ranks: None, groups: None }.format()?;
    let found = trace_report(&path.to_string_lossy(), format, &mut files() as &mut dyn Reader)?;
    let kinds: Vec<Value> = found
        .survey
        .kinds
        .iter()
        .map(|(name, kind)| {
            json!({
                "kind": name,
                "seen": kind.seen,
                "used": kind.used,
                "ignored": kind.ignored(),
                "lost": kind.lost(),
                "not_recorded": kind.missing,
                "why": kind.why,
            })
        })
        .collect();
    let collectives: Vec<Value> = found
        .collectives
        .iter()
        .map(|((name, ranks), total)| json!({"name": name, "ranks": ranks, "calls": total.calls, "bytes": total.bytes}))
        .collect();
    let mut targets: BTreeMap<u32, u32> = BTreeMap::new();
    let mut last = None;
    for &(source, target, _) in found.pairs.keys() {
        if last != Some((source, target)) {
            *targets.entry(source).or_default() += 1;
            last = Some((source, target));
        }
    }
    let computes = found.compute.iter().map(|time| time.as_s_f64());
    Ok(json!({
        "format": found.format.word(),
        "source": found.source.word(),
        "ranks": found.ranks,
        "calls": found.calls,
        "messages": found.pairs.values().map(|pair| pair.messages).sum::<u64>(),
        "bytes": found.pairs.values().map(|pair| pair.bytes).sum::<u64>(),
        "pairs": targets.values().map(|&count| u64::from(count)).sum::<u64>(),
        "targets_max": targets.values().max().copied().unwrap_or(0),
        "messages_by_pair": found.pairs.iter().map(|(&(source, target, tag), pair)| {
            json!([source, target, tag, pair.messages, pair.bytes])
        }).collect::<Vec<_>>(),
        "collectives": collectives,
        "compute_s": computes.collect::<Vec<_>>(),
        "kinds": kinds,
        "notes": found.survey.notes,
        "oddities": found.survey.oddities,
    }))
}

//! What a trace has, for `odonata trace`.

use odonata_declare::{hint, Reader, Word};
use odonata_document::Files;
use odonata_programs::{trace_report, TraceFormat};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Ranks, messages, collectives, computation and records of a trace, and which of the records a replay uses. `path` is
/// relative to the working directory.
///
/// # Errors
/// An unknown format, or a mistake in a file: its place and what was expected.
pub fn trace(path: &Path, format: Option<&str>) -> Result<Value, String> {
    let format = format.map(|word| {
        let names = || TraceFormat::CHOICES.iter().map(|choice| choice.name);
        TraceFormat::from_word(word).ok_or_else(|| format!("unknown format '{word}'{}", hint(word, names())))
    });
    let format = format.transpose()?;
    let mut files = Files::next_to(Path::new("experiment.toml"));
    let found = trace_report(&path.to_string_lossy(), format, &mut files as &mut dyn Reader)?;
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

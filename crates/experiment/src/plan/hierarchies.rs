//! The multigrid hierarchies that jobs name: opened, read and attached.

use crate::amg::{hierarchy, HIERARCHIES};
use crate::input::Files;
use crate::problem::ProblemKind;
use crate::report::Report;
use crate::spec::job::JobEntry;
use odonata_model::amg::Hierarchy;
use odonata_workload::import::amg;
use odonata_workload::{AmgMessages, AmgPatternParameters, PatternSpec};
use std::path::Path;
use std::sync::Arc;

/// The parameter that names the hierarchy.
const KEY: &str = "hierarchy";

/// What a hierarchy says: its levels, if it has a table of them, and the messages that were asked for.
struct Read {
    levels: Option<Hierarchy>,
    messages: AmgMessages,
}

/// Attaches the messages to the pattern of a job of `ranks` ranks; the outer `None` if a problem was reported.
pub(super) fn attach(
    job: &JobEntry,
    ranks: u32,
    pattern: &mut PatternSpec,
    needs_messages: bool,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Option<Option<Hierarchy>> {
    let Some(wanted) = pattern.rule_mut().as_any_mut().downcast_mut::<AmgPatternParameters>() else {
        return Some(None);
    };
    let read = read(wanted, ranks, files).and_then(|read| {
        if needs_messages && read.messages == AmgMessages::LevelsOnly {
            return Err(format!(
                "'{}' is a table of levels without messages; only the model engine can use it: take a directory of `odonata \
                 amg hierarchy`",
                wanted.hierarchy
            ));
        }
        Ok(read)
    });
    match read {
        Ok(Read { levels, messages }) => {
            wanted.messages = messages;
            Some(levels)
        }
        Err(reason) => {
            report.add(ProblemKind::File, job.pattern.place_of(KEY), format!("'{KEY}': {reason}"), None);
            None
        }
    }
}

fn read(wanted: &AmgPatternParameters, ranks: u32, files: &mut Files<'_>) -> Result<Read, String> {
    let path = files.locate(HIERARCHIES, &wanted.hierarchy)?;
    if path.is_dir() {
        return directory(wanted, ranks, &path, files);
    }
    let name = path.to_string_lossy().into_owned();
    let bytes = files.read(&name)?;
    let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if start == Some(&b'{') {
        let text = std::str::from_utf8(&bytes).map_err(|_| format!("{name} is no text"))?;
        let levels = hierarchy::from_json(&name, text)?;
        check_ranks(&name, levels.ranks(), ranks)?;
        return Ok(Read { levels: Some(levels), messages: AmgMessages::LevelsOnly });
    }
    let header = bytes.split(|byte| *byte == b'\n').next().map(String::from_utf8_lossy).unwrap_or_default();
    if hierarchy::has_levels(&header) {
        let levels = hierarchy::from_csv(&name, &bytes, ranks)?;
        return Ok(Read { levels: Some(levels), messages: AmgMessages::LevelsOnly });
    }
    Ok(Read { levels: None, messages: messages(wanted, ranks, &name, &bytes)? })
}

/// Reads a directory that `odonata amg hierarchy` wrote.
fn directory(wanted: &AmgPatternParameters, ranks: u32, path: &Path, files: &mut Files<'_>) -> Result<Read, String> {
    let file = |name: &str| path.join(name).to_string_lossy().into_owned();
    let bytes = files.read(&file("summary.json"))?;
    let summary: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("{} is no JSON: {error}", file("summary.json")))?;
    if summary["format"] != "odonata-amg-hierarchy" {
        return Err(format!("{} is no directory of a hierarchy", path.display()));
    }
    if wanted.regrouped && summary.get("redistributed").is_none() {
        let how = "make it with `odonata amg hierarchy --redistribute LEVEL:RANKS`";
        return Err(format!("{} was not redistributed; {how}", path.display()));
    }
    if let Some(made_on) = summary["ranks"].as_u64() {
        check_ranks(&path.display().to_string(), u32::try_from(made_on).unwrap_or(u32::MAX), ranks)?;
    }
    let prefix = if wanted.regrouped { "regrouped_" } else { "" };
    let levels = if wanted.regrouped {
        None
    } else {
        let name = file("levels.parquet");
        Some(hierarchy::from_csv(&name, &files.read(&name)?, ranks)?)
    };
    if !wanted.phase.in_setup() && !path.join(format!("{prefix}messages.parquet")).exists() {
        return Ok(Read { levels, messages: AmgMessages::LevelsOnly });
    }
    let list = if wanted.phase.in_setup() { "recorded_messages".into() } else { format!("{prefix}messages") };
    let name = file(&format!("{list}.parquet"));
    if wanted.phase.in_setup() && !Path::new(&name).exists() {
        return Err(format!("{} has no messages of the set-up; make it with --record", path.display()));
    }
    let bytes = files.read(&name)?;
    Ok(Read { levels, messages: messages(wanted, ranks, &name, &bytes)? })
}

fn messages(wanted: &AmgPatternParameters, ranks: u32, name: &str, bytes: &[u8]) -> Result<AmgMessages, String> {
    let read = if wanted.phase.in_setup() { amg::recorded } else { amg::cycle };
    let graph = read(name, bytes, ranks, wanted.level, wanted.phase).map_err(|error| error.to_string())?;
    Ok(AmgMessages::Read(Arc::new(graph)))
}

fn check_ranks(what: &str, made_on: u32, ranks: u32) -> Result<(), String> {
    if made_on == ranks {
        return Ok(());
    }
    Err(format!("{what} was made on {made_on} ranks, but the job has {ranks}; write `ranks = {made_on}`"))
}

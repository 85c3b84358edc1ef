//! Readers of hierarchies: a directory of `odonata amg hierarchy`, a level table, a message list. The content decides
//! the format, not the name.

pub mod levels;
pub mod messages;
pub(crate) mod recording;

use self::messages::LevelExchanges;
use crate::{Hierarchy, Phase};
use odonata_declare::Reader;
use odonata_import::CommunicationGraph;
use std::path::Path;
use std::sync::Arc;

/// Resource kind of the hierarchies in the package.
pub const HIERARCHIES: &str = "hierarchies";

/// Part of a hierarchy that a job needs.
pub(crate) struct HierarchyRequest<'a> {
    /// Name or path given by the user.
    pub(crate) hierarchy: &'a str,
    pub(crate) level: u32,
    pub(crate) phase: Phase,
    /// Whether to use the levels after a redistribution.
    pub(crate) regrouped: bool,
}

/// Message lists of a hierarchy.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum LevelMessages {
    /// Not read yet.
    #[default]
    NotRead,
    /// A level table without message lists: only a closed form can use it.
    None,
    /// Messages of the level and phase.
    Read(Arc<CommunicationGraph>),
}

/// Content of a hierarchy: its level table, if it has one, and the requested messages.
pub(crate) struct HierarchyData {
    pub(crate) levels: Option<Hierarchy>,
    pub(crate) messages: LevelMessages,
}

/// Reads the hierarchy of `wanted` for a job of `ranks` ranks.
pub(crate) fn read(wanted: &HierarchyRequest<'_>, ranks: u32, files: &mut dyn Reader) -> Result<HierarchyData, String> {
    let path = files.locate(HIERARCHIES, wanted.hierarchy)?;
    if path.is_dir() {
        return directory(wanted, ranks, &path, files);
    }
    let name = path.to_string_lossy().into_owned();
    let bytes = files.read(&name)?;
    let start = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if start == Some(&b'{') {
        let text = std::str::from_utf8(&bytes).map_err(|_| format!("{name} is not a text file"))?;
        let levels = levels::from_json(&name, text)?;
        check_ranks(&name, levels.ranks(), ranks)?;
        return Ok(HierarchyData { levels: Some(levels), messages: LevelMessages::None });
    }
    let header = bytes.split(|byte| *byte == b'\n').next().map(String::from_utf8_lossy).unwrap_or_default();
    if levels::has_levels(&header) {
        let levels = levels::from_csv(&name, &bytes, ranks)?;
        return Ok(HierarchyData { levels: Some(levels), messages: LevelMessages::None });
    }
    Ok(HierarchyData { levels: None, messages: list(wanted, ranks, &name, &bytes)? })
}

/// A whole cycle of a hierarchy: its level table, if it has one, and the exchanges of each level.
pub(crate) struct WholeCycle {
    pub(crate) levels: Option<Hierarchy>,
    pub(crate) exchanges: Vec<LevelExchanges>,
}

/// Reads the messages of all levels of a directory or a list, for a job of `ranks` ranks.
pub(crate) fn read_cycle(hierarchy: &str, ranks: u32, files: &mut dyn Reader) -> Result<WholeCycle, String> {
    let path = files.locate(HIERARCHIES, hierarchy)?;
    let inside = |name: &str| path.join(name).to_string_lossy().into_owned();
    let (levels, name) = if path.is_dir() {
        let wanted = HierarchyRequest { hierarchy, level: 0, phase: Phase::Smooth, regrouped: false };
        (directory(&wanted, ranks, &path, files)?.levels, inside("messages.parquet"))
    } else {
        (None, path.to_string_lossy().into_owned())
    };
    let bytes = files.read(&name)?;
    let exchanges = messages::all_levels(&name, &bytes, ranks).map_err(|error| error.to_string())?;
    if exchanges.is_empty() {
        return Err(format!("{name} has no messages"));
    }
    Ok(WholeCycle { levels, exchanges })
}

/// Reads a directory that `odonata amg hierarchy` wrote.
fn directory(
    wanted: &HierarchyRequest<'_>,
    ranks: u32,
    path: &Path,
    files: &mut dyn Reader,
) -> Result<HierarchyData, String> {
    let file = |name: &str| path.join(name).to_string_lossy().into_owned();
    let bytes = files.read(&file("summary.json"))?;
    let summary: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("{} is not JSON: {error}", file("summary.json")))?;
    if summary["format"] != "odonata-amg-hierarchy" {
        return Err(format!("{} is not a directory of a hierarchy", path.display()));
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
        Some(levels::from_csv(&name, &files.read(&name)?, ranks)?)
    };
    if !wanted.phase.in_setup() && !path.join(format!("{prefix}messages.parquet")).exists() {
        return Ok(HierarchyData { levels, messages: LevelMessages::None });
    }
    let stem = if wanted.phase.in_setup() { "recorded_messages".into() } else { format!("{prefix}messages") };
    let name = file(&format!("{stem}.parquet"));
    if wanted.phase.in_setup() && !Path::new(&name).exists() {
        return Err(format!("{} has no messages of the set-up; make it with --record", path.display()));
    }
    let bytes = files.read(&name)?;
    Ok(HierarchyData { levels, messages: list(wanted, ranks, &name, &bytes)? })
}

fn list(wanted: &HierarchyRequest<'_>, ranks: u32, name: &str, bytes: &[u8]) -> Result<LevelMessages, String> {
    let read = if wanted.phase.in_setup() { messages::recorded } else { messages::cycle };
    let graph = read(name, bytes, ranks, wanted.level, wanted.phase).map_err(|error| error.to_string())?;
    Ok(LevelMessages::Read(Arc::new(graph)))
}

fn check_ranks(what: &str, made_on: u32, ranks: u32) -> Result<(), String> {
    if made_on == ranks {
        return Ok(());
    }
    Err(format!("{what} was made on {made_on} ranks, but the job has {ranks}; write `ranks = {made_on}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::Directory;

    /// A directory without messages, made on two ranks.
    fn read_as(phase: Phase, regrouped: bool, ranks: u32) -> Result<HierarchyData, String> {
        let mut files = Directory(&[
            ("h/summary.json", r#"{ "format": "odonata-amg-hierarchy", "ranks": 2 }"#),
            (
                "h/levels.parquet",
                "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
                 interpolation_values_sent,active_ranks,messages,interpolation_messages\n8,3,1,1,0,0,0,2,2,0\n",
            ),
        ]);
        let wanted = HierarchyRequest { hierarchy: "h", level: 0, phase, regrouped };
        directory(&wanted, ranks, Path::new("h"), &mut files)
    }

    #[test]
    fn a_directory_without_messages_has_its_levels() {
        let found = read_as(Phase::Smooth, false, 2).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.messages, LevelMessages::None);
        assert_eq!(found.levels.map(|levels| levels.levels().len()), Some(1));
        let error = |phase, regrouped, ranks| read_as(phase, regrouped, ranks).err().unwrap();
        assert_eq!(error(Phase::Galerkin, false, 2), "h has no messages of the set-up; make it with --record");
        assert!(error(Phase::Smooth, true, 2).starts_with("h was not redistributed; make it with"));
        assert!(error(Phase::Smooth, false, 3).starts_with("h was made on 2 ranks, but the job has 3"));
    }
}

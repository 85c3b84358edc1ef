//! Message lists of an algebraic multigrid hierarchy, as CSV with a header.
//!
//! * Of a cycle: `level,operator,source,destination,values`. Operator 0 is the matrix of the level, operator 1 the
//!   interpolation from the next coarser level. A value has 8 bytes.
//! * Recorded, with the set-up: `phase,level,source,destination,messages,bytes`.

use crate::Phase;
use odonata_declare::FileError;
use odonata_import::csv::each_record;
use odonata_import::{CommunicationGraph, MessageList};
use std::collections::BTreeMap;

const BYTES_PER_VALUE: f64 = 8.0;
const MATRIX: u32 = 0;
const INTERPOLATION: u32 = 1;
/// Limit of messages between two ranks in one phase and level. No set-up sends more, so a larger number is an error in
/// the file.
const MAX_EQUAL_MESSAGES: u64 = 1_000_000;

/// Messages of a phase of a cycle on `level`, in a job of `ranks` ranks.
///
/// A product with the matrix sends the list of its communication package. Interpolation to level i - 1 sends the list
/// of the interpolation of level i - 1. Restriction is its transpose and sends the same list in the opposite direction.
///
/// # Errors
/// A missing column, an invalid number, a rank out of range, or a level without this phase.
///
/// # Panics
/// If the phase belongs to the set-up.
pub fn cycle(label: &str, bytes: &[u8], ranks: u32, level: u32, phase: Phase) -> Result<CommunicationGraph, FileError> {
    let (operator, listed) = match phase {
        Phase::Smooth => (MATRIX, Some(level)),
        Phase::Restrict => (INTERPOLATION, Some(level)),
        Phase::Interpolate => (INTERPOLATION, level.checked_sub(1)),
        _ => panic!("{} is not a phase of a cycle", phase.word()),
    };
    let mut messages = MessageList::new(label, Some(ranks));
    let mut deepest = None;
    each_record(
        label,
        bytes,
        |header| header.require_all(["level", "operator", "source", "destination", "values"]),
        |record, [level, of, source, destination, values]| {
            let at = record.number::<u32>(level, "level")?;
            deepest = deepest.max(Some(at));
            if Some(at) != listed || record.number::<u32>(of, "operator")? != operator {
                return Ok(());
            }
            let source = record.number::<i64>(source, "source")?;
            let destination = record.number::<i64>(destination, "destination")?;
            let size = BYTES_PER_VALUE * record.number::<f64>(values, "values")?;
            let (from, to) = if phase == Phase::Restrict { (destination, source) } else { (source, destination) };
            messages.push(from, to, size, || record.place())
        },
    )?;
    check_level(label, level, phase, deepest, messages.is_empty())?;
    messages.finish()
}

/// Messages of every exchange of a cycle on one level. `None` if a phase sends nothing or does not exist.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LevelExchanges {
    /// One product with the matrix.
    pub product: Option<CommunicationGraph>,
    /// To the next coarser level.
    pub restrict: Option<CommunicationGraph>,
    /// To the next finer level.
    pub interpolate: Option<CommunicationGraph>,
}

/// Messages of all levels of a cycle in a job of `ranks` ranks, finest first, as [`cycle()`] returns them for one
/// level. The last level is the last one that is listed or interpolated to.
///
/// # Errors
/// Errors of [`cycle()`], or a level without messages between others.
pub fn all_levels(label: &str, bytes: &[u8], ranks: u32) -> Result<Vec<LevelExchanges>, FileError> {
    let mut lists: BTreeMap<(u32, Phase), MessageList<'_>> = BTreeMap::new();
    each_record(
        label,
        bytes,
        |header| header.require_all(["level", "operator", "source", "destination", "values"]),
        |record, [level, of, source, destination, values]| {
            let level = record.number::<u32>(level, "level")?;
            let operator = record.number::<u32>(of, "operator")?;
            let source = record.number::<i64>(source, "source")?;
            let destination = record.number::<i64>(destination, "destination")?;
            let size = BYTES_PER_VALUE * record.number::<f64>(values, "values")?;
            let mut push = |level: u32, phase, from, to| {
                let list = lists.entry((level, phase)).or_insert_with(|| MessageList::new(label, Some(ranks)));
                list.push(from, to, size, || record.place())
            };
            match operator {
                MATRIX => push(level, Phase::Smooth, source, destination),
                INTERPOLATION => {
                    push(level, Phase::Restrict, destination, source)?;
                    push(level.saturating_add(1), Phase::Interpolate, source, destination)
                }
                other => Err(record.error(format!("operator {other}, expected {MATRIX} or {INTERPOLATION}"))),
            }
        },
    )?;
    let mut levels: Vec<LevelExchanges> = Vec::new();
    for ((level, phase), list) in lists {
        let place = level as usize;
        if place > levels.len() {
            let reason = format!("there are no messages of level {}", levels.len());
            return Err(FileError::new(label, format!("level {level}"), reason));
        }
        if place == levels.len() {
            levels.push(LevelExchanges::default());
        }
        let graph = Some(list.finish()?);
        match phase {
            Phase::Smooth => levels[place].product = graph,
            Phase::Restrict => levels[place].restrict = graph,
            Phase::Interpolate => levels[place].interpolate = graph,
            _ => unreachable!("a message list of a cycle has no messages of the set-up"),
        }
    }
    Ok(levels)
}

/// Recorded messages of a set-up phase on `level`. All messages between two ranks have their mean size, so count and
/// bytes match the record.
///
/// # Errors
/// Errors of [`cycle`].
pub fn recorded(
    label: &str,
    bytes: &[u8],
    ranks: u32,
    level: u32,
    phase: Phase,
) -> Result<CommunicationGraph, FileError> {
    let mut messages = MessageList::new(label, Some(ranks));
    let mut deepest = None;
    each_record(
        label,
        bytes,
        |header| header.require_all(["phase", "level", "source", "destination", "messages", "bytes"]),
        |record, [of, at, source, destination, count, size]| {
            let at = record.number::<u32>(at, "level")?;
            if record.field(of) != phase.word() {
                return Ok(());
            }
            deepest = deepest.max(Some(at));
            if at != level {
                return Ok(());
            }
            let count = u64::from(record.number::<u32>(count, "messages")?);
            if count > MAX_EQUAL_MESSAGES {
                return Err(record.error(format!("{count} messages, expected at most {MAX_EQUAL_MESSAGES}")));
            }
            let source = record.number::<i64>(source, "source")?;
            let destination = record.number::<i64>(destination, "destination")?;
            let total = record.number::<f64>(size, "bytes")?;
            // Sizes are whole numbers; the first messages get the remainder.
            let (each, more) = ((total as u64) / count.max(1), (total as u64) % count.max(1));
            for i in 0..count {
                messages.push(source, destination, (each + u64::from(i < more)) as f64, || record.place())?;
            }
            Ok(())
        },
    )?;
    check_level(label, level, phase, deepest, messages.is_empty())?;
    messages.finish()
}

/// Checks that a hierarchy with lists down to level `deepest` has the phase on the level. A coarsest level on a single
/// rank has no list, so the last level with a list may still restrict.
fn check_level(label: &str, level: u32, phase: Phase, deepest: Option<u32>, silent: bool) -> Result<(), FileError> {
    let wrong = |reason: String| Err(FileError::new(label, format!("level {level}"), reason));
    match (deepest, phase) {
        (None, _) => wrong(format!("there are no messages of the phase '{}'", phase.word())),
        // The finer level lists the interpolation from this level.
        (Some(deepest), _) if level > deepest.saturating_add(u32::from(phase == Phase::Interpolate)) => {
            wrong(format!("the messages of the phase '{}' are of levels 0 to {deepest}", phase.word()))
        }
        (Some(deepest), Phase::Restrict) if level == deepest && silent => {
            wrong("the coarsest level has no restriction".into())
        }
        (_, Phase::Interpolate) if level == 0 => wrong("the finest level has no interpolation".into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::RankId;

    const CYCLE: &str = "level,operator,source,destination,values\n\
                         0,0,0,1,10\n0,0,1,0,11\n0,1,0,1,5\n1,0,1,2,3\n";

    fn sends(graph: &CommunicationGraph, rank: u32) -> Vec<(u32, u64)> {
        graph.messages_of(RankId(rank)).map(|(target, bytes)| (target.0, bytes.0)).collect()
    }

    #[test]
    fn phases_send_their_operators_lists() {
        let read = |level, phase| cycle("h", CYCLE.as_bytes(), 3, level, phase).unwrap();
        assert_eq!(sends(&read(0, Phase::Smooth), 0), [(1, 80)]);
        assert_eq!(sends(&read(1, Phase::Smooth), 1), [(2, 24)]);
        assert_eq!(sends(&read(1, Phase::Interpolate), 0), [(1, 40)]);
        // The transpose: receivers become senders.
        let restrict = read(0, Phase::Restrict);
        assert_eq!((sends(&restrict, 0), sends(&restrict, 1)), (vec![], vec![(0, 40)]));
    }

    /// One pass finds the same messages as the phases one by one.
    #[test]
    fn all_levels_match_the_phases() {
        let levels = all_levels("h", CYCLE.as_bytes(), 3).unwrap();
        assert_eq!(levels.len(), 2);
        let one = |level, phase| Some(cycle("h", CYCLE.as_bytes(), 3, level, phase).unwrap());
        for (level, found) in levels.iter().enumerate() {
            assert_eq!(found.product, one(level as u32, Phase::Smooth));
        }
        assert_eq!(levels[0].restrict, one(0, Phase::Restrict));
        assert_eq!(levels[1].interpolate, one(1, Phase::Interpolate));
        assert_eq!((&levels[0].interpolate, &levels[1].restrict), (&None, &None));
        let message = |text: &str| all_levels("h", text.as_bytes(), 3).unwrap_err().to_string();
        assert_eq!(
            message(&CYCLE.replace("1,0,1,2", "4000000000,0,1,2")),
            "h:level 4000000000: there are no messages of level 2"
        );
        assert!(message(&CYCLE.replace("0,1,0,1,5", "0,2,0,1,5")).ends_with("operator 2, expected 0 or 1"));
    }

    /// The coarsest level is on one rank and has no list, but the level above it still restricts.
    #[test]
    fn the_last_level_with_a_list_may_restrict() {
        let text = CYCLE.replace("1,0,1,2,3\n", "1,0,1,2,3\n1,1,1,2,4\n");
        assert_eq!(sends(&cycle("h", text.as_bytes(), 3, 1, Phase::Restrict).unwrap(), 2), [(1, 32)]);
        assert_eq!(sends(&cycle("h", text.as_bytes(), 3, 2, Phase::Interpolate).unwrap(), 1), [(2, 32)]);
        assert!(cycle("h", text.as_bytes(), 3, 3, Phase::Interpolate).is_err());
    }

    #[test]
    fn recorded_messages_keep_count_and_bytes() {
        let text = "phase,level,source,destination,messages,bytes\ncoarsen,0,0,1,3,10\ngalerkin,0,0,1,1,7\n";
        let graph = recorded("r", text.as_bytes(), 2, 0, Phase::Coarsen).unwrap();
        assert_eq!(sends(&graph, 0), [(1, 4), (1, 3), (1, 3)]);
        let error = recorded("r", text.as_bytes(), 2, 1, Phase::Galerkin).unwrap_err().to_string();
        assert_eq!(error, "r:level 1: the messages of the phase 'galerkin' are of levels 0 to 0");
    }

    #[test]
    fn mistakes_have_a_place() {
        let message =
            |text: &str, ranks, level, phase| cycle("h", text.as_bytes(), ranks, level, phase).unwrap_err().to_string();
        assert!(message(CYCLE, 3, 2, Phase::Smooth).contains("levels 0 to 1"));
        assert!(message(CYCLE, 3, 1, Phase::Restrict).contains("coarsest level"));
        assert!(message(CYCLE, 3, 0, Phase::Interpolate).contains("finest level"));
        assert_eq!(message(CYCLE, 2, 1, Phase::Smooth), "h:line 5: rank 2 in a job with ranks 0 to 1");
        assert!(message("level,operator,source,values\n", 3, 0, Phase::Smooth).contains("no column 'destination'"));
        assert!(message(&CYCLE.replace("10", "ten"), 3, 0, Phase::Smooth).contains("values is 'ten'"));
    }
}

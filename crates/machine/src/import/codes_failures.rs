//! The file of failed links of CODES (`link-failure-file`): binary records of little-endian 32-bit integers.
//!
//! | record | version |
//! |---|---|
//! | source router, target router, kind | CODES before rails |
//! | source router, target router, rail, kind | CODES with rails |
//!
//! Kind 1 is a link inside a group, 2 a link between groups, 3 the link of a router to a node. The layout of a file
//! is the one in which all records are valid: joined routers, with cables of that kind. In CODES, a record fails one
//! parallel link in one direction. Here a cable fails in both directions. Between two routers, the direction with
//! more failures gives the number of failed cables. Jobs can't use a node whose link fails.

use super::at;
use crate::{MachineBuilder, MachineError};
use odonata_units::RouterId;
use std::collections::{BTreeMap, BTreeSet};

/// The failures of a file.
#[derive(PartialEq, Eq, Debug)]
struct Failures {
    /// Cables between two routers, the lower number first.
    cables: BTreeMap<(u32, u32), u32>,
    nodes: BTreeSet<usize>,
}

/// Byte and reason.
type PlacedReason = (usize, String);

/// Removes the failed cables from the machine, and makes its failed nodes unusable.
///
/// # Errors
/// A file that fits neither layout, or both; a link that does not exist, or fails more often than it exists; the
/// message has the byte.
pub(super) fn fail(builder: &mut MachineBuilder, bytes: &[u8], label: &str) -> Result<(), MachineError> {
    if bytes.is_empty() {
        return Ok(());
    }
    let whole = |words: &usize| bytes.len() % (4 * words) == 0;
    let mut read: Vec<_> = [3, 4].into_iter().filter(whole).map(|words| (words, read(builder, bytes, words))).collect();
    if let [(_, Ok(short)), (_, Ok(long))] = &read[..] {
        if short != long {
            let reason = "records of 12 bytes and records of 16 bytes (with a rail) are both valid for this file";
            return at(label, "byte 0".into(), reason);
        }
    }
    // The valid layout, or the one that is valid further into the file.
    read.sort_by_key(|(_, read)| read.as_ref().map_or_else(|(byte, _)| *byte, |_| usize::MAX));
    let failures = match read.pop() {
        Some((_, Ok(failures))) => failures,
        Some((words, Err((byte, reason)))) => {
            return at(label, format!("byte {byte}"), format!("{reason} (in records of {} bytes)", 4 * words));
        }
        None => {
            let reason = format!("cut off: {} bytes are not whole records of 12 or of 16 bytes", bytes.len());
            return at(label, format!("byte {}", bytes.len() / 12 * 12), reason);
        }
    };
    let mut left = failures.cables;
    builder.cables.retain(|cable| match left.get_mut(&(cable.a.0.min(cable.b.0), cable.a.0.max(cable.b.0))) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    failures.nodes.into_iter().for_each(|node| builder.node_up[node] = false);
    Ok(())
}

/// Reads records of `words` numbers.
fn read(builder: &MachineBuilder, bytes: &[u8], words: usize) -> Result<Failures, PlacedReason> {
    let size = 4 * words;
    let mut joined: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for cable in &builder.cables {
        *joined.entry((cable.a.0, cable.b.0)).or_default() += 1;
        *joined.entry((cable.b.0, cable.a.0)).or_default() += 1;
    }
    let mut failed: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut nodes = BTreeSet::new();
    for (i, record) in bytes.chunks_exact(size).enumerate() {
        let word = |place: usize| {
            let number = i32::from_le_bytes(record[4 * place..4 * place + 4].try_into().expect("4 bytes"));
            u32::try_from(number).map_err(|_| (i * size + 4 * place, format!("{number}; expected a number from 0 up")))
        };
        let (source, target, kind) = (word(0)?, word(1)?, word(words - 1)?);
        let wrong = |reason: String| Err((i * size, reason));
        match kind {
            1 | 2 => {
                let there = joined.get(&(source, target)).copied().unwrap_or(0);
                if there == 0 {
                    return wrong(format!("routers {source} and {target} are not joined"));
                }
                let group = |router: u32| builder.group_of[RouterId(router).index()];
                let within = group(source) == group(target);
                if within != (kind == 1) {
                    let (said, is) = if within { (2, "inside a group") } else { (1, "between groups") };
                    return wrong(format!("kind {said} of the link from router {source} to {target}, which is {is}"));
                }
                let count = failed.entry((source, target)).or_default();
                *count += 1;
                if *count > there {
                    let reason = format!("link {count} from router {source} to {target} fails, but only {there} exist");
                    return wrong(reason);
                }
            }
            3 => {
                let node = target as usize;
                if builder.node_router.get(node) != Some(&RouterId(source)) {
                    return wrong(format!("node {target} is not at router {source}"));
                }
                nodes.insert(node);
            }
            _ => {
                let reason = format!("kind {kind}; expected 1 (local), 2 (global) or 3 (node)");
                return Err((i * size + size - 4, reason));
            }
        }
    }
    let mut cables: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for ((source, target), count) in failed {
        let most = cables.entry((source.min(target), source.max(target))).or_default();
        *most = count.max(*most);
    }
    Ok(Failures { cables, nodes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Dragonfly, Topology};

    /// Two groups of two routers, one node each: cables 0-1, 2-3, and one between the groups.
    fn machine() -> MachineBuilder {
        Topology::lay_out(&Dragonfly { p: 1, a: 2, h: 1, g: 2, ..Dragonfly::default() }).unwrap()
    }

    fn bytes(words: &[i32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn both_directions_are_one_cable_in_either_layout() {
        for words in [&[0, 1, 1, 1, 0, 1, 2, 2, 3][..], &[0, 1, 0, 1, 1, 0, 0, 1, 2, 2, 0, 3][..]] {
            let mut builder = machine();
            let before = builder.cables.len();
            fail(&mut builder, &bytes(words), "failed").unwrap();
            assert_eq!(builder.cables.len(), before - 1);
            assert!(builder.cables.iter().all(|cable| (cable.a.0, cable.b.0) != (0, 1)));
            assert_eq!(builder.node_up, [true, true, false, true]);
        }
    }

    #[test]
    fn mistakes_have_a_byte() {
        let reason = |words: &[i32]| fail(&mut machine(), &bytes(words), "failed").unwrap_err().to_string();
        for (words, said) in [
            (&[0, 1, 2][..], "byte 0: kind 2 of the link from router 0 to 1, which is inside a group"),
            (&[0, 1, 1, 0, 1, 1][..], "byte 12: link 2 from router 0 to 1 fails, but only 1 exist"),
            (&[0, 1, 1, 2, 0, 3][..], "byte 12: node 0 is not at router 2"),
            (&[0, 1, 9][..], "byte 8: kind 9; expected 1 (local), 2 (global) or 3 (node)"),
            (&[0, 1, 1, 0, -1, 1][..], "byte 16: -1; expected a number from 0 up"),
            (&[0, 1, 1, 4, 5][..], "byte 12: cut off: 20 bytes are not whole records"),
            (&[0, 1, 0, 7][..], "byte 12: kind 7; expected 1 (local), 2 (global) or 3 (node) (in records of 16 bytes)"),
            (&[7, 1, 1][..], "byte 0: routers 7 and 1 are not joined"),
        ] {
            assert!(reason(words).contains(said), "{}", reason(words));
        }
    }
}

//! More or fewer cables for each pair of groups, or as a share of all.
//!
//! The change is distributed evenly: over the pairs of groups, and in each pair over its cables in the order of the
//! links. All other cables keep their ports, so that two machines can be compared cable by cable.

use super::{wrong, Amount, Edit};
use crate::{Cable, MachineBuilder, MachineError};
use odonata_units::{GroupId, LinkClassId};
use std::collections::BTreeMap;

/// Positions of the cables to remove, or to duplicate.
///
/// # Errors
/// A pair of groups has fewer cables than are removed.
pub(super) fn choose_cables(
    builder: &MachineBuilder,
    edit: &Edit,
    class: LinkClassId,
    amount: Amount,
) -> Result<Vec<usize>, MachineError> {
    let group = |cable: &Cable| {
        let (a, b) = (builder.group_of[cable.a.index()], builder.group_of[cable.b.index()]);
        (a.min(b), a.max(b))
    };
    let mut pairs: BTreeMap<(GroupId, GroupId), Vec<usize>> = BTreeMap::new();
    for (at, cable) in builder.cables.iter().enumerate().filter(|(_, cable)| cable.class == class) {
        pairs.entry(group(cable)).or_default().push(at);
    }
    let (mut chosen, mut seen, mut taken) = (Vec::new(), 0usize, 0usize);
    for ((a, b), cables) in &pairs {
        seen += cables.len();
        let count = match amount {
            Amount::PerGroupPair(count) => count.unsigned_abs() as usize,
            // The next pair compensates the rounding error.
            Amount::Share(share) => (seen as f64 * share.abs()).round() as usize - taken,
        };
        let adds = matches!(amount, Amount::PerGroupPair(1..));
        if count > cables.len() && !adds {
            let where_ =
                if a == b { format!("inside group {}", a.0) } else { format!("between groups {} and {}", a.0, b.0) };
            return wrong(edit, format!("{count} cables can't be removed: there are {} {where_}", cables.len()));
        }
        taken += count;
        chosen.extend((0..count).map(|i| cables[(2 * i + 1) * cables.len() / (2 * count) % cables.len()]));
    }
    Ok(chosen)
}

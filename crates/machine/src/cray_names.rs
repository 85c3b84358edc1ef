//! Names of routers after their place in the cabinets of a Cray XC system (*cnames*).
//!
//! `c3-1c2s7` is slot 7 of chassis 2 in cabinet 3 of cabinet row 1; an `a0` for the Aries of the slot may follow, and
//! `n1` for a node. A group has two neighbouring cabinets: its rows are their six chassis, its columns the slots. So the
//! router is in row 3 (x mod 2) + chassis, at column slot, of the group with number y w / 2 + x / 2, where w cabinets
//! stand in a row. Edison's list of cables, which has both names of every router, follows this rule.

/// Rows of routers in a cabinet.
const CHASSIS: u32 = 3;

/// The cabinets of the groups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FloorPlan {
    /// Cabinets in a row of cabinets, if known.
    pub(crate) per_row: Option<u32>,
    /// Number of each group by its cabinets, ascending; places without cabinets leave gaps.
    pub(crate) groups: Vec<u32>,
}

/// Cabinet in its row, row of cabinets, chassis, slot.
pub(crate) type Place = [u32; 4];

/// The place in a cname, or `None` if the name has another form.
pub(crate) fn parse(name: &str) -> Option<Place> {
    let (cabinet, rest) = name.strip_prefix('c')?.split_once('-')?;
    let (row, rest) = rest.split_once('c')?;
    let (chassis, slot) = rest.split_once('s')?;
    let slot = slot.strip_suffix("a0").unwrap_or(slot);
    let number = |digits: &str| digits.parse::<u16>().ok().map(u32::from);
    Some([number(cabinet)?, number(row)?, number(chassis)?, number(slot)?])
}

impl FloorPlan {
    /// A plan of groups without gaps whose rows of cabinets are unknown: only the first row has names.
    pub(crate) fn of_first_row(groups: u32) -> Self {
        Self { per_row: None, groups: (0..groups).collect() }
    }

    /// The plan of routers with both names: place, and group, row and column. `None` if they follow another rule.
    pub(crate) fn of(routers: impl Iterator<Item = (Place, [u32; 3])> + Clone) -> Option<Self> {
        let per_row = |([x, y, ..], [group, ..]): (Place, [u32; 3])| {
            Some(2 * group.checked_sub(x / 2)?.checked_div(y)?).filter(|width| *width > x)
        };
        let mut groups: Vec<u32> = routers.clone().map(|(_, [group, ..])| group).collect();
        groups.sort_unstable();
        groups.dedup();
        let plan = Self { per_row: routers.clone().find(|(place, _)| place[1] > 0).and_then(per_row), groups };
        let follows = |(place, at): (Place, [u32; 3])| plan.number_and_place(place) == Some(at);
        routers.clone().all(follows).then_some(plan)
    }

    /// The number of the group by its cabinets, the row and the column.
    fn number_and_place(&self, [x, y, chassis, slot]: Place) -> Option<[u32; 3]> {
        let before = if y == 0 { 0 } else { self.per_row?.checked_mul(y)? / 2 };
        (chassis < CHASSIS).then_some([before + x / 2, x % 2 * CHASSIS + chassis, slot])
    }

    /// Group, row and column of a place.
    pub(crate) fn coordinates(&self, place: Place) -> Result<[u32; 3], &'static str> {
        if place[1] > 0 && self.per_row.is_none() {
            return Err("; the number of cabinets in a row is unknown, so only cabinets of the first row have names");
        }
        let at = self.number_and_place(place);
        let known =
            at.and_then(|[number, row, column]| Some([self.groups.binary_search(&number).ok()? as u32, row, column]));
        known.ok_or("; the machine has no such cabinet, chassis or slot")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{presets, MachineError};

    #[test]
    fn places_in_cabinets() {
        assert_eq!(parse("c3-1c2s7"), Some([3, 1, 2, 7]));
        assert_eq!(parse("c0-0c0s15a0"), Some([0, 0, 0, 15]));
        for other in ["g0r0c3", "c0-0c0", "c0c0s0", "c0-0c0s", "c0-0c0s0a0l00", "", "cx-0c0s0"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    /// The rule by hand on Edison: 8 cabinets in a row, no cabinets in the place of group 12.
    #[test]
    fn presets_know_cnames() {
        let edison = presets::builder("edison").unwrap().build().unwrap();
        let name = |cname: &str| edison.router_named(cname).map(|router| edison.router_name(router));
        assert_eq!(name("c0-0c0s3").unwrap(), "g0r0c3");
        assert_eq!(name("c3-1c2s7a0").unwrap(), "g5r5c7");
        assert_eq!(name("c2-3c0s0").unwrap(), "g12r0c0");
        assert_eq!(edison.node_named("c0-0c0s3n1").unwrap(), edison.node_named("g0r0c3n1").unwrap());
        let error = |machine: &crate::Machine, name: &str| match machine.router_named(name) {
            Err(MachineError::Unknown { hint, .. }) => hint,
            other => panic!("{other:?}"),
        };
        assert_eq!(error(&edison, "c0-3c0s0"), "; the machine has no such cabinet, chassis or slot");
        let theta = presets::builder("theta").unwrap().build().unwrap();
        assert_eq!(theta.router_name(theta.router_named("c1-0c0s0").unwrap()), "g0r3c0");
        assert!(error(&theta, "c0-1c0s0").contains("cabinets in a row is unknown"));
    }
}

//! The connected parts of groups.

use odonata_machine::Machine;
use odonata_units::RouterId;

/// The number of groups and the group of each router, where every connected part of a group counts as a group. The
/// part with the first working router keeps the group's number; other parts follow after all groups. Failed routers
/// keep their group.
pub(super) fn of_groups(machine: &Machine) -> (usize, Vec<u32>) {
    let mut groups = machine.group_count();
    let own: Vec<u32> = machine.routers().map(|r| machine.group_of(r).0).collect();
    let mut part = own.clone();
    let mut seen: Vec<bool> = machine.routers().map(|r| !machine.router_up(r)).collect();
    let mut first_seen = vec![false; groups];
    for start in machine.routers() {
        if std::mem::replace(&mut seen[start.index()], true) {
            continue;
        }
        let group = own[start.index()];
        let number = if std::mem::replace(&mut first_seen[group as usize], true) {
            groups += 1;
            groups as u32 - 1
        } else {
            group
        };
        let mut stack: Vec<RouterId> = vec![start];
        while let Some(r) = stack.pop() {
            part[r.index()] = number;
            for bundle in machine.bundles_from(r) {
                let next = bundle.target;
                if own[next.index()] == group && !std::mem::replace(&mut seen[next.index()], true) {
                    stack.push(next);
                }
            }
        }
    }
    (groups, part)
}

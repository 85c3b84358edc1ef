//! What is measured plane by plane, where nodes have interfaces in several.

use super::{bisection, checks, connectivity, Bisection, BisectionMethod, Check, Connectivity};
use crate::Machine;
use odonata_units::{NodeId, RouterId};

/// The planes of a machine; one with a single network is its own.
pub(super) fn of(machine: &Machine) -> &[Machine] {
    match machine.planes() {
        [] => std::slice::from_ref(machine),
        planes => planes,
    }
}

/// Nodes that jobs can use: those with an interface that works.
pub(super) fn nodes_up(machine: &Machine) -> usize {
    let up = |host: &u32| {
        let ends = (0..machine.rails().of_node()).map(|rail| machine.end(NodeId(*host), rail));
        ends.into_iter().any(|end| machine.node_up(end))
    };
    (0..machine.host_count() as u32).filter(up).count()
}

/// Parts more than one for each plane are what a fault cut off.
pub(super) fn connectivity(planes: &[Machine]) -> Connectivity {
    let mut all = Connectivity { components: 0, cut_off: Vec::new(), nodes_cut_off: 0 };
    let mut first = 0;
    for plane in planes {
        let found = connectivity::connectivity(plane);
        all.components += found.components.saturating_sub(usize::from(all.components > 0));
        all.cut_off.extend(found.cut_off.iter().map(|router| RouterId(router.0 + first)));
        all.nodes_cut_off += found.nodes_cut_off;
        first += plane.router_count() as u32;
    }
    all
}

/// The halves of every plane, which are the same nodes while no fault makes the planes differ; then each is cut where it has least, and
/// no common cut has less than the sum.
pub(super) fn bisection(planes: &[Machine]) -> Bisection {
    let mut found = planes.iter().map(bisection::bisection);
    let mut all = found.next().expect("at least one plane");
    for plane in found {
        all.bytes_per_s += plane.bytes_per_s;
        all.cables += plane.cables;
        if plane.method != all.method {
            all.method = BisectionMethod::UpperBound;
        }
    }
    all
}

/// Each check of every plane: of one that does not hold, what was found in the first plane where it does not.
pub(super) fn checks(planes: &[Machine]) -> Vec<Check> {
    let mut found = planes.iter().map(checks::checks);
    let mut all = found.next().expect("at least one plane");
    for (number, plane) in (1..).zip(found) {
        for (check, here) in all.iter_mut().zip(plane) {
            if check.holds && !here.holds {
                *check = Check { found: format!("plane {number}: {}", here.found), ..here };
            }
        }
    }
    all
}

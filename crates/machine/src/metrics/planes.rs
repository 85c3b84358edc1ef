//! Measurements plane by plane, if nodes have NICs in several planes.

use super::{bisection, checks, connectivity, Bisection, BisectionMethod, Check, Connectivity};
use crate::Machine;
use odonata_units::{NodeId, RouterId};

/// The planes of a machine; a machine with a single network is its own plane.
pub(super) fn of(machine: &Machine) -> &[Machine] {
    match machine.planes() {
        [] => std::slice::from_ref(machine),
        planes => planes,
    }
}

/// Compute nodes that jobs can use: those with a working NIC.
pub(super) fn nodes_up(machine: &Machine) -> usize {
    let up = |host: &u32| {
        let ends = (0..machine.rails().of_node()).map(|rail| machine.end(NodeId(*host), rail));
        ends.into_iter().any(|end| machine.is_compute(end))
    };
    (0..machine.host_count() as u32).filter(up).count()
}

/// Connectivity of all planes. A plane with more than one component is cut by a fault.
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

/// Sum over the halves of every plane. Without faults the halves are the same nodes in every plane. With faults, each
/// plane is cut where its bandwidth is smallest, and no common cut has less than the sum.
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

/// The checks of all planes; a check that fails has the value of the first plane where it fails.
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

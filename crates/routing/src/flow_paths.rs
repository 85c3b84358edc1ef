//! The whole path of every flow, for engines with a steady state.

use crate::algorithm::{Discipline, Flows, OnePath, Refusal, RoutingError};
use crate::deadlock;
use crate::forwarding::{self, ForwardingRule};
use crate::next_hop::NextHops;
use odonata_machine::Machine;
use odonata_units::{LinkId, NodeId};
use std::sync::Arc;

/// One plane; its routers, nodes and links have consecutive numbers.
struct Plane {
    hops: Arc<NextHops>,
    forwarding: Arc<dyn ForwardingRule>,
    first_node: u32,
    first_link: u32,
}

/// The paths of a rule on a machine.
pub struct FlowPaths {
    /// One, or several that no cable joins.
    planes: Vec<Plane>,
}

impl FlowPaths {
    /// The paths of a rule.
    ///
    /// # Errors
    /// The machine does not fit the rule.
    pub fn new(machine: &Machine, rule: &OnePath) -> Result<Self, RoutingError> {
        let whole = std::slice::from_ref(machine);
        let machines = if machine.planes().is_empty() { whole } else { machine.planes() };
        let (mut planes, mut first_node, mut first_link) = (Vec::new(), 0, 0);
        for (number, plane) in machines.iter().enumerate() {
            let refused = |refusal: Refusal| match machine.planes() {
                [] => refusal.of(rule.name()),
                _ => refusal.of(rule.name()).in_plane(number),
            };
            let hops = NextHops::without_tables(plane);
            let hops = Arc::new(if rule.is_listed() { hops.with_machine(plane) } else { hops });
            let forwarding = rule.forwarding(&hops).map_err(refused)?;
            if rule.is_listed() {
                let flows = Discipline::Relation(Arc::new(Flows::of(&hops, &forwarding)));
                let cycle = deadlock::check(&hops, &flows, 1, u8::MAX, None).map_err(|cycle| cycle.to_string());
                cycle.map_err(|reason| refused(Refusal::Machine(reason)))?;
            }
            planes.push(Plane { hops, forwarding, first_node, first_link });
            first_node += plane.node_count() as u32;
            first_link += plane.link_count() as u32;
        }
        Ok(Self { planes })
    }

    /// Appends the links of the path between two nodes of one plane.
    pub fn path(&self, source: NodeId, destination: NodeId, path: &mut Vec<LinkId>) {
        let plane = &self.planes[self.planes.partition_point(|plane| plane.first_node <= source.0) - 1];
        let own = |node: NodeId| NodeId(node.0 - plane.first_node);
        let first = path.len();
        forwarding::path(&plane.hops, &*plane.forwarding, own(source), own(destination), path);
        path[first..].iter_mut().for_each(|link| link.0 += plane.first_link);
    }
}

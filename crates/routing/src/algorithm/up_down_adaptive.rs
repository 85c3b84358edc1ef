//! Adaptive up/down routing: the paths of `up-down`, over the port with the shortest queue; equal queues are drawn.
//! The queue includes packets at the inputs that wait for the crossbar to this port.
//! On a fat tree the up path is adaptive, and the down path is unique.

use super::up_down::UpDownPaths;
use super::{
    Algorithm, Decision, Discipline, Engines, Header, Hop, Least, Machines, Needs, NoParameters, PathChoice, Routing,
};
use crate::paths::PathSet;
use std::sync::Arc;

struct UpDownAdaptive {
    paths: Arc<UpDownPaths>,
}

pub(super) const UP_DOWN_ADAPTIVE: Algorithm = Algorithm {
    name: "up-down-adaptive",
    doc: "up-down over the port with the shortest queue",
    machines: Machines::Any,
    needs: Needs::LOAD,
    engines: &Engines::both(
        PathSet::UpDown,
        |_| PathChoice::AdaptiveDirect,
        |hops, _: &NoParameters| Ok(Box::new(UpDownAdaptive { paths: UpDownPaths::of(hops)? })),
    ),
};

impl Routing for UpDownAdaptive {
    fn virtual_channels(&self) -> u8 {
        1
    }

    fn discipline(&self) -> Discipline {
        Discipline::Relation(Arc::clone(&self.paths) as _)
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let mut shortest = Least::none();
        let (load, random) = (decision.load, &mut *decision.random);
        self.paths.ports(decision.router, self.paths.router_of(packet), packet.state.phase, |port, after| {
            // A slow crossbar holds packets at the inputs: without them, all inputs choose the same empty output.
            shortest.offer(load.port_bytes(port) + load.waiting_bytes(port), (port, after), random);
        });
        let (port, after) = shortest.option().expect("every pair was reached");
        packet.state.phase = after;
        Hop { port, vc: 0 }
    }
}

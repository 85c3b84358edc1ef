//! Adaptive up/down routing: the paths of `up-down`, over the port with the shortest queue; equal queues are drawn.
//! On a fat tree the up path is adaptive, and the down path is unique.

use super::declaration::Engines;
use super::up_down::UpDownPaths;
use super::{Algorithm, Decision, Discipline, Header, Hop, Needs, NoParameters, Routing};
use std::sync::Arc;

struct UpDownAdaptive {
    paths: Arc<UpDownPaths>,
}

pub(super) const UP_DOWN_ADAPTIVE: Algorithm = Algorithm {
    name: "up-down-adaptive",
    doc: "up-down over the port with the shortest queue",
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, _: &NoParameters| Ok(Box::new(UpDownAdaptive { paths: UpDownPaths::of(hops)? }))),
};

impl Routing for UpDownAdaptive {
    fn virtual_channels(&self) -> u8 {
        1
    }

    fn discipline(&self) -> Discipline {
        self.paths.discipline()
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let mut best = (u64::MAX, 0, 0);
        let mut equals = 0;
        let (load, random) = (decision.load, &mut *decision.random);
        self.paths.ports(decision.router, self.paths.router_of(packet), packet.state.phase, |port, after| {
            let bytes = load.port_bytes(port);
            if bytes < best.0 {
                best = (bytes, port, after);
                equals = 1;
            } else if bytes == best.0 {
                equals += 1;
                if random.below(equals) == 0 {
                    best = (bytes, port, after);
                }
            }
        });
        packet.state.phase = best.2;
        Hop { port: best.1, vc: 0 }
    }
}

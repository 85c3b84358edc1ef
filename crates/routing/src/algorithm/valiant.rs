//! VALg and VALn: every packet between groups visits a random intermediate group. It crosses the group straight to
//! the link to the destination group (VALg) or via a random router (VALn). `crossing.rs` has the path and its
//! channels.

use super::by_bandwidth::by_bandwidth;
use super::crossing::{Channels, Crossing};
use super::{Algorithm, Decision, Discipline, Engines, Header, Hop, Machines, Needs, NoParameters, Refusal, Routing};
use crate::next_hop::NextHops;
use std::sync::Arc;

struct Valiant {
    hops: Arc<NextHops>,
    crossing: Crossing,
    channels: Channels,
}

pub(super) const VALIANT_G: Algorithm = Algorithm {
    name: "valiant-g",
    doc: "via a random intermediate group, crossed straight to the destination group",
    machines: Machines::Groups,
    needs: Needs::TABLES,
    engines: &Engines::hops(|hops, _: &NoParameters| build(Crossing::Straight, hops)),
};

pub(super) const VALIANT_N: Algorithm = Algorithm {
    name: "valiant-n",
    doc: "via a random router of a random intermediate group",
    machines: Machines::Groups,
    needs: Needs::TABLES,
    engines: &Engines::hops(|hops, _: &NoParameters| build(Crossing::Router, hops)),
};

fn build(crossing: Crossing, hops: Arc<NextHops>) -> Result<Box<dyn Routing>, Refusal> {
    let channels = crossing.channels(&hops, 0)?;
    Ok(by_bandwidth(&Arc::clone(&hops), Box::new(Valiant { hops, crossing, channels })))
}

impl Routing for Valiant {
    fn virtual_channels(&self) -> u8 {
        self.channels.count
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(self.crossing.legs(self.channels))
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        if packet.state.hops == 0 && self.hops.group_of(at) != self.hops.group_of(to) {
            let (via, _) = self.crossing.draw(&self.hops, to, decision);
            packet.state.take_detour(via);
        }
        self.crossing.next_hop(&self.hops, self.channels, decision, packet)
    }
}

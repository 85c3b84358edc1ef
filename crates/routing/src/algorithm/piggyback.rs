//! PB, piggyback routing (Jiang, Kim, Dally 2009): `ugal-n` whose source router also knows the congested global
//! cables of its group. The routers of a group exchange this state with the packets between them.
//!
//! A global cable is congested if its queue is longer than `congestion` times the mean of the router's other global
//! queues, plus `bias`. A router reports one bit for each of its first 64 global cables with every packet that it
//! routes: to the next router with the packet, and to the previous router over the reverse link. Each router stores
//! the last report of every port.
//!
//! At the source router, a packet goes non-minimal if `ugal-n` decides so, or if every global cable of its minimal
//! paths is known to be congested. These are cables of the router itself or of a neighbour. A router knows nothing
//! about routers that are not neighbours (in another row and column of a Cascade group); their cables count as not
//! congested.
//!
//! Two parts of the paper are not modelled. State is not sent without a packet, so a neighbour without traffic keeps
//! its last bits. And of the rule for a congested cable, only the form is used.

use super::adaptive::{AdaptivePaths, AdaptiveSettings, PriorKnowledge, THRESHOLD};
use super::by_bandwidth::by_bandwidth;
use super::crossing::Crossing;
use super::{
    Algorithm, Decision, Discipline, Engines, Feedback, Header, Hop, Machines, Memory, Needs, Refusal, RouterReport,
    Routing,
};
use crate::next_hop::{NextHops, Port};
use odonata_declare::parameters;
use odonata_units::{GroupId, RouterId};
use std::sync::Arc;

parameters! {
    /// Parameters of PB.
    #[derive(Copy, PartialEq)]
    pub struct PiggybackSettings {
        /// Settings of the choice by the router's own queues.
        pub choice: AdaptiveSettings = AdaptiveSettings::default(), part;
        /// Factor of the congestion rule: a global cable is congested if its queue > congestion * mean of the router's
        /// other global queues + bias.
        pub congestion: f64 = 2.0, THRESHOLD;
    }
}

struct Piggyback {
    paths: AdaptivePaths,
    settings: PiggybackSettings,
}

pub(super) const PIGGYBACK: Algorithm = Algorithm {
    name: "piggyback",
    doc: "as `ugal-n`; neighbours also report the congested global cables of the group",
    machines: Machines::Groups,
    needs: Needs { reports: true, ..Needs::LOAD },
    engines: &Engines::hops(build),
};

fn build(hops: Arc<NextHops>, &settings: &PiggybackSettings) -> Result<Box<dyn Routing>, Refusal> {
    let paths = AdaptivePaths::of(Arc::clone(&hops), Crossing::Router, 0, settings.choice)?;
    Ok(by_bandwidth(&hops, Box::new(Piggyback { paths, settings })))
}

/// Global cables per router with a congestion bit: the bits of a note.
const BITS: usize = 64;

impl Piggyback {
    /// Ports of a router to other groups that have a congestion bit, in order.
    fn global_ports(&self, at: RouterId) -> impl Iterator<Item = Port> + '_ {
        let first = self.paths.hops.node_ports(at);
        let own = self.paths.hops.group_of(at);
        let global = move |port: &Port| self.paths.hops.group_of(self.paths.hops.neighbour(at, *port)) != own;
        (first..first + self.paths.hops.link_ports(at)).filter(global).take(BITS)
    }

    /// A bit for each congested global cable of the router.
    fn congested(&self, decision: &Decision<'_>) -> u64 {
        let mut queues = [0; BITS];
        let mut count = 0;
        for (queue, port) in queues.iter_mut().zip(self.global_ports(decision.router)) {
            *queue = decision.load.port_bytes(port);
            count += 1;
        }
        let sum: u64 = queues.iter().sum();
        let mut bits = 0;
        for (bit, &own) in queues[..count].iter().enumerate() {
            let others = (sum - own) as f64 / (count as f64 - 1.0).max(1.0);
            let congested =
                own as f64 > self.settings.congestion * others + self.settings.choice.bias_bytes(decision.load);
            bits |= u64::from(congested) << bit;
        }
        bits
    }

    /// Whether the router's bits mark all of its direct cables to a group as congested. False if it has none.
    fn all_congested(&self, at: RouterId, target: GroupId, bits: u64) -> bool {
        let straight = |port: &Port| self.paths.hops.group_of(self.paths.hops.neighbour(at, *port)) == target;
        let mut cables = self.global_ports(at).enumerate().filter(|(_, port)| straight(port)).peekable();
        cables.peek().is_some() && cables.all(|(bit, _)| bits >> bit & 1 == 1)
    }

    /// Whether every minimal path to a group is known to use a congested cable.
    fn minimal_is_congested(&self, at: RouterId, target: GroupId, own: u64, memory: &Memory) -> bool {
        let first = self.paths.hops.node_ports(at);
        self.paths.hops.ports_to_group(at, target).iter().all(|&port| {
            let next = self.paths.hops.neighbour(at, port);
            if self.paths.hops.group_of(next) != self.paths.hops.group_of(at) {
                self.all_congested(at, target, own)
            } else {
                self.all_congested(next, target, memory.notes[usize::from(port - first)])
            }
        })
    }

    /// Stores the previous router's report, and sets this router's report.
    fn exchange(&self, decision: &mut Decision<'_>) -> u64 {
        if let Some(received) = decision.received {
            let first = self.paths.hops.node_ports(decision.router);
            decision.memory.notes[usize::from(received.port - first)] = received.note;
        }
        let note = self.congested(decision);
        decision.report = Some(RouterReport { estimate_ns: 0.0, note });
        note
    }
}

impl Routing for Piggyback {
    fn virtual_channels(&self) -> u8 {
        self.paths.channels.count
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(Crossing::Router.legs(self.paths.channels))
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let own = self.exchange(decision);
        self.paths.next_hop(decision, packet, |decision, target| {
            let minimal_is_congested = self.minimal_is_congested(decision.router, target, own, decision.memory);
            PriorKnowledge { via: None, minimal_is_congested }
        })
    }

    fn report_arrival(&self, decision: &mut Decision<'_>, _: &Header) {
        self.exchange(decision);
    }

    fn memory(&self, router: RouterId) -> Memory {
        Memory::with_notes(usize::from(self.paths.hops.link_ports(router)))
    }

    fn learn(&self, router: RouterId, memory: &mut Memory, port: Port, feedback: &Feedback) -> Option<f32> {
        memory.notes[usize::from(port - self.paths.hops.node_ports(router))] = feedback.note;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{ReceivedReport, RouteState};
    use crate::view::{IdleView, LoadView};
    use odonata_machine::presets;
    use odonata_units::{NodeId, Stream};

    /// Bytes queued at each port.
    struct Queues(Vec<u64>);

    impl LoadView for Queues {
        fn port_bytes(&self, port: Port) -> u64 {
            self.0[usize::from(port)]
        }

        fn channel_bytes(&self, port: Port, _: u8) -> u64 {
            self.port_bytes(port)
        }

        fn has_room(&self, _: Port, _: u8) -> bool {
            false
        }
    }

    fn piggyback(bias: u64) -> Piggyback {
        let machine = presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let hops = Arc::new(NextHops::new(&machine).unwrap());
        let choice = AdaptiveSettings { bias: Some(odonata_units::Bytes(bias)), ..Default::default() };
        Piggyback {
            paths: AdaptivePaths::of(hops, Crossing::Router, 0, choice).unwrap(),
            settings: PiggybackSettings { choice, ..Default::default() },
        }
    }

    /// `dragonfly-1056`: p 4, a 8, h 4; ports 0 to 3 to nodes, 4 to 10 in the group, 11 to 14 to others.
    #[test]
    fn a_cable_is_congested_by_twice_the_mean_of_the_others_and_the_bias() {
        let congested = |queues: [u64; 4], bias: u64| {
            let load = Queues([vec![9_999; 11], queues.to_vec()].concat());
            let (mut random, mut memory) = (Stream::new(1, "test", &[]), Memory::default());
            piggyback(bias).congested(&Decision::new(RouterId(0), &load, &mut random, &mut memory))
        };
        assert_eq!(congested([0; 4], 0), 0);
        assert_eq!(congested([500; 4], 0), 0);
        // Mean of the others: 300; more than 600 is congested.
        assert_eq!(congested([300, 300, 600, 300], 0), 0b0000);
        assert_eq!(congested([300, 300, 601, 300], 0), 0b0100);
        assert_eq!(congested([300, 300, 700, 300], 100), 0b0000);
        assert_eq!(congested([0, 0, 0, 1], 0), 0b1000);
    }

    /// A packet from node 0 of router 0 to a group whose only cable is at a neighbour. It avoids that cable after a
    /// report of congestion, with a packet or over the reverse link, until a report to the contrary.
    #[test]
    fn a_packet_avoids_a_cable_reported_as_congested() {
        let pb = piggyback(0);
        let hops = &pb.paths.hops;
        let at = RouterId(0);
        let leads = |port: Port| hops.group_of(hops.neighbour(at, port)) == hops.group_of(at);
        let target = (1..hops.groups()).map(GroupId).find(|&group| leads(hops.ports_to_group(at, group)[0])).unwrap();
        let port = hops.ports_to_group(at, target)[0];
        let neighbour = hops.neighbour(at, port);
        let cable = pb.global_ports(neighbour).position(|p| hops.group_of(hops.neighbour(neighbour, p)) == target);
        let note = 1u64 << cable.unwrap();
        let destination = (0..1056).map(NodeId).find(|&n| hops.group_of(hops.router_of(n)) == target).unwrap();
        let mut random = Stream::new(1, "test", &[]);
        let mut goes_around = |memory: &mut Memory, received: Option<ReceivedReport>| {
            let mut packet = Header { source: NodeId(0), destination, state: RouteState::default() };
            let mut decision = Decision { received, ..Decision::new(at, &IdleView, &mut random, memory) };
            pb.decide(&mut decision, &mut packet);
            assert_eq!(decision.report, Some(RouterReport { estimate_ns: 0.0, note: 0 }));
            packet.state.path_kind.is_non_minimal()
        };
        let mut memory = pb.memory(at);
        assert!(!goes_around(&mut memory, None));
        assert!(!goes_around(&mut memory, Some(ReceivedReport { port, note: !note })), "bits of its other cables");
        assert!(goes_around(&mut memory, Some(ReceivedReport { port, note })));
        assert!(goes_around(&mut memory, None), "the bit is stored");
        let says = |memory: &mut Memory, note: u64| {
            let (source, elapsed_ns, estimate_ns) = (NodeId(0), 1.0, 0.0);
            assert_eq!(
                pb.learn(at, memory, port, &Feedback { source, destination, elapsed_ns, estimate_ns, note }),
                None
            );
        };
        says(&mut memory, 0);
        assert!(!goes_around(&mut memory, None));
        says(&mut memory, note);
        assert!(goes_around(&mut memory, None));
    }
}

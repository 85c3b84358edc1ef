//! Report of a deadlock: which packets wait for each other.
//!
//! The packet at the head of an input channel waits for space in an output channel. The head of that output channel
//! waits for credit, so for the input channel at the other end of the link. Following these two steps leads to a
//! channel that was visited before, which closes the cycle.

use crate::fabric::Fabric;
use crate::partition::BlockedHead;
use std::collections::BTreeMap;

/// Maximum number of lines for the links of a cycle, or of the longest chain if no cycle exists.
const LINES: usize = 24;

/// Returns one line for each link of the cycle among the blocked heads `waits`.
pub(crate) fn report(fabric: &Fabric, waits: Vec<((u32, u8), BlockedHead)>) -> Vec<String> {
    let waits: BTreeMap<(u32, u8), BlockedHead> = waits.into_iter().collect();
    let mut longest = Vec::new();
    for &start in waits.keys() {
        let mut chain: Vec<(u32, u8)> = Vec::new();
        let mut at = start;
        while let Some(wait) = waits.get(&at) {
            if let Some(first) = chain.iter().position(|&seen| seen == at) {
                return lines(fabric, &waits, &chain[first..]);
            }
            chain.push(at);
            at = wait.next;
        }
        if chain.len() > longest.len() {
            longest = chain;
        }
    }
    lines(fabric, &waits, &longest)
}

fn lines(fabric: &Fabric, waits: &BTreeMap<(u32, u8), BlockedHead>, chain: &[(u32, u8)]) -> Vec<String> {
    let place = |port: u32| {
        let router = fabric.port_router[port as usize];
        (fabric.line[router as usize].0, port - fabric.first_port[router as usize])
    };
    let line = |&(port, vc): &(u32, u8)| {
        let wait = &waits[&(port, vc)];
        let ((router, input), (_, output)) = (place(port), place(wait.output));
        format!(
            "router {router}: the packet from node {} to node {} at input {input}, channel {vc}, waits for output {output}, channel {}",
            wait.source, wait.destination, wait.vc
        )
    };
    chain.iter().take(LINES).map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::{ClosedJob, Ending, NodeMessage, PacketEngine, PacketSettings, RunOptions, Schedule, Traffic};
    use odonata_machine::topology::Torus;
    use odonata_machine::{BeforeEdits, Coordinates, ForwardingKind, LinkClass, Machine, MachineBuilder, Shape};
    use odonata_routing::algorithm::{
        DeadlockAvoidance, Decision, Discipline, Header, Hop, Needs, Routing, RoutingChoice, TorusSettings,
    };
    use odonata_routing::next_hop::NextHops;
    use odonata_units::{Bytes, GroupId, LinkClassId, NodeId, Rate, RouterId, Time};
    use std::sync::Arc;

    /// A ring of four routers with a node each.
    fn ring() -> Machine {
        let class = LinkClass {
            name: "local".into(),
            bandwidth: Rate::from_bits_per_s(200_000_000_000),
            latency: Time::from_ns(30),
            ports_per_router: None,
        };
        let mut builder = MachineBuilder {
            name: "ring".into(),
            shape: Shape::Graph,
            coordinates: Coordinates::default(),
            group_of: vec![GroupId(0); 4],
            classes: vec![class.clone()],
            terminal: LinkClass { name: "terminal".into(), ..class },
            cores_per_node: 1,
            ports: None,
            assumptions: Vec::new(),
            reading: Vec::new(),
            subnet: None,
            forwarding: ForwardingKind::default(),
            rails: Default::default(),
            node_router: (0..4).map(RouterId).collect(),
            node_up: vec![true; 4],
            before_edits: BeforeEdits::default(),
            storage: Vec::new(),
            node_names: Vec::new(),
            router_up: vec![true; 4],
            cables: Vec::new(),
        };
        (0..4).for_each(|r| builder.add_cables(RouterId(r), RouterId((r + 1) % 4), LinkClassId(0), 1));
        builder.build().unwrap()
    }

    /// Routes everything clockwise on one channel. The check before a run would refuse it.
    struct Clockwise {
        /// Port of each router to the next one.
        next: Vec<u16>,
    }

    impl Routing for Clockwise {
        fn virtual_channels(&self) -> u8 {
            1
        }

        fn discipline(&self) -> Discipline {
            Discipline::Increasing
        }

        fn decide(&self, decision: &mut Decision<'_>, _: &mut Header) -> Hop {
            Hop { port: self.next[decision.router.index()], vc: 0 }
        }
    }

    /// Dimension order with bubbles, but without their rule.
    struct NoBubble(Box<dyn Routing>);

    impl Routing for NoBubble {
        fn virtual_channels(&self) -> u8 {
            self.0.virtual_channels()
        }

        fn discipline(&self) -> Discipline {
            self.0.discipline()
        }

        fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
            self.0.decide(decision, packet)
        }
    }

    /// Tornado traffic on a ring of 8 with minimal buffers: it flows with bubbles and deadlocks without.
    #[test]
    fn a_ring_without_bubbles_deadlocks() {
        let torus = Torus { dims: vec![8], wrap: vec![true].into(), ..Torus::default() };
        let machine = torus.builder().unwrap().build().unwrap();
        let bubbles = TorusSettings { deadlock_avoidance: DeadlockAvoidance::Bubble };
        let choices = [RoutingChoice::with("dimension-order", bubbles), "torus-deterministic".parse()];
        let buffers =
            PacketSettings { input_buffer: Bytes(512), output_buffer: Bytes(1024), ..PacketSettings::study() };
        let messages = (0..8).map(|n| NodeMessage {
            source: NodeId(n),
            destination: NodeId((n + 3) % 8),
            bytes: Bytes(1 << 20),
            rounds: 1,
        });
        let traffic = Traffic::closed(vec![ClosedJob::new(messages.collect())]);
        let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(10_000), drain: Time::ZERO };
        let options = RunOptions { progress_timeout: Time::from_us(50), ..RunOptions::default() };
        let run = |routing: Arc<dyn Routing>| {
            let engine = PacketEngine::unchecked(&machine, &buffers, routing, Needs::LOAD);
            engine.run(&traffic, schedule, &options, &mut |_| true)
        };
        for choice in choices.map(Result::unwrap) {
            let routing = || choice.build(Arc::new(NextHops::new(&machine).unwrap())).unwrap();
            assert_eq!(run(Arc::from(routing())).ending, Ending::Complete);
            let stuck = run(Arc::new(NoBubble(routing())));
            assert_eq!(stuck.ending, Ending::NoProgress);
            // All eight routers, each waiting for the next.
            assert_eq!(stuck.stuck.len(), 8, "{:#?}", stuck.stuck);
        }
    }

    /// Each node sends to the one before it, three hops ahead. Two thirds of the packets at a router continue, but
    /// its own node gets half of the link. So the input buffers fill. When all are full, every router waits for the
    /// next.
    #[test]
    fn a_deadlocked_ring_reports_its_cycle() {
        let machine = ring();
        let next = machine.routers().map(|r| {
            let links = machine.links_from(r);
            let ahead = |l: &usize| machine.target(odonata_units::LinkId::from_index(*l)).0 == (r.0 + 1) % 4;
            (1 + links.clone().position(|l| ahead(&l)).expect("the ring goes on")) as u16
        });
        let routing = Arc::new(Clockwise { next: next.collect() });
        let settings =
            PacketSettings { input_buffer: Bytes(1024), output_buffer: Bytes(1024), ..PacketSettings::study() };
        let engine = PacketEngine::unchecked(&machine, &settings, routing, Needs::LOAD);
        let messages = (0..4).map(|n| NodeMessage {
            source: NodeId(n),
            destination: NodeId((n + 3) % 4),
            bytes: Bytes(1 << 20),
            rounds: 1,
        });
        let traffic = Traffic::closed(vec![ClosedJob::new(messages.collect())]);
        let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(10_000), drain: Time::ZERO };
        for (threads, partitions) in [(1, 0), (2, 0)] {
            let options =
                RunOptions { threads, partitions, progress_timeout: Time::from_us(50), ..RunOptions::default() };
            let result = engine.run(&traffic, schedule, &options, &mut |_| true);
            assert_eq!(result.ending, Ending::NoProgress);
            assert_eq!(result.stuck.len(), 4, "{:#?}", result.stuck);
            // The cycle starts anywhere and then follows the ring.
            let router = |line: &str| line["router ".len()..].split(':').next().and_then(|r| r.parse::<usize>().ok());
            let first = router(&result.stuck[0]).expect("a line starts with the router");
            for (i, line) in result.stuck.iter().enumerate() {
                let r = (first + i) % 4;
                // A packet from the previous router to the next one was created one or two routers before.
                let from = |source: usize| {
                    format!("router {r}: the packet from node {source} to node {} at input ", (source + 3) % 4)
                };
                assert!([(r + 3) % 4, (r + 2) % 4].into_iter().any(|n| line.starts_with(&from(n))), "{line}");
                assert!(line.contains("channel 0, waits for output"), "{line}");
            }
            let job = &result.jobs[0];
            assert!(job.injected_packets > job.packets, "the others are in flight");
        }
    }
}

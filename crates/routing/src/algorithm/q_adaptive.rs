//! Q-adaptive (Kang, Wang, Lan, HPDC 2021): every router learns from the feedback of its neighbours how long a packet
//! takes to its destination group through each port.
//!
//! A router has a two-level table: rows are (other group) x (slot of the source node), columns are network ports. An
//! entry is the estimated time in ns from the arrival here to the arrival in the destination *group*. It starts with
//! the latency of the link for a port with a direct global link, and with global + local latency for all others.
//!
//! A packet makes at most one detour:
//! 1. In the destination group: minimal.
//! 2. At the source router: `best` is the port with the smallest estimate, `min` the minimal port. Take `best` if it
//!    saves a share of at least `threshold_source`. Then, with probability `exploration`, take a uniformly random
//!    port instead.
//! 3. At a later router of the source group: minimal.
//! 4. At the first router of the first intermediate group: minimal if it has a link to the destination group.
//!    Otherwise a random local port if it saves at least `threshold_intermediate`; then exploration as in 2.
//! 5. Otherwise minimal.
//!
//! The virtual channel is the hop count: 5 channels if groups are fully connected inside. If paths have more hops
//! than channels are possible, it is the count of turns (`vc_counter.rs`).
//!
//! Feedback for the hop X -> Y has two values. r is the time from the arrival at X to the arrival at Y. e is the
//! smallest entry of the row at Y when Y decided (0 in the destination group). X computes delta = r + e - Q and
//! updates Q += rate * delta. The rate is `gain` if delta < 0 and `loss` otherwise, so that good news is believed
//! faster (hysteresis). Hops inside the destination group send no feedback. Entries are real numbers: whole
//! nanoseconds would lose every increase below 1/loss = 25 ns.

use super::crossing::needs_third_group;
use super::vc_counter::VcCounter;
use super::{
    any, Algorithm, Decision, Discipline, Engines, Feedback, Header, Hop, Machines, Memory, Needs, Refusal,
    RouterReport, Routing,
};
use crate::next_hop::{NextHops, Port};
use odonata_declare::{parameters, Kind};
use odonata_units::{GroupId, NodeId, RouterId};
use std::sync::Arc;

parameters! {
    /// Rates and thresholds.
    #[derive(PartialEq)]
    pub struct QSettings {
        /// File of learnt estimates to start from: `q_tables.parquet` of another run, or a CSV file with its columns.
        pub q_tables: Option<String> = None, Kind::Path, else "estimates of an idle machine";
        /// Learning rate of an estimate that decreases (alpha).
        pub gain: f32 = 0.2, Kind::SHARE;
        /// Learning rate of an estimate that increases (beta).
        pub loss: f32 = 0.04, Kind::SHARE;
        /// Probability of a random port (epsilon).
        pub exploration: f64 = 0.001, Kind::SHARE;
        // q_thld1 of the paper.
        /// Share that a detour from the source router must save.
        pub threshold_source: f32 = 0.2, Kind::SHARE;
        // q_thld2 of the paper.
        /// Share that a detour inside the intermediate group must save.
        pub threshold_intermediate: f32 = 0.35, Kind::SHARE;
    }
}

struct QAdaptive {
    hops: Arc<NextHops>,
    settings: QSettings,
    /// Most nodes at one router.
    slots: u32,
    counter: VcCounter,
    channels: u8,
    /// Longest latency of a local and of a global link.
    latencies_ns: (f32, f32),
}

pub(super) const Q_ADAPTIVE: Algorithm = Algorithm {
    name: "q-adaptive",
    doc: "learns the time to the destination group for every port; at most one detour",
    machines: Machines::Groups,
    needs: Needs { reports: true, estimates: true, ..Needs::TABLES },
    engines: &Engines::hops(build),
};

fn build(hops: Arc<NextHops>, settings: &QSettings) -> Result<Box<dyn Routing>, Refusal> {
    needs_third_group(&hops)?;
    let slots = (0..hops.routers()).map(|r| u32::from(hops.node_ports(RouterId(r)))).max().unwrap_or(1).max(1);
    // Longest path: two chosen hops (global and local, or global and global), then local paths on both sides of a
    // last global hop. If minimal paths pass through intermediate groups, the last part is the longest such path, and
    // the second choice comes only in the first of these groups.
    let inside = u32::from(hops.max_local_distance());
    let to_intermediate = if hops.crosses_groups() { inside + 1 } else { 0 };
    let counter = VcCounter::of(&hops);
    let channels = counter.channels(2 + to_intermediate + hops.max_distance_to_group().max(inside + 1) + inside);
    let latencies_ns = hops.longest_latencies_ns();
    Ok(Box::new(QAdaptive { hops, settings: settings.clone(), slots, counter, channels, latencies_ns }))
}

/// Flag in `state.phase`: the packet has used its choice in an intermediate group.
const CHOSE_IN_INTERMEDIATE: u8 = 1;

impl QAdaptive {
    /// Row of the table for a router in group `own`.
    fn row(&self, own: GroupId, source: NodeId, destination: GroupId) -> usize {
        let group = destination.0 - u32::from(destination.0 > own.0);
        (group * self.slots + u32::from(self.hops.slot_of(source)) % self.slots) as usize
    }

    /// Initial estimate of `port` towards another group.
    fn initial(&self, at: RouterId, port: Port, group: GroupId) -> f32 {
        let (local_ns, global_ns) = self.latencies_ns;
        if self.hops.group_of(self.hops.neighbour(at, port)) == group {
            self.hops.latency_ns(at, port)
        } else {
            global_ns + local_ns
        }
    }

    /// The estimate of `port`, from the row or, if that was not updated, the initial one.
    fn estimate(&self, at: RouterId, known: Option<&[f32]>, port: Port, group: GroupId) -> f32 {
        match known {
            Some(values) => values[usize::from(port - self.hops.node_ports(at))],
            None => self.initial(at, port, group),
        }
    }

    /// [`Self::least`] of an initial row: the direct port with the lowest latency, or else the first port, because
    /// all are equal.
    fn least_initial(&self, at: RouterId, group: GroupId) -> (usize, f32) {
        let first = self.hops.node_ports(at);
        let direct = |port: &Port| self.hops.group_of(self.hops.neighbour(at, *port)) == group;
        let ports = self.hops.ports_to_group(at, group).iter().copied().filter(direct);
        let direct =
            ports.map(|port| (self.hops.latency_ns(at, port), port)).min_by(|a, b| a.partial_cmp(b).expect("a time"));
        let others = self.latencies_ns.0 + self.latencies_ns.1;
        match direct {
            Some((latency, port)) if latency < others => (usize::from(port - first), latency),
            Some(_) => {
                let ports = first..first + self.hops.link_ports(at);
                let values: Vec<f32> = ports.map(|port| self.initial(at, port, group)).collect();
                Self::least(&values)
            }
            None => (0, others),
        }
    }

    /// The column of the smallest value (the first of several) and the value.
    fn least(values: &[f32]) -> (usize, f32) {
        let mut best = (0, values[0]);
        for (i, &value) in values.iter().enumerate().skip(1) {
            if value < best.1 {
                best = (i, value);
            }
        }
        best
    }

    fn hop(&self, at: RouterId, port: Port, packet: &mut Header) -> Hop {
        Hop { port, vc: self.counter.channel(at, self.hops.neighbour(at, port), &mut packet.state) }
    }

    fn explore(&self, decision: &mut Decision<'_>, port: Port) -> Port {
        if !decision.random.chance(self.settings.exploration) {
            return port;
        }
        let ports = self.hops.link_ports(decision.router);
        self.hops.node_ports(decision.router) + decision.random.below(u64::from(ports)) as Port
    }

    /// A uniformly random port to another router of the group, if there is one.
    fn random_local(&self, decision: &mut Decision<'_>) -> Option<Port> {
        let at = decision.router;
        let first = self.hops.node_ports(at);
        let is_local = |p: &Port| self.hops.group_of(self.hops.neighbour(at, *p)) == self.hops.group_of(at);
        let count = (first..first + self.hops.link_ports(at)).filter(is_local).count();
        if count == 0 {
            return None;
        }
        let chosen = decision.random.index(count);
        (first..first + self.hops.link_ports(at)).filter(is_local).nth(chosen)
    }

    /// The port of a packet outside its destination group.
    fn port(&self, decision: &mut Decision<'_>, packet: &mut Header, row: usize, best: usize) -> Port {
        let at = decision.router;
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(self.hops.router_of(packet.destination)));
        let first = self.hops.node_ports(at);
        let minimal = any(self.hops.ports_to_group(at, target), decision.random);
        let saves = |other: Port, memory: &Memory| {
            let known = memory.row(row);
            let q = |port: Port| self.estimate(at, known, port, target);
            (q(minimal) - q(other)) / q(minimal)
        };
        if packet.state.hops == 0 {
            let best = first + best as Port;
            let port = if saves(best, decision.memory) < self.settings.threshold_source { minimal } else { best };
            return self.explore(decision, port);
        }
        let entered = packet.state.via != here.0;
        let in_source = here == self.hops.group_of(self.hops.router_of(packet.source));
        let direct = self.hops.group_of(self.hops.neighbour(at, minimal)) == target;
        if in_source || !entered || packet.state.phase & CHOSE_IN_INTERMEDIATE != 0 || direct {
            return minimal;
        }
        packet.state.phase |= CHOSE_IN_INTERMEDIATE;
        let port = match self.random_local(decision) {
            Some(other) if saves(other, decision.memory) >= self.settings.threshold_intermediate => other,
            _ => minimal,
        };
        self.explore(decision, port)
    }
}

impl Routing for QAdaptive {
    fn virtual_channels(&self) -> u8 {
        self.channels
    }

    fn discipline(&self) -> Discipline {
        Discipline::Increasing
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(to));
        if here == target {
            self.report_arrival(decision, packet);
            packet.state.via = here.0;
            return self.hop(at, any(self.hops.local_ports(at, to), decision.random), packet);
        }
        let row = self.row(here, packet.source, target);
        let known = decision.memory.row(row);
        let (best, estimate_ns) = known.map_or_else(|| self.least_initial(at, target), Self::least);
        decision.report = Some(RouterReport { estimate_ns, note: 0 });
        let port = self.port(decision, packet, row, best);
        packet.state.via = here.0;
        if !self.hops.ports_to_group(at, target).contains(&port) {
            packet.state.path_kind.mark_non_minimal();
        }
        self.hop(at, port, packet)
    }

    fn memory(&self, router: RouterId) -> Memory {
        let rows = (self.hops.groups() as usize - 1) * self.slots as usize;
        Memory::new(rows, usize::from(self.hops.link_ports(router)))
    }

    fn estimates(&self, router: RouterId, memory: &Memory) -> Vec<f32> {
        let own = self.hops.group_of(router);
        memory.all(|row, column| {
            let group = row as u32 / self.slots;
            let group = GroupId(group + u32::from(group >= own.0));
            self.initial(router, self.hops.node_ports(router) + column as Port, group)
        })
    }

    fn learn(&self, router: RouterId, memory: &mut Memory, port: Port, feedback: &Feedback) -> Option<f32> {
        let target = self.hops.group_of(self.hops.router_of(feedback.destination));
        let row = self.row(self.hops.group_of(router), feedback.source, target);
        let column = usize::from(port - self.hops.node_ports(router));
        let first = self.hops.node_ports(router);
        let row = memory.row_mut(row, |column| self.initial(router, first + column as Port, target));
        let value = &mut row[column];
        let delta = feedback.elapsed_ns + feedback.estimate_ns - *value;
        *value += if delta < 0.0 { self.settings.gain } else { self.settings.loss } * delta;
        memory.updates += 1;
        memory.error_ns += f64::from(delta.abs());
        Some(delta.abs())
    }

    /// The previous router learns from a hop into the destination group, but not from hops inside it.
    fn report_arrival(&self, decision: &mut Decision<'_>, packet: &Header) {
        let came_in = packet.state.hops > 0 && packet.state.via != self.hops.group_of(decision.router).0;
        decision.report = came_in.then_some(RouterReport { estimate_ns: 0.0, note: 0 });
    }
}

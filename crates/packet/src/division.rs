//! Division of the line of routers into partitions.
//!
//! A window is as long as the shortest cable between partitions. Therefore the division cuts the longest latency that
//! still gives enough parts; shorter cables stay inside a part. A part has about the requested number of ports, and
//! enough of them to send some packets in a window. So shorter windows need larger parts, and a cable without latency
//! is never cut. Cuts lie between groups if possible, else where few cables cross: at slabs and rods of a torus. All
//! NICs of a node are in one part.

use crate::fabric::Fabric;
use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges of the line of routers, one per partition.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// End of each range, ascending.
    ends: Vec<u32>,
    /// Latency of the shortest cable between two partitions; `None` if there is none.
    pub(crate) lookahead: Option<u64>,
}

/// Target number of partitions. Fewer leave threads without work, more cost windows. It does not depend on the number
/// of threads, because the number of events depends slightly on the cuts.
const PARTS_TARGET: u64 = 32;

/// The largest part may be 1/8 of the machine before shorter cables are cut: it limits the speed-up of threads to 8.
const LARGEST_SHARE: u64 = 8;

/// Maximum number of partitions. Each pair of a thread and a partition has a mailbox.
const PARTS_MAX: u64 = 4_096;

/// Maximum ports of a partition in machines with fewer than [`PARTS_MAX`] partitions. A port has 0.5 kB, so the state
/// of a partition stays in the second-level cache for a window.
const PORTS_MAX: u64 = 2_048;

/// Minimum ports of a partition. Smaller parts only add windows.
const PORTS_MIN: u64 = 64;

/// Cost of one cable per port. Costs are rounded to integers; a larger scale loses less.
const SCALE: u128 = 1_000;

/// Packets that the ports of a partition can send in a window, at least. The fewer, the larger is the share of a
/// window's own cost.
const PACKETS_PER_WINDOW: u64 = 32;

impl Division {
    /// Divides the routers into `wanted` parts, or into a suitable number if that is 0.
    pub(crate) fn new(fabric: &Fabric, wanted: usize) -> Self {
        let line = RouterLine::new(fabric);
        let ports = fabric.ports() as u64;
        let (size, evenly) = match wanted as u64 {
            0 => ((ports / PARTS_TARGET).clamp(PORTS_MIN, PORTS_MAX), ports / LARGEST_SHARE),
            wanted => (ports / wanted, 0),
        };
        let packet_time = fabric.full_time.iter().copied().min().unwrap_or(1);
        let divisions: Vec<Self> = line
            .latencies()
            .map(|shortest| {
                let busy = PACKETS_PER_WINDOW.saturating_mul(packet_time).div_ceil(shortest);
                line.divide(shortest, size.max(busy).max(ports / PARTS_MAX).max(1))
            })
            .collect();
        let best = divisions.iter().map(|division| division.ports_max(fabric)).min().unwrap_or(ports);
        let enough = evenly.max(best + best / 3);
        let longest = divisions.into_iter().find(|division| division.ports_max(fabric) <= enough);
        longest.unwrap_or(Self { ends: vec![fabric.routers() as u32], lookahead: None })
    }

    /// The routers of each partition.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    /// Divides the partitions, in order, among processes with about equal numbers of ports.
    pub(crate) fn split(&self, processes: usize, fabric: &Fabric) -> Vec<Range<usize>> {
        let mut before = vec![0];
        for routers in self.ranges() {
            before.push(before[before.len() - 1] + fabric.ports_of(&routers).len());
        }
        let ports = before[before.len() - 1];
        let cut = |process: usize| {
            if process == processes {
                // Also partitions without ports.
                return before.len() - 1;
            }
            let ideal = ports * process / processes;
            (0..before.len()).min_by_key(|&cut| before[cut].abs_diff(ideal)).expect("there is a first partition")
        };
        (0..processes).map(|process| cut(process)..cut(process + 1)).collect()
    }

    /// Partition of a router.
    pub(crate) fn part_of(&self, router: u32) -> usize {
        self.ends.partition_point(|&end| end <= router)
    }

    /// Ports of the largest partition.
    fn ports_max(&self, fabric: &Fabric) -> u64 {
        self.ranges().map(|routers| fabric.ports_of(&routers).len() as u64).max().unwrap_or(0)
    }
}

/// The line of routers. A cut has the number of the router after it.
struct RouterLine<'a> {
    fabric: &'a Fabric,
    /// Latency of the shortest cable across each cut; `u64::MAX` if there is none.
    shortest: Vec<u64>,
}

impl<'a> RouterLine<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        let routers = fabric.routers();
        let mut cables = Vec::new();
        for port in (0..fabric.ports() as u32).filter(|&port| !fabric.is_node_port(port)) {
            let peer = fabric.peer[port as usize];
            let (here, there) = (fabric.port_router[port as usize], fabric.port_router[peer as usize]);
            if here < there {
                cables.push((fabric.cable[port as usize], here, there));
            }
        }
        if fabric.rails > 1 {
            // All NICs of a node are in one part, so that their events reach the node in order of time.
            for first in (0..fabric.hosts()).map(|host| fabric.node_nic[host as usize]) {
                let router = |nic: u32| fabric.port_router[fabric.nic_port[nic as usize] as usize];
                let routers = || fabric.host_nics(first).map(router);
                let (here, there) = (routers().min().unwrap_or(0), routers().max().unwrap_or(0));
                cables.extend((here < there).then_some((0, here, there)));
            }
        }
        // The shortest cable that crosses a cut is its latency. `next` skips cuts that have one.
        cables.sort_unstable();
        let mut shortest = vec![u64::MAX; routers + 1];
        let mut next: Vec<u32> = (0..=routers as u32).collect();
        for (latency, here, there) in cables {
            let mut cut = find(&mut next, here + 1);
            while cut <= there {
                shortest[cut as usize] = latency;
                next[cut as usize] = cut + 1;
                cut = find(&mut next, cut);
            }
        }
        Self { fabric, shortest }
    }

    /// Candidate latencies for cuts, longest first: the shortest of each octave.
    fn latencies(&self) -> impl Iterator<Item = u64> {
        let mut octaves = BTreeMap::new();
        let routers = self.fabric.routers();
        for &latency in self.shortest[..routers].iter().skip(1).filter(|&&latency| latency > 0) {
            let least = octaves.entry(latency.ilog2()).or_insert(latency);
            *least = latency.min(*least);
        }
        octaves.into_values().rev()
    }

    /// Divides into parts of about `size` ports, without a cut through a cable shorter than `shortest`.
    fn divide(&self, shortest: u64, size: u64) -> Division {
        let routers = self.fabric.routers() as u32;
        let (mut ends, mut first, mut lookahead) = (Vec::new(), 0, u64::MAX);
        loop {
            let rest = self.ports(first, routers);
            let parts = (rest + size / 2) / size;
            if parts <= 1 {
                break;
            }
            let Some(cut) = self.best_cut(first, rest / parts, shortest) else { break };
            lookahead = lookahead.min(self.shortest[cut as usize]);
            ends.push(cut);
            first = cut;
        }
        ends.push(routers);
        Division { ends, lookahead: (lookahead < u64::MAX).then_some(lookahead) }
    }

    /// The cut that ends a part of about `size` ports from router `first` on.
    fn best_cut(&self, first: u32, size: u64, shortest: u64) -> Option<u32> {
        let may = |cut: &u32| self.shortest[*cut as usize] >= shortest;
        let off = |cut: u32| self.ports(first, cut).abs_diff(size);
        let (low, high) = (self.after(first, size / 2), self.after(first, 2 * size + 1));
        let groups = &self.fabric.first_of_group;
        let groups = &groups[groups.partition_point(|&g| g < low)..groups.partition_point(|&g| g < high)];
        if let Some(border) = groups.iter().copied().filter(may).min_by_key(|&cut| off(cut)) {
            return Some(border);
        }
        let near = self.after(first, size - size / 4)..self.after(first, size + size / 4 + 1);
        // Leaving cables per port, times the deviation of the part from its size.
        let cost = |(cut, leaving)| {
            u128::from(leaving) * u128::from(size + off(cut)) * SCALE / u128::from(self.ports(first, cut).max(1))
        };
        let cheapest = self.leaving(first, near).filter(|(cut, _)| may(cut)).min_by_key(|&end| cost(end));
        cheapest.map(|(cut, _)| cut).or_else(|| {
            let near_size = self.after(first, size);
            let (before, after) = ((first + 1..near_size).rev().find(may), (near_size..self.end()).find(may));
            before.into_iter().chain(after).min_by_key(|&cut| off(cut))
        })
    }

    /// Number of cables that leave the part from router `first` on, for each cut in `near`.
    fn leaving(&self, first: u32, near: Range<u32>) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut leaving = 0;
        let from = near.start;
        let cuts = (first + 1..near.end).map(move |cut| {
            let last = cut - 1;
            for port in self.fabric.ports_of(&(last..cut)).filter(|&port| !self.fabric.is_node_port(port)) {
                let other = self.fabric.port_router[self.fabric.peer[port as usize] as usize];
                leaving = if (first..last).contains(&other) { leaving - 1 } else { leaving + 1 };
            }
            (cut, leaving)
        });
        cuts.filter(move |&(cut, _)| cut >= from)
    }

    /// Ports of the routers from `first` to `end`.
    fn ports(&self, first: u32, end: u32) -> u64 {
        u64::from(self.fabric.first_port[end as usize] - self.fabric.first_port[first as usize])
    }

    /// First cut after router `first` with at least `ports` ports between them, or the end.
    fn after(&self, first: u32, ports: u64) -> u32 {
        let until = u64::from(self.fabric.first_port[first as usize]) + ports;
        let cut = self.fabric.first_port.partition_point(|&before| u64::from(before) < until) as u32;
        cut.clamp(first + 1, self.end())
    }

    /// End of the line, which needs no cut.
    fn end(&self) -> u32 {
        self.fabric.routers() as u32
    }
}

/// First cut from `cut` on without a cable.
fn find(next: &mut [u32], cut: u32) -> u32 {
    let mut root = cut;
    while next[root as usize] != root {
        root = next[root as usize];
    }
    let mut at = cut;
    while at != root {
        at = std::mem::replace(&mut next[at as usize], root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::PacketSettings;
    use odonata_machine::topology::{FatTree, LinkFigures, Torus};
    use odonata_machine::{presets, LinkClass, MachineBuilder};
    use odonata_units::{LinkClassId, RouterId, Stream, Time};

    fn fabric(builder: MachineBuilder) -> Fabric {
        Fabric::new(&builder.build().unwrap(), &PacketSettings::study())
    }

    fn routers(division: &Division) -> Vec<Range<u32>> {
        division.ranges().collect()
    }

    /// Groups of 8 routers with 15 ports; global cables of 300 ns.
    #[test]
    fn groups_of_a_dragonfly_are_partitions() {
        let fabric = fabric(presets::builder("dragonfly-1056").unwrap());
        let division = Division::new(&fabric, 0);
        assert_eq!(routers(&division), (0..33).map(|g| 8 * g..8 * g + 8).collect::<Vec<_>>());
        assert_eq!(division.lookahead, Some(300_000));
    }

    /// 1,024 routers with 7 ports: 224 ports for each of 32 parts are 32 routers, two rods of the last dimension. Any
    /// other cut would divide a rod.
    #[test]
    fn slabs_of_a_torus_are_partitions() {
        let torus = Torus { dims: vec![8, 8, 16], wrap: vec![true; 3].into(), ..Torus::default() };
        let division = Division::new(&fabric(torus.builder().unwrap()), 0);
        assert_eq!(routers(&division), (0..32).map(|slab| 32 * slab..32 * slab + 32).collect::<Vec<_>>());
        let halves = Division::new(&fabric(torus.builder().unwrap()), 2);
        assert_eq!(routers(&halves), [0..512, 512..1024]);
    }

    /// Pods of 8 edge and 8 aggregation routers, which the machine numbers separately, and the core in parts of the
    /// same size.
    #[test]
    fn pods_of_a_fat_tree_are_partitions() {
        let fabric = fabric(FatTree::default().builder().unwrap());
        let division = Division::new(&fabric, 0);
        let parts = routers(&division);
        for (pod, part) in (0..16).zip(&parts) {
            let found: Vec<u32> = part.clone().map(|router| fabric.line[router as usize].0).collect();
            let edge_and_aggregation = (8 * pod..8 * pod + 8).chain(128 + 8 * pod..128 + 8 * pod + 8);
            assert_eq!(found, edge_and_aggregation.collect::<Vec<_>>());
        }
        assert!(parts[16..].iter().all(|part| part.len() <= 16), "{parts:?}");
    }

    /// The cut between two groups would leave threads without work, so shorter cables are cut, too.
    #[test]
    fn a_machine_of_two_groups_has_enough_parts() {
        let division = Division::new(&fabric(presets::builder("eos").unwrap()), 0);
        assert!(routers(&division).len() >= 8, "{division:?}");
    }

    /// A ring of `routers` with chords and latencies of 0, 7 ns or 100 ns, drawn at random.
    fn random(routers: u32, seed: u64) -> MachineBuilder {
        let mut random = Stream::new(seed, "test", &[]);
        let mut builder = Torus { dims: vec![1], wrap: vec![false].into(), ..Torus::default() }.builder().unwrap();
        let local = LinkFigures::new(25_000_000_000, 0);
        let class = |ns: u64| LinkClass {
            name: format!("{ns} ns"),
            bandwidth: local.bandwidth,
            latency: Time::from_ns(ns),
            ports_per_router: None,
        };
        builder.classes = vec![class(0), class(7), class(100)];
        builder.shape = odonata_machine::Shape::Graph;
        builder.coordinates = odonata_machine::Coordinates::default();
        builder.group_of = vec![odonata_units::GroupId(0); routers as usize];
        builder.router_up = vec![true; routers as usize];
        builder.node_router = (0..routers).map(RouterId).collect();
        builder.node_up = vec![true; routers as usize];
        builder.terminal.ports_per_router = None;
        for router in 0..routers {
            let far = random.below(u64::from(routers - 1)) as u32;
            let chord = if random.chance(0.2) { (router + 1 + far) % routers } else { (router + 2) % routers };
            for other in [(router + 1) % routers, chord] {
                let class = [2, 1, 1, 0][random.index(4)];
                builder.add_cables(RouterId(router), RouterId(other), LinkClassId(class), 1);
            }
        }
        builder
    }

    #[test]
    fn no_cable_without_latency_is_cut() {
        let mut cut = 0;
        for seed in 0..40 {
            let fabric = fabric(random(60, seed));
            for wanted in [0, 1, 2, 7, 30] {
                let division = Division::new(&fabric, wanted);
                assert_eq!(division.ranges().map(|routers| routers.len()).sum::<usize>(), 60);
                let between = (0..fabric.ports() as u32).filter(|&port| !fabric.is_node_port(port)).filter(|&port| {
                    let part = |port: u32| division.part_of(fabric.port_router[port as usize]);
                    part(port) != part(fabric.peer[port as usize])
                });
                let shortest = between.map(|port| fabric.cable[port as usize]).min();
                assert_eq!(division.lookahead, shortest, "seed {seed}, {division:?}");
                assert_ne!(shortest, Some(0), "seed {seed}, {division:?}");
                cut += usize::from(shortest.is_some());
            }
        }
        assert!(cut > 20, "{cut} of 200 machines were cut at all");
    }

    #[test]
    fn a_machine_without_latencies_is_one_partition() {
        let figures = LinkFigures::new(25_000_000_000, 0);
        let torus = Torus { dims: vec![4, 4], wrap: vec![true; 2].into(), local: figures, ..Torus::default() };
        let division = Division::new(&fabric(torus.builder().unwrap()), 0);
        assert_eq!((division.ranges().count(), division.lookahead), (1, None));
    }
}

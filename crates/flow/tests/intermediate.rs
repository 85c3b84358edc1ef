//! Intermediate groups of indirect paths against a count of every draw, on machines of six groups. The twin of the
//! path rules is plain: it has no tables, random numbers or closed forms. Its loads are the exact expectation of the
//! rule.

use odonata_flow::{run, FlowSettings, ResourceLimits};
use odonata_import::CommunicationGraph;
use odonata_machine::topology::{Cascade, Dragonfly};
use odonata_machine::Machine;
use odonata_routing::algorithm::PathChoice;
use odonata_routing::paths::{Intermediate, Oblivious};
use odonata_units::{Bytes, LinkId, NodeId, RankId, Rate, RouterId};
use odonata_workload::{FilePatternParameters, Job, Workload};
use std::sync::Arc;

fn machines() -> Vec<Machine> {
    let cascade = Cascade { groups: 6, rows: 2, columns: 4, nodes_per_router: 2, ..Cascade::default() };
    let dragonfly = Dragonfly { p: 2, a: 4, h: 3, g: 6, ..Dragonfly::default() };
    vec![cascade.builder().unwrap().build().unwrap(), dragonfly.builder().unwrap().build().unwrap()]
}

/// Traffic from one router to another.
type SentBytes = (RouterId, RouterId, u64);

/// Three jobs with scattered ranks: near and far neighbours in rank order, and messages of three sizes.
fn workload(machine: &Machine) -> (Workload, Vec<SentBytes>) {
    let nodes = machine.node_count() as u32;
    let ranks = nodes / 4;
    // Coprime to the 12 or 24 ranks.
    let order = [5, 7, 11];
    let mut sent = Vec::new();
    let mut job = |(j, steps): (u32, &[u32])| {
        let message = |rank: u32, step: &u32| {
            (RankId(rank), RankId((rank + step) % ranks), Bytes(1000 * u64::from(1 + step % 3)))
        };
        let messages: Vec<_> = (0..ranks).flat_map(|r| steps.iter().map(move |s| message(r, s))).collect();
        // Every 4th node, in another order for each job.
        let node_of_rank: Vec<_> = (0..ranks).map(|r| NodeId(4 * (r * order[j as usize] % ranks) + j)).collect();
        let router = |rank: RankId| machine.router_of(node_of_rank[rank.index()]);
        sent.extend(messages.iter().map(|&(s, t, bytes)| (router(s), router(t), bytes.0)));
        let name = format!("job{j}");
        Job {
            traffic: Default::default(),
            color: "#000000".into(),
            idle: false,
            ranks,
            ranks_per_node: 1,
            pattern: Arc::new(CommunicationGraph::from_messages(&name, ranks, &messages).unwrap()),
            rule: Some(Arc::new(FilePatternParameters::default())),
            program: None,
            graph: None,
            examined: Default::default(),
            iterations: 1,
            rails: Default::default(),
            node_of_rank,
            pattern_name: "file".into(),
            placement_name: "list".into(),
            name,
        }
    };
    let steps: [&[u32]; 3] = [&[1], &[1, 2, 5, 7], &[3, 4, 8]];
    let workload = Workload { jobs: (0..).zip(steps).map(&mut job).collect() };
    (workload, sent)
}

/// The rules of `docs/models/flow.md`, literally.
struct Twin<'m> {
    machine: &'m Machine,
    via: Intermediate,
    loads: Vec<f64>,
}

impl Twin<'_> {
    fn links(&self, from: RouterId, to: RouterId) -> Vec<LinkId> {
        let all = self.machine.links();
        all.filter(|&l| self.machine.source(l) == from && self.machine.target(l) == to).collect()
    }

    fn group(&self, of: RouterId) -> Vec<RouterId> {
        self.machine.routers().filter(|&r| self.machine.group_of(r) == self.machine.group_of(of)).collect()
    }

    fn over(&mut self, links: &[LinkId], amount: f64) {
        links.iter().for_each(|l| self.loads[l.index()] += amount / links.len() as f64);
    }

    /// One hop, or two. Each first link to a neighbour of the end is equally likely.
    fn leg(&mut self, from: RouterId, to: RouterId, amount: f64) {
        if from == to {
            return;
        }
        let straight = self.links(from, to);
        if !straight.is_empty() {
            return self.over(&straight, amount);
        }
        let via: Vec<RouterId> =
            self.group(from).into_iter().filter(|&v| !self.links(v, to).is_empty() && v != from).collect();
        let first: Vec<LinkId> = via.iter().flat_map(|&v| self.links(from, v)).collect();
        self.over(&first, amount);
        for link in &first {
            let second = self.links(self.machine.target(*link), to);
            self.over(&second, amount / first.len() as f64);
        }
    }

    fn direct(&mut self, from: RouterId, to: RouterId, amount: f64) {
        let (here, there) = (self.group(from), self.group(to));
        if here == there {
            return self.leg(from, to, amount);
        }
        let cables = |g: &RouterId| -> Vec<LinkId> { there.iter().flat_map(|&t| self.links(*g, t)).collect() };
        let gateways: Vec<(RouterId, Vec<LinkId>)> =
            here.iter().map(|g| (*g, cables(g))).filter(|(_, links)| !links.is_empty()).collect();
        let share = amount / gateways.len() as f64;
        for (gateway, links) in &gateways {
            self.leg(from, *gateway, share);
            self.over(links, share);
            for link in links {
                self.leg(self.machine.target(*link), to, share / links.len() as f64);
            }
        }
    }

    fn through(&mut self, from: RouterId, via: RouterId, to: RouterId, amount: f64) {
        self.direct(from, via, amount);
        self.direct(via, to, amount);
    }

    fn indirect(&mut self, from: RouterId, to: RouterId, amount: f64) {
        let (here, there) = (self.group(from), self.group(to));
        if here == there {
            let may = |m: &RouterId| self.via == Intermediate::Any || (*m != from && *m != to);
            let candidates: Vec<RouterId> = here.into_iter().filter(may).collect();
            candidates.iter().for_each(|&m| self.through(from, m, to, amount / candidates.len() as f64));
            return;
        }
        let groups: Vec<Vec<RouterId>> = (0..6).map(|g| self.group(RouterId(g * here.len() as u32))).collect();
        let own = |group: &Vec<RouterId>| *group == here || *group == there;
        let drawn: Vec<_> = groups.iter().filter(|g| self.via == Intermediate::Any || !own(g)).collect();
        let share = amount / drawn.len() as f64;
        for group in &drawn {
            if own(group) {
                self.direct(from, to, share);
            } else {
                group.iter().for_each(|&m| self.through(from, m, to, share / group.len() as f64));
            }
        }
    }
}

/// Expected bytes on every link, with one part of each message on direct and the rest on indirect paths.
fn expected(machine: &Machine, sent: &[SentBytes], via: Intermediate, direct: f64) -> Vec<f64> {
    let mut twin = Twin { machine, via, loads: vec![0.0; machine.link_count()] };
    for &(from, to, bytes) in sent.iter().filter(|(from, to, _)| from != to) {
        twin.direct(from, to, direct * bytes as f64);
        twin.indirect(from, to, (1.0 - direct) * bytes as f64);
    }
    twin.loads
}

fn computed(machine: &Machine, workload: &Workload, via: Intermediate, routing: PathChoice) -> Vec<f64> {
    // NICs far narrower than links, so the residuals of paths are nearly equal.
    let nic_capacity = Some(Rate::from_bytes_per_s(1 << 20));
    let settings = FlowSettings { routing, intermediate: via, nic_capacity, ..FlowSettings::damselfly() };
    run(machine, workload, &settings, 1, ResourceLimits::default(), &mut |_, _, _| true).unwrap().link_bytes
}

fn by_class(machine: &Machine, loads: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; machine.classes().len()];
    machine.links().for_each(|l| sums[machine.class(l).index()] += loads[l.index()]);
    sums
}

#[test]
fn the_preset_of_the_original_goes_through_any_group() {
    assert_eq!(FlowSettings::damselfly().intermediate, Intermediate::Any);
    assert_eq!(FlowSettings::default().intermediate, Intermediate::Third);
}

/// The exact expectation, link by link.
#[test]
fn static_indirect_is_every_draw_counted() {
    for machine in machines() {
        let (workload, sent) = workload(&machine);
        for via in [Intermediate::Any, Intermediate::Third] {
            let expected = expected(&machine, &sent, via, 0.0);
            let computed = computed(&machine, &workload, via, PathChoice::Fixed(Oblivious::Indirect));
            for (link, (a, b)) in expected.iter().zip(&computed).enumerate() {
                assert!((a - b).abs() <= 1e-6 * a.max(1.0), "{via:?}, link {link}: {a} counted, {b} computed");
            }
        }
    }
}

/// Adaptive routings draw the same paths and weigh them by residual. Totals by class stay near the expectation, much
/// nearer than the two rules are to each other.
#[test]
fn adaptive_totals_equal_the_count_of_every_draw() {
    for machine in machines() {
        let (workload, sent) = workload(&machine);
        for (routing, direct) in [(PathChoice::AdaptiveIndirect, 0.0), (PathChoice::AdaptiveHybrid, 0.5)] {
            let totals = |via| by_class(&machine, &expected(&machine, &sent, via, direct));
            let (any, third) = (totals(Intermediate::Any), totals(Intermediate::Third));
            for (via, expected) in [(Intermediate::Any, &any), (Intermediate::Third, &third)] {
                let computed = by_class(&machine, &computed(&machine, &workload, via, routing.clone()));
                for (class, (a, b)) in expected.iter().zip(&computed).enumerate() {
                    assert!(
                        (a - b).abs() <= 0.01 * a,
                        "{routing:?}, {via:?}, class {class}: {a} counted, {b} computed"
                    );
                }
            }
            let more: Vec<f64> = any.iter().zip(&third).map(|(a, b)| b / a - 1.0).collect();
            assert!(more.iter().all(|&m| m > 0.1), "{routing:?}: third groups are longer paths: {more:?}");
        }
    }
}

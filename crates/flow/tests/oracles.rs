//! The flow engine against hand-solved results. Each test contains its derivation.

use odonata_flow::{run, DemandUnit, FlowResult, FlowSettings, ResourceLimits};
use odonata_import::CommunicationGraph;
use odonata_machine::topology::{Dragonfly, FatTree, LinkFigures, Torus};
use odonata_machine::Machine;
use odonata_routing::algorithm::{Algorithm, PathChoice};
use odonata_routing::paths::Oblivious;
use odonata_units::{Bytes, NodeId, RankId, Rate, RouterId};
use odonata_workload::{FilePatternParameters, Job, Workload};
use std::sync::Arc;

const GB: f64 = 1e9;

/// Routers in a row with one node each; links of 1 GB/s, NICs of `nic` GB/s.
fn row(routers: u32, nic: u64) -> Machine {
    let torus = Torus {
        dims: vec![routers],
        wrap: vec![false].into(),
        local: LinkFigures::new(1_000_000_000, 30),
        terminal: LinkFigures::new(nic * 1_000_000_000, 10),
        ..Torus::default()
    };
    torus.builder().unwrap().build().unwrap()
}

/// A job with rank r on node r.
fn job(name: &str, ranks: u32, messages: &[(u32, u32, u64)]) -> Job {
    let messages: Vec<_> = messages.iter().map(|&(s, t, b)| (RankId(s), RankId(t), Bytes(b))).collect();
    Job {
        traffic: Default::default(),
        name: name.into(),
        color: "#000000".into(),
        idle: false,
        ranks,
        ranks_per_node: 1,
        pattern: Arc::new(CommunicationGraph::from_messages(name, ranks, &messages).unwrap()),
        rule: Some(Arc::new(FilePatternParameters::default())),
        program: None,
        graph: None,
        examined: Default::default(),
        iterations: 1,
        rails: Default::default(),
        node_of_rank: (0..ranks).map(NodeId).collect(),
        pattern_name: "file".into(),
        placement_name: "list".into(),
    }
}

fn solve(machine: &Machine, jobs: Vec<Job>, settings: &FlowSettings) -> FlowResult {
    run(machine, &Workload { jobs }, settings, 1, ResourceLimits::default(), &mut |_, _, _| true).unwrap()
}

fn direct() -> FlowSettings {
    FlowSettings { routing: PathChoice::AdaptiveDirect, tolerance: 0.0, ..FlowSettings::default() }
}

/// Hops of a byte of the first job.
fn byte_hops_mean(result: &FlowResult) -> f64 {
    result.jobs[0].link_bytes / result.jobs[0].volumes.bytes() as f64
}

fn assert_close(value: f64, expected: f64, relative: f64) {
    assert!((value - expected).abs() <= relative * expected.abs(), "{value}, expected {expected}");
}

/// Row of three. A: 0 -> 2, B: 0 -> 1, C: 1 -> 2, one message each, 1 GB/s links, wide NICs. Both links carry two
/// messages, so each message gets half of a link: 0.5 GB/s.
#[test]
fn two_links_shared_evenly() {
    let jobs = vec![job("a", 3, &[(0, 2, 1000)]), job("b", 3, &[(0, 1, 1000)]), job("c", 3, &[(1, 2, 1000)])];
    let result = solve(&row(3, 100), jobs, &FlowSettings { alone: true, ..direct() });
    assert!(result.convergence.converged);
    // A and B end together, and so do A and C: 2 us each, and 1 us alone, besides 80 ns and 50 ns of cables.
    for (job, cables) in result.jobs.iter().zip([80e-9, 50e-9, 50e-9]) {
        assert_close(job.completion_s.unwrap() - cables, 2e-6, 1e-3);
        assert_close(job.slowdown().unwrap(), (2e-6 + cables) / (1e-6 + cables), 2e-3);
    }
    for job in &result.jobs {
        assert_close(job.bandwidth_bytes_per_s, 0.5 * GB, 1e-3);
        assert_close(job.bandwidth_alone_bytes_per_s.unwrap(), GB, 1e-3);
    }
}

/// Row of three. Three messages on the second link (A: 0 -> 2; B: 1 -> 2 twice) limit A to 1/3 GB/s. C: 0 -> 1 shares
/// the first link with A only and takes the rest: 2/3 GB/s (max-min by hand).
#[test]
fn a_message_takes_the_residual_of_another() {
    let b = job("b", 3, &[(1, 2, 1000), (1, 2, 1000)]);
    let jobs = vec![job("a", 3, &[(0, 2, 1000)]), b, job("c", 3, &[(0, 1, 1000)])];
    let result = solve(&row(3, 100), jobs, &direct());
    assert_close(result.jobs[0].bandwidth_bytes_per_s, GB / 3.0, 1e-3);
    assert_close(result.jobs[1].bandwidth_bytes_per_s, 2.0 * GB / 3.0, 1e-3);
    assert_close(result.jobs[2].bandwidth_bytes_per_s, 2.0 * GB / 3.0, 1e-3);
}

/// n messages over one link get C / n each, whatever their sizes.
#[test]
fn a_link_is_shared_by_messages_not_by_bytes() {
    for n in [1u64, 2, 5, 9] {
        let messages: Vec<_> = (0..n).map(|i| (0, 1, 100 * (i + 1))).collect();
        let jobs = vec![job("many", 2, &messages)];
        let result = solve(&row(2, 100), jobs, &direct());
        assert_close(result.jobs[0].bandwidth_bytes_per_s, GB, 1e-3);
        // The largest has 100 n bytes. Messages between the same nodes count as one: all bytes over all bandwidth.
        let bytes: u64 = messages.iter().map(|m| m.2).sum();
        assert_close(result.jobs[0].completion_s.unwrap() - 50e-9, bytes as f64 / GB, 1e-3);
    }
}

/// A 1 GB/s NIC limits two messages on 2 GB/s of separate links: 0.5 GB/s each.
#[test]
fn nics_limit_the_rate() {
    let machine = Torus {
        dims: vec![3],
        wrap: vec![false].into(),
        local: LinkFigures::new(2_000_000_000, 30),
        terminal: LinkFigures::new(1_000_000_000, 10),
        ..Torus::default()
    };
    let machine = machine.builder().unwrap().build().unwrap();
    let jobs = vec![job("left", 3, &[(1, 0, 10)]), job("right", 3, &[(1, 2, 10)])];
    let result = solve(&machine, jobs, &direct());
    for job in &result.jobs {
        assert_close(job.bandwidth_bytes_per_s, 0.5 * GB, 1e-3);
    }
    assert_close(result.node_injected_bytes[1], 20.0, 1e-12);
    assert_close(result.node_ejected_bytes[0], 10.0, 1e-12);
}

/// Incast on a row of three: 0 -> 1 and 2 -> 1 over separate links of 2 GB/s into the ejection port of node 1, 1
/// GB/s. Each gets half of the port: 0.5 GB/s, so 1000 B take 2 us. A third message 1 -> 2 has the whole injection
/// port.
#[test]
fn incast_shares_the_ejection_port() {
    let machine = Torus {
        dims: vec![3],
        wrap: vec![false].into(),
        local: LinkFigures::new(2_000_000_000, 30),
        terminal: LinkFigures::new(1_000_000_000, 10),
        ..Torus::default()
    };
    let machine = machine.builder().unwrap().build().unwrap();
    let jobs = vec![job("left", 3, &[(0, 1, 1000)]), job("right", 3, &[(2, 1, 1000)]), job("out", 3, &[(1, 2, 1000)])];
    let result = solve(&machine, jobs, &direct());
    for (job, bandwidth) in result.jobs.iter().zip([0.5 * GB, 0.5 * GB, GB]) {
        assert_close(job.bandwidth_bytes_per_s, bandwidth, 1e-3);
        assert_close(job.completion_s.unwrap() - 50e-9, 1000.0 / bandwidth, 1e-3);
    }
    assert_eq!(result.node_ejected_bytes, [0.0, 2000.0, 1000.0]);
}

/// The original program counts in MiB: links of 5,120 MiB/s = 5,120 x 1,048,576 = 5,368,709,120 B/s, NICs of 16,384
/// MiB/s = 17,179,869,184 B/s, switched off below 0.01 MiB/s = 10,485.76 B/s. A message over one link gets the link.
/// Two messages from one node over two links get the sum of both links, as the NIC is wider. Four messages over four
/// links get the NIC, as four links are 20,480 MiB/s.
#[test]
fn the_damselfly_preset_counts_in_mib() {
    let settings = FlowSettings { routing: PathChoice::AdaptiveDirect, ..FlowSettings::damselfly() };
    assert_eq!(settings.cutoff.bytes_per_s_f64().round(), 10_486.0);
    let square = Torus { dims: vec![3, 3], wrap: vec![true, true].into(), ..Torus::default() };
    let square = square.builder().unwrap().build().unwrap();
    let (link, interface) = (5_368_709_120.0, 17_179_869_184.0);
    for (targets, bandwidth) in [(&[1][..], link), (&[1, 2], 2.0 * link), (&[1, 2, 3, 6], interface)] {
        let messages: Vec<_> = targets.iter().map(|&target| (0, target, 1_000_000)).collect();
        let result = solve(&square, vec![job("a", 9, &messages)], &settings);
        assert!(result.link_capacity_bytes_per_s.iter().all(|&c| c == link));
        assert_eq!(result.nic_capacity_bytes_per_s, interface);
        assert_close(result.jobs[0].bandwidth_bytes_per_s, bandwidth, 1e-4);
    }
}

/// Ring of four with paths of unequal width from 0 to 2: over 1 at 1 GB/s, over 3 at 3 GB/s.
fn uneven_ring() -> Machine {
    let ring = Torus {
        dims: vec![4],
        wrap: vec![true].into(),
        local: LinkFigures::new(1_000_000_000, 30),
        terminal: LinkFigures::new(100_000_000_000, 10),
        ..Torus::default()
    };
    let mut builder = ring.builder().unwrap();
    for cable in builder.cables.iter_mut().filter(|c| c.a == RouterId(3) || c.b == RouterId(3)) {
        cable.bandwidth = Rate::from_bytes_per_s(3_000_000_000);
    }
    builder.build().unwrap()
}

/// On the uneven ring, A sends 0 -> 2 and B as many bytes 0 -> 1. With an equal split, A requests half of its demand
/// on each path, B all of its demand on the first. Of 1 + 1/2 there, A gets 1/3 and B 2/3 GB/s; A also gets all 3 GB/s of the other path. With a split by
/// residual, 1 to 3, A requests a quarter on the first path: of 1 + 1/4 there, A gets 0.2 and B 0.8 GB/s. (60 draws
/// of two paths: halves to 2 %.)
#[test]
fn static_routing_splits_equally_and_adaptive_by_what_is_left() {
    let machine = uneven_ring();
    let jobs = || vec![job("a", 4, &[(0, 2, 1000)]), job("b", 4, &[(0, 1, 1000)])];
    for (routing, a, b) in [
        (PathChoice::Fixed(Oblivious::Direct), 10.0 / 3.0, 2.0 / 3.0),
        (PathChoice::Fixed(Oblivious::Minimal), 10.0 / 3.0, 2.0 / 3.0),
        (PathChoice::AdaptiveDirect, 3.2, 0.8),
    ] {
        let result = solve(&machine, jobs(), &FlowSettings { routing, direct_paths: 60, ..direct() });
        assert_close(result.jobs[0].bandwidth_bytes_per_s, a * GB, 0.01);
        assert_close(result.jobs[1].bandwidth_bytes_per_s, b * GB, 0.02);
    }
}

/// The same ring: half of A's 1000 B use the path of 1 GB/s, so A takes 0.5 us although its grant on the other path
/// is larger. B ends later and takes 1.5 us, the time of 500 and 1000 B on that path. Cables and NICs add 50 ns to B.
#[test]
fn static_times_equal_the_link_times() {
    let machine = uneven_ring();
    let jobs = vec![job("a", 4, &[(0, 2, 1000)]), job("b", 4, &[(0, 1, 1000)])];
    let settings =
        FlowSettings { routing: PathChoice::Fixed(Oblivious::Direct), direct_paths: 60, alone: true, ..direct() };
    let result = solve(&machine, jobs, &settings);
    // The split of a torus is a mean of 64 draws.
    assert!(result.jobs[0].completion_s.unwrap() >= 475e-9);
    assert_close(result.jobs[1].completion_s.unwrap(), 1500e-9, 0.02);
    assert!(result.jobs[0].completion_alone_s.unwrap() >= 475e-9);
    assert_close(result.jobs[1].completion_alone_s.unwrap(), 1050e-9, 1e-3);
}

/// Row of three, 1 GB/s links: 1000 B from 0 and 3000 B from 2 to 1 have a link each, so 1 and 3 us. The job takes 3 us
/// and 50 ns of cables; both together are granted 2 GB/s.
#[test]
fn a_job_ends_with_its_last_message() {
    let result = solve(&row(3, 100), vec![job("a", 3, &[(0, 1, 1000), (2, 1, 3000)])], &direct());
    assert_close(result.jobs[0].completion_s.unwrap(), 3.05e-6, 1e-3);
    assert_close(result.jobs[0].bandwidth_bytes_per_s, 2.0 * GB, 1e-3);
}

/// Two jobs on one link of 1 GB/s: both have half of it until the one of 1 MB ends after 2 ms; the other 2 MB of the
/// second take 2 ms more. Whatever unit the steady state has, and however the bytes are split over messages.
#[test]
fn a_job_that_ends_gives_its_share_back() {
    for demand in [DemandUnit::Bytes, DemandUnit::Messages] {
        let jobs = vec![job("light", 2, &[(0, 1, 1_000_000)]), job("heavy", 2, &[(0, 1, 3_000_000)])];
        let result = solve(&row(2, 100), jobs, &FlowSettings { demand, alone: true, ..direct() });
        let times: Vec<f64> = result.jobs.iter().map(|job| job.completion_s.unwrap()).collect();
        assert_close(times[0], 2e-3, 1e-3);
        assert_close(times[1], 4e-3, 1e-3);
        assert_close(result.jobs[0].slowdown().unwrap(), 2.0, 2e-3);
        assert_close(result.jobs[1].slowdown().unwrap(), 4.0 / 3.0, 2e-3);
    }
}

/// Row of three. A: 0 -> 2 with 3 MB, B: 0 -> 1 with 1 MB, C: 1 -> 2 with 2 MB. A has half of both links. B ends at 2 ms;
/// A still has half, since C fills the second link. C ends at 4 ms, with 1 MB of A left: it takes 1 ms more.
#[test]
fn ends_on_two_links_by_hand() {
    let jobs =
        vec![job("a", 3, &[(0, 2, 3_000_000)]), job("b", 3, &[(0, 1, 1_000_000)]), job("c", 3, &[(1, 2, 2_000_000)])];
    let result = solve(&row(3, 100), jobs, &direct());
    for (job, expected) in result.jobs.iter().zip([5e-3, 2e-3, 4e-3]) {
        assert_close(job.completion_s.unwrap(), expected, 0.02);
    }
}

/// The original program has no times.
#[test]
fn the_damselfly_preset_has_no_completion_times() {
    let settings = FlowSettings { routing: PathChoice::AdaptiveDirect, alone: true, ..FlowSettings::damselfly() };
    let result = solve(&row(2, 100), vec![job("a", 2, &[(0, 1, 1000)])], &settings);
    let job = &result.jobs[0];
    assert_eq!((job.completion_s, job.completion_alone_s, job.slowdown()), (None, None, None));
    assert!(job.bandwidth_alone_bytes_per_s.is_some());
}

/// Bytes take the only path of a row: the sum over links is bytes x hops = 100 x 1 + 10 x 2.
#[test]
fn bytes_times_hops() {
    let result = solve(&row(3, 100), vec![job("a", 3, &[(0, 1, 100), (0, 2, 10)])], &direct());
    assert_close(result.link_bytes.iter().sum(), 120.0, 1e-4);
    assert_close(byte_hops_mean(&result), 120.0 / 110.0, 1e-4);
}

/// Zero-byte and self messages are counted and load nothing. Messages between nodes of one router load NICs only.
#[test]
fn messages_that_load_no_link() {
    let machine = Torus { dims: vec![2], wrap: vec![false].into(), nodes_per_router: 2, ..Torus::default() };
    let machine = machine.builder().unwrap().build().unwrap();
    let mut all = job("a", 4, &[(0, 0, 5), (0, 1, 7), (0, 2, 0), (0, 3, 11)]);
    let result = solve(&machine, vec![all.clone()], &direct());
    let counts = &result.jobs[0].volumes;
    assert_eq!((counts.messages, counts.zero_byte_messages, counts.self_messages), (4, 1, 1));
    assert_eq!((counts.self_bytes, counts.on_node_bytes, counts.on_router_bytes, counts.network_bytes), (5, 0, 7, 11));
    assert_close(result.link_bytes.iter().sum(), 11.0, 1e-3);
    assert_close(result.node_injected_bytes[0], 18.0, 1e-12);
    // The same ranks on one node: nothing leaves the node.
    all.node_of_rank = vec![NodeId(0); 4];
    let result = solve(&machine, vec![all], &direct());
    assert_eq!(result.jobs[0].volumes.on_node_bytes, 18);
    assert_eq!(result.link_bytes.iter().sum::<f64>(), 0.0);
    assert!(result.convergence.converged);
}

fn dragonfly() -> Machine {
    Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder().unwrap().build().unwrap()
}

/// Every node to every other, 1 kB: the loads of uniform traffic on a canonical dragonfly in closed form. Between
/// groups (2 x 4)^2 pairs of nodes: 64 kB per global link. A local link: p^2 pairs of its own routers, and p nodes times
/// h groups of a p nodes outward and as many inward: 4 + 2 x (2 x 2 x 8) = 68 kB.
#[test]
fn all_to_all_on_a_dragonfly() {
    let n = 72;
    let messages: Vec<_> = (0..n).flat_map(|s| (0..n).filter(move |&t| t != s).map(move |t| (s, t, 1000))).collect();
    for routing in [PathChoice::Fixed(Oblivious::Minimal), PathChoice::Fixed(Oblivious::Direct)] {
        let machine = dragonfly();
        let result = solve(&machine, vec![job("a", n, &messages)], &FlowSettings { routing, ..direct() });
        for link in machine.links() {
            let global = machine.classes()[machine.class(link).index()].name == "global";
            assert_close(result.link_bytes[link.index()], if global { 64_000.0 } else { 68_000.0 }, 1e-9);
        }
    }
}

/// A single message that its NIC limits below the capacity of its path stays on the minimal path under UGAL. Under
/// adaptive-hybrid about half of its bytes take non-minimal paths (two paths of each kind, equal residuals).
#[test]
fn ugal_is_minimal_on_an_idle_machine_and_hybrid_is_not() {
    let machine =
        Dragonfly { p: 2, a: 4, h: 2, g: 9, terminal: LinkFigures::new(10_000_000_000, 10), ..Dragonfly::default() };
    let machine = machine.builder().unwrap().build().unwrap();
    let far = job("a", 72, &[(0, 71, 1_000_000)]);
    let with = |name| {
        solve(
            &machine,
            vec![far.clone()],
            &FlowSettings { routing: Algorithm::find(name).unwrap().with_defaults().paths().unwrap(), ..direct() },
        )
    };
    let minimal = byte_hops_mean(&with("min"));
    assert_close(byte_hops_mean(&with("ugal")), minimal, 1e-4);
    assert!(byte_hops_mean(&with("adaptive-hybrid")) > minimal + 0.5);
}

/// Ring of four, one message 0 -> 2 of 1000 B on links of 25 GB/s: two paths of two hops, so the best maximum load is
/// 500 B / 25 GB/s = 20 ns, and minimal routing (a tie, half each) reaches it.
#[test]
fn the_bound_of_a_ring() {
    let torus = Torus { dims: vec![4], wrap: vec![true].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    let settings = FlowSettings { routing: PathChoice::Fixed(Oblivious::Minimal), bound_gap: Some(0.01), ..direct() };
    let result = solve(&machine, vec![job("a", 4, &[(0, 2, 1000)])], &settings);
    let bound = result.bound.unwrap();
    assert!(bound.lower_s <= 20e-9 && bound.upper_s >= 20e-9 * (1.0 - 1e-9), "{bound:?}");
    assert!(bound.gap <= 0.01, "{bound:?}");
    assert_close(result.link_bytes.iter().copied().fold(0.0, f64::max), 500.0, 1e-9);
}

/// Fat tree of four ports, 1000 B to another pod: two links up from the first router, four up from the next, then as
/// many down, all paths equal: 4 links carry 500 B and 8 carry 250 B. Static routings report the exact expectation,
/// not a result of draws.
#[test]
fn static_loads_are_expected_not_drawn() {
    let machine = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    for rule in [Oblivious::Minimal, Oblivious::Direct] {
        let routing = PathChoice::Fixed(rule);
        let result = solve(&machine, vec![job("a", 16, &[(0, 15, 1000)])], &FlowSettings { routing, ..direct() });
        let carrying = |bytes| result.link_bytes.iter().filter(|&&load| load == bytes).count();
        let unused = machine.link_count() - 12;
        assert_eq!((carrying(500.0), carrying(250.0), carrying(0.0)), (4, 8, unused), "{rule:?}");
    }
}

/// One message on one link whose capacity is released in four slices. Every iteration grants a quarter, so the share
/// of the fourth is 1/4. With a tolerance of 1/2 that ends the iteration. With 1/4 it does not, and the fifth
/// iteration grants nothing. (1024 B, so that no division rounds.)
#[test]
fn the_last_growth_is_a_share_of_all_that_was_granted() {
    for (tolerance, iterations, residual) in [(0.5, 4, 0.25), (0.25, 5, 0.0)] {
        let settings = FlowSettings { slices: 4, tolerance, ..direct() };
        let convergence = solve(&row(2, 100), vec![job("a", 2, &[(0, 1, 1024)])], &settings).convergence;
        assert!(convergence.converged);
        assert_eq!((convergence.iterations, convergence.residual), (iterations, residual));
    }
}

/// Two parallel paths of a triangle: 0 -> 1 over the direct link and over router 2. All links 1 GB/s: half on each
/// path, 500 ns for 1000 B; minimal routing needs 1000 ns.
#[test]
fn the_bound_uses_detours() {
    let torus = Torus {
        dims: vec![3],
        wrap: vec![true].into(),
        local: LinkFigures::new(1_000_000_000, 30),
        ..Torus::default()
    };
    let machine = torus.builder().unwrap().build().unwrap();
    let settings = FlowSettings { routing: PathChoice::Fixed(Oblivious::Minimal), bound_gap: Some(0.01), ..direct() };
    let result = solve(&machine, vec![job("a", 3, &[(0, 1, 1000)])], &settings);
    let bound = result.bound.unwrap();
    assert!(bound.lower_s <= 500e-9 * (1.0 + 1e-9) && bound.upper_s >= 500e-9 * (1.0 - 1e-9), "{bound:?}");
    assert!(bound.gap <= 0.01, "{bound:?}");
}

/// One byte next to 2^50 bytes on the same link gets the smallest grant, and all bytes arrive.
#[test]
fn a_tiny_message_next_to_a_huge_one() {
    let machine = row(2, 1);
    let result = solve(
        &machine,
        vec![job("tiny", 2, &[(0, 1, 1)]), job("huge", 2, &[(0, 1, 1 << 50)])],
        &FlowSettings::default(),
    );
    assert!(result.jobs.iter().all(|job| job.bandwidth_bytes_per_s > 0.0));
    let total: f64 = result.link_bytes.iter().sum();
    assert_eq!(total, ((1u64 << 50) + 1) as f64);
}

//! Paths and expected loads on real machines.

use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::{Coordinates, Machine, MachineBuilder, Shape};
use odonata_routing::algorithm::UgalPaths;
use odonata_routing::paths::{path_rule, Demand, Draws, Intermediate, Oblivious, PathError, PathRule};
use odonata_units::{LinkClassId, LinkId, RouterId};
use proptest::prelude::*;

fn dragonfly(p: u32, a: u32, h: u32) -> Machine {
    Dragonfly { p, a, h, g: a * h + 1, ..Dragonfly::default() }.builder().unwrap().build().unwrap()
}

fn cascade(groups: u32, rows: u32, columns: u32) -> Machine {
    Cascade { groups, rows, columns, ..Cascade::default() }.builder().unwrap().build().unwrap()
}

/// Every ordered pair of routers, one unit each.
fn all_pairs(machine: &Machine) -> Vec<Demand> {
    let pairs = machine.routers().flat_map(|s| machine.routers().map(move |t| (s, t)));
    pairs.filter(|(s, t)| s != t).map(|(source, target)| Demand { source, target, amount: 1.0 }).collect()
}

/// Asserts that `path` leads from `source` to `target` over links that join.
fn follow(machine: &Machine, path: &[LinkId], source: RouterId, target: RouterId) {
    let mut at = source;
    for &link in path {
        assert_eq!(machine.source(link), at, "the links of a path join");
        at = machine.target(link);
    }
    assert_eq!(at, target, "the path ends at the target");
}

fn global_hops(machine: &Machine, path: &[LinkId]) -> usize {
    path.iter().filter(|&&l| machine.group_of(machine.source(l)) != machine.group_of(machine.target(l))).count()
}

fn spread(rule: &dyn PathRule, machine: &Machine, demands: &[Demand], which: Oblivious) -> Vec<f64> {
    let mut loads = vec![0.0; machine.link_count()];
    rule.spread(demands, which, &mut loads);
    loads
}

fn mean_of_draws(rule: &dyn PathRule, machine: &Machine, demand: &Demand, which: Oblivious, n: u32) -> Vec<f64> {
    let mut loads = vec![0.0; machine.link_count()];
    let mut path = Vec::new();
    for turn in 0..n {
        path.clear();
        let mut draws = Draws::new(5, 1, turn);
        match which {
            Oblivious::Indirect => rule.indirect(demand.source, demand.target, &mut draws, &mut path),
            _ => rule.direct(demand.source, demand.target, &mut draws, &mut path),
        }
        path.iter().for_each(|l| loads[l.index()] += demand.amount / f64::from(n));
    }
    loads
}

#[test]
fn ugal_compares_with_numbers_only() {
    let check = |hop_threshold, bias_load_hops| UgalPaths { hop_threshold, bias_load_hops }.check();
    assert!(check(0.0, -3.5).is_ok());
    for wrong in [-0.5, f64::INFINITY, f64::NAN] {
        assert_eq!(check(wrong, 0.0).unwrap_err().0, "hop_threshold", "{wrong}");
    }
    for wrong in [f64::NEG_INFINITY, f64::INFINITY, f64::NAN] {
        assert_eq!(check(1.0, wrong).unwrap_err().0, "bias_load_hops", "{wrong}");
    }
}

/// In a fully joined graph, and in a ring of three, a direct path takes one hop, and a path via another router two.
/// That router is each of the others equally often.
#[test]
fn indirect_paths_visit_each_other_router() {
    let ring = |n| Torus { dims: vec![n], ..Torus::default() }.builder().unwrap();
    let mut joined = MachineBuilder { shape: Shape::Graph, coordinates: Coordinates::default(), ..ring(5) };
    joined.classes[0].ports_per_router = None;
    (0..5).for_each(|r| joined.add_cables(RouterId(r), RouterId((r + 2) % 5), LinkClassId(0), 1));
    for (machine, others) in [(joined.build().unwrap(), 3), (ring(3).build().unwrap(), 1)] {
        let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
        let mut over = vec![0; machine.router_count()];
        let mut path = Vec::new();
        for (source, target) in [(RouterId(0), RouterId(1)), (RouterId(2), RouterId(0))] {
            over.fill(0);
            for turn in 0..300 {
                path.clear();
                rule.direct(source, target, &mut Draws::new(5, 1, turn), &mut path);
                assert_eq!(path.len(), 1);
                path.clear();
                rule.indirect(source, target, &mut Draws::new(5, 1, turn), &mut path);
                assert_eq!(path.len(), 2);
                follow(&machine, &path, source, target);
                over[machine.target(path[0]).index()] += 1;
            }
            assert_eq!((over[source.index()], over[target.index()]), (0, 0));
            let even = over.iter().filter(|&&n| (300 / others - 30..=300 / others + 30).contains(&n)).count();
            assert_eq!(even, others, "{over:?}");
        }
    }
}

/// In a ring of three, any router is each of the three. Via the source or the target, a path takes its one hop; via
/// the third, two. 300 stratified draws.
#[test]
fn any_router_may_be_an_end() {
    let ring = Torus { dims: vec![3], ..Torus::default() }.builder().unwrap();
    let mut graph = MachineBuilder { shape: Shape::Graph, coordinates: Coordinates::default(), ..ring.clone() };
    graph.classes[0].ports_per_router = None;
    for machine in [ring, graph].map(|builder| builder.build().unwrap()) {
        let (rule, _) = path_rule(&machine, Intermediate::Any).unwrap();
        let long = |turn: &u32| {
            let mut path = Vec::new();
            rule.indirect(RouterId(0), RouterId(1), &mut Draws::new(5, 1, *turn), &mut path);
            follow(&machine, &path, RouterId(0), RouterId(1));
            path.len() == 2
        };
        assert!((95..=105).contains(&(0..300).filter(long).count()));
    }
}

#[test]
fn dragonfly_paths_have_the_hops_of_the_definition() {
    let machine = dragonfly(2, 4, 2);
    let (rule, notices) = path_rule(&machine, Intermediate::Third).unwrap();
    assert!(notices.is_empty());
    let mut path = Vec::new();
    for Demand { source, target, .. } in all_pairs(&machine) {
        let inside = machine.group_of(source) == machine.group_of(target);
        for turn in 0..4 {
            path.clear();
            rule.direct(source, target, &mut Draws::new(1, 9, turn), &mut path);
            follow(&machine, &path, source, target);
            assert!(path.len() <= 3 && global_hops(&machine, &path) == usize::from(!inside));
            path.clear();
            rule.indirect(source, target, &mut Draws::new(1, 9, turn), &mut path);
            follow(&machine, &path, source, target);
            // l-g-l to a router of a third group, l-g-l from there; two local hops inside a group.
            let most = if inside { (2, 0) } else { (6, 2) };
            assert!(path.len() <= most.0 && global_hops(&machine, &path) == most.1, "{path:?}");
        }
    }
}

/// On Aries a direct path has at most 2 + 1 + 2 hops, and two-hop legs go green first once in four (1 green : 3 black).
#[test]
fn cascade_legs_follow_the_parallel_links() {
    let machine = cascade(3, 3, 4);
    let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
    let corner = Demand { source: RouterId(0), target: RouterId(5), amount: 1.0 };
    let loads = spread(rule.as_ref(), &machine, &[corner], Oblivious::Direct);
    let green = machine.class_named("green").unwrap();
    let share = |class_is_green: bool| -> f64 {
        machine
            .links_from(RouterId(0))
            .filter(|&l| (machine.class(LinkId(l as u32)) == green) == class_is_green)
            .map(|l| loads[l])
            .sum()
    };
    assert!((share(true) - 0.25).abs() < 1e-12 && (share(false) - 0.75).abs() < 1e-12);
    let mut path = Vec::new();
    for Demand { source, target, .. } in all_pairs(&machine) {
        path.clear();
        rule.direct(source, target, &mut Draws::new(1, 2, 3), &mut path);
        follow(&machine, &path, source, target);
        assert!(path.len() <= 5);
    }
}

/// One unit between all ordered pairs of routers of a canonical dragonfly with a routers per group and one cable per
/// pair of groups. A global link carries a^2 units. A local link x -> y carries its own unit, h a from x to the
/// groups behind y (h groups of a routers), and h a that arrive at x for y.
#[test]
fn uniform_minimal_traffic_of_a_dragonfly() {
    let (a, h) = (4u32, 2u32);
    let machine = dragonfly(2, a, h);
    let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
    let loads = spread(rule.as_ref(), &machine, &all_pairs(&machine), Oblivious::Minimal);
    for link in machine.links() {
        let expected = match machine.classes()[machine.class(link).index()].name.as_str() {
            "global" => f64::from(a * a),
            _ => f64::from(1 + 2 * h * a),
        };
        assert!((loads[link.index()] - expected).abs() < 1e-9, "{} {}", machine.link_name(link), loads[link.index()]);
    }
}

/// All-to-all on a ring of even n: distances sum to n^2/4 per router, over n routers and 2n links: n^2/8 each.
#[test]
fn uniform_traffic_of_a_ring() {
    let n = 8;
    let torus = Torus { dims: vec![n], wrap: vec![true].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
    for which in [Oblivious::Minimal, Oblivious::Direct] {
        let loads = spread(rule.as_ref(), &machine, &all_pairs(&machine), which);
        let worst = loads.iter().map(|x| (x - f64::from(n * n) / 8.0).abs()).fold(0.0, f64::max);
        // Dimension order is exact; the mean over draws splits ties evenly only on average.
        assert!(worst < if which == Oblivious::Minimal { 1e-9 } else { 1.0 }, "{worst}");
    }
}

/// Equal-cost multi-path on a three-level fat tree: up links of a pod's edge router carry the same load.
#[test]
fn fat_tree_spreads_over_all_common_ancestors() {
    let machine = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
    let edge: Vec<RouterId> = machine.routers().filter(|&r| !machine.nodes_of(r).is_empty()).collect();
    let far = Demand { source: edge[0], target: *edge.last().unwrap(), amount: 1.0 };
    assert_eq!(rule.distance(far.source, far.target), 4);
    let loads = spread(rule.as_ref(), &machine, &[far], Oblivious::Minimal);
    let used: Vec<f64> = loads.iter().copied().filter(|&x| x > 0.0).collect();
    // k/2 = 2 up links at the edge, 4 at the aggregation level, 4 down, 2 down.
    assert_eq!(used.len(), 12);
    assert!((used.iter().sum::<f64>() - 4.0).abs() < 1e-12);
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> f64 {
    let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(worst < tolerance, "largest difference {worst}");
    worst
}

/// The closed forms against random draws: 40,000 draws have a standard error of at most 0.5 / 200 = 0.0025 per link;
/// 5 of them are allowed.
#[test]
fn expected_loads_agree_with_draws() {
    let machines = [dragonfly(1, 4, 2), cascade(4, 2, 4)];
    for (machine, intermediate) in machines.iter().flat_map(|m| [(m, Intermediate::Third), (m, Intermediate::Any)]) {
        let (rule, _) = path_rule(machine, intermediate).unwrap();
        let last = RouterId::from_index(machine.router_count() - 1);
        for (source, target) in [(RouterId(0), last), (RouterId(0), RouterId(3)), (RouterId(1), RouterId(6))] {
            let demand = Demand { source, target, amount: 1.0 };
            for which in [Oblivious::Direct, Oblivious::Indirect] {
                let exact = spread(rule.as_ref(), machine, &[demand], which);
                let drawn = mean_of_draws(rule.as_ref(), machine, &demand, which, 40_000);
                close(&exact, &drawn, 0.0125);
            }
        }
    }
}

/// Expected loads of all pairs together, with unequal amounts, are the sum of the loads of each pair alone.
#[test]
fn expected_loads_of_many_are_the_sum_of_each() {
    let fat_tree = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    for (machine, closed_forms) in [
        (dragonfly(1, 4, 2), &[Oblivious::Minimal, Oblivious::Direct, Oblivious::Indirect][..]),
        (cascade(4, 2, 4), &[Oblivious::Minimal, Oblivious::Direct, Oblivious::Indirect]),
        (fat_tree, &[Oblivious::Minimal, Oblivious::Direct]),
    ] {
        let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
        let mut demands = all_pairs(&machine);
        demands.iter_mut().enumerate().for_each(|(i, demand)| demand.amount += (i % 7) as f64);
        for &which in closed_forms {
            let mut sum = vec![0.0; machine.link_count()];
            demands.iter().for_each(|demand| rule.spread(&[*demand], which, &mut sum));
            close(&spread(rule.as_ref(), &machine, &demands, which), &sum, 1e-6);
        }
    }
}

fn without_cable(machine: Machine, a: u32, b: u32) -> Machine {
    let mut builder = MachineBuilder::from(machine);
    let before = builder.cables.len();
    builder.cables.retain(|c| (c.a, c.b) != (RouterId(a), RouterId(b)) && (c.b, c.a) != (RouterId(a), RouterId(b)));
    assert!(builder.cables.len() < before, "this cable existed");
    builder.build().unwrap()
}

#[test]
fn routing_avoids_a_failed_global_cable() {
    let whole = dragonfly(1, 2, 1);
    let global = whole.links().find(|&l| whole.group_of(whole.source(l)) != whole.group_of(whole.target(l))).unwrap();
    let (a, b) = (whole.source(global), whole.target(global));
    let machine = without_cable(whole, a.0, b.0);
    let (rule, notices) = path_rule(&machine, Intermediate::Third).unwrap();
    assert!(notices.is_empty(), "groups without a direct link keep the dragonfly's paths");
    let mut path = Vec::new();
    rule.direct(a, b, &mut Draws::new(1, 1, 1), &mut path);
    follow(&machine, &path, a, b);
    assert_eq!(global_hops(&machine, &path), 2);
}

#[test]
fn a_broken_group_falls_back_to_minimal_paths_with_a_notice() {
    let mut machine = dragonfly(1, 3, 1);
    for other in [1, 2] {
        machine = without_cable(machine, 0, other);
    }
    let (rule, notices) = path_rule(&machine, Intermediate::Third).unwrap();
    assert_eq!(notices.len(), 1);
    let mut path = Vec::new();
    rule.direct(RouterId(0), RouterId(1), &mut Draws::new(1, 1, 1), &mut path);
    follow(&machine, &path, RouterId(0), RouterId(1));
}

#[test]
fn a_machine_in_pieces_is_an_error_that_names_the_routers() {
    let torus = Torus { dims: vec![2], wrap: vec![false].into(), ..Torus::default() };
    let machine = without_cable(torus.builder().unwrap().build().unwrap(), 0, 1);
    let error = path_rule(&machine, Intermediate::Third).err().expect("no path");
    assert!(matches!(error, PathError::Unreachable { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The load of a demand sums to its hops, on any machine, under any rule.
    #[test]
    fn loads_are_conserved(pick in 0usize..5, s in 0u32..1000, t in 0u32..1000) {
        let machine = match pick {
            0 => dragonfly(1, 3, 2),
            1 => cascade(3, 2, 4),
            2 => Torus { dims: vec![3, 4, 2], wrap: vec![true, false, true].into(), ..Torus::default() }.builder().unwrap().build().unwrap(),
            3 => FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap(),
            _ => cascade(2, 2, 4),
        };
        let n = machine.router_count() as u32;
        let (source, target) = (RouterId(s % n), RouterId(t % n));
        prop_assume!(source != target);
        let (rule, _) = path_rule(&machine, Intermediate::Third).unwrap();
        for which in [Oblivious::Minimal, Oblivious::Direct, Oblivious::Indirect] {
            let loads = spread(rule.as_ref(), &machine, &[Demand { source, target, amount: 8.0 }], which);
            let mut balance = vec![0.0; n as usize];
            for link in machine.links() {
                balance[machine.source(link).index()] += loads[link.index()];
                balance[machine.target(link).index()] -= loads[link.index()];
            }
            prop_assert!((balance[source.index()] - 8.0).abs() < 1e-9);
            prop_assert!((balance[target.index()] + 8.0).abs() < 1e-9);
            let others = balance.iter().enumerate().filter(|(r, _)| *r != source.index() && *r != target.index());
            prop_assert!(others.map(|(_, b)| b.abs()).fold(0.0, f64::max) < 1e-9);
            if which == Oblivious::Minimal {
                prop_assert!((loads.iter().sum::<f64>() - 8.0 * f64::from(rule.distance(source, target))).abs() < 1e-9);
            }
        }
    }
}

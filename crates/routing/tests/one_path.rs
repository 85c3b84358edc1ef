//! One path per flow: tables and hashes, followed from node to node.

use odonata_machine::topology::{Dragonfly, FatTree, Jellyfish, Torus, Xgft};
use odonata_machine::{Machine, MachineBuilder};
use odonata_routing::algorithm::{EcmpSettings, OnePath, RoutingChoice, TableSettings};
use odonata_routing::deadlock::{self, ProvenRouting};
use odonata_routing::flow_paths::FlowPaths;
use odonata_routing::forwarding::listed::ForwardingRows;
use odonata_routing::next_hop::VcOrder;
use odonata_units::{LinkId, NodeId, RouterId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

fn ecmp(seed: u64) -> OnePath {
    OnePath::Ecmp(EcmpSettings { seed, switch_seeds: true })
}

fn tree(k: u32, levels: u32, oversubscription: u32) -> Machine {
    FatTree { k, levels, oversubscription, ..FatTree::default() }.builder().unwrap().build().unwrap()
}

fn xgft(children: &[u32], parents: &[u32], parallel: u32) -> Machine {
    let tree = Xgft { children: children.to_vec(), parents: parents.to_vec(), ..Xgft::default() };
    Xgft { parallel: odonata_declare::OneOrEach::One(parallel), ..tree }.builder().unwrap().build().unwrap()
}

fn torus(dims: &[u32]) -> Machine {
    Torus { dims: dims.to_vec(), nodes_per_router: 2, ..Torus::default() }.builder().unwrap().build().unwrap()
}

/// `machine` without the cables between these pairs of routers.
fn without(mut builder: MachineBuilder, cut: &[(u32, u32)]) -> Machine {
    builder.cables.retain(|cable| {
        let (a, b) = (cable.a, cable.b);
        !cut.contains(&(a.0, b.0)) && !cut.contains(&(b.0, a.0))
    });
    builder.build().unwrap()
}

fn paths(machine: &Machine, rule: &OnePath) -> FlowPaths {
    FlowPaths::new(machine, rule).unwrap()
}

fn path(paths: &FlowPaths, source: NodeId, destination: NodeId) -> Vec<LinkId> {
    let mut links = Vec::new();
    paths.path(source, destination, &mut links);
    links
}

/// Flows on each link that has any, with one flow from each node to the `shift`-th after it.
fn flows_of_shift(machine: &Machine, paths: &FlowPaths, shift: u32) -> BTreeMap<LinkId, u32> {
    let nodes = machine.node_count() as u32;
    let mut flows = BTreeMap::new();
    for source in 0..nodes {
        for link in path(paths, NodeId(source), NodeId((source + shift) % nodes)) {
            *flows.entry(link).or_default() += 1;
        }
    }
    flows
}

/// Zahavi 2010: on a full-bisection tree, d-mod-k routes every shift without a collision.
#[test]
fn every_shift_on_a_full_bisection_tree_has_one_flow_per_link() {
    let trees = [
        tree(4, 2, 1),
        tree(8, 2, 1),
        tree(4, 3, 1),
        tree(6, 3, 1),
        tree(8, 3, 1),
        tree(4, 4, 1),
        xgft(&[6, 4], &[1, 3], 2),
        xgft(&[4, 4, 3], &[1, 2, 4], 2),
        xgft(&[6, 2, 5], &[1, 6, 2], 1),
    ];
    for machine in trees {
        let paths = paths(&machine, &OnePath::DModK);
        for shift in 1..machine.node_count() as u32 {
            let most = flows_of_shift(&machine, &paths, shift).into_values().max().unwrap();
            assert_eq!(most, 1, "shift {shift} on {}", machine.name());
        }
    }
}

/// The other tables of the same tree collide: they balance destinations, not flows.
#[test]
fn balanced_tables_collide_on_some_shift() {
    let machine = tree(8, 3, 1);
    for rule in [OnePath::MinHop, OnePath::UpDown, ecmp(1)] {
        let paths = paths(&machine, &rule);
        let most = (1..128).map(|shift| flows_of_shift(&machine, &paths, shift).into_values().max().unwrap()).max();
        assert!(most > Some(1), "{}", rule.name());
    }
}

/// By hand, k = 4: leaf 2 p + e has nodes 4 p + 2 e and the next. Node 13 = 0b1101 is number 13, so a leaf takes
/// parent 13 mod 2 = 1 and that one takes core 13 div 2 mod 2 = 0: core 2 of four.
#[test]
fn d_mod_k_of_a_small_tree_by_hand() {
    let machine = tree(4, 3, 1);
    let routers: Vec<String> = path(&paths(&machine, &OnePath::DModK), NodeId(0), NodeId(13))
        .into_iter()
        .map(|link| machine.router_name(machine.target(link)))
        .collect();
    assert_eq!(routers, ["l1p0i1", "l2p4i2", "l1p3i1", "l0p3i0"]);
}

/// Every router above another uses each of its links for equally many destinations, or for one more.
#[test]
fn min_hop_tables_of_a_regular_tree_are_balanced_to_one_destination() {
    for machine in [tree(4, 3, 1), tree(8, 3, 1), tree(8, 2, 3), tree(6, 3, 2), xgft(&[6, 4], &[1, 3], 2)] {
        for rule in [OnePath::MinHop, OnePath::UpDown] {
            let paths = paths(&machine, &rule);
            let mut destinations: BTreeMap<LinkId, BTreeSet<NodeId>> = BTreeMap::new();
            for source in machine.nodes() {
                for destination in machine.nodes() {
                    for link in path(&paths, source, destination) {
                        destinations.entry(link).or_default().insert(destination);
                    }
                }
            }
            let leaves: Vec<RouterId> = machine.routers().filter(|&r| !machine.nodes_of(r).is_empty()).collect();
            for leaf in leaves {
                let counts: Vec<usize> = machine
                    .links_from(leaf)
                    .map(|link| destinations.get(&LinkId::from_index(link)).map_or(0, BTreeSet::len))
                    .collect();
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(most - least <= 1, "{} on {}: {counts:?}", rule.name(), machine.name());
                let others = machine.node_count() - machine.nodes_of(leaf).len();
                assert_eq!(counts.iter().sum::<usize>(), others);
            }
        }
    }
}

/// Machines with one virtual channel (trees) and more (others), also with missing cables.
fn machines() -> Vec<(Machine, bool)> {
    let cut_tree = FatTree { k: 4, levels: 3, ..FatTree::default() }.builder().unwrap();
    vec![
        (tree(8, 3, 1), true),
        (tree(8, 2, 3), true),
        (xgft(&[4, 4, 3], &[1, 2, 4], 2), true),
        (without(cut_tree, &[(0, 8), (9, 17)]), true),
        (torus(&[5, 4]), false),
        (Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder().unwrap().build().unwrap(), false),
        (Jellyfish { routers: 20, ..Jellyfish::default() }.builder().unwrap().build().unwrap(), false),
    ]
}

fn distance(machine: &Machine, from: RouterId, to: RouterId) -> usize {
    let mut hops = vec![usize::MAX; machine.router_count()];
    hops[from.index()] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for bundle in machine.bundles_from(at) {
            if hops[bundle.target.index()] == usize::MAX {
                hops[bundle.target.index()] = hops[at.index()] + 1;
                queue.push_back(bundle.target);
            }
        }
    }
    hops[to.index()]
}

/// The paths of tables and hashes that promise it are minimal; all lead to their destination.
#[test]
fn minimal_paths_are_minimal() {
    for (machine, is_tree) in machines() {
        let mut rules = vec![OnePath::MinHop, ecmp(1), OnePath::UpDown];
        rules.extend(is_tree.then_some(OnePath::DModK));
        for rule in rules {
            let paths = paths(&machine, &rule);
            let is_minimal = matches!(rule, OnePath::MinHop | OnePath::Ecmp(_)) || is_tree;
            for source in machine.nodes().step_by(3) {
                for destination in machine.nodes() {
                    let links = path(&paths, source, destination);
                    let (from, to) = (machine.router_of(source), machine.router_of(destination));
                    assert_eq!(links.last().map_or(from, |&link| machine.target(link)), to);
                    let shortest = distance(&machine, from, to);
                    let is_right = if is_minimal { links.len() == shortest } else { links.len() >= shortest };
                    // Faults of a tree may force a longer path on a table.
                    assert!(
                        is_right || machine.name().starts_with("fat-tree-k4"),
                        "{} on {}",
                        rule.name(),
                        machine.name()
                    );
                }
            }
        }
    }
}

/// Trees need one channel. Elsewhere a channel per hop, except for paths that go up, then down.
#[test]
fn channels_are_counted_only_where_one_may_deadlock() {
    for (machine, is_tree) in machines() {
        for name in ["ecmp", "min-hop", "up-down-static", "d-mod-k"] {
            let choice: RoutingChoice = name.parse().unwrap();
            let proven = deadlock::prove(&choice, choice.next_hops(&machine).unwrap(), 16);
            if name == "d-mod-k" && !is_tree {
                let reason = proven.err().expect("no tree").to_string();
                assert!(reason.starts_with("routing 'd-mod-k': works only on trees with levels"), "{reason}");
                continue;
            }
            let ProvenRouting { routing, vc_order, .. } = proven.unwrap();
            let channels = routing.virtual_channels();
            if is_tree || name == "up-down-static" {
                assert_eq!((vc_order, channels), (VcOrder::PerLeg, 1), "{name} on {}", machine.name());
            } else {
                let nodes = || machine.nodes().map(|node| machine.router_of(node));
                let longest = nodes().flat_map(|a| nodes().map(move |b| (a, b))).collect::<BTreeSet<_>>();
                let longest = longest.into_iter().map(|(a, b)| distance(&machine, a, b)).max().unwrap();
                assert_eq!((vc_order, usize::from(channels)), (VcOrder::PerGroup, longest), "{name}");
            }
        }
    }
}

/// A ring of 40: paths have 20 hops, more than there are channels, so turns are counted.
#[test]
fn long_paths_count_turns() {
    let choice: RoutingChoice = "min-hop".parse().unwrap();
    let machine = torus(&[40]);
    let proven = deadlock::prove(&choice, choice.next_hops(&machine).unwrap(), 16).unwrap();
    assert_eq!((proven.vc_order, proven.routing.virtual_channels()), (VcOrder::PerTurn, 11));
}

/// 64 flows from each of the 16 leaves of one half to the other: each of 4 links up and each of 16 cores is equally
/// likely. Chi-square with 15 degrees of freedom, 0.1 % point 37.7. With one hash everywhere, a flow that takes link
/// i of 4 takes link i of 4 again: only 4 cores are used.
#[test]
fn hashes_spread_flows_evenly_unless_all_switches_share_one() {
    let machine = tree(8, 3, 1);
    for (switch_seeds, cores) in [(true, 16), (false, 4)] {
        let paths = paths(&machine, &OnePath::Ecmp(EcmpSettings { seed: 3, switch_seeds }));
        let mut flows: BTreeMap<RouterId, f64> = BTreeMap::new();
        for source in 0..64 {
            for destination in 64..128 {
                let links = path(&paths, NodeId(source), NodeId(destination));
                *flows.entry(machine.target(links[1])).or_default() += 1.0;
            }
        }
        assert_eq!(flows.len(), cores);
        let expected = 64.0 * 64.0 / cores as f64;
        let chi2: f64 = flows.values().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi2 < 37.7, "{flows:?}");
    }
}

/// Other seeds and the other direction give other paths; the same flow always takes the same.
#[test]
fn the_hash_depends_on_seed_source_and_destination() {
    let machine = tree(8, 3, 1);
    let of = |seed: u64| {
        let paths = paths(&machine, &ecmp(seed));
        (0..64).map(|n| path(&paths, NodeId(n), NodeId(n + 64))).collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(1));
    let same = of(1).iter().zip(of(2)).filter(|(a, b)| *a == b).count();
    // One of 16 paths each: 4 of 64 by chance.
    assert!((0..12).contains(&same), "{same}");
    let paths = paths(&machine, &ecmp(1));
    let back = (0..64).filter(|&n| {
        let there: Vec<RouterId> = path(&paths, NodeId(n), NodeId(n + 64)).iter().map(|&l| machine.source(l)).collect();
        let back: Vec<RouterId> = path(&paths, NodeId(n + 64), NodeId(n)).iter().map(|&l| machine.target(l)).collect();
        there.iter().eq(back.iter().rev())
    });
    assert!(back.count() < 12);
}

/// Two leaves and two spines without the cables of one leaf: the error names both ends.
#[test]
fn a_cut_machine_is_refused() {
    let builder = FatTree { k: 4, levels: 2, ..FatTree::default() }.builder().unwrap();
    let machine = without(builder, &[(0, 4), (0, 5)]);
    for rule in [OnePath::MinHop, OnePath::UpDown, OnePath::DModK, ecmp(1)] {
        let error = FlowPaths::new(&machine, &rule).err().expect("an error").to_string();
        assert!(error.starts_with(&format!("routing '{}': no path from router ", rule.name())), "{error}");
        assert!(error.contains("l0p0i0"), "{error}");
    }
}

fn listed(text: &str) -> Result<OnePath, String> {
    let rows = ForwardingRows::read("lfts.csv", text.as_bytes())?;
    Ok(OnePath::Tables(TableSettings { file: "lfts.csv".into(), rows: Some(Arc::new(rows)) }))
}

/// The tables of a rule as a file.
fn written(machine: &Machine, rule: &OnePath) -> String {
    let paths = paths(machine, rule);
    let mut rows = BTreeSet::new();
    for source in machine.nodes() {
        for destination in machine.nodes() {
            for link in path(&paths, source, destination) {
                let (at, next) = (machine.router_name(machine.source(link)), machine.router_name(machine.target(link)));
                rows.insert(format!("{at},{},{next},{}\n", machine.node_name(destination), machine.parallel(link)));
            }
        }
    }
    format!("router,destination,next,cable\n{}", rows.into_iter().collect::<String>())
}

/// Tables that are written to a file and read again give the same paths, also over parallel cables.
#[test]
fn tables_from_a_file_give_the_paths_of_the_file() {
    for machine in [tree(4, 3, 1), xgft(&[4, 4, 3], &[1, 2, 4], 2)] {
        for rule in [OnePath::DModK, OnePath::MinHop] {
            let (own, read) = (paths(&machine, &rule), paths(&machine, &listed(&written(&machine, &rule)).unwrap()));
            for source in machine.nodes() {
                for destination in machine.nodes() {
                    assert_eq!(path(&own, source, destination), path(&read, source, destination));
                }
            }
        }
    }
}

/// A ring of four, clockwise: every path ends, but the links wait for each other.
#[test]
fn tables_with_a_mistake_are_refused_with_the_path_that_shows_it() {
    let ring = Torus { dims: vec![4], nodes_per_router: 1, ..Torus::default() }.builder().unwrap().build().unwrap();
    let name = |r: u32| ring.router_name(RouterId(r % 4));
    let node = |n: u32| ring.node_name(NodeId(n % 4));
    let clockwise: Vec<String> = (0..4)
        .flat_map(|at| (1..4).map(move |ahead| (at, ahead)))
        .map(|(at, ahead)| format!("{},{},{}", name(at), node(at + ahead), name(at + 1)))
        .collect();
    let refused = |rows: &[String]| {
        let text = format!("router,destination,next\n{}", rows.join("\n"));
        FlowPaths::new(&ring, &listed(&text).unwrap()).err().expect("an error").to_string()
    };
    let [r0, r1, r2, r3] = [0, 1, 2, 3].map(name);
    let error = refused(&clockwise);
    assert!(error.starts_with("routing 'forwarding-tables': possible deadlock: cyclic channel dependency"), "{error}");
    assert!(error.contains(&format!("{r0} -> {r1} (VC 0) => {r1} -> {r2} (VC 0)")), "{error}");
    // Router 2 does not know node 0; router 1 sends it there.
    let hole: Vec<String> =
        clockwise.iter().filter(|row| !row.starts_with(&format!("{r2},{},", node(0)))).cloned().collect();
    let expected = format!("no path to node {}: router {r2} has no entry: {r1} -> {r2}", node(0));
    assert!(refused(&hole).ends_with(&expected), "{}", refused(&hole));
    // Router 2 sends node 0 back to router 1.
    let looped: Vec<String> = hole.iter().cloned().chain([format!("{r2},{},{r1}", node(0))]).collect();
    let expected = format!("no path to node {}: the path is a loop: {r1} -> {r2} -> {r1}", node(0));
    assert!(refused(&looped).ends_with(&expected), "{}", refused(&looped));
    let wrong = |row: String| refused(&[clockwise.clone(), vec![row]].concat());
    let far = wrong(format!("{r0},{},{r2}", node(2)));
    assert!(far.contains(&format!("lfts.csv:14: router {r0} has 0 cables to router {r2}")), "{far}");
    let second = wrong(format!("{r0},{},{r3}", node(1)));
    assert!(second.contains(&format!("router {r0} has a second entry for node {}", node(1))), "{second}");
    let unknown = wrong("x,y,z".into());
    assert!(unknown.contains("lfts.csv:14: ") && unknown.contains("'x'"), "{unknown}");
    assert!(listed("router,next\na,b")
        .unwrap_err()
        .starts_with("lfts.csv:1: no column 'destination'; expected router"));
    assert!(listed("router,destination,next\na,b").unwrap_err().starts_with("lfts.csv:2: 2 values; expected 3"));
}

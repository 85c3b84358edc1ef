//! The levels of a tree are found in every format that lists its cables, and nowhere else.

use odonata_machine::import::{booksim, edge_list_csv, ibnetdiscover, slurm_topology, sst_macro};
use odonata_machine::import::{BookSim, EdgeListOptions, InfiniBand, SlurmTree, SstMacro};
use odonata_machine::topology::{
    Cascade, Dragonfly, DragonflyPlus, ExpressMesh, FatTree, HyperX, Jellyfish, PolarFly, SlimFly, Topology, Torus,
    Xgft,
};
use odonata_machine::{Machine, MachineBuilder, Shape};
use odonata_units::{NodeId, RouterId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Cables between two routers and their number, as every format needs them.
fn pairs(machine: &Machine) -> Vec<(String, String, u32)> {
    let below = machine.bundles().iter().filter(|bundle| bundle.source < bundle.target);
    below.map(|bundle| (name(machine, bundle.source), name(machine, bundle.target), bundle.count)).collect()
}

/// A name without coordinates.
fn name(_: &Machine, router: RouterId) -> String {
    format!("sw-{}", router.0)
}

fn nodes(machine: &Machine, router: RouterId) -> Vec<String> {
    machine.nodes_of(router).iter().map(|node| format!("h{}", node.0)).collect()
}

fn as_csv(machine: &Machine) -> String {
    let count = |router: &str| machine.nodes_of(RouterId(router[3..].parse().unwrap())).len();
    let rows = pairs(machine).into_iter().map(|(a, b, n)| format!("{a},{b},{n},{},{}\n", count(&a), count(&b)));
    format!("src,dst,count,src_nodes,dst_nodes\n{}", rows.collect::<String>())
}

fn as_booksim(machine: &Machine) -> String {
    let mut text = String::new();
    for router in machine.routers() {
        write!(text, "router {}", router.0).unwrap();
        machine.nodes_of(router).iter().for_each(|node| write!(text, " node {}", node.0).unwrap());
        let up = machine.bundles_from(router).iter().filter(|bundle| bundle.target > router);
        up.for_each(|bundle| write!(text, " router {}", bundle.target.0).unwrap());
        text.push('\n');
    }
    text
}

fn as_slurm(machine: &Machine) -> String {
    let mut text = String::new();
    for router in machine.routers() {
        write!(text, "SwitchName={}", name(machine, router)).unwrap();
        if !machine.nodes_of(router).is_empty() {
            write!(text, " Nodes={}", nodes(machine, router).join(",")).unwrap();
        }
        let below = machine.bundles_from(router).iter().filter(|bundle| bundle.target < router);
        let below: Vec<String> = below.map(|bundle| name(machine, bundle.target)).collect();
        if !below.is_empty() {
            write!(text, " Switches={}", below.join(",")).unwrap();
        }
        text.push('\n');
    }
    text
}

fn as_sst_macro(machine: &Machine) -> String {
    let node = |node: NodeId| format!("{{\"node\": {}, \"switch\": {}}}", node.0, machine.router_of(node).0);
    let cables = machine.links().filter(|&link| link < machine.reverse(link));
    let cable = |link| format!("{{\"switch1\": {}, \"switch2\": {}}}", machine.source(link).0, machine.target(link).0);
    format!(
        "{{\"avg_num_hops\": 2, \"num_nodes\": {}, \"num_switches\": {},\n\"node_to_switch_links\": [{}],\n\
         \"switch_to_switch_links\": [{}]}}",
        machine.node_count(),
        machine.router_count(),
        machine.nodes().map(node).collect::<Vec<_>>().join(",\n"),
        cables.map(cable).collect::<Vec<_>>().join(",\n")
    )
}

fn as_ibnetdiscover(machine: &Machine) -> String {
    let mut text = String::from("#\n# Topology file: generated\n#\n");
    for router in machine.routers() {
        let own = name(machine, router);
        write!(text, "\nSwitch\t128 \"S-{own}\"\t\t# \"MF0;{own}:SX/U1\" enhanced port 0 lid 1 lmc 0\n").unwrap();
        for (port, &node) in machine.nodes_of(router).iter().enumerate() {
            writeln!(text, "[{}]\t\"H-{}\"[1](1)\t\t# \"h{} HCA-1\" lid 1 4xEDR", port + 1, node.0, node.0).unwrap();
        }
        for link in machine.links_from(router).map(odonata_units::LinkId::from_index) {
            let (back, peer) = (machine.reverse(link), name(machine, machine.target(link)));
            let [here, there] = [link, back].map(|link| machine.port(link) + 1);
            writeln!(text, "[{here}]\t\"S-{peer}\"[{there}]\t\t# \"MF0;{peer}:SX/U1\" lid 1 4xEDR").unwrap();
        }
    }
    text
}

/// The machine in each format that lists cables.
fn read_everywhere(machine: &Machine) -> Vec<(&'static str, MachineBuilder)> {
    let [csv, listing, slurm, sst, ib] =
        [as_csv, as_booksim, as_slurm, as_sst_macro, as_ibnetdiscover].map(|write| write(machine).into_bytes());
    vec![
        ("edge-list", edge_list_csv(&csv, "f", &EdgeListOptions::default()).unwrap()),
        ("booksim", booksim(&listing, "f", &BookSim::default()).unwrap()),
        ("slurm", slurm_topology(&slurm, "f", &SlurmTree::default()).unwrap()),
        ("sst-macro", sst_macro(&sst, "f", &SstMacro::default()).unwrap()),
        ("ibnetdiscover", ibnetdiscover(&ib, "f", &InfiniBand::default()).unwrap()),
    ]
}

/// Number of routers by level, and by level and number of nodes.
fn profile(shape: &Shape, node_router: &[RouterId]) -> BTreeMap<(u8, usize), usize> {
    let Shape::FatTree { level_of, .. } = shape else { panic!("{shape:?} is no tree") };
    let mut nodes = vec![0; level_of.len()];
    node_router.iter().for_each(|router| nodes[router.index()] += 1);
    let mut found = BTreeMap::new();
    level_of.iter().zip(nodes).for_each(|(&level, nodes)| *found.entry((level, nodes)).or_default() += 1);
    found
}

fn leaf_spine(leaves: u32, spines: u32, parallel: u32) -> MachineBuilder {
    let family = Xgft { children: vec![4, leaves], parents: vec![1, spines], ..Xgft::default() };
    Xgft { parallel: vec![parallel].into(), ..family }.builder().unwrap()
}

fn trees() -> Vec<MachineBuilder> {
    let tree = FatTree { k: 4, ..FatTree::default() }.builder().unwrap();
    let mut missing = leaf_spine(8, 4, 1);
    missing.cables.remove(5);
    let mut cut = tree.clone();
    cut.cables.remove(3);
    // Leaves with fewer nodes, one without any node, and one with a single cable.
    let mut unequal = leaf_spine(6, 3, 1);
    let keep = |node: usize| ![1, 2, 3, 4, 9].contains(&(node % 24));
    unequal.node_router =
        unequal.node_router.iter().enumerate().filter(|(node, _)| keep(*node)).map(|(_, &router)| router).collect();
    unequal.node_up = vec![true; unequal.node_router.len()];
    unequal.cables.retain(|cable| cable.a.0 != 5 || cable.b.0 == 6);
    let mut rails = leaf_spine(4, 2, 1);
    rails.add_rails(odonata_machine::RailSettings { rails: 2, ..Default::default() }).unwrap();
    let four_levels = FatTree { k: 4, levels: 4, ..FatTree::default() }.builder().unwrap();
    let tapered = FatTree { k: 8, oversubscription: 3, ..FatTree::default() }.builder().unwrap();
    vec![leaf_spine(8, 4, 1), leaf_spine(3, 2, 1), missing, tree, cut, unequal, rails, four_levels, tapered]
}

#[test]
fn levels_are_found_in_every_format() {
    for builder in trees() {
        let expected = profile(&builder.shape, &builder.node_router);
        for (format, read) in read_everywhere(&builder.clone().build().unwrap()) {
            assert_eq!(profile(&read.shape, &read.node_router), expected, "{format} {}", builder.name);
        }
    }
    // Parallel cables: only some formats can list them.
    let machine = leaf_spine(4, 2, 3).build().unwrap();
    let text = as_csv(&machine).into_bytes();
    let read = edge_list_csv(&text, "f", &EdgeListOptions::default()).unwrap();
    assert_eq!(profile(&read.shape, &read.node_router), [((0, 4), 4), ((1, 0), 2)].into());
    assert_eq!(read.reading[0], "24 cables between 8 pairs of routers");
}

#[test]
fn pods_are_groups_with_coordinates() {
    let tree = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let read = slurm_topology(as_slurm(&tree).as_bytes(), "f", &SlurmTree::default()).unwrap().build().unwrap();
    assert_eq!(read.coordinates().axes, ["level", "pod", "index"]);
    assert_eq!(read.group_count(), tree.group_count());
    // Every pod has two leaves and two routers above them, and the last group is the four routers at the top.
    let sizes = |machine: &Machine| {
        let mut sizes = vec![0; machine.group_count()];
        machine.routers().for_each(|router| sizes[machine.group_of(router).index()] += 1);
        sizes
    };
    assert_eq!((sizes(&read), sizes(&tree)), (vec![4; 5], vec![4; 5]));
    assert!(read.routers().all(|router| read.router_name(router).starts_with("sw-")), "names of the file");
}

/// No other family is a tree, also if its routers are listed without coordinates and classes.
#[test]
fn other_families_have_no_levels() {
    let torus = Torus { dims: vec![4, 4, 2], ..Torus::default() };
    let families: [&dyn Topology; 9] = [
        &Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() },
        &DragonflyPlus::default(),
        &Cascade { groups: 2, ..Cascade::default() },
        &torus,
        &ExpressMesh::default(),
        &HyperX::default(),
        &SlimFly::default(),
        &PolarFly::default(),
        &Jellyfish::default(),
    ];
    for family in families {
        let machine = family.lay_out().unwrap().build().unwrap();
        let read = edge_list_csv(as_csv(&machine).as_bytes(), "f", &EdgeListOptions::default()).unwrap();
        assert_eq!(read.shape, Shape::Graph, "{}", machine.name());
    }
}

fn of_csv(rows: &str) -> MachineBuilder {
    let text = format!("src,dst,src_nodes,dst_nodes\n{rows}");
    edge_list_csv(text.as_bytes(), "f", &EdgeListOptions::default()).unwrap()
}

#[test]
fn a_graph_says_why_it_has_no_levels() {
    // A cable between two spines.
    let read = of_csv("a,s,4,0\nb,s,4,0\na,t,4,0\nb,t,4,0\ns,t,0,0\n");
    assert_eq!(read.reading.last().unwrap(), "no levels of a tree: a cable joins s and t of one level");
    // Two leaves share no spine.
    let read = of_csv("a,s,4,0\nb,s,4,0\nb,t,4,0\nc,t,4,0\n");
    assert_eq!(read.reading.last().unwrap(), "no levels of a tree: no path from a up and then down to c");
    // A ring with nodes everywhere never looks like a tree.
    let read = of_csv("a,b,1,1\nb,c,1,1\nc,a,1,1\n");
    assert_eq!(read.reading, ["3 cables between 3 pairs of routers", "a row is a cable"]);
}

/// A subnet manager at a spine leaves the levels as they are.
#[test]
fn a_few_nodes_may_be_at_a_spine() {
    let read = of_csv("a,s,16,1\nb,s,16,1\na,t,16,0\nb,t,16,0\n");
    assert_eq!(read.shape, Shape::FatTree { levels: 2, level_of: vec![0, 1, 0, 1] });
}

/// A list of cables without nodes has nodes everywhere, until `node_counts` says where they are.
#[test]
fn levels_are_found_with_the_node_counts() {
    let text = "src,dst\n0,2\n1,2\n0,3\n1,3\n";
    let mut read = edge_list_csv(text.as_bytes(), "f", &EdgeListOptions::default()).unwrap();
    assert_eq!(read.shape, Shape::Graph);
    odonata_machine::node_counts::apply(&mut read, &["router 0-1: 4", "router 2-3: 0"]).unwrap();
    assert_eq!(read.shape, Shape::FatTree { levels: 2, level_of: vec![0, 0, 1, 1] });
    let machine = read.build().unwrap();
    assert_eq!(machine.router_name(RouterId(3)), "r3");
    assert_eq!(machine.coordinates().axes, ["level", "index"]);
}

//! Machines in the files of other simulators, against formulas and against the families.

use odonata_declare::Reader;
use odonata_machine::import::{booksim, codes_conf, htsim, simgrid, BookSim, FormatError};
use odonata_machine::topology::{Cascade, Dragonfly, DragonflyPlus, Topology};
use odonata_machine::{Machine, MachineBuilder, MachineError, Shape};
use odonata_units::Time;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Files by name.
#[derive(Default)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Reader for Files {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).cloned().ok_or_else(|| "it is not there".into())
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Ok(name.into())
    }
}

fn conf(params: &str, files: &mut Files) -> Result<Machine, String> {
    let text =
        format!("LPGROUPS\n{{\n   MODELNET_GRP\n   {{\n      repetitions=\"36\";\n   }}\n}}\nPARAMS\n{{\n{params}}}\n");
    match codes_conf(text.as_bytes(), "conf/net.conf", files) {
        Ok(builder) => Ok(builder.build().unwrap()),
        Err(FormatError::Machine(error)) => Err(error.to_string()),
        Err(error) => Err(format!("{error:?}")),
    }
}

/// Source, target, class and bits per second.
type Link = (u32, u32, String, u64);

/// The links, and the nodes of each router.
fn graph(machine: &Machine) -> (Vec<Link>, Vec<usize>) {
    let mut links: Vec<Link> = machine
        .links()
        .map(|link| {
            let class = machine.classes()[machine.class(link).index()].name.clone();
            (machine.source(link).0, machine.target(link).0, class, machine.bandwidth(link).bits_per_s())
        })
        .collect();
    links.sort();
    (links, machine.routers().map(|router| machine.nodes_of(router).len()).collect())
}

/// The wiring files that describe a machine: pairs or triples inside its first group, pairs between groups.
fn wiring(builder: &MachineBuilder, size: u32, types: Option<&[u32]>, files: &mut Files) {
    let (mut intra, mut inter) = (Vec::new(), Vec::new());
    let put = |into: &mut Vec<u8>, numbers: &[u32]| {
        numbers.iter().for_each(|number| into.extend((*number as i32).to_le_bytes()));
    };
    for cable in &builder.cables {
        for (a, b) in [(cable.a.0, cable.b.0), (cable.b.0, cable.a.0)] {
            match (a / size == b / size, types) {
                (false, _) => put(&mut inter, &[a, b]),
                (true, None) if a < size => put(&mut intra, &[a, b]),
                (true, Some(types)) if a < size => put(&mut intra, &[a, b, types[cable.class.index()]]),
                _ => {}
            }
        }
    }
    files.0.insert("conf/intra".into(), intra);
    files.0.insert("conf/inter".into(), inter);
}

const WIRED: &str = "num_cns_per_router=\"2\";\n# a comment\nlocal_bandwidth=\"2.0\";\nglobal_bandwidth=\"4.0\";\n\
    cn_bandwidth=\"1.0\";\nintra-group-connections=\"intra\";\ninter-group-connections=\"inter\";\n";

#[test]
fn the_first_dragonfly_of_codes_joins_routers_of_one_number() {
    let params = "modelnet_order=( \"dragonfly\", \"dragonfly_router\");\nnum_routers=\"4\";\n\
        local_bandwidth=\"5.25\"; global_bandwidth=\"4.7\"\ncn_bandwidth=\"5.25\";\n";
    let machine = conf(params, &mut Files::default()).unwrap();
    assert_eq!((machine.router_count(), machine.node_count()), (36, 72));
    for link in machine.links() {
        let (a, b) = (machine.source(link).0, machine.target(link).0);
        if a / 4 == b / 4 {
            continue;
        }
        // Router j of a group leads to the groups j + 1 after and before (h / 2 = 1 on each side).
        assert_eq!(a % 4, b % 4);
        let apart = (a / 4).abs_diff(b / 4);
        assert_eq!(apart.min(9 - apart), a % 4 + 1);
        assert_eq!(machine.bandwidth(link).bits_per_s(), (4.7f64 * (1u64 << 30) as f64).round() as u64 * 8);
    }
}

#[test]
fn wiring_files_of_codes_are_the_machines_that_they_list() {
    let gib = 8u64 << 30;
    let mut files = Files::default();
    let dragonfly = Dragonfly { p: 2, a: 4, h: 2, g: 5, ..Dragonfly::default() }.builder().unwrap();
    wiring(&dragonfly, 4, None, &mut files);
    let dally = format!("modelnet_order=(\"dragonfly_dally\");\nnum_routers=\"4\";\nnum_groups=\"5\";\n{WIRED}");
    let machine = conf(&dally, &mut files).unwrap();
    let (mut expected, nodes) = graph(&dragonfly.clone().build().unwrap());
    expected.iter_mut().for_each(|link| link.3 = if link.2 == "local" { 2 * gib } else { 4 * gib });
    assert_eq!(graph(&machine), (expected, nodes));
    assert_eq!(machine.terminal().bandwidth.bits_per_s(), gib);

    // The same with a type in each entry.
    wiring(&dragonfly, 4, Some(&[0, 0]), &mut files);
    let typed = conf(&dally, &mut files).unwrap();
    assert_eq!(typed.link_count(), machine.link_count());

    let plus = DragonflyPlus { p: 2, leaves: 3, spines: 2, h: 2, g: 5, ..DragonflyPlus::default() }.lay_out().unwrap();
    wiring(&plus, 5, None, &mut files);
    let params = format!(
        "modelnet_order=(\"dragonfly_plus\");\nnum_router_leaf=\"3\";\nnum_router_spine=\"2\";\nnum_groups=\"5\";\n{WIRED}"
    );
    let machine = conf(&params, &mut files).unwrap();
    let expected = plus.build().unwrap();
    assert_eq!(graph(&machine).1, graph(&expected).1, "nodes on leaves only");
    assert_eq!(machine.link_count(), expected.link_count());
    assert_eq!(machine.node_count(), 5 * 3 * 2);

    let cascade = Cascade { groups: 3, rows: 2, columns: 4, nodes_per_router: 2, ..Cascade::default() };
    let cascade = cascade.lay_out().unwrap();
    wiring(&cascade, 8, Some(&[0, 1, 2]), &mut files);
    let params = format!(
        "modelnet_order=(\"dragonfly_custom\");\nnum_router_rows=\"2\";\nnum_router_cols=\"4\";\nnum_groups=\"3\";\n{WIRED}"
    );
    let machine = conf(&params, &mut files).unwrap();
    let (mut expected, nodes) = graph(&cascade.build().unwrap());
    expected.iter_mut().for_each(|link| link.3 = if link.2 == "blue" { 4 * gib } else { 2 * gib });
    expected.sort();
    assert_eq!(graph(&machine), (expected, nodes));
}

/// CODES names its own files relative to the folder of its build.
#[test]
fn wiring_files_may_lie_next_to_the_configuration() {
    let mut files = Files::default();
    let dragonfly = Dragonfly { p: 2, a: 4, h: 2, g: 5, ..Dragonfly::default() }.builder().unwrap();
    wiring(&dragonfly, 4, None, &mut files);
    let dally = format!("modelnet_order=(\"dragonfly_dally\");\nnum_routers=\"4\";\nnum_groups=\"5\";\n{WIRED}");
    let near = dally.replace("\"intra\"", "\"../src/conf/intra\"").replace("\"inter\"", "\"../src/conf/inter\"");
    let machine = conf(&near, &mut files).unwrap();
    assert_eq!(graph(&machine), graph(&conf(&dally, &mut files).unwrap()));
    let said = &machine.reading()[machine.reading().len() - 2..];
    assert_eq!(said, ["conf/intra is read for ../src/conf/intra", "conf/inter is read for ../src/conf/inter"]);
    // One row of routers has no columns to join, so no empty class.
    wiring(&dragonfly, 4, Some(&[0, 0]), &mut files);
    let custom = format!(
        "modelnet_order=(\"dragonfly_custom\");\nnum_router_rows=\"1\";\nnum_router_cols=\"4\";\nnum_groups=\"5\";\n{WIRED}"
    );
    let machine = conf(&custom, &mut files).unwrap();
    assert_eq!(machine.classes().iter().map(|class| class.name.as_str()).collect::<Vec<_>>(), ["green", "blue"]);
    assert_eq!(machine.link_count(), conf(&dally, &mut files).unwrap().link_count());
}

/// Neighbours, and routers 1 + i gap apart: in a line of 8 with gap 3 these are 7 pairs at distance 1, 4 at 4, 1 at 7.
#[test]
fn express_meshes_of_codes() {
    let read = |gap: u32, dims: &str| {
        let params = format!("modelnet_order=(\"express_mesh\");\ndim_length=\"{dims}\";\ngap=\"{gap}\";\nnum_cn=\"2\";\nlink_bandwidth=\"2.0\";\n");
        conf(&params, &mut Files::default()).unwrap()
    };
    assert_eq!((read(3, "8").link_count(), read(3, "8").node_count()), (2 * (7 + 4 + 1), 16));
    // With gap 1, every two routers of a line are joined: 160 routers with 3 + 4 + 7 cables each.
    let hyperx = read(1, "4,5,8");
    assert_eq!((hyperx.router_count(), hyperx.link_count()), (160, 160 * (3 + 4 + 7)));
    assert_eq!(hyperx.classes()[0].bandwidth.bits_per_s(), 2 * (8 << 30));
    // The first dimension is the fastest.
    assert_eq!(hyperx.coordinates().sizes, [8, 5, 4]);
    assert_eq!(read(9, "3,2").shape(), &Shape::Torus { dims: vec![2, 3], wrap: vec![false; 2] });
}

#[test]
fn regular_networks_of_codes_have_the_counts_of_their_formulas() {
    let read = |params: &str| conf(params, &mut Files::default()).unwrap();
    let tree = read("modelnet_order=( \"fattree\" );\nft_type=\"0\";\nnum_levels=\"3\";\nswitch_count=\"32\";\nswitch_radix=\"8\";\nlink_bandwidth=\"12.5\";\n");
    // k = 8: k^3 / 4 nodes, 5 k^2 / 4 switches, k^3 / 4 cables at each of two levels.
    assert_eq!((tree.node_count(), tree.router_count(), tree.link_count()), (128, 80, 2 * 256));
    let pruned =
        read("modelnet_order=( \"fattree\" );\nnum_levels=\"3\";\nswitch_count=\"16\";\nswitch_radix=\"8\";\n");
    // Half of the pods, full bisection: half of the top switches, each with two cables to every pod's switch.
    assert_eq!((pruned.node_count(), pruned.router_count(), pruned.link_count()), (64, 16 + 16 + 8, 2 * 128));
    // Summit: 11 pods of 18 x 18, three cables from a pod's switch to each of 6 top switches, which keep 3 of their
    // 36 ports free.
    let summit = "modelnet_order=( \"fattree\" );\nft_type=\"0\";\nnum_levels=\"3\";\nswitch_count=\"198\";\nswitch_radix=\"36\";\n";
    let one = read(summit);
    assert_eq!((one.node_count(), one.router_count()), (198 * 18, 198 + 198 + 108));
    assert_eq!(one.link_count(), 2 * (198 * 18 + 198 * 18));
    let ports = |router| one.links_from(router).len() + one.nodes_of(router).len();
    let by_ports = |count: usize| one.routers().filter(|&router| ports(router) == count).count();
    assert_eq!((by_ports(36), by_ports(33)), (396, 108));
    // Two rails of it are two planes.
    let two = read(&format!("{summit}num_rails=\"2\";\n"));
    assert_eq!((two.host_count(), two.router_count(), two.link_count()), (3_564, 2 * 504, 2 * one.link_count()));
    assert_eq!((two.rails().planes, two.rails().per_plane), (2, 1));
    // A tree of 14 pods in which floor(36 / 14) = 2 cables lead to each of 9 top switches.
    let full = read(&summit.replace("198", "252"));
    assert_eq!((full.router_count(), full.link_count()), (252 + 252 + 162, 2 * 2 * 252 * 18));
    let slim = read(
        "modelnet_order=( \"slimfly\", \"slimfly_router\");\nnum_routers=\"5\";\nnum_terminals=\"3\";\n\
        generator_set_X=(\"1\",\"4\");   # : one of its halves\n",
    );
    assert_eq!((slim.router_count(), slim.node_count(), slim.link_count()), (50, 150, 50 * 7));
    let torus = read("modelnet_order=( \"torus\" );\nn_dims=\"3\";\ndim_length=\"4,4,2\";\nlink_bandwidth=\"10.0\";\n");
    assert_eq!(torus.shape(), &Shape::Torus { dims: vec![2, 4, 4], wrap: vec![true; 3] });
}

#[test]
fn a_configuration_of_codes_on_one_line() {
    let text = "LPGROUPS { MODELNET_GRP { repetitions=\"36\"; server=\"2\"; } } PARAMS { modelnet_order=( \"dragonfly\" ); num_routers=\"4\" } # so\n";
    let machine = codes_conf(text.as_bytes(), "net.conf", &mut Files::default()).unwrap().build().unwrap();
    assert_eq!((machine.router_count(), machine.node_count()), (36, 72));
    let after = format!("{text}nothing of this = \"is read\";\n");
    assert!(codes_conf(after.as_bytes(), "net.conf", &mut Files::default()).is_ok());
}

#[test]
fn missing_entries_of_a_codes_configuration_are_named() {
    let refused = |params: &str, why: &str| {
        let error = conf(params, &mut Files::default()).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused("num_routers=\"4\";\n", "net.conf:line 8: 'modelnet_order' is missing");
    refused("modelnet_order=( \"loggp\" );\n", "line 10: unknown model 'loggp'");
    refused(
        "modelnet_order=( \"dragonfly\" );\nnum_routers=\"6\";\n",
        "line 11: 6 routers in a group have 3 global ports",
    );
    refused(
        "modelnet_order=( \"dragonfly\" );\nnum_routers=\"x\";\n",
        "line 11: 'num_routers' is 'x'; expected a whole number from 2",
    );
    refused("modelnet_order=( \"slimfly\" );\nnum_rails=\"2\";\n", "only one network of slimfly can be read");
    refused(
        "modelnet_order=( \"fattree\" );\nnum_levels=\"3\";\nswitch_count=\"198\";\nswitch_radix=\"36\";\n",
        "11 pods in a tree of type 1; expected an even number up to 18",
    );
    let dally = format!("modelnet_order=(\"dragonfly_dally\");\nnum_routers=\"4\";\nnum_groups=\"5\";\n{WIRED}");
    refused(&dally, "conf/intra can't be read: it is not there");
    refused(
        &dally.replace("\"intra\"", "\"${SRC}/conf/intra\""),
        "conf/${SRC}/conf/intra can't be read: it is not there, a name of a template; nor is there conf/intra",
    );
    refused("nothing\n", "expected 'name=\"value\";', found 'nothing'");
    assert!(codes_conf(b"LPGROUPS\n", "net.conf", &mut Files::default()).is_err());
}

#[test]
fn a_listing_of_booksim() {
    let read =
        |text: &str| booksim(text.as_bytes(), "any.net", &BookSim { cycle: Time::from_ns(2), ..BookSim::default() });
    // The example of BookSim, with latencies.
    let text = "router 0 node 0 node 1 node 2 router 1 15\nrouter 1 node 3 node 4 node 5\nrouter 2 node 6 node 7 node 8 router 1 router 0\n";
    let machine = read(text).unwrap().build().unwrap();
    assert_eq!((machine.router_count(), machine.node_count(), machine.link_count()), (3, 9, 6));
    let latencies: Vec<u64> = machine.links().map(|link| machine.latency(link).ps()).collect();
    assert_eq!(latencies, [30_000, 2_000, 30_000, 2_000, 2_000, 2_000]);
    let refused = |text: &str, why: &str| {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(
        "router 0 router 1 3\nrouter 1 router 0 4\n",
        "line 1: routers 0 and 1 are 3 cycles apart, and 4 in the other direction",
    );
    refused("router 0 router 0\n", "line 1: router 0 is joined to itself");
    refused("router 0 node 1 router 1\nrouter 1 node 1\n", "line 2: node 1 is at router 0 already");
    refused("router 0 node 1\nrouter 2 router 1\n", "router 0 is not joined to another router");
    refused("router 0 ruter 1\n", "expected 'router' or 'node' and a number, found 'ruter'");
    refused("router 0 5 router 1\n", "found '5'");
    refused("router\n", "expected a number after 'router'");
    refused("", "there are no routers");
    // Numbers are names.
    let ring = read("router 10 node 1 router 20\nrouter 20 node 2 router 35\nrouter 35 node 3 router 10\n").unwrap();
    assert_eq!((ring.group_of.len(), ring.node_router.len()), (3, 3));
    assert!(ring.reading.iter().any(|phrase| phrase.starts_with("routers are called by their numbers, 10 to 35; 23 ")));
    let ring = ring.build().unwrap();
    let node = ring.node_named("n2").unwrap();
    assert_eq!((ring.router_name(ring.router_of(node)).as_str(), node.0), ("20", 1));
    let one = read("router 0 node 0 node 1\n").unwrap().build().unwrap();
    assert_eq!((one.router_count(), one.node_count(), one.node_name(odonata_units::NodeId(1))), (1, 2, "r0n1".into()));
}

#[test]
fn a_fat_tree_of_htsim() {
    let tiers = |nodes: u32, pod: u32| {
        format!(
            "# a tree\nNodes {nodes}\nTiers 3\nPodsize {pod}\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 6\nRadix_Up 6\n\
             Downlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 6\nRadix_Up 6\nDownlink_Latency_ns 1000\n\n\
             tier 2\ndownlink_speed_gbps 100\nRadix_Down 36\nDownlink_Latency_ns 600000\nBundle 3\n"
        )
    };
    let machine = htsim(tiers(432, 36).as_bytes(), "t.topo").unwrap().build().unwrap();
    // 72 edge and 72 aggregation switches in 12 pods, 12 at the top with bundles of three cables to one switch of
    // each pod.
    assert_eq!((machine.node_count(), machine.router_count()), (432, 72 + 72 + 12));
    assert_eq!(machine.link_count(), 2 * (432 + 432));
    let classes: Vec<(u64, u64)> =
        machine.classes().iter().map(|class| (class.bandwidth.bits_per_s(), class.latency.ps())).collect();
    assert_eq!(classes, [(200_000_000_000, 1_000_000), (100_000_000_000, 600_000_000)]);
    let refused = |text: &str, why: &str| {
        let error = htsim(text.as_bytes(), "t.topo").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(&tiers(431, 36), "line 2: 431, but the tiers' ports make a tree of 432");
    refused(&tiers(432, 35), "line 4: 35, but the tiers' ports make pods of 36");
    refused(&tiers(432, 36).replace("Bundle 3", "Bundle 5"), "36 ports in bundles of 5");
    refused(&tiers(432, 36).replace("Tier 1", "Tier 2"), "'Tier 2'; expected 'Tier 1'");
    refused(&tiers(432, 36).replace("Radix_Down 36", ""), "'Radix_Down' is missing");
    refused("Nodes\n", "line 1: expected a name and a number");
}

fn platform(topology: &str, parameters: &str, radical: &str) -> Result<MachineBuilder, MachineError> {
    let text = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n\
         <zone id=\"world\" routing=\"Full\">\n<cluster id=\"c\" prefix=\"node-\" suffix=\"\" radical=\"{radical}\" speed=\"1Gf\"\n\
         bw=\"125MBps\" lat=\"50us\" topology=\"{topology}\" topo_parameters=\"{parameters}\"/>\n</zone>\n</platform>\n"
    );
    simgrid(text.as_bytes(), "platform.xml")
}

#[test]
fn clusters_of_simgrid() {
    let machine = platform("DRAGONFLY", "3,4 ; 3,2 ; 3,1 ; 2", "0-53").unwrap().build().unwrap();
    assert_eq!((machine.router_count(), machine.node_count()), (27, 54));
    // Links in each direction: 3 pairs of groups x 4, 3 groups x 3 columns x 3 pairs x 2, 3 groups x 3 rows x 3
    // pairs.
    assert_eq!(machine.link_count(), 2 * (12 + 54 + 27));
    assert_eq!(machine.classes()[0].bandwidth.bits_per_s(), 1_000_000_000);
    assert_eq!(machine.classes()[0].latency, Time::from_us(50));
    for link in machine.links() {
        let (a, b) = (machine.source(link).0, machine.target(link).0);
        assert!(a / 9 == b / 9 || (a % 9 == b / 9 && b % 9 == a / 9), "router b of group a with router a of group b");
    }
    assert_eq!(machine.node_name(odonata_units::NodeId(53)), "node-53");
    let tree = platform("FAT_TREE", "2;4,4;1,2;1,2", "0-15").unwrap().build().unwrap();
    assert_eq!((tree.router_count(), tree.node_count(), tree.link_count()), (4 + 2, 16, 2 * 16));
    let torus = platform("TORUS", "3,2,2", "0-3,4-11").unwrap().build().unwrap();
    assert_eq!(torus.shape(), &Shape::Torus { dims: vec![2, 2, 3], wrap: vec![true; 3] });

    // The file gives all figures, so nothing is assumed.
    for (topology, parameters) in
        [("DRAGONFLY", "2,1;1,1;2,1;2"), ("FAT_TREE", "2;4,2;1,2;1,1"), ("TORUS", "2,2,2"), ("FLAT", "")]
    {
        let builder = platform(topology, parameters, "0-7").unwrap();
        assert!(builder.assumptions.is_empty(), "{topology}: {:?}", builder.assumptions);
        assert_eq!(
            (builder.node_router.len(), builder.terminal.latency),
            (8, Time::from_us(if topology == "TORUS" { 0 } else { 50 }))
        );
    }
    let flat = "<platform version='4.1'><cluster id='c' prefix='n' radical='2-5,9' suffix='.x' bw='125MBps' lat='50us' bb_bw='2GBps'/></platform>";
    let flat = simgrid(flat.as_bytes(), "p.xml").unwrap();
    assert_eq!(flat.reading.last().unwrap(), "the backbone of 2GBps is not read");
    let flat = flat.build().unwrap();
    assert_eq!((flat.router_count(), flat.node_count(), flat.link_count()), (1, 5, 0));
    assert_eq!(flat.node_named("n9.x").unwrap().0, 4);
    assert_eq!(flat.terminal().bandwidth.bits_per_s(), 1_000_000_000);

    let refused = |topology: &str, parameters: &str, radical: &str, why: &str| {
        let error = platform(topology, parameters, radical).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused("TORUS", "3,2,2", "0-10", "line 5: radical '0-10' names 11 hosts, topo_parameters make 12");
    refused("TORUS", "3,,2", "0-5", "topo_parameters '3,,2'; expected 'x,y,z'");
    refused("DRAGONFLY", "9,1;2,1;2,1;1", "0-35", "9 groups need as many routers");
    refused("DRAGONFLY", "3,4;3,2;3;2", "0-53", "expected 'groups,links;");
    refused("FAT_TREE", "2;4,4;2,2;1,2", "0-15", "a host has 2 switches");
    refused("FAT_TREE", "2;4,4;1,2;1", "0-15", "2 levels need as many numbers");
    refused("STAR", "1", "0", "unknown topology 'STAR'; expected DRAGONFLY, FAT_TREE, TORUS or FLAT");
    for (text, why) in
        [("<platform>", "not XML"), ("<platform/>", "has no list of cables"), ("<a><cluster/></a>", "has no 'radical'")]
    {
        let error = simgrid(text.as_bytes(), "p.xml").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

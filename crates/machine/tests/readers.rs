//! All readers: random machines written in each format are read back; the table of formats in the docs equals the
//! code's; files of other programs are read or refused by name.

use odonata_declare::{Reader, Variant};
use odonata_machine::import::{detect, FORMATS, KINDS, NOTES};
use odonata_machine::{Machine, MachineBuilder};
use odonata_units::RouterId;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The files of a folder.
struct Folder(PathBuf);

impl Reader for Folder {
    fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.0.join(path)).map_err(|error| error.to_string())
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Ok(self.0.join(name))
    }
}

/// Reads a file of any format, as `[machine] file = ...` does.
fn read(bytes: &[u8], label: &str, folder: &Path) -> Result<(&'static str, MachineBuilder), String> {
    let format = detect(bytes)?;
    let reader = (Variant::find("format", FORMATS, format).unwrap().default)();
    let read = reader.read(bytes, label, &mut Folder(folder.into()));
    read.map(|builder| (format, builder)).map_err(|error| format!("{error:?}"))
}

/// A machine: switches with names and nodes, and cables between them; connected.
#[derive(Clone, Debug)]
struct Network {
    /// First number of a switch, in formats whose switches are numbers.
    first: usize,
    /// Nodes of each switch.
    nodes: Vec<usize>,
    cables: Vec<(usize, usize)>,
}

impl Network {
    fn names(&self) -> Vec<String> {
        (0..self.nodes.len()).map(|switch| format!("sw{switch}")).collect()
    }

    fn numbers(&self) -> Vec<String> {
        (0..self.nodes.len()).map(|switch| (self.first + switch).to_string()).collect()
    }

    /// Node number i is at this switch.
    fn node_switches(&self) -> Vec<usize> {
        let at = |(switch, &count): (usize, &usize)| std::iter::repeat_n(switch, count);
        self.nodes.iter().enumerate().flat_map(at).collect()
    }

    /// Cables without parallel ones.
    fn simple(mut self) -> Self {
        self.cables.sort_unstable();
        self.cables.dedup();
        self
    }
}

fn networks() -> impl Strategy<Value = Network> {
    let switches = (1usize..9, 0usize..3);
    switches.prop_flat_map(|(count, first)| {
        let nodes = proptest::collection::vec(0usize..4, count);
        let parents = proptest::collection::vec(any::<prop::sample::Index>(), count);
        let more = proptest::collection::vec((0..count, 0..count), 0..6);
        (nodes, parents, more).prop_map(move |(mut nodes, parents, more)| {
            nodes[0] = nodes[0].max(1);
            let tree = (1..count).map(|switch| (parents[switch].index(switch), switch));
            let more = more.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b)));
            Network { first, nodes, cables: tree.chain(more).collect() }
        })
    })
}

/// Switch of each node by name, and the cables by the names of their ends, in order.
type Description = (Vec<(String, String)>, Vec<(String, String)>);

fn described(machine: &Machine) -> Description {
    let mut nodes: Vec<_> =
        machine.nodes().map(|n| (machine.node_name(n), machine.router_name(machine.router_of(n)))).collect();
    let ends = |link| [machine.source(link), machine.target(link)].map(|router: RouterId| machine.router_name(router));
    let mut cables: Vec<_> = machine
        .links()
        .filter(|&link| link < machine.reverse(link))
        .map(|link| {
            let [a, b] = ends(link);
            (a.clone().min(b.clone()), a.max(b))
        })
        .collect();
    nodes.sort();
    cables.sort();
    (nodes, cables)
}

/// What a reader must find: nodes called as `node` says at switches called as `names` says.
fn expected(network: &Network, names: &[String], node: &dyn Fn(usize, usize, usize) -> String) -> Description {
    let mut nodes = Vec::new();
    let mut number = 0;
    for (switch, &count) in network.nodes.iter().enumerate() {
        for slot in 0..count {
            nodes.push((node(number, switch, slot), names[switch].clone()));
            number += 1;
        }
    }
    let name = |(a, b): &(usize, usize)| {
        let (a, b) = (names[*a].clone(), names[*b].clone());
        (a.clone().min(b.clone()), a.max(b))
    };
    let mut cables: Vec<_> = network.cables.iter().map(name).collect();
    nodes.sort();
    cables.sort();
    (nodes, cables)
}

/// Names of routers whose numbers in the file are their ids.
fn called(numbers: &[String]) -> Vec<String> {
    let ids = numbers.iter().enumerate().all(|(id, number)| *number == id.to_string());
    numbers.iter().map(|number| if ids { format!("r{number}") } else { number.clone() }).collect()
}

fn check(text: &str, format: &str, wanted: &Description) -> Result<(), TestCaseError> {
    let (found, builder) =
        read(text.as_bytes(), "file", Path::new(".")).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
    prop_assert_eq!(found, format, "{}", text);
    prop_assert_eq!(&described(&builder.build().unwrap()), wanted, "{}", text);
    Ok(())
}

fn slurm(network: &Network, names: &[String]) -> String {
    let at = network.node_switches();
    let mut text = String::new();
    for (switch, name) in names.iter().enumerate() {
        let nodes: Vec<String> = (0..at.len()).filter(|&n| at[n] == switch).map(|n| format!("host{n}")).collect();
        let below =
            network.cables.iter().filter(|(upper, _)| *upper == switch).map(|(_, lower)| names[*lower].as_str());
        let below: Vec<&str> = below.collect();
        write!(text, "SwitchName={name}").unwrap();
        for (key, list) in [("Nodes", nodes.join(",")), ("Switches", below.join(","))] {
            if !list.is_empty() {
                write!(text, " {key}={list}").unwrap();
            }
        }
        text.push('\n');
    }
    text
}

fn ibnetdiscover(network: &Network, names: &[String]) -> String {
    let mut ports: Vec<Vec<String>> = vec![Vec::new(); names.len()];
    for (node, &switch) in network.node_switches().iter().enumerate() {
        let line = format!("\"H-{node}\"[1](a)\t# \"host{node} HCA-1\" lid 1 4xHDR");
        ports[switch].push(line);
    }
    for &(a, b) in &network.cables {
        let (at_a, at_b) = (ports[a].len() + 1, ports[b].len() + 1);
        ports[a].push(format!("\"S-{}\"[{at_b}]\t# \"{}\" lid 1 4xHDR", names[b], names[b]));
        ports[b].push(format!("\"S-{}\"[{at_a}]\t# \"{}\" lid 1 4xHDR", names[a], names[a]));
    }
    let mut text = String::from("# Topology file: generated\n");
    for (name, ports) in names.iter().zip(&ports) {
        writeln!(text, "\nSwitch\t64 \"S-{name}\"\t# \"MF0;{name}:MQM/U1\" lid 1").unwrap();
        (1..).zip(ports).for_each(|(port, end)| writeln!(text, "[{port}]\t{end}").unwrap());
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn switches_with_names_are_read_back(network in networks()) {
        let names = network.names();
        let hosts = expected(&network, &names, &|node, _, _| format!("host{node}"));
        check(&ibnetdiscover(&network, &names), "ibnetdiscover", &hosts)?;
        let slots = expected(&network, &names, &|_, switch, slot| format!("sw{switch}n{slot}"));
        if !network.cables.is_empty() {
            let rows: String = network.cables.iter().map(|&(a, b)| format!("sw{a},sw{b},{},{}\n", network.nodes[a], network.nodes[b])).collect();
            // One cable in one direction among several would be a mistake in a list of links.
            let (_, builder) = read(format!("src,dst,src_nodes,dst_nodes\n{rows}").as_bytes(), "e.csv", Path::new(".")).unwrap();
            prop_assert_eq!(&described(&builder.build().unwrap()), &slots);
        }
    }

    /// Slurm lists no parallel cables, and its switches may be numbers.
    #[test]
    fn trees_of_slurm_are_read_back(network in networks().prop_map(Network::simple)) {
        // A switch has nodes or switches below it.
        let leaf = |switch: usize| network.cables.iter().all(|(upper, _)| *upper != switch);
        prop_assume!((0..network.nodes.len()).all(|switch| !leaf(switch) || network.nodes[switch] > 0));
        for names in [network.names(), network.numbers()] {
            let hosts = expected(&network, &called(&names), &|node, _, _| format!("host{node}"));
            check(&slurm(&network, &names), "slurm", &hosts)?;
        }
    }

    #[test]
    fn listings_of_booksim_are_read_back(network in networks().prop_map(Network::simple)) {
        let numbers = network.numbers();
        let at = network.node_switches();
        let mut text = String::new();
        for (switch, number) in numbers.iter().enumerate() {
            write!(text, "router {number}").unwrap();
            (0..at.len()).filter(|&node| at[node] == switch).for_each(|node| write!(text, " node {}", node + network.first).unwrap());
            network.cables.iter().filter(|(a, _)| *a == switch).for_each(|(_, b)| write!(text, " router {} 3", numbers[*b]).unwrap());
            text.push('\n');
        }
        let names = called(&numbers);
        let node = |node: usize, switch: usize, slot: usize| match network.first {
            0 => format!("{}n{slot}", names[switch]),
            first => format!("n{}", node + first),
        };
        check(&text, "booksim", &expected(&network, &names, &node))?;
    }

    #[test]
    fn topologies_of_hpcc_are_read_back(network in networks()) {
        // Hosts come first, then switches; every host has one cable.
        let at = network.node_switches();
        let numbers: Vec<String> = (0..network.nodes.len()).map(|switch| (at.len() + switch).to_string()).collect();
        let mut text = format!("{} {} {}\n{}\n", at.len() + numbers.len(), numbers.len(), at.len() + network.cables.len(), numbers.join(" "));
        at.iter().enumerate().for_each(|(host, switch)| writeln!(text, "{host} {} 400Gbps 0.001ms 0", numbers[*switch]).unwrap());
        network.cables.iter().for_each(|(a, b)| writeln!(text, "{} {} 100Gbps 0.0005ms 0", numbers[*a], numbers[*b]).unwrap());
        // The hosts' numbers are their ids.
        check(&text, "hpcc", &expected(&network, &numbers, &|_, switch, slot| format!("{}n{slot}", numbers[switch])))?;
    }

    #[test]
    fn graphs_are_read_back(network in networks()) {
        prop_assume!(!network.cables.is_empty());
        let network = Network { nodes: vec![1; network.nodes.len()], ..network };
        let names = network.names();
        let wanted = expected(&network, &names, &|_, switch, _| format!("sw{switch}n0"));
        let edges = |form: &dyn Fn(&str, &str) -> String, between: &str| {
            network.cables.iter().map(|&(a, b)| form(&names[a], &names[b])).collect::<Vec<_>>().join(between)
        };
        let dot = format!("graph \"g\" {{\n{}}}\n", edges(&|a, b| format!(" \"{a}\":\"p1\" -- {b} [w=1];\n"), ""));
        check(&dot, "graph", &wanted)?;
        let vertices: String = names.iter().map(|name| format!("<node id='{name}'/>")).collect();
        let graphml = edges(&|a, b| format!("<edge source='{a}' target='{b}'/>"), "");
        check(&format!("<graphml><graph edgedefault='undirected'>{vertices}{graphml}</graph></graphml>"), "graph", &wanted)?;
        let links = edges(&|a, b| format!("{{\"source\": \"{a}\", \"target\": \"{b}\"}}"), ", ");
        check(&format!("{{\"nodes\": [], \"links\": [{links}]}}"), "graph", &wanted)?;
    }
}

/// Servers of two GPUs with an NVSwitch and a rail each: every GPU is a router with its node.
#[test]
fn hosts_with_several_cables_are_routers() {
    let text = "8 2 2 2 8 H100\n4 5 6 7\n0 4 3600Gbps 0.000025ms 0\n1 4 3600Gbps 0.000025ms 0\n2 5 3600Gbps 0.000025ms 0\n3 5 3600Gbps 0.000025ms 0\n\
                0 6 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n1 7 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n";
    let (format, builder) = read(text.as_bytes(), "topo", Path::new(".")).unwrap();
    assert_eq!((format, builder.reading.last().unwrap().as_str()), ("hpcc", "every host is a router with one node"));
    // What a GPU's cables carry together, 3,600 and 400 Gb/s.
    assert_eq!(builder.bandwidth_of_nics().unwrap().0.bits_per_s(), 4_000_000_000_000);
    let machine = builder.build().unwrap();
    assert_eq!((machine.router_count(), machine.node_count(), machine.link_count()), (8, 4, 16));
    assert_eq!(machine.latency(machine.links().next().unwrap()).ps(), 25_000);
    for (from, to, why) in [
        ("8 2 2 2 8", "8 2 2 2 9", "line 1: 4 switches and 9 links, but the file lists 4 and 8; is it cut short?"),
        ("0 4 3600Gbps", "9 4 3600Gbps", "line 3: '9'; expected a number of a node, below 8"),
        ("1 7 400Gbps", "1 7 400Gb", "line 9: '400Gb 0.0005ms 0'; expected figures such as"),
    ] {
        let error = odonata_machine::import::hpcc(text.replacen(from, to, 1).as_bytes(), "t").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Rings of n have n cables (2 have one), full connections n (n - 1) / 2, switches n, in every line of a dimension.
#[test]
fn networks_of_astra_sim_have_the_cables_of_their_dimensions() {
    let text = |forms: &str, sizes: &str| {
        let each = |value: &str| vec![value; sizes.split(',').count()].join(", ");
        format!(
            "topology: [ {forms} ]  # forms\nnpus_count: [ {sizes} ]\nbandwidth: [ {} ]\nlatency: [ {} ]\n",
            each("50"),
            each("500.5")
        )
    };
    for (forms, sizes, routers, nodes, cables) in [
        ("Ring", "8", 8, 8, 8),
        ("FullyConnected", "8", 8, 8, 28),
        ("Switch", "8", 1, 8, 0),
        ("Switch, Ring", "8, 2", 16 + 2, 16, 16 + 8),
        ("Ring, FullyConnected, Switch", "4, 3, 2", 24 + 12, 24, 24 + 24 + 24),
    ] {
        let (format, builder) = read(text(forms, sizes).as_bytes(), "net.yml", Path::new(".")).unwrap();
        assert_eq!(format, "astra-sim");
        assert_eq!(
            (builder.group_of.len(), builder.node_router.len(), builder.cables.len()),
            (routers, nodes, cables),
            "{forms}"
        );
        let one = builder.cables.first().map_or(&builder.terminal.bandwidth, |cable| &cable.bandwidth).bits_per_s();
        assert_eq!((one, builder.build().unwrap().node_count()), (400_000_000_000, nodes));
    }
    let refused = |text: String, why: &str| {
        let error = odonata_machine::import::astra_sim(text.as_bytes(), "net.yml").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(text("Rings", "8"), "line 1: 'Rings'; expected Ring, FullyConnected or Switch");
    refused(text("Ring", "8").replace("50", "tbd"), "line 3: bandwidth: 'tbd'; expected a number");
    refused(text("Ring", "8, 2"), "2 values of npus_count; 'topology' has 1");
    refused(text("Ring", "1"), "npus_count: '1'; expected a whole number from 2");
}

/// The Internet Topology Zoo gives rates in bits per second.
#[test]
fn graphml_may_have_rates_and_vertices_without_edges() {
    let text = "<?xml version='1.0'?><graphml xmlns='http://graphml.graphdrawing.org/xmlns'><key attr.name='LinkSpeedRaw' id='d1'/>\
                <graph edgedefault='undirected'><node id='0'/><node id='1'/><node id='2'/><node id='9'/>\
                <edge source='0' target='1'><data key='d1'>10000000000.0</data></edge>\
                <edge source='1' target='2'><data key='d1'>2500000000.0</data></edge></graph></graphml>";
    let (_, builder) = read(text.as_bytes(), "zoo.graphml", Path::new(".")).unwrap();
    assert_eq!(builder.reading.last().unwrap(), "vertices without edges are left out: 1");
    let rates: Vec<u64> = builder.cables.iter().map(|cable| cable.bandwidth.bits_per_s()).collect();
    assert_eq!(rates, [10_000_000_000, 2_500_000_000]);
    let (_, some) =
        read(text.replacen("2500000000.0", "unknown", 1).as_bytes(), "zoo.graphml", Path::new(".")).unwrap();
    assert!(some.reading.iter().any(|phrase| phrase == "LinkSpeedRaw is not used: 1 of 2 edges have it"));
}

/// A directed graph may list each cable twice.
#[test]
fn directed_graphs_list_links_or_cables() {
    let cables = |text: &str| read(text.as_bytes(), "g", Path::new(".")).unwrap().1.cables.len();
    assert_eq!(cables("digraph { a -> b; b -> a; b -> c; c -> b }"), 2);
    assert_eq!(cables("digraph { a -> b; b -> c }"), 2);
    assert_eq!(cables("graph { a -- b; b -- a }"), 2);
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/machines.md")
}

#[test]
fn the_page_of_machines_has_the_formats() {
    let mut table = String::from("| format | read | not read | tested with |\n|---|---|---|---|\n");
    for notes in NOTES {
        writeln!(table, "| `{}` | {} | {} | {} |", notes.format, notes.read, notes.not_read, notes.tested).unwrap();
    }
    table.push_str("\n| refused by name | instead |\n|---|---|\n");
    for kind in KINDS {
        if let Err(instead) = kind.read {
            writeln!(table, "| {} | {instead} |", kind.name).unwrap();
        }
    }
    let (path, marks) = (docs(), ("<!-- formats -->\n\n", "\n<!-- end -->"));
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(marks.0).unwrap() + marks.0.len();
    let end = start + text[start..].find(marks.1).unwrap();
    if std::env::var_os("ODONATA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, [&text[..start], &table, &text[end..]].concat()).unwrap();
        return;
    }
    let help = "write it with ODONATA_WRITE_REFERENCE=1 cargo test -p odonata-machine --test all readers";
    assert_eq!(&text[start..end], table, "the page is stale; {help}");
}

/// Files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Every public file that describes a machine, jobs or a placement is read, or refused by the name of its kind.
#[test]
fn public_files_are_read_or_refused_by_name() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let traces = shared.join("data/traces");
    let mut all = Vec::new();
    files(&traces, &mut all);
    let endings = ["conf", "in", "yaml", "yml", "json", "topo", "xml", "ini", "alloc", "load", "bin"];
    let names = ["loadfile", "shmemLoadFile", "tracer_config", "description_file", "job0", "job1"];
    let describes = |path: &PathBuf| {
        let is =
            |part: Option<&std::ffi::OsStr>, known: &[&str]| part.is_some_and(|part| known.iter().any(|&k| k == part));
        is(path.extension(), &endings) || is(path.file_name(), &names)
    };
    all.retain(describes);
    if all.is_empty() {
        writeln!(std::io::stderr(), "SKIPPED: {} is not there", traces.display()).expect("standard error is open");
        return;
    }
    let (mut machines, mut unknown) = (Vec::new(), Vec::new());
    for path in &all {
        let bytes = std::fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        match read(&bytes, &name, path.parent().unwrap()) {
            Ok((format, builder)) => {
                builder.build().unwrap();
                machines.push(format!("{format} {name}"));
            }
            Err(reason) if reason.contains("unknown kind;") || reason.contains("unknown column") => {
                unknown.push(format!("{}: {reason}", path.display()));
            }
            Err(_) => {}
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
    for name in [
        "codes-conf fattree.conf",
        "codes-conf dfly.conf",
        "codes-conf hypreX_expressMesh.conf",
        "codes-conf torus.conf",
        "htsim 8nodes.topo",
    ] {
        assert!(machines.iter().any(|machine| machine == name), "{name} in {machines:?}");
    }
}

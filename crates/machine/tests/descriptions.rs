//! Descriptions in YAML and JSON: CODES against equivalent configuration texts, SST-macro against
//! results by hand and against the families.

use odonata_declare::Reader;
use odonata_machine::import::{codes_conf, codes_yaml, sst_macro, FormatError, SstMacro};
use odonata_machine::topology::{Dragonfly, Torus};
use odonata_machine::{Machine, MachineBuilder};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

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

fn built(result: Result<MachineBuilder, FormatError>) -> Result<Machine, String> {
    match result {
        Ok(builder) => Ok(builder.build().unwrap()),
        Err(FormatError::Machine(error)) => Err(error.to_string()),
        Err(error) => Err(format!("{error:?}")),
    }
}

fn yaml(text: &str, files: &mut Files) -> Result<Machine, String> {
    built(codes_yaml(text.as_bytes(), "conf/net.yaml", files))
}

/// Source, target, class, bits per second.
type Link = (u32, u32, String, u64);

/// Every link, and the nodes of every router with the bits per second of theirs.
fn graph(machine: &Machine) -> (Vec<Link>, Vec<usize>, u64) {
    let mut links: Vec<Link> = machine
        .links()
        .map(|link| {
            let class = machine.classes()[machine.class(link).index()].name.clone();
            (machine.source(link).0, machine.target(link).0, class, machine.bandwidth(link).bits_per_s())
        })
        .collect();
    links.sort();
    let nodes = machine.routers().map(|router| machine.nodes_of(router).len()).collect();
    (links, nodes, machine.terminal().bandwidth.bits_per_s())
}

/// Ring of four routers in each of three groups, and a cable between every two groups, as CODES' wiring files.
fn wiring(files: &mut Files) {
    let bytes = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let ring: Vec<i32> = (0..4).flat_map(|r| [r, (r + 1) % 4, (r + 1) % 4, r]).collect();
    files.0.insert("conf/intra".into(), bytes(&ring));
    let inter = [0, 4, 4, 0, 1, 8, 8, 1, 5, 9, 9, 5];
    files.0.insert("conf/inter".into(), bytes(&inter));
}

/// Each model as a description and as the equivalent configuration text.
#[test]
fn descriptions_are_their_configurations() {
    let twins = [
        (
            "model: dragonfly\n    shape: {num_routers: 4}\n    links:\n      local: { bandwidth: 5.25, vc_size: 4096 }\n      \
             global: { bandwidth: 4.7 }\n      cn: { bandwidth: 5.25 }\n    routing: {algorithm: adaptive}\n",
            "modelnet_order=(\"dragonfly\");num_routers=\"4\";local_bandwidth=\"5.25\";global_bandwidth=\"4.7\";cn_bandwidth=\"5.25\";",
        ),
        (
            "model: torus\n    shape:\n      n_dims: 3\n      dim_length: \"4,3,2\"\n    link_bandwidth: 10.0\n",
            "modelnet_order=(\"torus\");n_dims=\"3\";dim_length=\"4,3,2\";link_bandwidth=\"10.0\";",
        ),
        (
            "model: torus\n    shape:\n      dim_length: [4, 3, 2]\n",
            "modelnet_order=(\"torus\");dim_length=\"4,3,2\";",
        ),
        (
            "model: fattree\n    shape:\n      num_levels: 3\n      switch_count: 32\n      switch_radix: 8\n    ft_type: 0\n    \
             link_bandwidth: 12.5\n    cn_bandwidth: 12\n",
            "modelnet_order=(\"fattree\");num_levels=\"3\";switch_count=\"32\";switch_radix=\"8\";ft_type=\"0\";\
             link_bandwidth=\"12.5\";cn_bandwidth=\"12\";",
        ),
        (
            "model: slimfly\n    shape: {num_routers: 5, num_terminals: 3}\n    generator_set_X: [1, 4]\n    links: {local: {bandwidth: 9}}\n",
            "modelnet_order=(\"slimfly\");num_routers=\"5\";num_terminals=\"3\";local_bandwidth=\"9\";",
        ),
        (
            "model: dragonfly-dally\n    shape:\n      num_routers: 4\n      num_groups: 3\n      num_cns_per_router: 2\n    connections:\n      \
             intra: intra\n      inter: inter\n    links: {global: {bandwidth: 2.0}}\n",
            "modelnet_order=(\"dragonfly_dally\");num_routers=\"4\";num_groups=\"3\";num_cns_per_router=\"2\";\
             intra-group-connections=\"intra\";inter-group-connections=\"inter\";global_bandwidth=\"2.0\";",
        ),
    ];
    for (fabric, params) in twins {
        let mut files = Files::default();
        wiring(&mut files);
        let text = format!(
            "schema_version: 1\n# a comment\ncomponents:\n  host:\n    model: nw-lp\n\ntopology:\n  format: parametric\n  fabric:\n    {fabric}  \
             hosts:\n    component: host\n"
        );
        let described = yaml(&text, &mut files).unwrap_or_else(|error| panic!("{fabric}: {error}"));
        let configuration = format!("LPGROUPS\n{{\n}}\nPARAMS\n{{\n{params}\n}}\n");
        let configured = built(codes_conf(configuration.as_bytes(), "conf/net.conf", &mut files)).unwrap();
        assert_eq!(graph(&described), graph(&configured), "{fabric}");
        // The same entries under `params` of explicit groups.
        let entries: Vec<String> = params
            .split(';')
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                let (name, value) = entry.split_once('=').unwrap();
                format!("    {name}: {}\n", value.replace("(\"", "[\"").replace("\")", "\"]"))
            })
            .collect();
        let text = format!("schema_version: 1\ntopology:\n  format: groups\n  params:\n{}", entries.concat());
        assert_eq!(graph(&yaml(&text, &mut files).unwrap()), graph(&configured), "{text}");
    }
}

/// A description may be JSON.
#[test]
fn json_says_the_same() {
    let json = r#"{"schema_version": 1, "topology": {"format": "parametric", "fabric": {"model": "dragonfly", "shape": {"num_routers": 4}}}}"#;
    assert_eq!(yaml(json, &mut Files::default()).unwrap().router_count(), 4 * 9);
}

/// A machine as a topology file of SST-macro: each link is a port of its switch, and each node a port after these.
fn topology_file(machine: &Machine) -> String {
    let mut text = String::from("{\n\"avg_num_hops\": 3,\n\"nodes\": {\n");
    let nodes: Vec<String> = machine.nodes().map(|node| format!("\"host{:03}\": {{}}", node.0)).collect();
    text.push_str(&nodes.join(",\n"));
    text.push_str("},\n\"switches\": {\n");
    for router in machine.routers() {
        writeln!(text, "\"{}\": {{\"outports\": {{", machine.router_name(router)).unwrap();
        let mut ports: Vec<String> = machine
            .links_from(router)
            .map(odonata_units::LinkId::from_index)
            .map(|link| machine.router_name(machine.target(link)))
            .chain(machine.nodes_of(router).iter().map(|node| format!("host{:03}", node.0)))
            .collect();
        for (port, destination) in ports.iter_mut().enumerate() {
            *destination = format!("\"{port}\": {{\"destination\": \"{destination}\", \"inport\": 0}}");
        }
        let comma = if router.index() + 1 < machine.router_count() { "," } else { "" };
        writeln!(text, "{}}}}}{comma}", ports.join(",\n")).unwrap();
    }
    text.push_str("}\n}\n");
    text
}

#[test]
fn topology_files_of_sst_macro_give_the_machine_back() {
    let dragonfly = Dragonfly { p: 2, a: 4, h: 2, g: 5, ..Dragonfly::default() }.builder().unwrap();
    let torus = Torus { dims: vec![3, 4, 2], links_per_direction: 2, ..Torus::default() }.builder().unwrap();
    for builder in [dragonfly, torus] {
        let machine = builder.build().unwrap();
        let again = sst_macro(topology_file(&machine).as_bytes(), "net.json", &SstMacro::default());
        let again = again.unwrap().build().unwrap();
        let ends = |machine: &Machine| {
            let mut links: Vec<_> = machine.links().map(|l| (machine.source(l), machine.target(l))).collect();
            links.sort();
            (links, machine.nodes().map(|node| machine.router_of(node)).collect::<Vec<_>>())
        };
        assert_eq!(ends(&again), ends(&machine));
        assert!(again.nodes().all(|node| again.node_name(node) == format!("host{:03}", node.0)));
    }
}

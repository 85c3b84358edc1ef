//! Machines in YAML descriptions of CODES and JSON topologies of SST/macro, against equivalent descriptions.

use odonata_declare::Reader;
use odonata_machine::import::{codes_conf, codes_yaml, sst_macro, FormatError, SstMacro};
use odonata_machine::topology::{Dragonfly, Topology};
use odonata_machine::{Machine, MachineBuilder, Shape};
use odonata_units::NodeId;
use std::collections::BTreeMap;
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

fn yaml(text: &str, files: &mut Files) -> Result<Machine, String> {
    built(codes_yaml(text.as_bytes(), "conf/net.yaml", files))
}

fn conf(params: &str, files: &mut Files) -> Result<Machine, String> {
    built(codes_conf(format!("PARAMS\n{{\n{params}}}\n").as_bytes(), "conf/net.conf", files))
}

fn built(read: Result<MachineBuilder, FormatError>) -> Result<Machine, String> {
    match read {
        Ok(builder) => Ok(builder.build().unwrap()),
        Err(FormatError::Machine(error)) => Err(error.to_string()),
        Err(error) => Err(format!("{error:?}")),
    }
}

/// Ends, class and bandwidth of every link.
fn links(machine: &Machine) -> Vec<(u32, u32, String, u64)> {
    let mut links: Vec<_> = machine
        .links()
        .map(|link| {
            let class = machine.classes()[machine.class(link).index()].name.clone();
            (machine.source(link).0, machine.target(link).0, class, machine.bandwidth(link).bits_per_s())
        })
        .collect();
    links.sort();
    links
}

fn parametric(fabric: &str) -> String {
    format!("schema_version: 1\ncomponents:\n  host:\n    model: nw-lp\ntopology:\n  format: parametric\n  fabric:\n{fabric}")
}

#[test]
fn a_yaml_description_is_the_machine_of_its_configuration() {
    let none = &mut Files::default();
    for (fabric, params) in [
        (
            "    model: dragonfly\n    shape: { num_routers: 4 }\n    links:\n      local:  { bandwidth: 5.25, vc_size: 4096 }\n      \
             global: { bandwidth: 4.7 }\n      cn: { bandwidth: 2 }\n    routing:\n      algorithm: adaptive\n",
            "modelnet_order=(\"dragonfly\");\nnum_routers=\"4\";\nlocal_bandwidth=\"5.25\";\nglobal_bandwidth=\"4.7\";\ncn_bandwidth=\"2\";\n",
        ),
        (
            "    model: fattree\n    shape:\n      num_levels: 3\n      switch_count: 32\n      switch_radix: 8\n    ft_type: 0\n    link_bandwidth: 12.5\n",
            "modelnet_order=(\"fattree\");\nnum_levels=\"3\";\nswitch_count=\"32\";\nswitch_radix=\"8\";\nft_type=\"0\";\nlink_bandwidth=\"12.5\";\n",
        ),
        (
            "    model: torus\n    shape:\n      n_dims: 3\n      dim_length: \"4,4,2\"\n    link_bandwidth: 10.0\n",
            "modelnet_order=(\"torus\");\nn_dims=\"3\";\ndim_length=\"4,4,2\";\nlink_bandwidth=\"10.0\";\n",
        ),
        (
            "    model: slimfly\n    shape: {num_routers: 5, num_terminals: 3}\n    generator_set_X: [1, 4]\n    num_rails: 1\n",
            "modelnet_order=(\"slimfly\");\nnum_routers=\"5\";\nnum_terminals=\"3\";\n",
        ),
    ] {
        let (read, expected) = (yaml(&parametric(fabric), none).unwrap(), conf(params, none).unwrap());
        assert_eq!(links(&read), links(&expected), "{fabric}");
        assert_eq!((read.shape(), read.node_count()), (expected.shape(), expected.node_count()));
    }
    let groups = "topology:\n  format: groups\n  params:\n    modelnet_order: [torus, simplenet]\n    dim_length: [4, 2]\n  groups:\n    A: { repetitions: 8 }\n";
    assert_eq!(yaml(groups, none).unwrap().shape(), &Shape::Torus { dims: vec![2, 4], wrap: vec![true; 2] });
}

/// Wiring of a dragonfly whose groups have two routers, as pairs.
fn wired() -> Files {
    let builder = Dragonfly { p: 2, a: 2, h: 1, g: 3, ..Dragonfly::default() }.lay_out().unwrap();
    let (mut intra, mut inter) = (Vec::new(), Vec::new());
    for cable in &builder.cables {
        for (a, b) in [(cable.a.0, cable.b.0), (cable.b.0, cable.a.0)] {
            match a / 2 == b / 2 {
                true if a < 2 => intra.extend([a, b].map(u32::to_le_bytes).concat()),
                true => {}
                false => inter.extend([a, b].map(u32::to_le_bytes).concat()),
            }
        }
    }
    Files(BTreeMap::from([("conf/intra".into(), intra), ("conf/inter".into(), inter)]))
}

const DALLY: &str = "    model: dragonfly-dally\n    shape: {num_routers: 2, num_groups: 3, num_cns_per_router: 2}\n    connections:\n      \
                     intra: intra\n      inter: \"inter\"\n";

#[test]
fn failed_links_of_codes_are_absent() {
    let mut files = wired();
    let whole = yaml(&parametric(DALLY), &mut files).unwrap();
    // Cables 0-1 (both directions), and the node 3 of router 1.
    let failed = [0, 1, 1, 1, 0, 1, 1, 3, 3].map(i32::to_le_bytes).concat();
    files.0.insert("conf/failed".into(), failed);
    let broken = yaml(&parametric(&format!("{DALLY}    link-failure-file: failed\n")), &mut files).unwrap();
    let expected: Vec<_> = links(&whole).into_iter().filter(|(a, b, ..)| !matches!((a, b), (0, 1) | (1, 0))).collect();
    assert_eq!(links(&broken), expected);
    assert!(!broken.node_up(NodeId(3)) && broken.node_up(NodeId(2)));

    let params = "modelnet_order=(\"dragonfly_dally\");\nnum_routers=\"2\";\nnum_groups=\"3\";\nnum_cns_per_router=\"2\";\n\
                  intra-group-connections=\"intra\";\ninter-group-connections=\"inter\";\nlink-failure-file=\"failed\";\n";
    assert_eq!(links(&conf(params, &mut files).unwrap()), expected);
    files.0.insert("conf/failed".into(), vec![0; 7]);
    let error = conf(params, &mut files).unwrap_err();
    assert!(error.contains("conf/failed:byte 0: cut off"), "{error}");
    let error = conf(&params.replace("failed", "lost"), &mut files).unwrap_err();
    assert!(error.contains("line 9: conf/lost can't be read"), "{error}");
}

#[test]
fn mistakes_of_a_yaml_description_have_a_line() {
    for (text, said) in [
        ("a: 1\n", "net.yaml:line 1: 'topology' is missing"),
        ("topology:\n  format: mesh\n", "line 2: a topology of format 'mesh'; expected parametric or groups"),
        ("topology:\n  switches:\n    A: { terminals: 2 }\n", "fluid model"),
        (
            "topology:\n  format: groups\n  params:\n    dim_length@foo: \"4,2\"\n",
            "line 4: 'dim_length@foo' belongs to one of",
        ),
        (&parametric("    shape: { num_routers: 4 }\n"), "line 8: 'model' is missing"),
        (&parametric("    model: dragonfly\n    shape: { num_routers: 5 }\n"), "line 9: 5 routers in a group"),
        (&parametric("    model: loggp\n"), "line 8: unknown model 'loggp'"),
        (&parametric(DALLY), "line 11: conf/intra can't be read: it is not there"),
        ("topology: [\n", "not YAML or JSON"),
    ] {
        let error = yaml(text, &mut Files::default()).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

const NAMED: &str = r#"{"avg_num_hops": 1,
 "nodes": {"n0": {}, "n1": {}, "n2": {}},
 "switches": {
  "s0": {"outports": {"0": {"destination": "s1", "inport": 0}, "1": {"destination": "s1", "inport": 1},
                      "2": {"destination": "n0", "inport": 0}}},
  "s1": {"outports": {"0": {"destination": "s0", "inport": 0}, "1": {"destination": "s0", "inport": 1},
                      "2": {"destination": "n2", "inport": 0}, "3": {"destination": "n1", "inport": 0}}}}}
"#;

const NUMBERED: &str = r#"{"num_nodes": 3, "num_switches": 2, "avg_num_hops": 1,
 "node_to_switch_links": [{"node": 0, "node_port": 0, "switch": 0, "switch_port": 2},
  {"node": 1, "node_port": 0, "switch": 1, "switch_port": 2},
  {"node": 2, "node_port": 0, "switch": 1, "switch_port": 3}],
 "switch_to_switch_links": [{"switch1": 0, "switch1_port": 0, "switch2": 1, "switch2_port": 0},
  {"switch1": 1, "switch1_port": 1, "switch2": 0, "switch2_port": 1}]}
"#;

#[test]
fn both_forms_of_sst_macro_are_one_machine() {
    let read = |text: &str| sst_macro(text.as_bytes(), "t.json", &SstMacro::default()).unwrap().build().unwrap();
    let (named, numbered) = (read(NAMED), read(NUMBERED));
    assert_eq!(links(&named), links(&numbered));
    // Two cables are four links.
    assert_eq!((named.link_count(), named.router_count(), named.node_count()), (4, 2, 3));
    assert_eq!([0, 1, 2].map(|node| named.router_of(NodeId(node)).0), [0, 1, 1]);
    assert_eq!([0, 1, 2].map(|node| named.node_name(NodeId(node))), ["n0", "n2", "n1"]);
}

#[test]
fn mistakes_of_a_topology_of_sst_macro_have_a_line() {
    for (text, said) in [
        (
            NAMED.replace("\"destination\": \"n1\"", "\"destination\": \"nx\""),
            "t.json:line 7: unknown switch or node 'nx'",
        ),
        (
            NAMED.replace("\"destination\": \"n1\"", "\"destination\": \"n0\""),
            "line 7: node n0 is at s1 and at s0 already",
        ),
        (NAMED.replace("\"n2\": {}", "\"n2\": {}, \"n3\": {}"), "line 2: node n3 is at no switch"),
        (
            NAMED.replace("\"1\": {\"destination\": \"s0\", \"inport\": 1},", ""),
            "line 4: 2 ports lead from s0 to s1, and 1",
        ),
        (NUMBERED.replace("\"switch2\": 1,", "\"switch2\": 2,"), "line 5: 'switch2' is 2; expected a number below 2"),
        (NUMBERED.replace("\"num_nodes\": 3", "\"num_nodes\": 99999999999"), "line 1: 'num_nodes'"),
        (NUMBERED.replace("\"switch1\": 1,", "\"switch1\": 0,"), "line 6: switch 0 is joined to itself"),
        ("{\"a\": 1}".into(), "expected 'nodes' and 'switches'"),
    ] {
        let error = sst_macro(text.as_bytes(), "t.json", &SstMacro::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// `include`: the file's own topology, else the topology of the last file that has one.
#[test]
fn a_topology_may_be_included() {
    let torus = |size: u32| {
        parametric(&format!("    model: torus\n    shape:\n      n_dims: 1\n      dim_length: \"{size}\"\n"))
    };
    let mut files = Files::default();
    for (name, text) in [
        ("conf/a.yaml", torus(4)),
        ("conf/sub/b.yaml", torus(5)),
        ("conf/c.yaml", "sections: { x: { y: 1 } }\n".into()),
    ] {
        files.0.insert(name.into(), text.into_bytes());
    }
    let routers = |text: &str, files: &mut Files| yaml(text, files).map(|machine| machine.router_count());
    assert_eq!(routers("schema_version: 1\ninclude: [a.yaml, sub/b.yaml, c.yaml]\n", &mut files), Ok(5));
    assert_eq!(routers("schema_version: 1\ninclude: a.yaml\n", &mut files), Ok(4));
    assert_eq!(routers(&format!("include: [a.yaml]\n{}", torus(6)), &mut files), Ok(6));
    assert!(routers("include: [c.yaml]\n", &mut files).unwrap_err().contains("'topology' is missing"));
    assert!(routers("include: [d.yaml]\n", &mut files).unwrap_err().contains("line 1: conf/d.yaml can't be read"));
    files.0.insert("conf/e.yaml".into(), b"include: [a.yaml]\n".to_vec());
    assert!(routers("include: [e.yaml]\n", &mut files).unwrap_err().contains("includes others"));
}

//! The switch tree of Slurm: counts by hand, names of nodes, mistakes with their line.

use odonata_machine::import::{slurm_topology, SlurmTree};
use odonata_machine::Machine;

const TREE: &str = "# two levels\nSwitchName=s0 Nodes=tux[00-03]\nswitchname=s1 nodes=tux[04-06],login1\n\
                    SwitchName=s2 Nodes=gpu[1-2] LinkSpeed=200\nSwitchName=top \\\n  Switches=s[0-2]\n";

fn read(text: &str, uplinks: u32) -> Result<Machine, String> {
    let options = SlurmTree { uplinks, ..SlurmTree::default() };
    let builder = slurm_topology(text.as_bytes(), "topology.conf", &options).map_err(|error| error.to_string())?;
    builder.build().map_err(|error| error.to_string())
}

#[test]
fn switches_are_routers_and_nodes_keep_their_names() {
    let machine = read(TREE, 1).unwrap();
    // Three cables, in both directions.
    assert_eq!((machine.router_count(), machine.node_count(), machine.link_count()), (4, 10, 6));
    let twice = read(TREE, 2).unwrap();
    assert_eq!(twice.link_count(), 12);
    for (name, switch) in [("tux00", "s0"), ("tux06", "s1"), ("login1", "s1"), ("gpu2", "s2")] {
        let node = machine.node_named(name).unwrap();
        assert_eq!(machine.router_name(machine.router_of(node)), switch, "{name}");
    }
    let top = machine.routers().find(|&router| machine.router_name(router) == "top").unwrap();
    assert_eq!((machine.nodes_of(top).len(), machine.links_from(top).len()), (0, 3));
}

#[test]
fn a_switch_may_have_several_above_it() {
    let text = "SwitchName=l0 Nodes=a[0-1]\nSwitchName=l1 Nodes=b[0-1]\nSwitchName=s0 Switches=l[0-1]\nSwitchName=s1 Switches=l[0-1]\n";
    let machine = read(text, 1).unwrap();
    assert_eq!((machine.router_count(), machine.link_count()), (4, 8));
}

#[test]
fn mistakes_have_their_line() {
    let message = |text: &str| read(text, 1).unwrap_err();
    let leaf = "SwitchName=s0 Nodes=n[0-1]\n";
    for (text, found) in [
        ("SwitchName=s9 Switches=s1", "topology.conf:line 2: no switch is called s1; did you mean 's0'?"),
        ("SwitchName=s0 Switches=s0", "topology.conf:line 2: switch s0 is listed twice, first in line 1"),
        ("SwitchName=s1 Nodes=n1", "topology.conf:line 2: node n1 is at s0 already, line 1"),
        ("SwitchName=s1 Switches=s1", "topology.conf:line 2: switch s1 is below itself"),
        ("SwitchName=s1", "topology.conf:line 2: switch s1 has neither Nodes= nor Switches="),
        ("Nodes=n7", "topology.conf:line 2: a line without SwitchName="),
        ("SwitchName=s1 Nodse=n7", "topology.conf:line 2: unknown key 'Nodse'; did you mean 'Nodes'?"),
        ("SwitchName=s1 Nodes=n[7", "topology.conf:line 2: 'n[7' lacks a ']'"),
        ("s1 s2", "topology.conf:line 2: 's1', expected SwitchName=, Nodes= or Switches= with a value"),
        ("SwitchName=s1 Nodes=m0", "topology.conf:line 1: 2 switches, and no cable between two of them"),
    ] {
        assert_eq!(message(&format!("{leaf}{text}\n")), found);
    }
    assert_eq!(
        message("# nothing\n"),
        "topology.conf:line 1: there are no switches; expected SwitchName= lines with Nodes= or Switches="
    );
    assert!(message("BlockName=b1 Nodes=n[0-3]\n").contains("expected the tree of topology/tree"));
}

/// What a run prints of a file is its machine: the same tree in every form that Slurm reads or prints.
#[test]
fn every_form_of_slurm_is_the_same_tree() {
    let conf = "SwitchName=s0 Nodes=a[1-2],b1\nSwitchName=s1 Nodes=c[1-2]\nSwitchName=top Switches=s[0-1]\n";
    // `scontrol show topology`: the nodes of an upper switch are those below it.
    let scontrol = "SwitchName=top Level=1 LinkSpeed=1 Nodes=a[1-2],b1,c[1-2] Switches=s[0-1]\n\
                    SwitchName=s0 Level=0 LinkSpeed=1 Nodes=a[1-2],b1\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=c[1-2]\n";
    let continued =
        "switchname=s0 nodes=a[1-2],\\\nb1\nSWITCHNAME=s1 NODES=c[1,\\\n2]\nSwitchName=top \\\nSwitches=s[0-1]\n";
    let yaml = "---\n- topology: blocks\n  block:\n    block_sizes: [4]\n- topology: fabric\n  cluster_default: true\n  tree:\n\
                \x20   switches:\n      - switch: top\n        children: s[0-1]\n      - switch: s0\n        nodes: a[1-2],b1\n\
                \x20     - switch: s1\n        nodes: c[1-2]\n- topology: other\n  tree:\n    switches:\n      - switch: x\n        nodes: d1\n";
    let described = |text: &str| {
        let machine = read(text, 1).unwrap_or_else(|error| panic!("{error}: {text}"));
        let mut nodes: Vec<(String, String)> = machine
            .nodes()
            .map(|node| (machine.node_name(node), machine.router_name(machine.router_of(node))))
            .collect();
        nodes.sort();
        (nodes, machine.router_count(), machine.link_count())
    };
    let expected = described(conf);
    assert_eq!((expected.0.len(), expected.1, expected.2), (5, 3, 4));
    for text in [scontrol, continued, yaml] {
        assert_eq!(described(text), expected, "{text}");
    }
    let reading = read(yaml, 1).unwrap().reading().join("; ");
    assert!(reading.contains("topology fabric, one of 3 in the file"), "{reading}");
    let flat = read("- topology: a\n  flat: true\n- topology: b\n  block: {block_sizes: [2]}\n", 1).unwrap_err();
    assert!(flat.ends_with("no tree, but topologies of kind flat, block; only a tree names its switches"), "{flat}");
}

/// Switches called 1, 2, 3: no switch 0 appears, and nodes keep their names.
#[test]
fn switches_may_be_numbers() {
    for names in [["0", "1", "2"], ["1", "2", "3"], ["10", "20", "30"], ["2", "1", "0"]] {
        let [a, b, top] = names;
        let text =
            format!("SwitchName={a} Nodes=n[1-4]\nSwitchName={b} Nodes=n[5-8]\nSwitchName={top} Switches={a},{b}\n");
        let machine = read(&text, 1).unwrap();
        assert_eq!((machine.router_count(), machine.node_count(), machine.link_count()), (3, 8, 4));
        let node = machine.node_named("n5").unwrap();
        assert_eq!(
            Ok(machine.router_of(node)),
            machine.router_named(b).map_err(|error| error.to_string()),
            "{names:?}"
        );
    }
}

#[test]
fn one_switch_is_a_machine_and_no_switch_is_lost() {
    let machine = read("SwitchName=s0 Nodes=n[0-7]\n", 1).unwrap();
    assert_eq!((machine.router_count(), machine.node_count(), machine.link_count()), (1, 8, 0));
    // A switch without a cable keeps its nodes.
    let machine = read(&format!("{TREE}SwitchName=alone Nodes=x[0-1]\n"), 1).unwrap();
    assert_eq!((machine.router_count(), machine.node_count()), (5, 12));
}

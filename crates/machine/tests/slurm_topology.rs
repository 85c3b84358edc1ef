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
        ("SwitchName=s9 Switches=s1", "topology.conf:line 2: no line has SwitchName=s1; did you mean 's0'?"),
        ("SwitchName=s0 Switches=s0", "topology.conf:line 2: switch s0 is listed twice, first in line 1"),
        ("SwitchName=s1 Nodes=n1", "topology.conf:line 2: node n1 is at s0 already, line 1"),
        ("SwitchName=s1 Switches=s1", "topology.conf:line 2: switch s1 is below itself"),
        ("SwitchName=s1", "topology.conf:line 2: switch s1 has neither Nodes= nor Switches="),
        ("Nodes=n7", "topology.conf:line 2: a line without SwitchName="),
        ("SwitchName=s1 Nodse=n7", "topology.conf:line 2: unknown key 'Nodse'; did you mean 'Nodes'?"),
        ("SwitchName=s1 Nodes=n[7", "topology.conf:line 2: 'n[7' lacks a ']'"),
        ("s1 s2", "topology.conf:line 2: 's1', expected SwitchName=, Nodes= or Switches= with a value"),
        ("", "topology.conf:line 1: no switch is below another; expected SwitchName= lines with Switches="),
    ] {
        assert_eq!(message(&format!("{leaf}{text}\n")), found);
    }
    assert!(message("BlockName=b1 Nodes=n[0-3]\n").contains("expected the tree of topology/tree"));
}

//! Every preset builds and has its declared counts.

use odonata_machine::{presets, Machine};
use odonata_units::NodeId;

fn usable(machine: &Machine) -> usize {
    machine.nodes().filter(|&node| machine.node_up(node)).count()
}

#[test]
fn presets_count_what_they_declare() {
    for preset in presets::names() {
        let machine = presets::builder(preset.name).unwrap().build().unwrap();
        let name = preset.name;
        assert_eq!(machine.name(), name);
        assert_eq!(machine.router_count(), preset.declared.routers, "{name}");
        assert_eq!(machine.node_count(), preset.declared.nodes, "{name}");
        assert_eq!(usable(&machine), preset.declared.usable_nodes, "{name}");
        let mut links = vec![0; machine.classes().len()];
        for link in machine.links() {
            links[machine.class(link).index()] += 1;
        }
        let counted: Vec<(&str, usize)> = machine.classes().iter().map(|c| c.name.as_str()).zip(links).collect();
        assert_eq!(counted, preset.declared.links, "{name}");
    }
}

/// Published: 84,992 endpoints of Aurora's compute groups, and 4 NICs of each of Frontier's 9,472 nodes, each NIC at a
/// switch of its own; 16 of the 64 ports of every switch are NICs.
#[test]
fn slingshot_nodes_have_their_nics() {
    for (name, nics, per_node) in [("frontier-like", 37_888, 4), ("aurora-like", 84_992, 8)] {
        let mut builder = presets::builder(name).unwrap();
        builder.add_rails(presets::find(name).unwrap().rails()).unwrap();
        let machine = builder.build().unwrap();
        assert_eq!((machine.node_count(), machine.rails().of_node()), (nics, per_node), "{name}");
        assert!(machine.routers().all(|router| machine.nodes_of(router).len() == 16), "{name}");
        for node in [0, 1, machine.host_count() as u32 - 1].map(NodeId) {
            let routers = (0..per_node).map(|rail| machine.router_of(machine.end(node, rail)));
            let routers: std::collections::BTreeSet<_> = routers.collect();
            let groups: std::collections::BTreeSet<_> =
                routers.iter().map(|&router| machine.group_of(router)).collect();
            assert_eq!((routers.len(), groups.len()), (per_node as usize, 1), "{name}");
        }
    }
}

#[test]
fn an_unknown_preset_names_the_nearest() {
    let message = presets::builder("edisson").unwrap_err().to_string();
    assert_eq!(message, "unknown preset 'edisson'; did you mean 'edison'?");
}

/// The reference has every preset and every form of an edit.
#[test]
fn the_reference_is_complete() {
    let page = include_str!("../../../docs/reference/machines.md");
    for preset in presets::names() {
        assert!(
            page.contains(&format!("`{}`", preset.name)),
            "docs/reference/machines.md does not have {}",
            preset.name
        );
    }
    let edits = page.split("## Edits").nth(1).and_then(|rest| rest.split("## Files").next()).unwrap();
    let texts = edits.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let texts: Vec<&str> = texts.flat_map(|cell| cell.trim_end_matches('`').split("`, `")).collect();
    assert_eq!(texts.len(), 24, "{texts:?}");
    for text in texts {
        odonata_machine::edit::Edit::parse(text).unwrap();
    }
}

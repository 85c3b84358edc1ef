//! Every preset builds and counts what it declares.

use odonata_machine::{presets, Machine};

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

#[test]
fn an_unknown_preset_names_the_nearest() {
    let message = presets::builder("edisson").unwrap_err().to_string();
    assert_eq!(message, "unknown preset 'edisson'; did you mean 'edison'?");
}

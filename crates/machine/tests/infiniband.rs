//! Hosts, rails and other devices in the output of `ibnetdiscover`, counted by hand.

use odonata_machine::import::{ibnetdiscover, InfiniBand};
use odonata_machine::{metrics, Machine};
use odonata_units::NodeId;

/// A file of switches with 41 ports: for each its name and what is at its ports 1, 2, ..., as `GUID port "description"`.
fn fabric(switches: &[(&str, &[&str])]) -> String {
    let mut text = String::from("#\n# Topology file: generated on Thu Jan  1 00:00:00 2026\n#\n");
    for (name, ends) in switches {
        text +=
            &format!("\nvendid=0x2c9\ndevid=0xd2f0\nSwitch\t41 \"S-{name}\"\t\t# \"MF0;{name}:MQM8700/U1\" lid 1\n");
        for (port, end) in (1..).zip(*ends) {
            let [guid, peer, description] = end.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{end}") };
            text += &format!("[{port}]\t\"{guid}\"[{peer}](a)\t\t# \"{description}\" lid 7 4xHDR\n");
        }
    }
    text
}

fn read(text: &str, service: Option<&str>) -> Result<Machine, String> {
    let options = InfiniBand { service: service.map(Into::into), ..InfiniBand::default() };
    let builder = ibnetdiscover(text.as_bytes(), "net.txt", &options).map_err(|error| error.to_string())?;
    builder.build().map_err(|error| error.to_string())
}

/// Two hosts with an adapter at each of two leaves, under one spine with its aggregation node.
fn two_rails() -> String {
    fabric(&[
        ("leaf1", &["H-a1 1 host01 HCA-1", "H-b1 1 host02 HCA-1", "S-spine 1 spine"]),
        ("leaf2", &["H-b2 1 host02 HCA-2", "H-a2 1 host01 HCA-2", "S-spine 2 spine"]),
        ("spine", &["S-leaf1 3 leaf1", "S-leaf2 3 leaf2", "H-an 1 Mellanox Technologies Aggregation Node"]),
    ])
}

fn routers_of(machine: &Machine, node: &str) -> Vec<String> {
    let node = machine.node_named(node).unwrap();
    let rails = 0..machine.rails().of_node();
    rails.map(|rail| machine.router_name(machine.router_of(machine.end(node, rail)))).collect()
}

#[test]
fn adapters_of_a_host_are_its_rails() {
    let machine = read(&two_rails(), None).unwrap();
    assert_eq!((machine.router_count(), machine.host_count(), machine.link_count()), (3, 2, 4));
    assert_eq!(machine.rails().of_node(), 2);
    assert_eq!(routers_of(&machine, "host01"), ["leaf1", "leaf2"]);
    assert_eq!(routers_of(&machine, "host02"), ["leaf1", "leaf2"]);
    assert_eq!(machine.node_name(NodeId(3)), "host02.1");
    let reading = machine.reading().join("; ");
    assert!(
        reading.contains("not nodes: 1 SHARP aggregation node; rails are the adapter ports of one host"),
        "{reading}"
    );
    // The line about the file counts the rails after these phrases.
    assert_eq!(reading.matches("2 rails").count(), 0, "{reading}");
    // 41 ports each: leaves have 3 ends, the spine 2 cables and the aggregation node.
    assert_eq!(metrics::measure(&machine).ports.free, Some(38 + 38 + 38));
}

/// The adapter's device id says the same if the description was changed.
#[test]
fn aggregation_nodes_are_known_by_their_device() {
    let text = two_rails().replace("Mellanox Technologies Aggregation Node", "sharp");
    assert_eq!(read(&text, None).unwrap().host_count(), 2);
    let block =
        "\ndevid=0xcf09\nCa\t1 \"H-an\"\t\t# \"sharp\"\n[1](a)\t\"S-spine\"[3]\t# lid 1 lmc 0 \"s\" lid 1 4xHDR\n";
    let machine = read(&format!("{text}{block}"), None).unwrap();
    assert!(machine.reading().iter().any(|phrase| phrase.contains("aggregation")), "{:?}", machine.reading());
    assert!(read(&text, None)
        .unwrap()
        .reading()
        .iter()
        .any(|phrase| phrase.ends_with("fewer than 2 adapter ports, sharp")));
}

#[test]
fn one_switch_with_its_hosts_is_a_machine() {
    let text = fabric(&[("leaf1", &["H-a 1 host01 HCA-1", "H-b 1 host02 mlx5_0", "R-1 1 router"])]);
    let machine = read(&text, None).unwrap();
    assert_eq!((machine.router_count(), machine.host_count(), machine.link_count()), (1, 2, 0));
    assert_eq!(routers_of(&machine, "host02"), ["leaf1"]);
    assert!(machine.reading().iter().any(|phrase| phrase == "not nodes: 1 router to another subnet"));
    let text = text + &fabric(&[("leaf2", &["H-c 1 host03 HCA-1"])]);
    assert!(read(&text, None).unwrap_err().contains("2 switches, and no cable between two of them"));
}

/// Both ports of an adapter, at different switches or at one, are rails.
#[test]
fn ports_of_an_adapter_are_rails() {
    let text = fabric(&[
        ("leaf1", &["H-a 2 host01 HCA-1", "H-b 2 host02 HCA-1", "H-b 1 host02 HCA-1", "S-leaf2 2 leaf2"]),
        ("leaf2", &["H-a 1 host01 HCA-1", "S-leaf1 4 leaf1"]),
    ]);
    let machine = read(&text, None).unwrap();
    assert_eq!(routers_of(&machine, "host01"), ["leaf2", "leaf1"]);
    assert_eq!(routers_of(&machine, "host02"), ["leaf1", "leaf1"]);
}

/// Everything that is left out is said.
#[test]
fn other_hosts_are_counted_and_named() {
    let ends = ["H-1 1 n1 HCA-1", "H-2 1 n1 HCA-2", "H-3 1 n2 HCA-1", "H-4 1 n2 HCA-2", "H-5 1 login1 HCA-1"];
    let more = ["H-6 1 oss1 HCA-1", "H-7 1 oss1 HCA-2", "H-8 1 oss1 HCA-3"];
    let all: Vec<&str> = ends.into_iter().chain(more).collect();
    let machine = read(&fabric(&[("s", &all)]), None).unwrap();
    assert_eq!((machine.host_count(), machine.rails().of_node()), (3, 2));
    let reading = machine.reading().join("; ");
    assert!(reading.contains("not nodes: hosts with fewer than 2 adapter ports, login1; "), "{reading}");
    assert!(reading.ends_with("further adapter ports are not used, of oss1"), "{reading}");

    let machine = read(&fabric(&[("s", &all)]), Some("login1,oss[1-1]")).unwrap();
    assert_eq!(machine.host_count(), 2);
    assert!(machine.reading().iter().any(|phrase| phrase == "not nodes: 2 service hosts"));
    let error = read(&fabric(&[("s", &all)]), Some("login2")).unwrap_err();
    assert!(error.contains("'service' names login2, but no adapter has this host; did you mean 'login1'?"), "{error}");
    assert!(read(&fabric(&[("s", &all)]), Some("n[1")).unwrap_err().contains("service: 'n[1' lacks a ']'"));
}

/// Many hosts with one name, or with none from their system, stay what they are: many.
#[test]
fn hosts_of_one_name_are_not_one_host() {
    let machine = read(&fabric(&[("s", &["H-1 1 localhost HCA-1", "H-2 1 localhost HCA-1"])]), None).unwrap();
    assert_eq!((machine.host_count(), machine.node_name(NodeId(1)).as_str()), (2, "H-2"));
    assert!(machine.reading().iter().any(|phrase| phrase == "2 adapters called localhost are nodes of their own"));
    let text = fabric(&[(
        "s",
        &["H-1 1 MT4123 ConnectX6 Mellanox Technologies", "H-2 1 MT4123 ConnectX6 Mellanox Technologies"],
    )]);
    assert_eq!(read(&text, None).unwrap().host_count(), 2);
}

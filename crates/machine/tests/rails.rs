//! Nodes with several NICs: numbering of NICs, routers and planes.

use odonata_machine::topology::Dragonfly;
use odonata_machine::{MachineBuilder, RailRouters, RailSettings};
use odonata_units::{NodeId, RouterId};

fn dragonfly() -> MachineBuilder {
    Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder().unwrap()
}

/// A plane without faults equals the machine that was copied.
#[test]
fn planes_are_the_machine_that_was_copied() {
    let alone = dragonfly().build().unwrap();
    let mut builder = dragonfly();
    builder.add_rails(RailSettings { planes: 3, ..RailSettings::default() }).unwrap();
    let machine = builder.build().unwrap();
    assert_eq!((machine.router_count(), machine.host_count()), (3 * 36, 72));
    assert_eq!(machine.planes().len(), 3);
    assert!(machine.planes().iter().all(|plane| *plane == alone));
    assert_eq!(machine.router_name(RouterId(36 + 5)), "p1g1r1");
    // Converted to cables and built again, as edits do, it is the same.
    assert!(MachineBuilder::from(machine.clone()).build().unwrap() == machine);
}

/// 72 nodes on 36 routers, 4 per group: NIC r of node h is number 72 r + h, at the r-th next router of the group.
#[test]
fn rails_end_at_the_next_routers_of_the_group() {
    let mut builder = dragonfly();
    builder.add_rails(RailSettings { planes: 2, rails: 3, rail_routers: RailRouters::Next }).unwrap();
    let machine = builder.build().unwrap();
    for host in (0..72).map(NodeId) {
        for rail in 0..6 {
            let end = machine.end(host, rail);
            assert_eq!((end.0, machine.host_of(end), machine.rail_of(end)), (72 * rail + host.0, host, rail));
            let (plane, rail, router) = (rail / 3, rail % 3, host.0 / 2);
            let expected = 36 * plane + router / 4 * 4 + (router + rail) % 4;
            assert_eq!(machine.router_of(end), RouterId(expected));
        }
    }
    assert!(machine.routers().all(|router| machine.nodes_of(router).len() == 6));
    let hosts = machine.of_hosts().unwrap();
    assert_eq!((hosts.node_count(), hosts.router_count(), hosts.shape()), (72, 36, machine.planes()[1].shape()));
    assert!(hosts.nodes().all(|node| hosts.node_up(node)));
}

/// A node can be used while one of its NICs works.
#[test]
fn nodes_survive_the_loss_of_one_nic() {
    let mut builder = dragonfly();
    builder.add_rails(RailSettings { planes: 2, ..RailSettings::default() }).unwrap();
    builder.router_up[0] = false;
    builder.router_up[1] = false;
    builder.router_up[36 + 1] = false;
    let machine = builder.build().unwrap();
    let hosts = machine.of_hosts().unwrap();
    let up: Vec<bool> = (0..6).map(|node| hosts.node_up(NodeId(node))).collect();
    assert_eq!(up, [true, true, false, false, true, true]);
    assert_eq!([0, 2, 4].map(|node| machine.working_rails(NodeId(node))), [0b10, 0, 0b11]);
}

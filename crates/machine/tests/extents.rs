//! Upper bounds of a machine's size, known before it is listed.

use odonata_declare::OneOrEach;
use odonata_machine::topology::{Cascade, Dragonfly, Extent, FatTree, Topology, Torus, Xgft};

/// The counts of the machine, and the predicted ones.
fn both(family: &dyn Topology) -> (Extent, Extent) {
    let machine = family.lay_out().unwrap().build().unwrap();
    let counted = Extent {
        routers: machine.router_count() as u64,
        nodes: machine.node_count() as u64,
        cables: machine.link_count() as u64 / 2,
    };
    (counted, family.extent())
}

#[test]
fn machines_that_use_all_their_ports_have_the_predicted_extent() {
    let families: [&dyn Topology; 6] = [
        &Dragonfly::default(),
        &Dragonfly { p: 1, a: 3, h: 2, g: 7, local_cables: 2, ..Dragonfly::default() },
        &Torus { dims: vec![4, 3, 5], nodes_per_router: 2, links_per_direction: 3, ..Torus::default() },
        &FatTree { k: 8, levels: 4, oversubscription: 3, ..FatTree::default() },
        &FatTree { k: 6, levels: 2, ..FatTree::default() },
        &Xgft {
            children: vec![3, 2, 4],
            parents: vec![1, 2, 3],
            parallel: OneOrEach::Each(vec![2, 1]),
            ..Xgft::default()
        },
    ];
    for family in families {
        let (counted, predicted) = both(family);
        assert_eq!(counted, predicted);
    }
}

#[test]
fn others_have_at_most_as_much() {
    let families: [&dyn Topology; 5] = [
        &Dragonfly { g: 4, ..Dragonfly::default() },
        &Torus { dims: vec![4, 2, 1], wrap: vec![false, true, true].into(), ..Torus::default() },
        &Cascade::default(),
        &Cascade { groups: 1, rows: 1, columns: 4, ..Cascade::default() },
        &Cascade { groups: 2, rows: 3, columns: 2, green: 0, ..Cascade::default() },
    ];
    for family in families {
        let (counted, predicted) = both(family);
        assert_eq!((counted.routers, counted.nodes), (predicted.routers, predicted.nodes));
        assert!(counted.cables <= predicted.cables, "{counted:?} of {predicted:?}");
    }
}

/// No number overflows; listing refuses invalid parameters with its own message.
#[test]
fn the_extent_of_invalid_parameters_is_predicted() {
    let most = u32::MAX;
    let families: [&dyn Topology; 5] = [
        &Dragonfly { p: most, a: most, h: most, g: most, local_cables: most, ..Dragonfly::default() },
        &Cascade { groups: most, rows: most, columns: most, green: most, blue_ports: most, ..Cascade::default() },
        &Torus { dims: vec![most; 9], links_per_direction: most, ..Torus::default() },
        &FatTree { k: most - 1, levels: 20, ..FatTree::default() },
        &Xgft { children: vec![most; 20], parents: vec![1; 3], ..Xgft::default() },
    ];
    for family in families {
        family.extent().memory_bytes();
        assert!(family.lay_out().is_err());
    }
    assert_eq!(Dragonfly { a: 0, ..Dragonfly::default() }.extent().cables, 0);
}

/// Of the formula: 220 B for each cable, 60 for each node, 120 for each router.
#[test]
fn memory_follows_the_extent() {
    assert_eq!(Extent { routers: 3, nodes: 5, cables: 7 }.memory_bytes(), 3 * 120 + 5 * 60 + 7 * 220);
    assert_eq!(Extent { routers: 1, nodes: 1, cables: u64::MAX }.memory_bytes(), u64::MAX);
}

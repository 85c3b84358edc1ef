//! The measurements of a machine do not depend on the names or numbers of its routers.

use odonata_machine::import::{edge_list_columns, EdgeListColumns, EdgeListOptions};
use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::{metrics, Machine};
use odonata_units::Stream;
use proptest::prelude::*;

fn families() -> Vec<Machine> {
    let builders = [
        Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder(),
        Cascade { groups: 3, rows: 2, columns: 4, ..Cascade::default() }.builder(),
        Torus { dims: vec![3, 4], wrap: vec![true, false].into(), ..Torus::default() }.builder(),
        FatTree { k: 4, ..FatTree::default() }.builder(),
    ];
    builders.into_iter().map(|builder| builder.unwrap().build().unwrap()).collect()
}

/// The machine as an edge list, its routers called by `name_of`.
fn renamed(machine: &Machine, name_of: &dyn Fn(usize) -> String, order: &mut Stream) -> Machine {
    let mut cables: Vec<_> = machine.bundles().iter().filter(|bundle| bundle.source < bundle.target).collect();
    order.shuffle(&mut cables);
    let mut columns = EdgeListColumns::default();
    for bundle in cables {
        let (a, b) = if order.chance(0.5) { (bundle.source, bundle.target) } else { (bundle.target, bundle.source) };
        columns.src.push(name_of(a.index()));
        columns.dst.push(name_of(b.index()));
        columns.class.push(machine.classes()[bundle.class.index()].name.clone());
        columns.count.push(bundle.count);
        columns.bandwidth.push(machine.bandwidth(bundle.first));
        columns.latency.push(machine.latency(bundle.first));
        columns.src_nodes.push(machine.nodes_of(a).len() as u32);
        columns.dst_nodes.push(machine.nodes_of(b).len() as u32);
    }
    edge_list_columns(&columns, "renamed", &EdgeListOptions::default()).unwrap().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn metrics_do_not_depend_on_names(seed: u64) {
        for machine in families() {
            let mut stream = Stream::new(seed, "test", &[]);
            let mut labels: Vec<usize> = (0..machine.router_count()).collect();
            stream.shuffle(&mut labels);
            let other = renamed(&machine, &|router| format!("switch-{}", labels[router]), &mut stream);
            let (before, after) = (metrics::measure(&machine), metrics::measure(&other));
            prop_assert_eq!(&before.distances, &after.distances);
            prop_assert_eq!(before.nodes, after.nodes);
            prop_assert_eq!(before.connectivity.components, after.connectivity.components);
            let counts = |metrics: &metrics::Metrics| {
                let mut counts: Vec<_> =
                    metrics.classes.iter().map(|c| (c.name.clone(), c.links, c.router_pairs, c.ports.used_max)).collect();
                counts.sort();
                counts
            };
            prop_assert_eq!(counts(&before), counts(&after));
            // Names are preserved and can be looked up.
            let router = other.router_named("switch-3").unwrap();
            prop_assert_eq!(other.router_name(router), "switch-3");
        }
    }
}

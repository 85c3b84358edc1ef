//! Every family, written in each format that supports it, gives the same machine when it is read.

use odonata_machine::topology::{Arrangement, Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::{import, Cable, Machine, MachineBuilder};
use odonata_units::{LinkClassId, LinkId};
use std::fmt::Write;

fn families() -> Vec<MachineBuilder> {
    let torus = |dims: &[u32], wrap: &[bool]| Torus {
        dims: dims.to_vec(),
        wrap: wrap.to_vec().into(),
        nodes_per_router: 3,
        links_per_direction: 2,
        ..Torus::default()
    };
    let small = Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() };
    vec![
        small.builder().unwrap(),
        Dragonfly { g: 4, arrangement: Arrangement::Random, arrangement_seed: Some(3), ..small }.builder().unwrap(),
        Cascade { groups: 3, ..Cascade::default() }.builder().unwrap(),
        torus(&[3, 4, 5], &[true; 3]).builder().unwrap(),
        torus(&[4, 3], &[false; 2]).builder().unwrap(),
        FatTree { k: 4, ..FatTree::default() }.builder().unwrap(),
    ]
}

/// The CSV of a machine, one row per link as in a run's `links.parquet`, or one per bundle of cables.
fn csv(machine: &Machine, rows_are_links: bool, names: bool, coordinates: bool) -> String {
    let axes = &machine.coordinates().axes;
    let mut text = String::from("src,dst,class,count,bandwidth_bytes_per_s,latency_ps,src_nodes,dst_nodes");
    if coordinates {
        for axis in axes {
            write!(text, ",src_{axis},dst_{axis}").unwrap();
        }
    }
    for bundle in machine.bundles().iter().filter(|bundle| rows_are_links || bundle.source < bundle.target) {
        let rows = if rows_are_links { bundle.count } else { 1 };
        for _ in 0..rows {
            let (a, b) = (bundle.source, bundle.target);
            let name = |router| if names { machine.router_name(router) } else { router.0.to_string() };
            write!(
                text,
                "\n{},{},{},{},{},{},{},{}",
                name(a),
                name(b),
                machine.classes()[bundle.class.index()].name,
                if rows_are_links { 1 } else { bundle.count },
                machine.bandwidth(bundle.first).bytes_per_s_f64(),
                machine.latency(bundle.first).ps(),
                machine.nodes_of(a).len(),
                machine.nodes_of(b).len()
            )
            .unwrap();
            if coordinates {
                let (a, b) = (machine.coordinates().of(a), machine.coordinates().of(b));
                for (a, b) in a.iter().zip(b) {
                    write!(text, ",{a},{b}").unwrap();
                }
            }
        }
    }
    text
}

/// A machine without what an edge list has no column for (name, port budgets, the terminal class, cores), its classes
/// in the order of their names.
fn wiring(machine: Machine) -> Machine {
    let mut builder = MachineBuilder::from(machine);
    let mut order: Vec<usize> = (0..builder.classes.len()).collect();
    order.sort_by_key(|&class| builder.classes[class].name.clone());
    let place = |class: LinkClassId| order.iter().position(|&c| c == class.index()).unwrap();
    builder.cables =
        builder.cables.iter().map(|c| Cable { class: LinkClassId::from_index(place(c.class)), ..*c }).collect();
    builder.classes = order.iter().map(|&class| builder.classes[class].clone()).collect();
    (builder.name, builder.reading) = (String::new(), Vec::new());
    builder.ports = None;
    builder.cores_per_node = 1;
    for class in &mut builder.classes {
        class.ports_per_router = None;
    }
    builder.terminal = FatTree::default().builder().unwrap().terminal;
    builder.terminal.ports_per_router = None;
    builder.build().unwrap()
}

fn file(bytes: &[u8]) -> import::WiringFile<'_> {
    import::WiringFile { bytes, label: "file" }
}

fn read(text: &str) -> Machine {
    import::edge_list_csv(text.as_bytes(), "edges.csv", &import::EdgeListOptions::default()).unwrap().build().unwrap()
}

#[test]
fn edge_lists_of_links_and_of_cables() {
    for builder in families() {
        let machine = builder.build().unwrap();
        for (rows_are_links, names, coordinates) in
            [(true, true, false), (true, false, true), (false, true, false), (false, false, true)]
        {
            let found = read(&csv(&machine, rows_are_links, names, coordinates));
            assert_eq!(found.shape(), machine.shape(), "{}", machine.name());
            assert_eq!(found.coordinates(), machine.coordinates(), "{}", machine.name());
            assert!(wiring(found) == wiring(machine.clone()), "{} {rows_are_links} {names}", machine.name());
        }
    }
}

/// Without coordinates the groups of a dragonfly are found from its `global` cables; numbers keep their order.
#[test]
fn groups_without_coordinates() {
    let machine = Dragonfly { p: 2, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder().unwrap().build().unwrap();
    let found = read(&csv(&machine, false, false, false));
    assert_eq!(found.shape(), machine.shape());
    assert!(wiring(found) == wiring(machine));
}

/// Edison's wiring as Damselfly's two files.
#[test]
fn damselfly_binaries() {
    let machine = Cascade::aries().builder().unwrap().build().unwrap();
    let (mut intra, mut inter) = (Vec::new(), Vec::new());
    let push = |to: &mut Vec<u8>, words: &[u32]| words.iter().for_each(|w| to.extend(w.to_le_bytes()));
    for link in machine.links() {
        let (a, b, class) = (machine.source(link).0, machine.target(link).0, machine.class(link).0);
        match class {
            2 => push(&mut inter, &[a, b]),
            _ if a < 96 => push(&mut intra, &[a, b, class]),
            _ => {}
        }
    }
    let config = b"1440\n15 6 16 4 24\nintra.bin\ninter.bin\nstencil.bin 32768 131072\n----\nignored\n";
    let config = import::damselfly_config(config, "config.txt").unwrap();
    assert_eq!((config.intra_file.as_str(), config.inter_file.as_str()), ("intra.bin", "inter.bin"));
    let job = import::DamselflyJob { file: "stencil.bin".into(), ranks: 32_768, edges: 131_072 };
    assert_eq!(config.jobs, [job]);
    let found = import::damselfly(file(&intra), file(&inter), &config.parameters).unwrap();
    let found = found.build().unwrap();
    assert_eq!(found.shape(), machine.shape());
    for link in machine.links() {
        assert_eq!(found.link_name(link), machine.link_name(link));
    }
    assert!(wiring(found) == wiring(machine));
}

/// CODES dragonfly-plus: pairs; two groups of two leaves and two spines, each leaf to each spine.
#[test]
fn dragonfly_plus_pairs() {
    let bytes = |pairs: &[(u32, u32)]| -> Vec<u8> {
        pairs.iter().flat_map(|&(a, b)| [a, b, b, a]).flat_map(u32::to_le_bytes).collect()
    };
    let intra = bytes(&[(0, 2), (0, 3), (1, 2), (1, 3)]);
    let inter = bytes(&[(2, 6), (3, 7)]);
    let parameters = import::DamselflyParameters {
        groups: 2,
        rows: 1,
        columns: 4,
        nodes_per_router: 2,
        cores_per_node: 1,
        intra_layout: import::IntraLayout::Pairs,
    };
    let machine = import::damselfly(file(&intra), file(&inter), &parameters).unwrap().build().unwrap();
    assert_eq!((machine.link_count(), machine.group_count()), (2 * (4 * 2 + 2), 2));
    assert_eq!(machine.link_name(LinkId(0)), "g0r0c0>g0r0c2:local.0");
}

//! Forwarding tables of a subnet manager on the machine of its scan: by LID and port number, they give the run of the
//! routing that computed them.

use odonata_experiment::{Experiment, RunResult};
use odonata_machine::topology::{Topology, Xgft};
use odonata_machine::Machine;
use odonata_routing::algorithm::OnePath;
use odonata_routing::flow_paths::FlowPaths;
use odonata_units::{LinkId, NodeId, RouterId};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Four leaves of 4 nodes and two spines, with two cables from each leaf to each spine.
fn tree() -> Machine {
    let tree = Xgft { children: vec![4, 4], parents: vec![1, 2], parallel: vec![2].into(), ..Xgft::default() };
    tree.lay_out().unwrap().build().unwrap()
}

fn switch_lid(router: RouterId) -> u32 {
    router.0 + 1
}

fn node_lid(node: NodeId) -> u32 {
    100 + node.0
}

fn guid(router: RouterId) -> u64 {
    0x0002_c902_0040_0000 + u64::from(router.0)
}

/// Odd ports for cables, then ports for nodes.
fn cable_port(machine: &Machine, link: LinkId) -> usize {
    2 * (link.index() - machine.links_from(machine.source(link)).start) + 1
}

fn node_port(machine: &Machine, node: NodeId) -> usize {
    2 * machine.links_from(machine.router_of(node)).len() + 1 + machine.slot_of(node) as usize
}

/// The output of `ibnetdiscover`.
fn scan(machine: &Machine) -> String {
    let mut text = String::from("#\n# Topology file: generated on Sat Jan  1 00:00:00 2022\n#\n");
    for router in machine.routers() {
        let (number, lid) = (router.0, switch_lid(router));
        let switch = guid(router);
        writeln!(
            text,
            "\nSwitch\t36 \"S-{switch:016x}\"\t\t# \"MF0;sw{number}:SX/U1\" enhanced port 0 lid {lid} lmc 0"
        )
        .unwrap();
        for link in machine.links_from(router).map(LinkId::from_index) {
            let (peer, back) = (machine.target(link), cable_port(machine, machine.reverse(link)));
            let (port, other) = (cable_port(machine, link), guid(peer));
            let (name, lid) = (peer.0, switch_lid(peer));
            writeln!(text, "[{port}]\t\"S-{other:016x}\"[{back}]\t\t# \"MF0;sw{name}:SX/U1\" lid {lid} 4xEDR").unwrap();
        }
        for &node in machine.nodes_of(router) {
            let (port, number, lid) = (node_port(machine, node), node.0, node_lid(node));
            writeln!(text, "[{port}]\t\"H-{number:016x}\"[1](5) \t\t# \"host{number} HCA-1\" lid {lid} 4xEDR").unwrap();
        }
    }
    text
}

/// The port of every switch for every LID of a node, by d-mod-k.
fn d_mod_k(machine: &Machine) -> Vec<BTreeMap<u32, usize>> {
    let paths = FlowPaths::new(machine, &OnePath::DModK).unwrap();
    let mut tables = vec![BTreeMap::new(); machine.router_count()];
    for to in machine.nodes() {
        tables[machine.router_of(to).index()].insert(node_lid(to), node_port(machine, to));
        for from in machine.nodes().filter(|&from| machine.router_of(from) != machine.router_of(to)) {
            let mut path = Vec::new();
            paths.path(from, to, &mut path);
            for link in path {
                tables[machine.source(link).index()].insert(node_lid(to), cable_port(machine, link));
            }
        }
    }
    tables
}

/// The tables as `dump_lfts.sh` writes them.
fn ibroute(tables: &[BTreeMap<u32, usize>]) -> String {
    let mut text = String::new();
    for (router, table) in (0..).map(RouterId).zip(tables) {
        let (lid, guid) = (switch_lid(router), guid(router));
        writeln!(text, "Unicast lids [0x0-0x80] of switch Lid {lid} guid {guid:#018x} (MF0;sw{}:SX/U1):", router.0)
            .unwrap();
        text.push_str("  Lid  Out   Destination\n       Port     Info \n");
        writeln!(text, "{lid:#06x} 000 : (Switch portguid {guid:#018x}: 'switch')").unwrap();
        for (lid, port) in table {
            writeln!(text, "{lid:#06x} {port:03} : (Channel Adapter portguid 0x0000000000000005: 'host HCA-1')")
                .unwrap();
        }
        writeln!(text, "{} valid lids dumped \n", table.len() + 1).unwrap();
    }
    text
}

/// The tables as a `.fdbs` file.
fn fdbs(tables: &[BTreeMap<u32, usize>]) -> String {
    let mut text = String::new();
    for (router, table) in (0..).map(RouterId).zip(tables) {
        writeln!(
            text,
            "osm_ucast_mgr_dump_ucast_routes: Switch {:#018x}\nLID    : Port : Hops : Optimal",
            guid(router)
        )
        .unwrap();
        text.push_str("0x0063 : UNREACHABLE\n");
        table.iter().for_each(|(lid, port)| writeln!(text, "{lid:#06x} : {port:03}  : 01   : yes").unwrap());
        text.push('\n');
    }
    text
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("odonata-subnet-tables-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("scan.txt"), scan(&tree())).unwrap();
        Self(folder)
    }

    fn experiment(&self, machine: &str, engine: &str, routing: &str) -> Experiment {
        let text = format!(
            "[machine]\n{machine}\n[[job]]\nname = 'a'\nranks = 16\nranks_per_node = 1\nplacement = 'compact'\n\
             pattern = {{ name = 'all-to-all', bytes = '4 KiB' }}\n[engine]\nkind = '{engine}'\nrouting = {routing}\n"
        );
        Experiment::new(text, self.0.join("run.toml").to_str().unwrap())
    }

    fn run(&self, engine: &str, routing: &str) -> RunResult {
        let done = self.experiment("file = 'scan.txt'", engine, routing).run(1, &mut |_, _| true);
        done.unwrap_or_else(|error| panic!("{engine}, {routing}: {error:?}"))
    }

    fn refused(&self, machine: &str, tables: &str) -> String {
        std::fs::write(self.0.join("lfts.txt"), tables).unwrap();
        match self.experiment(machine, "packet", FROM_FILE).check() {
            Ok(_) => panic!("taken"),
            Err(problems) => problems.0.into_iter().map(|problem| problem.message).collect(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const FROM_FILE: &str = "{ name = 'forwarding-tables', file = 'lfts.txt' }";

#[test]
fn tables_by_lid_and_port_give_the_run_of_their_routing() {
    let folder = Folder::new("run");
    let tables = d_mod_k(&tree());
    for engine in ["flow", "packet"] {
        let expected = folder.run(engine, "'d-mod-k'");
        for text in [ibroute(&tables), fdbs(&tables)] {
            std::fs::write(folder.0.join("lfts.txt"), &text).unwrap();
            assert_eq!(folder.run(engine, FROM_FILE).tables, expected.tables, "{engine}: {text}");
        }
        // Other tables give another run: all destinations over the first cable of the first spine.
        let mut first = tables.clone();
        first.iter_mut().take(4).for_each(|table| {
            table.values_mut().filter(|port| **port < 8).for_each(|port| *port = 1);
        });
        let spine = first.get_mut(4).unwrap();
        let leaf_port = |lid: u32| 4 * ((lid as usize - 100) / 4) + 1;
        spine.extend((100..116).map(|lid| (lid, leaf_port(lid))));
        std::fs::write(folder.0.join("lfts.txt"), ibroute(&first)).unwrap();
        assert_ne!(folder.run(engine, FROM_FILE).tables.get("links"), expected.tables.get("links"), "{engine}");
    }
}

#[test]
fn wrong_tables_name_file_line_switch_and_lid() {
    let folder = Folder::new("refused");
    let (machine, good) = ("file = 'scan.txt'", ibroute(&d_mod_k(&tree())));
    // LID 115 at the first leaf, sw0, whose entries start in line 5.
    let entry = |lid: &str| good.lines().position(|line| line.starts_with(lid)).unwrap();
    let with = |lid: &str, line: Option<&str>| {
        let mut lines: Vec<&str> = good.lines().collect();
        let at = entry(lid);
        lines.splice(at..=at, line);
        lines.join("\n")
    };
    let found = folder.refused(machine, &with("0x0073", None));
    assert!(found.contains("lfts.txt: no path to node host15 (LID 115): router sw0 has no entry: sw0"), "{found}");
    let line = entry("0x0073") + 1;
    for (entry, reason) in [
        ("0x0073 035 : (x)", "LID 115 (node host15) goes to port 35, which has no cable"),
        ("0x0073 009 : (x)", "LID 115 (node host15) goes to port 9, which has node host0"),
        ("0x0073 x : (x)", "expected a LID and a port as '0x0001 030', found '0x0073 x : (x)'"),
    ] {
        let found = folder.refused(machine, &with("0x0073", Some(entry)));
        let switch = if reason.starts_with("LID") { "switch sw0: " } else { "" };
        assert!(found.contains(&format!("lfts.txt:{line}: {switch}{reason}")), "{found}");
    }
    let found = folder.refused(machine, &with("0x0064", Some("0x0064 001 : (x)")));
    assert!(found.contains("LID 100 (node host0) goes to port 1, to switch sw4, but is at this switch"), "{found}");
    let found = folder.refused(machine, &good.replacen("Lid 1 guid 0x0002c90200400000", "Lid 77 guid 0x1", 1));
    assert!(
        found.contains("lfts.txt:1: the machine's file has no switch with GUID 0x0000000000000001 or with LID 77"),
        "{found}"
    );
    let found = folder.refused("topology = 'fat-tree'\nk = 4", &good);
    assert!(found.contains("lfts.txt:1: LIDs and port numbers need a machine read from ibnetdiscover"), "{found}");
    let found = folder.refused("file = 'scan.txt'\nedit = ['fail link 0']", &good);
    assert!(found.contains("the machine has 15 cables, but its file 16"), "{found}");
}

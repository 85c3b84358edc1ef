//! Forwarding tables from a file, on any bytes: an error, or tables that lead every node to every other. The seeds have
//! names, LIDs and ports of the machine below.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_machine::import::{ibnetdiscover, InfiniBand};
use odonata_machine::Machine;
use odonata_routing::algorithm::{OnePath, TableSettings};
use odonata_routing::flow_paths::FlowPaths;
use odonata_routing::forwarding::listed::ForwardingRows;
use std::sync::{Arc, OnceLock};

/// Two leaves with a node each, and a spine.
const SCAN: &str = r#"
Switch 36 "S-a" # "MF0;leaf1:IS5030/U1" enhanced port 0 lid 1 lmc 0
[1] "H-1"[1](5) # "node1 HCA-1" lid 4 4xEDR
[19] "S-c"[1] # "MF0;spine1:IS5030/U1" lid 3 4xEDR
Switch 36 "S-b" # "MF0;leaf2:IS5030/U1" enhanced port 0 lid 2 lmc 0
[1] "H-2"[1](5) # "node2 HCA-1" lid 5 4xEDR
[19] "S-c"[2] # "MF0;spine1:IS5030/U1" lid 3 4xEDR
Switch 36 "S-c" # "MF0;spine1:IS5030/U1" enhanced port 0 lid 3 lmc 0
[1] "S-a"[19] # "MF0;leaf1:IS5030/U1" lid 1 4xEDR
[2] "S-b"[19] # "MF0;leaf2:IS5030/U1" lid 2 4xEDR
"#;

static MACHINE: OnceLock<Machine> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let Ok(rows) = ForwardingRows::read("tables", data) else { return };
    let machine = MACHINE.get_or_init(|| {
        let builder = ibnetdiscover(SCAN.as_bytes(), "scan.txt", &InfiniBand::default());
        builder.expect("a scan").build().expect("a machine")
    });
    let rule = OnePath::Tables(TableSettings { file: "tables".into(), rows: Some(Arc::new(rows)) });
    let Ok(paths) = FlowPaths::new(machine, &rule) else { return };
    let mut path = Vec::new();
    for source in machine.nodes() {
        for target in machine.nodes().filter(|&target| machine.router_of(target) != machine.router_of(source)) {
            path.clear();
            paths.path(source, target, &mut path);
            let end = path.last().map(|&link| machine.target(link));
            assert_eq!(end, Some(machine.router_of(target)), "{source} to {target}");
        }
    }
});

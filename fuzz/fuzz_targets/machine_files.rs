//! Every reader of machine files, on any bytes: an error or a machine whose builder answers, never a panic.
//! The first byte chooses the reader; where one takes two files, half of the rest is each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_declare::Reader;
use odonata_machine::import::{
    booksim, codes_conf, codes_yaml, cray_links, damselfly, damselfly_config, detect, edge_list_csv, graph, hpcc, htsim,
    ibnetdiscover, simgrid, slurm_topology, sst_macro, BookSim, DamselflyParameters, EdgeListOptions, InfiniBand,
    IntraLayout, SlurmTree, SstMacro, WiringFile,
};
use std::path::PathBuf;

/// Every file is these bytes.
struct SameBytes<'a>(&'a [u8]);

impl Reader for SameBytes<'_> {
    fn read(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.to_vec())
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Ok(name.into())
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let _ = detect(rest);
    let builder = match which.wrapping_sub(b'0') % 15 {
        0 => cray_links(rest, "links.txt"),
        1 => edge_list_csv(rest, "edges.csv", &EdgeListOptions::default()),
        5 => ibnetdiscover(rest, "net.txt", &InfiniBand::default()),
        6 => {
            // What stands before the text is the content of both wiring files.
            let text = rest.windows(8).position(|word| word == b"LPGROUPS").unwrap_or(0);
            let Ok(builder) = codes_conf(&rest[text..], "net.conf", &mut SameBytes(&rest[..text])) else { return };
            Ok(builder)
        }
        11 => {
            let text = rest.windows(8).position(|word| word == b"topology").unwrap_or(0);
            let Ok(builder) = codes_yaml(&rest[text..], "net.yaml", &mut SameBytes(&rest[..text])) else { return };
            Ok(builder)
        }
        12 => sst_macro(rest, "topology.json", &SstMacro::default()),
        13 => hpcc(rest, "topology.txt"),
        14 => graph(rest, "graph", &EdgeListOptions::default()),
        7 => booksim(rest, "any.net", &BookSim::default()),
        8 => htsim(rest, "tree.topo"),
        9 => simgrid(rest, "platform.xml"),
        10 => slurm_topology(rest, "topology.conf", &SlurmTree::default()),
        2 => {
            let _ = damselfly_config(rest, "config");
            return;
        }
        layout => {
            let (intra, inter) = rest.split_at(rest.len() / 24 * 12);
            let parameters = DamselflyParameters {
                groups: 3,
                rows: 2,
                columns: 2,
                nodes_per_router: 1,
                cores_per_node: 1,
                intra_layout: if layout == 3 { IntraLayout::Triples } else { IntraLayout::Pairs },
            };
            let [intra, inter] = [intra, inter].map(|bytes| WiringFile { bytes, label: "file" });
            damselfly(intra, inter, &parameters)
        }
    };
    if let Ok(builder) = builder {
        let _ = builder.build();
    }
});

//! Every reader of machine files, on any bytes: an error or a machine whose builder answers, never a panic.
//! The first byte chooses the reader; where one takes two files, half of the rest is each.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_machine::import::{
    cray_links, damselfly, damselfly_config, edge_list_csv, ibnetdiscover, DamselflyParameters, EdgeListOptions,
    IntraLayout,
};

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let builder = match which % 6 {
        0 => cray_links(rest, "links.txt"),
        1 => edge_list_csv(rest, "edges.csv", &EdgeListOptions::default()),
        5 => ibnetdiscover(rest, "net.txt", &EdgeListOptions::default()),
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
            damselfly((intra, "intra"), (inter, "inter"), &parameters)
        }
    };
    if let Ok(builder) = builder {
        let _ = builder.build();
    }
});

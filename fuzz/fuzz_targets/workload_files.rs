//! Every reader of communication graphs and placements, on any bytes. The first byte chooses the reader.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_import::{codes, csv, damselfly, htsim, matrix, tracer};

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let ranks = (which & 8 != 0).then_some(8);
    match which % 8 {
        0 => drop(csv::communication_graph("graph.csv", rest, ranks)),
        1 => drop(csv::placement("placement.csv", rest)),
        2 => drop(damselfly::communication_graph("graph.bin", rest, ranks)),
        3 => drop(damselfly::placement("placement.bin", rest)),
        4 => drop(codes::placement("alloc.conf", rest)),
        5 => drop(tracer::placement("global.bin", rest)),
        6 => drop(htsim::communication_graph("flows.cm", rest, ranks)),
        _ => drop(matrix::communication_graph("matrix.txt", rest, ranks)),
    }
});

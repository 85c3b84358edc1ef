//! Every reader of task graphs, on any bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_trace::goal;

fuzz_target!(|data: &[u8]| {
    if let Ok(graph) = goal::read("fuzz.goal", &mut &data[..]) {
        let ranks = graph.ranks.len() as u32;
        assert!((0..ranks).flat_map(|rank| graph.sends(rank)).all(|(to, _)| to < ranks));
    }
});

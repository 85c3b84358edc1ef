//! Every reader of traces, on any bytes. A file of DUMPI or liballprof is the only rank of a set. OTF2's bytes are the events or the
//! definitions of an archive of one rank, in `fuzz/archives`. What is read becomes a trace file with the
//! same table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_declare::Reader;
use odonata_programs::{trace_report, Recording};
use odonata_trace::goal;
use std::path::PathBuf;

/// The same bytes as the only file of each kind of set.
struct SameFile<'a>(&'a [u8]);

impl Reader for SameFile<'_> {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        match name {
            "fuzz.meta" => Ok(b"numprocs=1\n".to_vec()),
            "fuzz-0000.bin" | "fuzz.0.et" | "fuzz-0.dat" => Ok(self.0.to_vec()),
            "fuzz.otf2" | "fuzz2.otf2" => Ok(include_bytes!("../archives/otf2/fuzz.otf2").to_vec()),
            "fuzz.def" => Ok(include_bytes!("../archives/otf2/fuzz.def").to_vec()),
            "fuzz2/0.evt" => Ok(include_bytes!("../seeds/traces/otf2-events").to_vec()),
            "fuzz/0.evt" | "fuzz2.def" => Ok(self.0.to_vec()),
            _ => Err(format!("{name}: not there")),
        }
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(graph) = goal::read("fuzz.goal", &mut &data[..]) {
        let ranks = graph.ranks.len() as u32;
        assert!((0..ranks).flat_map(|rank| graph.sends(rank)).all(|(to, _)| to < ranks));
    }
    for path in ["fuzz-0000.bin", "fuzz.0.et", "fuzz-0.dat", "fuzz.otf2", "fuzz2.otf2"] {
        let _ = trace_report(path, None, &mut SameFile(data));
        let Ok(recording) = Recording::open(path, None, None, None, &mut SameFile(data)) else { continue };
        let mut file = Vec::new();
        if recording.write(&mut file).is_ok() {
            // This name has the bytes of the file itself.
            let after = trace_report("fuzz.0.et", None, &mut SameFile(&file));
            let before = trace_report(path, None, &mut SameFile(data));
            let (before, after) = (before.expect("it was read"), after.expect("it was written"));
            assert_eq!((before.calls, before.pairs), (after.calls, after.pairs));
        }
    }
});

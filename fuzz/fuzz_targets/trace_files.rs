//! Trace files whose checksums are right, but whose content is not: the input becomes the header, or columns of a block.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_declare::Reader;
use odonata_programs::trace_report;
use odonata_trace::{BlockFile, BlockWriter, Column};
use std::path::PathBuf;
use std::sync::Arc;

struct OneFile(Vec<u8>);

impl Reader for OneFile {
    fn read(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone())
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

/// Ends a column.
const END: u8 = 255;

/// A file of one rank with a block of so many columns, each of bytes up to [`END`].
fn file(header: &[u8], values: &[u8], columns: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = BlockWriter::new(&mut bytes).expect("memory takes all");
    writer.rank();
    let parts = values.split(|&byte| byte == END).map(|part| part.iter().map(|&byte| byte.into()).collect());
    let mut all: Vec<Column> = parts.take(columns).collect();
    all.resize(columns, Column::new());
    writer.block(all[0].len(), &all).expect("memory takes all");
    writer.finish(header.to_vec()).expect("memory takes all");
    bytes
}

fuzz_target!(|data: &[u8]| {
    let _ = BlockFile::open("fuzz.odt", Arc::new(data.to_vec()));
    let (&length, rest) = data.split_first().unwrap_or((&0, &[]));
    let (header, values) = rest.split_at(rest.len().min(length.into()));
    for columns in [13, 11] {
        let _ = trace_report("fuzz.odt", None, &mut OneFile(file(header, values, columns)));
    }
});

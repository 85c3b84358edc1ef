//! The reader of checkpoints on any bytes: as they are, and with a head and a digest that are right, so that what is between them is
//! read, too. A seed is the body of a file, between its head and its digest, or a header alone.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_checkpoint::{CheckpointReader, CheckpointWriter, Reader};
use std::io::Cursor;

fuzz_target!(|data: &[u8]| {
    read(data.to_vec());
    read(odonata_checkpoint::with_digest(data));
    let Ok(header) = serde_json::from_slice(data) else { return };
    let writer = CheckpointWriter::new(Vec::new(), &header).expect("a vector takes everything");
    writer.part(7, data);
    read(writer.end().expect("a vector takes everything").0);
});

fn read(bytes: Vec<u8>) {
    let Ok(mut file) = CheckpointReader::new(Cursor::new(bytes)) else { return };
    for number in file.numbers().collect::<Vec<_>>() {
        let part = file.part(number).expect("it is where the file says");
        let mut values = Reader::new(&part);
        drop(values.get::<(u64, u64, u64)>());
        drop(values.get::<Vec<Option<String>>>());
        drop(values.end());
    }
}

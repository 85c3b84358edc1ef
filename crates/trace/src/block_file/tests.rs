use super::*;

/// Two ranks, the second with two blocks and an empty column.
fn written() -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = BlockWriter::new(&mut file).unwrap();
    writer.rank();
    writer.block(2, &[vec![1, 2], vec![70_000, 5]]).unwrap();
    writer.rank();
    writer.block(3, &[vec![3, 4, 5], vec![]]).unwrap();
    writer.block(1, &[vec![6], vec![8]]).unwrap();
    let (size, _) = writer.finish(b"head".to_vec()).unwrap();
    assert_eq!(size, file.len() as u64);
    file
}

fn open(bytes: Vec<u8>) -> Result<BlockFile, String> {
    BlockFile::open("a.odt", Arc::new(bytes))
}

fn block(file: &BlockFile, rank: u32, index: usize) -> Result<(usize, [Column; 2]), String> {
    file.block(rank, index, |records, columns| Ok((records, columns)))
}

#[test]
fn blocks_are_read_in_any_order() {
    let file = open(written()).unwrap();
    assert_eq!((file.ranks(), file.header(), file.records(1)), (2, &b"head"[..], 4));
    assert_eq!(block(&file, 1, 1).unwrap(), (1, [vec![6], vec![8]]));
    assert_eq!(block(&file, 0, 0).unwrap(), (2, [vec![1, 2], vec![70_000, 5]]));
    assert_eq!(block(&file, 1, 0).unwrap(), (3, [vec![3, 4, 5], vec![]]));
    assert_eq!(file.hash().len(), 64);
}

#[test]
fn every_cut_and_every_damaged_byte_is_an_error() {
    let whole = written();
    for length in 0..whole.len() {
        open(whole[..length].to_vec()).expect_err("a file that was cut");
    }
    let hash = whole.len() - 8 - 32..whole.len() - 8;
    for at in (0..whole.len()).filter(|at| !hash.contains(at)) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        let found = open(damaged).map(|file| file.ranks());
        assert!(found.is_err(), "byte {at} of {}", whole.len());
    }
}

#[test]
fn errors_have_the_place() {
    let whole = written();
    let mut damaged = whole.clone();
    damaged[START_BYTES as usize] ^= 1;
    assert_eq!(open(damaged).unwrap_err(), "a.odt: byte 12: block 0 of rank 0: damaged");
    let mut other = whole.clone();
    other[8] = 9;
    let expected = "a.odt: a trace file of version 9; expected version 2: convert the trace again";
    assert_eq!(open(other).unwrap_err(), expected);
    let cut = open(whole[..whole.len() - 1].to_vec()).unwrap_err();
    assert!(cut.ends_with("without its end mark; it was cut off"), "{cut}");
    assert!(open(b"num_ranks 2".to_vec()).unwrap_err().contains("expected a trace file"));
    let file = open(whole).unwrap();
    let error = file.block(1, 1, |_, _: [Column; 1]| Ok(())).unwrap_err();
    assert!(error.contains("block 1 of rank 1: ") && error.ends_with("bytes after the columns"), "{error}");
}

/// A file that another program overwrites during a run.
#[test]
fn a_block_that_changed_later_is_an_error() {
    #[derive(Debug)]
    struct ChangingFile(std::sync::Mutex<Vec<u8>>);
    impl ReadAt for ChangingFile {
        fn size(&self) -> u64 {
            self.0.lock().unwrap().len() as u64
        }
        fn read_at(&self, at: u64, into: &mut [u8]) -> std::io::Result<()> {
            self.0.lock().unwrap().read_at(at, into)
        }
    }
    let source = Arc::new(ChangingFile(written().into()));
    let file = BlockFile::open("a.odt", source.clone()).unwrap();
    source.0.lock().unwrap()[START_BYTES as usize] ^= 1;
    assert!(block(&file, 0, 0).unwrap_err().ends_with("the file changed while it was in use"));
    block(&file, 1, 0).unwrap();
}

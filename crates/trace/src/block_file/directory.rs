//! The directory of a trace file: what the writer says of the trace, and where the blocks are.

use crate::columns::{put_varint, take_varint};

/// A block in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block {
    /// Its first byte.
    pub(super) at: u64,
    /// Its bytes.
    pub(super) length: u32,
    pub(super) records: u32,
    pub(super) checksum: u32,
}

#[derive(PartialEq, Eq, Default, Debug)]
pub(super) struct Directory {
    pub(super) header: Vec<u8>,
    /// Blocks by rank. They follow each other in the file.
    pub(super) ranks: Vec<Vec<Block>>,
}

impl Directory {
    pub(super) fn write(&self, into: &mut Vec<u8>) {
        put_varint(self.header.len() as u64, into);
        into.extend_from_slice(&self.header);
        put_varint(self.ranks.len() as u64, into);
        for blocks in &self.ranks {
            put_varint(blocks.len() as u64, into);
            for block in blocks {
                put_varint(block.length.into(), into);
                put_varint(block.records.into(), into);
                into.extend_from_slice(&block.checksum.to_le_bytes());
            }
        }
    }

    /// Reads a directory of blocks from byte `at` to byte `end`.
    pub(super) fn read(bytes: &[u8], mut at: u64, end: u64) -> Result<Self, String> {
        let mut rest = bytes;
        let length = take_varint(&mut rest)?;
        let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let (header, after) = split.ok_or_else(|| format!("a header of {length} bytes in {}", rest.len()))?;
        rest = after;
        let ranks = take_varint(&mut rest)?;
        if ranks > rest.len() as u64 || u32::try_from(ranks).is_err() {
            return Err(format!("{ranks} ranks in a directory of {} bytes", bytes.len()));
        }
        let mut directory = Self { header: header.to_vec(), ranks: Vec::with_capacity(ranks as usize) };
        for rank in 0..ranks {
            let count = take_varint(&mut rest)?;
            let mut blocks = Vec::new();
            for index in 0..count {
                let wrong = |what: &str| format!("block {index} of rank {rank}: {what}");
                let (length, records) = (take_varint(&mut rest)?, take_varint(&mut rest)?);
                let (Ok(length), Ok(records)) = (u32::try_from(length), u32::try_from(records)) else {
                    return Err(wrong("more than 4 GiB"));
                };
                let (checksum, after) = rest.split_first_chunk().ok_or_else(|| wrong("no checksum"))?;
                rest = after;
                blocks.push(Block { at, length, records, checksum: u32::from_le_bytes(*checksum) });
                at += u64::from(length);
            }
            directory.ranks.push(blocks);
        }
        if at != end || !rest.is_empty() {
            return Err(format!("blocks up to byte {at}, but the directory begins at byte {end}"));
        }
        Ok(directory)
    }
}

//! Trace files: records of each rank in compressed blocks, any of which can be read at any time.
//! `docs/decisions/trace-file.md` has the format.
//!
//! ```text
//! columns of one block ─► BlockWriter ─► file ─► BlockFile ─► columns of one block
//! ```

mod directory;
mod writer;

use crate::columns::{self, Column};
use directory::Directory;
use flate2::read::DeflateDecoder;
use flate2::Crc;
use odonata_declare::ReadAt;
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;
pub use writer::BlockWriter;

/// First bytes of a file, and its version after them.
const MAGIC: &[u8; 8] = b"ODOTRACE";
/// Last bytes.
const END: &[u8; 8] = b"ODOTREND";
/// Version of the format.
const VERSION: u32 = 2;

const START_BYTES: u64 = 12;
/// Place, length and CRC-32 of the directory, the hash, the last bytes.
const END_BYTES: u64 = 8 + 8 + 4 + 32 + 8;

/// Most bytes of a block or the directory without compression. The largest block of a real trace has 1 MB.
const MAX_PLAIN_BYTES: u64 = 1 << 32;

/// Bytes that are checked at a time.
const CHECKED_BYTES: u64 = 1 << 20;

/// Whether a file begins like a trace file.
pub fn is_trace_file(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// A trace file that is open for reading.
#[derive(Debug)]
pub struct BlockFile {
    label: String,
    source: Arc<dyn ReadAt>,
    directory: Directory,
    hash: [u8; 32],
}

impl BlockFile {
    /// Opens a file, and checks that every block is as it was written. `label` is its name in errors.
    ///
    /// # Errors
    /// Another version, a file that was cut, damaged bytes and their place.
    pub fn open(label: &str, source: Arc<dyn ReadAt>) -> Result<Self, String> {
        let wrong = |reason: String| format!("{label}: {reason}");
        let size = source.size();
        let start: [u8; START_BYTES as usize] = fixed(&*source, 0, "a trace file").map_err(wrong)?;
        if !is_trace_file(&start) {
            return Err(wrong("no trace file; expected one of 'odonata trace convert'".into()));
        }
        let version = u32::from_le_bytes(start[8..].try_into().expect("4 bytes"));
        if version != VERSION {
            return Err(wrong(format!(
                "a trace file of version {version}; expected version {VERSION}: convert the trace again"
            )));
        }
        let cut = || wrong(format!("the file ends at byte {size} without its end mark; it was cut off"));
        let end_at = size.checked_sub(END_BYTES).filter(|&at| at >= START_BYTES).ok_or_else(cut)?;
        let end: [u8; END_BYTES as usize] = fixed(&*source, end_at, "the end").map_err(wrong)?;
        if !end.ends_with(END) {
            return Err(cut());
        }
        let number = |at: usize| u64::from_le_bytes(end[at..at + 8].try_into().expect("8 bytes"));
        let (at, length) = (number(0), number(8));
        if at < START_BYTES || at.checked_add(length) != Some(end_at) {
            return Err(wrong(format!(
                "byte {end_at}: a directory of {length} bytes at byte {at}; the file is damaged"
            )));
        }
        let packed = bytes(&*source, at, length).map_err(wrong)?;
        if checksum(&packed) != u32::from_le_bytes(end[16..20].try_into().expect("4 bytes")) {
            return Err(wrong(format!("byte {at}: the directory is damaged")));
        }
        let directory = inflated(&packed)
            .and_then(|plain| Directory::read(&plain, START_BYTES, at))
            .map_err(|reason| wrong(format!("byte {at}: {reason}")))?;
        let hash = end[20..52].try_into().expect("32 bytes");
        let file = Self { label: label.to_owned(), source, directory, hash };
        file.check()?;
        Ok(file)
    }

    /// Compares each block with its checksum.
    fn check(&self) -> Result<(), String> {
        for (rank, blocks) in self.directory.ranks.iter().enumerate() {
            for (index, block) in blocks.iter().enumerate() {
                let mut crc = Crc::new();
                let end = block.at + u64::from(block.length);
                for at in (block.at..end).step_by(CHECKED_BYTES as usize) {
                    let part = bytes(&*self.source, at, CHECKED_BYTES.min(end - at));
                    crc.update(&part.map_err(|reason| self.wrong(rank as u32, index, reason))?);
                }
                if crc.sum() != block.checksum {
                    return Err(self.wrong(rank as u32, index, "damaged".into()));
                }
            }
        }
        Ok(())
    }

    fn wrong(&self, rank: u32, index: usize, reason: String) -> String {
        let at = self.directory.ranks[rank as usize][index].at;
        format!("{}: byte {at}: block {index} of rank {rank}: {reason}", self.label)
    }

    /// What the writer says of the trace.
    pub fn header(&self) -> &[u8] {
        &self.directory.header
    }

    /// SHA-256 of the content, in hexadecimal.
    pub fn hash(&self) -> String {
        hexadecimal(&self.hash)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.directory.ranks.len() as u32
    }

    /// Number of blocks of a rank.
    pub fn blocks(&self, rank: u32) -> usize {
        self.directory.ranks[rank as usize].len()
    }

    /// Number of records of a rank.
    pub fn records(&self, rank: u32) -> u64 {
        self.directory.ranks[rank as usize].iter().map(|block| u64::from(block.records)).sum()
    }

    /// A block of a rank, with the function that makes its records of its `N` columns. The function gets the number of
    /// records.
    ///
    /// # Errors
    /// The file changed or cannot be read; errors of `decode`. They have the name of the file and the place.
    pub fn block<const N: usize, T>(
        &self,
        rank: u32,
        index: usize,
        decode: impl FnOnce(usize, [Column; N]) -> Result<T, String>,
    ) -> Result<T, String> {
        let block = self.directory.ranks[rank as usize][index];
        let read = || {
            let packed = bytes(&*self.source, block.at, block.length.into())?;
            if checksum(&packed) != block.checksum {
                return Err("the file changed while it was in use".into());
            }
            let plain = inflated(&packed)?;
            let mut rest = &plain[..];
            let mut columns: [Column; N] = std::array::from_fn(|_| Column::new());
            for column in &mut columns {
                *column = columns::take(&mut rest)?;
            }
            match rest.len() {
                0 => decode(block.records as usize, columns),
                left => Err(format!("{left} bytes after the columns")),
            }
        };
        read().map_err(|reason| self.wrong(rank, index, reason))
    }
}

/// Hexadecimal digits of bytes.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("text takes all");
        text
    })
}

fn bytes(source: &dyn ReadAt, at: u64, length: u64) -> Result<Vec<u8>, String> {
    if at.checked_add(length).is_none_or(|end| end > source.size()) {
        return Err(format!("{length} bytes at byte {at}, but the file has {}", source.size()));
    }
    let mut bytes = vec![0; length as usize];
    source.read_at(at, &mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(bytes)
}

fn fixed<const N: usize>(source: &dyn ReadAt, at: u64, what: &str) -> Result<[u8; N], String> {
    let found = bytes(source, at, N as u64).map_err(|reason| format!("{reason}; expected {what}"))?;
    Ok(found.try_into().expect("so many bytes"))
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn inflated(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    match DeflateDecoder::new(packed).take(MAX_PLAIN_BYTES).read_to_end(&mut plain) {
        Ok(_) => Ok(plain),
        Err(error) => Err(format!("cannot be decompressed: {error}")),
    }
}

#[cfg(test)]
mod tests;

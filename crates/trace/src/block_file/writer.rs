//! Writes a trace file.

use super::directory::{Block, Directory};
use super::{checksum, hexadecimal, END, MAGIC, START_BYTES, VERSION};
use crate::columns::{self, Column};
use flate2::write::DeflateEncoder;
use flate2::Compression;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// A trace file that is being written, block by block.
pub struct BlockWriter<W> {
    out: W,
    /// Of all bytes so far.
    digest: Sha256,
    at: u64,
    directory: Directory,
}

impl<W: Write> BlockWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Self { out, digest: Sha256::new(), at: 0, directory: Directory::default() };
        writer.put(MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        debug_assert_eq!(writer.at, START_BYTES);
        Ok(writer)
    }

    /// Begins the next rank.
    pub fn rank(&mut self) {
        self.directory.ranks.push(Vec::new());
    }

    /// Writes the next block of the rank.
    ///
    /// # Errors
    /// Errors of `out`.
    ///
    /// # Panics
    /// If there is no rank yet.
    pub fn block(&mut self, records: usize, columns: &[Column]) -> io::Result<()> {
        let mut plain = Vec::new();
        columns.iter().for_each(|column| columns::put(column, &mut plain));
        let packed = deflated(&plain)?;
        let too_long = |_| io::Error::other("a block of more than 4 GiB");
        let length = u32::try_from(packed.len()).map_err(too_long)?;
        let records = u32::try_from(records).map_err(too_long)?;
        let block = Block { at: self.at, length, records, checksum: checksum(&packed) };
        self.directory.ranks.last_mut().expect("a rank").push(block);
        self.put(&packed)
    }

    /// Ends the file. `header` is what the reader should know of the trace. Returns the number of bytes, and the
    /// SHA-256 of all before the end.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn finish(mut self, header: Vec<u8>) -> io::Result<(u64, String)> {
        self.directory.header = header;
        let mut plain = Vec::new();
        self.directory.write(&mut plain);
        let (at, packed) = (self.at, deflated(&plain)?);
        self.put(&packed)?;
        let hash: [u8; 32] = std::mem::take(&mut self.digest).finalize().into();
        self.put(&at.to_le_bytes())?;
        self.put(&(packed.len() as u64).to_le_bytes())?;
        self.put(&checksum(&packed).to_le_bytes())?;
        self.put(&hash)?;
        self.put(END)?;
        self.out.flush()?;
        Ok((self.at, hexadecimal(&hash)))
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

fn deflated(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain)?;
    encoder.finish()
}

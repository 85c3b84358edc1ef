//! Gzip, undone up to a limit.
//!
//! A file that grows beyond all measure when it is decompressed fills memory or is never read to its end. Text of traces and tables
//! shrinks to a fifth to a fiftieth; only long runs of one byte shrink to a thousandth.

use flate2::read::MultiGzDecoder;
use odonata_units::Bytes;
use std::io::{self, Read};

/// Most that a file may grow. A larger limit lets a small file take more time and memory, a smaller one refuses files of
/// equal lines.
const GROWTH_MAX: u64 = 100;

/// A file of so many bytes is decompressed in any case.
const PLAIN_BYTES_MIN: u64 = 64 << 20;

/// The decompressed bytes of a gzip file.
pub(crate) struct GzipReader<R> {
    decoder: MultiGzDecoder<R>,
    limit: u64,
    read: u64,
}

impl<R: Read> GzipReader<R> {
    /// Of a file of `packed_bytes`.
    pub(crate) fn new(packed: R, packed_bytes: u64) -> Self {
        let limit = packed_bytes.saturating_mul(GROWTH_MAX).max(PLAIN_BYTES_MIN);
        Self { decoder: MultiGzDecoder::new(packed), limit, read: 0 }
    }
}

impl<R: Read> Read for GzipReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(into)?;
        self.read += read as u64;
        if self.read > self.limit {
            return Err(io::Error::other(format!(
                "it has more than {} decompressed, over {GROWTH_MAX} times its size; expected less growth, or the \
                 decompressed file",
                Bytes(self.limit)
            )));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use flate2::Compression;
    use std::io::{Cursor, Write};

    fn packed(zeros: usize) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let piece = vec![0; 1 << 20];
        (0..zeros >> 20).for_each(|_| encoder.write_all(&piece).unwrap());
        encoder.finish().unwrap()
    }

    /// 200 MiB of zeros are 200 kB packed: they may grow to 64 MiB, and not all are decompressed. 32 MiB are.
    #[test]
    fn a_file_of_zeros_is_not_decompressed_in_full() {
        let bomb = packed(200 << 20);
        let size = bomb.len() as u64;
        let mut bytes = Vec::new();
        let error = GzipReader::new(Cursor::new(bomb), size).read_to_end(&mut bytes).unwrap_err();
        assert!(error.to_string().contains("over 100 times its size"), "{error}");
        assert!(bytes.len() <= 65 << 20, "{} bytes", bytes.len());
        let small = packed(32 << 20);
        let size = small.len() as u64;
        bytes.clear();
        assert_eq!(GzipReader::new(Cursor::new(small), size).read_to_end(&mut bytes).unwrap(), 32 << 20);
    }
}

//! The file of a checkpoint.
//!
//! ```text
//! magic (8 B) · format (u32) · length (u64), header in JSON · { number (u32) · length (u64) · bytes } per part · SHA-256 of all before
//! ```
//! Numbers are little-endian, and parts have any order. The reader uses nothing before the digest of the whole file
//! is verified. So it refuses a file that was cut off or changed anywhere. It checks the format number first.

use crate::encoding::DecodeError;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

/// Format of the file and of every state in it. A change of either increases it.
pub const FORMAT: u32 = 17;

const MAGIC: [u8; 8] = *b"\x89ODNCKPT";
const DIGEST_BYTES: u64 = 32;

/// Reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file is something else.
    #[error("is no checkpoint")]
    NotACheckpoint,
    /// The file has another format.
    #[error("is a checkpoint in format {0}; this version of Odonata reads format {FORMAT}")]
    Format(u32),
    /// The file differs from what was written.
    #[error("is damaged: {0}")]
    Damaged(#[from] DecodeError),
    /// The system reported an error.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

fn damaged<T>(why: &str) -> Result<T, CheckpointError> {
    Err(CheckpointError::Damaged(DecodeError(why.to_owned())))
}

/// Writes a file, also from several threads.
#[derive(Debug)]
pub struct CheckpointWriter<W: Write> {
    inner: Mutex<io::Result<WriterState<W>>>,
}

#[derive(Debug)]
struct WriterState<W: Write> {
    out: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> WriterState<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn block(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(&(bytes.len() as u64).to_le_bytes())?;
        self.write(bytes)
    }
}

impl CheckpointWriter<BufWriter<std::fs::File>> {
    /// Creates a file.
    ///
    /// # Errors
    /// The system reports an error.
    pub fn create(path: &Path, header: &Value) -> io::Result<Self> {
        Self::new(BufWriter::new(std::fs::File::create(path)?), header)
    }

    /// Ends the file and flushes it to disk. Returns its number of bytes.
    ///
    /// # Errors
    /// The system reported an error, now or for an earlier part.
    pub fn finish(self) -> io::Result<u64> {
        let (out, bytes) = self.end()?;
        out.into_inner()?.sync_all()?;
        Ok(bytes)
    }
}

impl<W: Write> CheckpointWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The system reports an error.
    pub fn new(out: W, header: &Value) -> io::Result<Self> {
        let mut inner = WriterState { out, digest: Sha256::new(), bytes: 0 };
        inner.write(&MAGIC)?;
        inner.write(&FORMAT.to_le_bytes())?;
        inner.block(header.to_string().as_bytes())?;
        Ok(Self { inner: Mutex::new(Ok(inner)) })
    }

    /// Writes a part. An error is reported at the end.
    ///
    /// # Panics
    /// If another thread panicked.
    pub fn part(&self, number: u32, bytes: &[u8]) {
        let mut inner = self.inner.lock().expect("no thread panicked");
        if let Ok(all) = &mut *inner {
            if let Err(error) = all.write(&number.to_le_bytes()).and_then(|()| all.block(bytes)) {
                *inner = Err(error);
            }
        }
    }

    /// Writes the digest. Returns the output and its number of bytes.
    ///
    /// # Errors
    /// The system reported an error, now or for an earlier part.
    ///
    /// # Panics
    /// If another thread panicked.
    pub fn end(self) -> io::Result<(W, u64)> {
        let WriterState { mut out, digest, bytes } = self.inner.into_inner().expect("no thread panicked")?;
        out.write_all(&digest.finalize())?;
        out.flush()?;
        Ok((out, bytes + DIGEST_BYTES))
    }
}

/// Reads a file with a verified digest.
#[derive(Debug)]
pub struct CheckpointReader<R> {
    from: R,
    header: Value,
    /// Start and length of each part.
    parts: BTreeMap<u32, (u64, u64)>,
}

impl CheckpointReader<io::BufReader<std::fs::File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// It is no checkpoint, has another format, or is damaged.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        Self::new(io::BufReader::new(std::fs::File::open(path)?))
    }
}

impl<R: Read + Seek> CheckpointReader<R> {
    /// Reads the file once to verify it and to find its parts.
    ///
    /// # Errors
    /// It is no checkpoint, has another format, or is damaged.
    pub fn new(mut from: R) -> Result<Self, CheckpointError> {
        let length = from.seek(SeekFrom::End(0))?;
        let start = (MAGIC.len() + size_of::<u32>()) as u64;
        from.rewind()?;
        let mut magic = [0; MAGIC.len()];
        if length < start {
            return Err(CheckpointError::NotACheckpoint);
        }
        from.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(CheckpointError::NotACheckpoint);
        }
        let format = number(&mut from)?;
        if format != FORMAT {
            return Err(CheckpointError::Format(format));
        }
        let Some(end) = length.checked_sub(DIGEST_BYTES).filter(|end| *end >= start) else {
            return damaged("it was cut off");
        };
        from.rewind()?;
        let mut digest = Sha256::new();
        let mut covered = BufReader::new((&mut from).take(end));
        while let chunk @ [_, ..] = covered.fill_buf()? {
            digest.update(chunk);
            let length = chunk.len();
            covered.consume(length);
        }
        let mut stored = [0; DIGEST_BYTES as usize];
        from.read_exact(&mut stored)?;
        if digest.finalize().as_slice() != stored {
            return damaged("it was cut off or changed after it was written");
        }
        from.seek(SeekFrom::Start(start))?;
        let mut at = start;
        let header = block(&mut from, &mut at, end)?;
        let mut text = vec![0; header.1 as usize];
        from.read_exact(&mut text)?;
        let Ok(header) = serde_json::from_slice(&text) else { return damaged("its header is not JSON") };
        let mut parts = BTreeMap::new();
        while at < end {
            if end - at < size_of::<u32>() as u64 {
                return damaged("bytes after its last part");
            }
            let name = number(&mut from)?;
            at += size_of::<u32>() as u64;
            let place = block(&mut from, &mut at, end)?;
            from.seek(SeekFrom::Start(at))?;
            if parts.insert(name, place).is_some() {
                return damaged(&format!("it has part {name} twice"));
            }
        }
        Ok(Self { from, header, parts })
    }

    /// Header of the file.
    pub fn header(&self) -> &Value {
        &self.header
    }

    /// Numbers of its parts.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.parts.keys().copied()
    }

    /// Bytes of a part.
    ///
    /// # Errors
    /// The part does not exist, or the system reports an error.
    pub fn part(&mut self, number: u32) -> Result<Vec<u8>, CheckpointError> {
        let Some(&(start, length)) = self.parts.get(&number) else {
            return damaged(&format!("it has no part {number}"));
        };
        self.from.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; length as usize];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Adds head and digest to a body, for tests of readers.
pub fn with_digest(body: &[u8]) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &FORMAT.to_le_bytes(), body].concat();
    bytes.extend_from_slice(&Sha256::digest(&bytes));
    bytes
}

/// Start and length of a block. Moves `at` to its end.
fn block(from: &mut impl Read, at: &mut u64, end: u64) -> Result<(u64, u64), CheckpointError> {
    let start = *at + size_of::<u64>() as u64;
    if start > end {
        return damaged("a part without a length");
    }
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > end - start {
        return damaged("a part that is longer than the file");
    }
    *at = start + length;
    Ok((start, length))
}

fn number(from: &mut impl Read) -> Result<u32, CheckpointError> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::io::Cursor;

    fn written(parts: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let writer = CheckpointWriter::new(Vec::new(), &json!({"experiment": "a"})).unwrap();
        parts.iter().for_each(|(number, bytes)| writer.part(*number, bytes));
        let (bytes, length) = writer.end().unwrap();
        assert_eq!(bytes.len() as u64, length);
        bytes
    }

    #[test]
    fn parts_are_read_by_number() {
        let bytes = written(&[(7, vec![1, 2, 3]), (0, vec![]), (u32::MAX, vec![9; 1000])]);
        let mut file = CheckpointReader::new(Cursor::new(&bytes)).unwrap();
        assert_eq!(file.header(), &json!({"experiment": "a"}));
        assert_eq!(file.numbers().collect::<Vec<_>>(), [0, 7, u32::MAX]);
        assert_eq!((file.part(u32::MAX).unwrap(), file.part(7).unwrap()), (vec![9; 1000], vec![1, 2, 3]));
        assert_eq!(file.part(1).unwrap_err().to_string(), "is damaged: it has no part 1");
        let (head, digest) = (MAGIC.len() + size_of_val(&FORMAT), 32);
        assert_eq!(with_digest(&bytes[head..bytes.len() - digest]), bytes);
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_refused() {
        let bytes = written(&[(0, vec![5; 40]), (1, vec![6; 3])]);
        for cut in 0..bytes.len() {
            assert!(CheckpointReader::new(Cursor::new(&bytes[..cut])).is_err(), "cut to {cut} B");
        }
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(CheckpointReader::new(Cursor::new(changed)).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn errors_name_what_the_file_is() {
        let said = |bytes: Vec<u8>| CheckpointReader::new(Cursor::new(bytes)).unwrap_err().to_string();
        assert_eq!(said(b"PAR1".to_vec()), "is no checkpoint");
        let mut newer = written(&[]);
        newer[8] = 77;
        assert_eq!(said(newer), format!("is a checkpoint in format 77; this version of Odonata reads format {FORMAT}"));
        let twice = written(&[(3, vec![]), (3, vec![])]);
        assert_eq!(said(twice), "is damaged: it has part 3 twice");
    }

    /// A disk that refuses one write and takes all others.
    struct FullOnce {
        writes: usize,
        refused: usize,
    }

    impl Write for FullOnce {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            if self.writes == self.refused + 1 {
                return Err(io::Error::from_raw_os_error(28));
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Whichever write fails, of the header, of any part or of the digest: the file is not reported as complete.
    #[test]
    fn an_error_of_any_write_is_reported() {
        let attempt = |refused| {
            let writer = CheckpointWriter::new(FullOnce { writes: 0, refused }, &json!({}))?;
            [7, 0, 9].into_iter().for_each(|number| writer.part(number, &[number as u8; 5]));
            writer.end().map(|(disk, _)| disk.writes)
        };
        let writes = attempt(usize::MAX - 1).unwrap();
        assert_eq!(writes, 4 + 3 * 3 + 1, "magic, format, length, header; number, length, bytes; digest");
        for refused in 0..writes {
            assert_eq!(attempt(refused).unwrap_err().raw_os_error(), Some(28), "write {refused}");
        }
    }

    proptest! {
        /// Arbitrary bytes with a valid digest give an error, never a panic.
        #[test]
        fn arbitrary_bytes_with_their_digest_do_no_harm(body in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(mut file) = CheckpointReader::new(Cursor::new(with_digest(&body))) {
                for number in file.numbers().collect::<Vec<_>>() {
                    file.part(number).unwrap();
                }
            }
        }
    }
}

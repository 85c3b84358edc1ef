//! Access to the files that parameters name.

use std::fmt::Debug;
use std::io::{self, BufRead, Cursor, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

/// A file of which any part can be read at any time, from any thread.
pub trait ReadAt: Debug + Send + Sync {
    /// Bytes of the file.
    fn size(&self) -> u64;

    /// Fills `into` with the bytes from byte `at` on.
    ///
    /// # Errors
    /// The file cannot be read, or ends before.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(at).map_err(|_| ErrorKind::UnexpectedEof)?;
        let part = start.checked_add(into.len()).and_then(|end| self.get(start..end));
        into.copy_from_slice(part.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Opens files that an experiment names. The implementation records which files were opened.
pub trait Reader {
    /// The bytes of a file, named relative to the experiment file. Gzip is decompressed; Parquet is converted to CSV.
    ///
    /// # Errors
    /// The file can't be read; the message has the name and the reason.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String>;

    /// The same as a stream, for readers that do not hold the whole file. Parquet is not converted.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    fn open(&mut self, name: &str) -> Result<Box<dyn BufRead + '_>, String> {
        self.read(name).map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn BufRead>)
    }

    /// The same as a file whose parts are read when they are needed. Gzip and Parquet are not converted.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    fn open_parts(&mut self, name: &str) -> Result<Arc<dyn ReadAt>, String> {
        self.read(name).map(|bytes| Arc::new(bytes) as Arc<dyn ReadAt>)
    }

    /// The bytes of a file with content.
    ///
    /// # Errors
    /// Errors of [`Self::read`], or the file is empty.
    fn read_filled(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = self.read(name)?;
        match bytes.is_empty() {
            true => Err(format!("{name} is empty; expected a table or records")),
            false => Ok(bytes),
        }
    }

    /// The path of a packaged file of a kind (`hierarchies`, `machines`), or else of the file or directory at that
    /// path.
    ///
    /// # Errors
    /// Neither exists; the message lists the known names.
    fn locate(&self, kind: &str, name: &str) -> Result<PathBuf, String>;
}

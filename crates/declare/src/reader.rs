//! Access to the files that parameters name.

use std::io::{BufRead, Cursor};
use std::path::PathBuf;

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

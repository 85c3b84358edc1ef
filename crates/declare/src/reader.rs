//! How a variant reads the files that its parameters name.

use std::path::PathBuf;

/// Opens files that an experiment names; who implements it remembers what was opened.
pub trait Reader {
    /// The bytes of a file named relative to the experiment file; gzip is undone, and Parquet arrives as CSV.
    ///
    /// # Errors
    /// The file can't be read; says which and why.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String>;

    /// The path of the file of a kind (`hierarchies`, `machines`) that comes with the package under that name, or else of
    /// the file or directory at that path.
    ///
    /// # Errors
    /// There is neither; says what is known.
    fn locate(&self, kind: &str, name: &str) -> Result<PathBuf, String>;
}

//! The one place where files that an experiment names are opened.

use crate::problem::suggestion;
use flate2::read::MultiGzDecoder;
use odonata_declare::Reader;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads a Parquet file and hands its columns back as CSV; this crate has no reader of its own.
pub type ParquetAsCsv<'a> = dyn Fn(&Path) -> Result<Vec<u8>, String> + 'a;

/// Names and paths of the files of one kind (`hierarchies`, `machines`) that come with the package.
pub type Library<'a> = dyn Fn(&str) -> Vec<(String, PathBuf)> + 'a;

/// Opens files relative to one directory, and remembers what it opened.
#[derive(Clone)]
pub struct Files<'a> {
    base: PathBuf,
    parquet: Option<&'a ParquetAsCsv<'a>>,
    library: Option<&'a Library<'a>>,
    opened: Vec<InputFile>,
}

impl fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("base", &self.base).field("opened", &self.opened).finish_non_exhaustive()
    }
}

/// A file that a run depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Size on the disk.
    pub size_bytes: u64,
    /// SHA-256 of its bytes as they are on the disk, in hexadecimal.
    pub sha256: String,
}

impl<'a> Files<'a> {
    /// Files that are named relative to the directory of `experiment`, a path that need not exist.
    pub fn beside(experiment: &Path) -> Self {
        let directory = experiment.parent().unwrap_or_else(|| Path::new(""));
        let base = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
        Self { base, parquet: None, library: None, opened: Vec::new() }
    }

    /// The same, with a reader of Parquet files.
    #[must_use]
    pub fn with_parquet(mut self, reader: &'a ParquetAsCsv<'a>) -> Self {
        self.parquet = Some(reader);
        self
    }

    /// The same, with files that are known by name.
    #[must_use]
    pub fn with_library(mut self, library: &'a Library<'a>) -> Self {
        self.library = Some(library);
        self
    }

    /// The path of the file of a kind that is known as `name`, or else of the file or directory at that path.
    ///
    /// # Errors
    /// There is neither; says what is known.
    pub fn locate(&self, kind: &str, name: &str) -> Result<PathBuf, String> {
        let known = self.library.map_or_else(Vec::new, |library| library(kind));
        if let Some((_, path)) = known.iter().find(|(other, _)| other == name) {
            return Ok(path.clone());
        }
        let path = self.path_of(name);
        if path.exists() {
            return Ok(path);
        }
        let names = known.iter().map(|(name, _)| name.as_str());
        let hint = if known.is_empty() { String::new() } else { format!("; {}", suggestion(name, names)) };
        Err(format!("'{name}' is none of the {kind} that come with the package, and no file{hint}"))
    }

    /// How a name or path of a file of a kind is written so that it means the same elsewhere: a known name as it is, else
    /// the whole path.
    pub(crate) fn lasting(&self, kind: &str, name: &str) -> String {
        if self.library.is_some_and(|library| library(kind).iter().any(|(known, _)| known == name)) {
            name.to_owned()
        } else {
            self.path_of(name).to_string_lossy().into_owned()
        }
    }

    /// The absolute path of a file.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// The bytes of a file, gzip and Parquet undone, whatever it is called.
    ///
    /// # Errors
    /// The file can't be read; says which and why.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.path_of(name);
        let shown = path.display();
        let bytes = std::fs::read(&path).map_err(|error| format!("can't read {shown}: {}", reason(&error)))?;
        if self.opened.iter().all(|file| file.path != path) {
            let (size_bytes, sha256) = (bytes.len() as u64, sha256(&bytes));
            self.opened.push(InputFile { path: path.clone(), size_bytes, sha256 });
        }
        if bytes.starts_with(b"PAR1") {
            return match self.parquet {
                Some(reader) => reader(&path).map_err(|error| format!("can't read {shown} as Parquet: {error}")),
                None => {
                    Err(format!("{shown} is a Parquet file; only the Python package reads those: convert it to CSV"))
                }
            };
        }
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            return Ok(bytes);
        }
        let mut plain = Vec::new();
        match MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain) {
            Ok(_) => Ok(plain),
            Err(error) => Err(format!("can't decompress {shown}: {error}; the file is damaged or cut off")),
        }
    }

    /// What was opened, in order.
    pub fn opened(self) -> Vec<InputFile> {
        self.opened
    }
}

impl Reader for Files<'_> {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        Files::read(self, name)
    }

    fn locate(&self, kind: &str, name: &str) -> Result<PathBuf, String> {
        Files::locate(self, kind, name)
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "no permission".into(),
        std::io::ErrorKind::IsADirectory => "it is a directory".into(),
        _ => error.to_string(),
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to a string never fails");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("odonata-input-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn gzip_is_recognised_by_content() {
        let directory = directory("gzip");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"src,dst\n0,1\n").unwrap();
        let compressed = encoder.finish().unwrap();
        std::fs::write(directory.join("plain.csv"), &compressed).unwrap();
        std::fs::write(directory.join("cut.gz"), &compressed[..compressed.len() - 6]).unwrap();
        let mut files = Files::beside(&directory.join("experiment.toml"));
        assert_eq!(files.read("plain.csv").unwrap(), b"src,dst\n0,1\n");
        assert!(files.read("cut.gz").unwrap_err().contains("damaged or cut off"));
        assert!(files.read("none.csv").unwrap_err().ends_with("none.csv: there is no such file"));
        let opened = files.opened();
        assert_eq!(opened.len(), 2, "a file that isn't there was not opened");
        assert_eq!(opened[0].size_bytes, compressed.len() as u64);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn parquet_goes_to_its_reader() {
        let directory = directory("parquet");
        std::fs::write(directory.join("edges"), b"PAR1....PAR1").unwrap();
        let experiment = directory.join("experiment.toml");
        assert!(Files::beside(&experiment).read("edges").unwrap_err().contains("Parquet"));
        let reader = |path: &Path| Ok(path.file_name().unwrap().as_encoded_bytes().to_vec());
        assert_eq!(Files::beside(&experiment).with_parquet(&reader).read("edges").unwrap(), b"edges");
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn the_digest_is_sha_256() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

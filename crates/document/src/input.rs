//! The one place where files that an experiment names are opened.

use crate::gzip::GzipReader;
use crate::parts::Parts;
use crate::problem::suggestion;
use crate::regular::{reason, regular, NO_FILE};
use odonata_declare::{ReadAt, Reader};
use odonata_memory::{available, AvailableMemory};
use odonata_units::Bytes;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most that an experiment holds. The longest that are written by hand have some 100 kB; long lists of nodes or cables are
/// tables, in files of their own.
pub const EXPERIMENT_BYTES_MAX: Bytes = Bytes(16 << 20);

/// What the tree of an experiment takes for each byte of its text, where that is dense: a list of numbers of one digit takes 92.
const TREE_BYTES_PER_BYTE: u64 = 100;

/// What reading a file takes for each of its bytes: the byte, and at least as much for what is made of it.
const TAKEN_PER_BYTE: u64 = 2;

/// A file of fewer bytes is read whatever is left: what it is for is guarded in its turn.
const SMALL_FILE_BYTES: u64 = 8 << 20;

/// Bytes of a stream that are read at a time. Fewer cost more system calls.
const STREAM_BYTES: usize = 256 * 1024;

/// Reads a Parquet file and hands its columns back as CSV; this crate has no reader of its own.
pub type ParquetAsCsv<'a> = dyn Fn(&Path) -> Result<Vec<u8>, String> + Sync + 'a;

/// Names and paths of the files of one kind (`hierarchies`, `machines`) that come with the package.
pub type Library<'a> = dyn Fn(&str) -> Vec<(String, PathBuf)> + Sync + 'a;

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
    pub fn next_to(experiment: &Path) -> Self {
        let directory = experiment.parent().unwrap_or_else(|| Path::new(""));
        // No directory is the current one, which an empty path does not say.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
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
    pub fn lasting(&self, kind: &str, name: &str) -> String {
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

    /// The bytes of a file, gzip and Parquet undone, whatever it is called, without a byte-order mark.
    ///
    /// # Errors
    /// The file can't be read; says which and why.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.path_of(name);
        let shown = path.display();
        let (file, size) = regular(&path).map_err(|reason| format!("can't read {shown}: {reason}"))?;
        let room = Room::for_bytes(size);
        let bytes = room.read(file, size).map_err(|reason| format!("can't read {shown}: {reason}"))?;
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
            return Ok(without_mark(bytes));
        }
        let mut plain = Vec::new();
        let room = Room::for_bytes(u64::MAX);
        match GzipReader::new(&bytes[..], bytes.len() as u64).take(room.bytes.saturating_add(1)).read_to_end(&mut plain)
        {
            Ok(size) if size as u64 > room.bytes => {
                Err(format!("can't decompress {shown}: {}", room.exceeded(size as u64)))
            }
            Ok(_) => Ok(without_mark(plain)),
            Err(error) if matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::Other) => {
                Err(format!("can't decompress {shown}: {error}"))
            }
            Err(error) => Err(format!("can't decompress {shown}: {error}; the file is damaged or cut off")),
        }
    }

    /// The bytes of a file as a stream, gzip undone, without a byte-order mark. It is read once before, for its hash.
    ///
    /// # Errors
    /// The file can't be read; says which and why. Later errors, such as damaged gzip, come from the stream.
    pub fn open(&mut self, name: &str) -> Result<Box<dyn BufRead>, String> {
        let path = self.path_of(name);
        let fail = |reason: String| format!("can't read {}: {reason}", path.display());
        let (file, size_bytes) = regular(&path).map_err(fail)?;
        let mut plain = BufReader::with_capacity(STREAM_BYTES, file);
        if self.opened.iter().all(|file| file.path != path) {
            let sha256 = stream_sha256(&mut plain).map_err(|error| fail(reason(&error)))?;
            self.opened.push(InputFile { path: path.clone(), size_bytes, sha256 });
            plain.rewind().map_err(|error| fail(reason(&error)))?;
        }
        let start = plain.fill_buf().map_err(|error| fail(reason(&error)))?;
        let mut stream: Box<dyn BufRead> = match start {
            [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(STREAM_BYTES, GzipReader::new(plain, size_bytes))),
            _ => Box::new(plain),
        };
        if stream.fill_buf().map_err(|error| fail(error.to_string()))?.starts_with(MARK) {
            stream.consume(MARK.len());
        }
        Ok(stream)
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

    fn open(&mut self, name: &str) -> Result<Box<dyn BufRead + '_>, String> {
        Files::open(self, name).map(|stream| stream as Box<dyn BufRead>)
    }

    fn open_parts(&mut self, name: &str) -> Result<Arc<dyn ReadAt>, String> {
        // Its hash is computed first.
        drop(Files::open(self, name)?);
        let path = self.path_of(name);
        let file = regular(&path).map_err(|reason| format!("can't read {}: {reason}", path.display()));
        file.map(|(file, size)| Arc::new(Parts::new(file, size)) as Arc<dyn ReadAt>)
    }

    fn locate(&self, kind: &str, name: &str) -> Result<PathBuf, String> {
        Files::locate(self, kind, name)
    }
}

/// The text of an experiment file.
///
/// # Errors
/// It can't be read, is no file, is too long or is not in UTF-8; says which and why.
pub fn read_experiment(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let (file, size) = regular(path).map_err(|reason| match reason.as_str() {
        NO_FILE => format!("there is no file {shown}"),
        _ => format!("{shown} cannot be read: {reason}"),
    })?;
    let most = EXPERIMENT_BYTES_MAX.0;
    let mut bytes = Vec::new();
    if size <= most {
        let read = file.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("{shown} cannot be read: {}", reason(&error)))?;
    }
    if let Some(reason) = too_long(size.max(bytes.len() as u64)) {
        return Err(format!("{shown} cannot be read: {reason}"));
    }
    String::from_utf8(without_mark(bytes)).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{shown} is not a text file in UTF-8: byte {at} does not belong there")
    })
}

/// The content without the byte-order mark that editors on Windows put first. Binary formats do not start with
/// these three bytes: as a 32-bit number they are 12.6 million or more, above any rank.
fn without_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    bytes
}

/// The byte-order mark in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The bytes of another file, as many as there is memory for.
///
/// # Errors
/// It can't be read, is no file or is too large; says which and why.
pub fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let (file, size) = regular(path).map_err(|reason| format!("{} cannot be read: {reason}", path.display()))?;
    Room::for_bytes(size).read(file, size).map_err(|reason| format!("{} cannot be read: {reason}", path.display()))
}

/// Why so many bytes are no experiment.
pub(crate) fn too_long(bytes: u64) -> Option<String> {
    let (most, bytes) = (EXPERIMENT_BYTES_MAX, Bytes(bytes));
    (bytes > most).then(|| {
        format!("it has {bytes}, and an experiment at most {most}; long tables go to files of their own, which the experiment names")
    })
}

/// Why there is no memory for the tree of so many bytes of text.
pub(crate) fn unaffordable(bytes: u64, available: impl FnOnce() -> Option<AvailableMemory>) -> Option<String> {
    // Little is always tried, so that it is the machine, the jobs or the tables that are said to be too large.
    let needed = bytes.saturating_mul(TREE_BYTES_PER_BYTE);
    let left = available().filter(|left| needed > left.bytes.max(SMALL_FILE_BYTES))?;
    Some(format!("its {} need about {} but {left}", Bytes(bytes), Bytes(needed)))
}

/// How much of a file may be read, and why no more.
struct Room {
    bytes: u64,
    left: Option<AvailableMemory>,
}

impl Room {
    /// For a file of so many bytes; a small one needs no look at what is left.
    fn for_bytes(size: u64) -> Self {
        match available() {
            Some(left) if size > SMALL_FILE_BYTES => Self::within(left),
            _ => Self { bytes: u64::MAX, left: None },
        }
    }

    fn within(left: AvailableMemory) -> Self {
        Self { bytes: (left.bytes / TAKEN_PER_BYTE).max(SMALL_FILE_BYTES), left: Some(left) }
    }

    /// All bytes of a file with the reported `size`; some files, as in `/proc`, have more.
    fn read(&self, file: impl Read, size: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        if size <= self.bytes {
            bytes.try_reserve(usize::try_from(size).unwrap_or(usize::MAX)).map_err(|error| error.to_string())?;
            file.take(self.bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
        }
        let size = size.max(bytes.len() as u64);
        if size > self.bytes {
            return Err(self.exceeded(size));
        }
        Ok(bytes)
    }

    fn exceeded(&self, size: u64) -> String {
        let left = self.left.as_ref().map_or_else(String::new, |left| format!(", but {left}"));
        format!("it has {} or more, and reading it needs {TAKEN_PER_BYTE} B of memory per byte{left}", Bytes(size))
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn stream_sha256(stream: &mut impl BufRead) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    loop {
        let bytes = stream.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hexadecimal(&hash.finalize()));
        }
        hash.update(bytes);
        let read = bytes.len();
        stream.consume(read);
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
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
        let mut files = Files::next_to(&directory.join("experiment.toml"));
        assert_eq!(files.read("plain.csv").unwrap(), b"src,dst\n0,1\n");
        assert!(files.read("cut.gz").unwrap_err().contains("damaged or cut off"));
        assert!(files.read("none.csv").unwrap_err().ends_with("none.csv: there is no such file"));
        let opened = files.opened();
        assert_eq!(opened.len(), 2, "a file that isn't there was not opened");
        assert_eq!(opened[0].size_bytes, compressed.len() as u64);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_stream_has_the_bytes_and_the_hash_of_the_file() {
        let directory = directory("stream");
        let text = b"\xef\xbb\xbfnum_ranks 1\nrank 0 {\n}\n";
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        let compressed = encoder.finish().unwrap();
        std::fs::write(directory.join("a.goal"), text).unwrap();
        std::fs::write(directory.join("b.goal"), &compressed).unwrap();
        std::fs::write(directory.join("cut.goal"), &compressed[..compressed.len() - 6]).unwrap();
        let mut files = Files::next_to(&directory.join("experiment.toml"));
        let all = |stream: Result<Box<dyn BufRead>, String>| {
            let mut bytes = Vec::new();
            stream.unwrap().read_to_end(&mut bytes).map(|_| bytes)
        };
        for _ in 0..2 {
            assert_eq!(all(files.open("a.goal")).unwrap(), text[3..]);
            assert_eq!(all(files.open("b.goal")).unwrap(), text[3..]);
        }
        assert!(all(files.open("cut.goal")).is_err());
        assert!(files.open("none").err().unwrap().ends_with("none: there is no such file"));
        let opened = files.opened();
        assert_eq!(opened.len(), 3);
        assert_eq!((opened[0].size_bytes, &opened[0].sha256), (text.len() as u64, &sha256(text)));
        assert_eq!((opened[1].size_bytes, &opened[1].sha256), (compressed.len() as u64, &sha256(&compressed)));
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// As Windows' editors write it: before the text of experiments and of all files that they name.
    #[test]
    fn a_byte_order_mark_is_not_part_of_a_file() {
        let directory = directory("mark");
        std::fs::write(directory.join("x.toml"), "\u{feff}[machine]\r\n").unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all("\u{feff}src,dst\n".as_bytes()).unwrap();
        std::fs::write(directory.join("x.csv.gz"), encoder.finish().unwrap()).unwrap();
        assert_eq!(read_experiment(&directory.join("x.toml")).unwrap(), "[machine]\r\n");
        let mut files = Files::next_to(&directory.join("x.toml"));
        assert_eq!(files.read("x.toml").unwrap(), b"[machine]\r\n");
        assert_eq!(files.read("x.csv.gz").unwrap(), b"src,dst\n");
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn parquet_goes_to_its_reader() {
        let directory = directory("parquet");
        std::fs::write(directory.join("edges"), b"PAR1....PAR1").unwrap();
        let experiment = directory.join("experiment.toml");
        assert!(Files::next_to(&experiment).read("edges").unwrap_err().contains("Parquet"));
        let reader = |path: &Path| Ok(path.file_name().unwrap().as_encoded_bytes().to_vec());
        assert_eq!(Files::next_to(&experiment).with_parquet(&reader).read("edges").unwrap(), b"edges");
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// A pipe that nobody writes to is never opened, and `/dev/zero` never ends.
    #[test]
    #[cfg(unix)]
    fn only_files_are_read() {
        let directory = directory("nouns");
        let pipe = directory.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let socket = std::os::unix::net::UnixListener::bind(directory.join("socket")).unwrap();
        let mut files = Files::next_to(&directory.join("experiment.toml"));
        for (name, noun) in
            [("pipe", "a pipe"), ("socket", "a socket"), ("/dev/zero", "a device"), (".", "a directory")]
        {
            let said = files.read(name).unwrap_err();
            assert!(said.ends_with(&format!(": it is {noun}; expected a file")), "{said}");
            let path = directory.join(name);
            for said in [read_experiment(&path).unwrap_err(), read_file(&path).unwrap_err()] {
                assert!(said.ends_with(&format!(" cannot be read: it is {noun}; expected a file")), "{said}");
            }
        }
        assert_eq!(files.opened(), []);
        drop(socket);
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// 100 bytes are left, each byte takes two; the floor is above that, so the rooms are made by hand.
    #[test]
    fn no_more_is_read_than_there_is_memory_for() {
        let left = |bytes| AvailableMemory { bytes, of: "a test".into() };
        assert_eq!(Room::within(left(0)).bytes, SMALL_FILE_BYTES);
        assert_eq!(Room::within(left(8 * SMALL_FILE_BYTES)).bytes, 4 * SMALL_FILE_BYTES);
        let room = Room { bytes: 50, left: Some(left(100)) };
        assert_eq!(room.read(&[1; 50][..], 50).unwrap().len(), 50);
        // It grew, or did not say how long it is.
        for (file, size) in [(&[1; 51][..], 51), (&[1; 51][..], 0), (&[][..], 51)] {
            let said = room.read(file, size).unwrap_err();
            assert_eq!(
                said,
                "it has 51 B or more, and reading it needs 2 B of memory per byte, but 100 B are left of a test"
            );
        }
    }

    #[test]
    fn an_experiment_has_a_longest_length() {
        let directory = directory("long");
        let most = usize::try_from(EXPERIMENT_BYTES_MAX.0).unwrap();
        for (length, words) in [(most, None), (most + 1, Some("an experiment at most 16 MiB"))] {
            let path = directory.join("x.toml");
            std::fs::write(&path, vec![b' '; length]).unwrap();
            match (read_experiment(&path), words) {
                (Ok(text), None) => assert_eq!(text.len(), length),
                (Err(said), Some(words)) => assert!(said.contains(words), "{said}"),
                (other, _) => panic!("{length}: {:?}", other.map(|text| text.len())),
            }
            assert_eq!(too_long(length as u64).is_some(), words.is_some());
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn the_digest_is_sha_256() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

//! Files that can be read to their end.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::Path;

pub(crate) const NO_FILE: &str = "there is no such file";

/// A file that can be read to its end, and its size. Pipes and devices may never end, and a pipe that nobody writes to is not
/// even opened.
pub(crate) fn regular(path: &Path) -> Result<(File, u64), String> {
    let metadata = std::fs::metadata(path).map_err(|error| reason(&error))?;
    if !metadata.is_file() {
        return Err(format!("it is {}; expected a file", noun(&metadata)));
    }
    File::open(path).map(|file| (file, metadata.len())).map_err(|error| reason(&error))
}

/// What is at a path that is no file.
fn noun(metadata: &Metadata) -> &'static str {
    if metadata.is_dir() {
        return "a directory";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

/// Why a file can't be read, in a user's words.
pub(crate) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => NO_FILE.into(),
        ErrorKind::PermissionDenied => "no permission".into(),
        ErrorKind::IsADirectory => "it is a directory".into(),
        ErrorKind::InvalidInput => format!("it is no name of a file: {error}"),
        // Other system messages contain an error number, which is useless to a user.
        _ => error.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
    }
}

//! Files of which parts are read when they are needed.

use odonata_declare::ReadAt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Mutex;

/// An open file.
#[derive(Debug)]
pub(crate) struct Parts {
    file: Mutex<File>,
    size: u64,
}

impl Parts {
    /// A file of `size` bytes.
    pub(crate) fn new(file: File, size: u64) -> Self {
        Self { file: Mutex::new(file), size }
    }
}

impl ReadAt for Parts {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)
    }
}

//! The stream of a reader, and its mistakes.

use std::io::{BufRead, Read};

/// Longest line of a text: four lists of the counts of 20,000 ranks. A longer line is no text of a known format.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Lines of a text, with their numbers.
pub(crate) struct Lines<'a> {
    label: &'a str,
    input: &'a mut dyn BufRead,
    line: Vec<u8>,
    pub(crate) number: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(label: &'a str, input: &'a mut dyn BufRead) -> Self {
        Self { label, input, line: Vec::new(), number: 0 }
    }

    /// The next line without its end. `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, String> {
        self.line.clear();
        self.number += 1;
        let mut limited = (&mut *self.input).take(MAX_LINE_BYTES);
        let read = limited.read_until(b'\n', &mut self.line).map_err(|error| format!("{}: {error}", self.label))?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 == MAX_LINE_BYTES {
            return Err(self.mistake(&format!("more than {MAX_LINE_BYTES} bytes; expected a text with shorter lines")));
        }
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some(line.trim_end_matches(['\n', '\r']))),
            Err(_) => Err(self.mistake("not UTF-8 text")),
        }
    }

    /// A mistake in the current line.
    pub(crate) fn mistake(&self, reason: &str) -> String {
        format!("{}: line {}: {reason}", self.label, self.number)
    }
}

/// Bytes of a binary file, with their place. Numbers are little endian.
pub(crate) struct Fields<'a> {
    label: &'a str,
    input: &'a mut dyn BufRead,
    /// Bytes before the next one.
    pub(crate) offset: u64,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(label: &'a str, input: &'a mut dyn BufRead) -> Self {
        Self { label, input, offset: 0 }
    }

    /// The next `N` bytes. `what` is expected there.
    pub(crate) fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.mistake(&format!("the file ends; expected {what}")),
            _ => format!("{}: {error}", self.label),
        })?;
        self.offset += N as u64;
        Ok(bytes)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.bytes(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, String> {
        self.bytes(what).map(u64::from_le_bytes)
    }

    /// A mistake at the current place.
    pub(crate) fn mistake(&self, reason: &str) -> String {
        format!("{}: byte {}: {reason}", self.label, self.offset)
    }
}

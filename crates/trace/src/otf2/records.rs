//! Bytes of a file of an archive: chunks, records and fields.

/// Kinds of the file itself.
const END_OF_CHUNK: u8 = 0;
const END_OF_BUFFER: u8 = 1;
const END_OF_FILE: u8 = 2;
const CHUNK_HEADER: u8 = 3;
/// These two are in files of events only.
const TIMESTAMP: u8 = 5;
const ATTRIBUTES: u8 = 6;

/// Kinds of events with a single number, whose own length is the length of the record: enter, leave, requests, OpenMP.
const SINGLE: [u8; 10] = [12, 13, 16, 17, 20, 21, 24, 28, 29, 30];

const LITTLE_ENDIAN: u8 = 0x42;
const BIG_ENDIAN: u8 = 0x23;
/// Kind, byte order, numbers of the first and the last event.
const HEADER: usize = 18;

/// Whether bytes begin with a header of a chunk.
pub(super) fn is_chunk(start: &[u8]) -> bool {
    start.len() >= HEADER && start[0] == CHUNK_HEADER && [LITTLE_ENDIAN, BIG_ENDIAN].contains(&start[1])
}

/// Fields from a place on.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    is_big_endian: bool,
}

impl<'a> Cursor<'a> {
    /// Fields of a file from a place on. Its second byte is the byte order.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Result<Self, String> {
        let is_big_endian = match bytes.get(1) {
            Some(&LITTLE_ENDIAN) => false,
            Some(&BIG_ENDIAN) => true,
            _ => return Err("byte 1: expected the byte order of an OTF2 file, 0x42 or 0x23".into()),
        };
        Ok(Self { bytes, at, is_big_endian })
    }

    /// Whether all bytes are read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("byte {}: the record ends; expected {what}", self.at))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub(super) fn skip(&mut self, length: usize, what: &str) -> Result<(), String> {
        self.take(length, what).map(|_| ())
    }

    pub(super) fn byte(&mut self) -> Result<u8, String> {
        self.take(1, "a byte").map(|bytes| bytes[0])
    }

    /// A number of eight bytes.
    pub(super) fn full(&mut self) -> Result<u64, String> {
        let eight = self.take(8, "a number of 8 bytes")?;
        Ok(self.number_of(eight))
    }

    fn number_of(&self, bytes: &[u8]) -> u64 {
        let join = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        match self.is_big_endian {
            true => bytes.iter().fold(0, join),
            false => bytes.iter().rev().fold(0, join),
        }
    }

    /// A number with its length before it. `None` for an undefined one.
    pub(super) fn number(&mut self) -> Result<Option<u64>, String> {
        match self.byte()? {
            u8::MAX => Ok(None),
            length @ 0..=8 => {
                let bytes = self.take(usize::from(length), "a number")?;
                Ok(Some(self.number_of(bytes)))
            }
            length => Err(format!("byte {}: a number of {length} bytes; expected at most 8", self.at - 1)),
        }
    }

    /// A number that must be there.
    pub(super) fn defined(&mut self, what: &str) -> Result<u64, String> {
        let at = self.at;
        self.number()?.ok_or_else(|| format!("byte {at}: no {what}"))
    }

    /// A text up to its zero.
    pub(super) fn text(&mut self) -> Result<String, String> {
        let length = self.bytes[self.at..].iter().position(|&byte| byte == 0);
        let length = length.ok_or_else(|| format!("byte {}: a text without an end", self.at))?;
        let text = String::from_utf8_lossy(self.take(length, "a text")?).into_owned();
        self.skip(1, "the end of a text")?;
        Ok(text)
    }
}

/// A record: its kind, the time in ticks of the clock, its fields.
pub(super) struct Record<'a> {
    pub(super) kind: u8,
    pub(super) ticks: u64,
    pub(super) fields: Cursor<'a>,
}

/// The records of a file, in order.
pub(super) struct Records<'a> {
    cursor: Cursor<'a>,
    chunk: usize,
    are_events: bool,
    ticks: u64,
    is_ended: bool,
}

impl<'a> Records<'a> {
    /// Records of a file with events, or else with definitions.
    pub(super) fn new(bytes: &'a [u8], chunk: u64, are_events: bool) -> Result<Self, String> {
        if !is_chunk(bytes) {
            return Err("byte 0: expected the header of a chunk of OTF2".into());
        }
        let chunk = usize::try_from(chunk).unwrap_or(usize::MAX);
        Ok(Self { cursor: Cursor::new(bytes, HEADER)?, chunk, are_events, ticks: 0, is_ended: false })
    }

    /// Whether the file ended as a writer ends it.
    pub(super) fn is_whole(&self) -> bool {
        self.is_ended
    }

    /// The next record, without timestamps, attributes and ends of chunks. `None` at the end.
    pub(super) fn next_record(&mut self) -> Result<Option<Record<'a>>, String> {
        while !self.is_ended && !self.cursor.is_at_end() {
            let kind = self.cursor.byte()?;
            match kind {
                END_OF_FILE | END_OF_BUFFER => self.is_ended = true,
                END_OF_CHUNK => self.go_to_next_chunk()?,
                TIMESTAMP if self.are_events => self.ticks = self.cursor.full()?,
                _ => {
                    let mut start = self.cursor.at;
                    if self.are_events && SINGLE.contains(&kind) {
                        self.cursor.number()?;
                    } else {
                        let length = self.length()?;
                        start = self.cursor.at;
                        self.cursor.skip(length, "the fields of the record")?;
                    }
                    if kind != ATTRIBUTES || !self.are_events {
                        let fields = Cursor { bytes: &self.cursor.bytes[..self.cursor.at], at: start, ..self.cursor };
                        return Ok(Some(Record { kind, ticks: self.ticks, fields }));
                    }
                }
            }
        }
        Ok(None)
    }

    fn length(&mut self) -> Result<usize, String> {
        let short = self.cursor.byte()?;
        if short < u8::MAX {
            return Ok(usize::from(short));
        }
        let length = self.cursor.full()?;
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// The rest of a chunk is filled; the next one begins at a multiple of the size.
    fn go_to_next_chunk(&mut self) -> Result<(), String> {
        let next = ((self.cursor.at - 1) / self.chunk + 1).saturating_mul(self.chunk);
        let bytes = self.cursor.bytes;
        if next >= bytes.len() {
            self.cursor.at = bytes.len();
            return Ok(());
        }
        if !is_chunk(&bytes[next..]) {
            return Err(format!("byte {next}: expected the header of a chunk"));
        }
        self.cursor.at = next + HEADER;
        Ok(())
    }
}

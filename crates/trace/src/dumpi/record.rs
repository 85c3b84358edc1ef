//! One record: u16 kind; u8 mask; u16 thread, CPU times, wall times and counters as the mask says; the arguments.

use super::file::{File, BODY, WITH_DISPLACEMENTS, WITH_STATUS_TAGS};
use super::layout::{kind_name, END, KINDS};
use crate::slice::Slice;
use std::ops::Range;

/// Bits of the mask of a record.
const STATUSES: u8 = 0x03;
const CPU_TIMES: u8 = 0x04;
const WALL_TIMES: u8 = 0x08;
const THREAD: u8 = 0x40;
const COUNTERS: u8 = 0x80;

/// Seconds are recorded in 16 bits.
const WRAP_S: i64 = 1 << 16;
const NS_PER_S: i64 = 1_000_000_000;

/// Status of a receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Bytes received.
    pub bytes: i32,
    /// Sender.
    pub source: i32,
    /// Whether the request was cancelled.
    pub cancelled: bool,
    /// Tag, or -1 if the file has none.
    pub tag: i32,
}

/// A record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Number of the kind.
    pub kind: u16,
    /// Number of the record in its file, from 1.
    pub number: u64,
    /// Thread.
    pub thread: u16,
    /// Start and end in ns of the wall clock, counted from the second in the head of the file.
    pub wall_ns: Option<(i64, i64)>,
    /// Arguments that are one number, in order. Those that only the root has are absent elsewhere.
    pub numbers: Vec<i64>,
    /// Statuses. None if the program ignored them.
    pub statuses: Vec<Status>,
    /// Whether the caller is the root, for collectives whose record depends on it.
    pub is_root: bool,
    values: Vec<i64>,
    lists: Vec<Range<usize>>,
}

impl Record {
    /// The argument that is the list number `at`.
    pub fn list(&self, at: usize) -> &[i64] {
        self.lists.get(at).map_or(&[], |range| &self.values[range.clone()])
    }

    /// Number of lists.
    pub fn lists(&self) -> usize {
        self.lists.len()
    }
}

/// The records of a file.
pub struct Records<'a> {
    label: &'a str,
    fields: Slice<'a>,
    /// End of the records, if the file has an index.
    end: Option<usize>,
    version: [u8; 3],
    record: Record,
    next: u64,
    /// Latest second, and how often the seconds have wrapped.
    latest_s: i64,
    wraps: i64,
    /// Where the file was cut short.
    pub cut_at: Option<usize>,
}

impl std::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("label", &self.label).field("at", &self.fields.at).finish_non_exhaustive()
    }
}

impl<'a> Records<'a> {
    /// The records of a file.
    ///
    /// # Errors
    /// The file ends before the first record.
    pub fn new(file: &File<'a>) -> Result<Self, String> {
        let bytes = &file.bytes[..file.end.unwrap_or(file.bytes.len())];
        let mut fields = Slice::new(bytes, BODY);
        let label = file.label;
        fields.take(8, "two biases of clocks").map_err(|reason| format!("{label}: byte {BODY}: {reason}"))?;
        let (record, version) = (Record::default(), file.version);
        Ok(Self { label, fields, end: file.end, version, record, next: 0, latest_s: 0, wraps: 0, cut_at: None })
    }

    /// The next record. `None` at the end.
    ///
    /// # Errors
    /// A record that has no such kind, or does not fit its bytes; says where and what was expected.
    pub fn next_record(&mut self) -> Result<Option<&Record>, String> {
        let start = self.fields.at;
        match self.read() {
            Ok(true) => Ok(Some(&self.record)),
            Ok(false) => match self.end {
                Some(end) if self.fields.at != end => Err(format!(
                    "{}: byte {}: the records end; expected their end at byte {end}, where the index has the next part",
                    self.label, self.fields.at
                )),
                _ => Ok(None),
            },
            // Without an index, the rest of the file is missing from here on.
            Err(_) if self.end.is_none() => {
                self.cut_at = Some(start);
                Ok(None)
            }
            Err(reason) => {
                let name = if start + 2 <= self.fields.at { kind_name(self.record.kind) } else { "?".into() };
                Err(format!("{}: byte {}: record {} ({name}): {reason}", self.label, self.fields.at, self.next + 1))
            }
        }
    }

    /// Reads a record. Returns whether there was one.
    fn read(&mut self) -> Result<bool, String> {
        let Self { fields, record, .. } = self;
        if self.end.is_none() && fields.left() < 2 {
            self.cut_at = Some(fields.at);
            return Ok(false);
        }
        record.kind = fields.u16("a record, or the number 293 at the end of the records")?;
        if record.kind == END {
            return Ok(false);
        }
        let layout = KINDS.get(usize::from(record.kind)).map(|(_, layout)| *layout).filter(|layout| *layout != "-");
        let Some(layout) = layout else {
            return Err(format!("a record of kind {}; expected 0 to 281, 291 or 292", record.kind));
        };
        record.number = self.next + 1;
        (record.thread, record.wall_ns, record.is_root) = (0, None, false);
        record.numbers.clear();
        record.values.clear();
        record.lists.clear();
        record.statuses.clear();
        let mask = fields.u8("a mask")?;
        if mask & THREAD != 0 {
            record.thread = fields.u16("a thread")?;
        }
        if mask & CPU_TIMES != 0 {
            fields.take(12, "times of the CPU clock")?;
        }
        if mask & WALL_TIMES != 0 {
            let start = self.time()?;
            self.record.wall_ns = Some((start, self.time()?));
        }
        if mask & COUNTERS != 0 {
            let count = usize::from(self.fields.u8("the number of counters")?);
            self.fields.take(16 * count, "counters")?;
        }
        self.arguments(layout, mask)?;
        self.next += 1;
        Ok(true)
    }

    /// A time of the wall clock: u16 seconds, which wrap, and u32 ns.
    fn time(&mut self) -> Result<i64, String> {
        let (s, ns) = (i64::from(self.fields.u16("a time")?), self.fields.i32("a time")?);
        // Clocks step back by less than this; other jumps are a wrap.
        if s + self.wraps * WRAP_S + WRAP_S / 2 < self.latest_s {
            self.wraps += 1;
        }
        let s = s + self.wraps * WRAP_S;
        self.latest_s = self.latest_s.max(s);
        Ok(s * NS_PER_S + i64::from(ns))
    }

    fn arguments(&mut self, layout: &str, mask: u8) -> Result<(), String> {
        let Self { fields, record, .. } = self;
        let (mut only_root, mut own) = (false, None);
        for letter in layout.bytes() {
            if letter == b'?' {
                only_root = true;
                continue;
            }
            if std::mem::take(&mut only_root) && !record.is_root {
                continue;
            }
            match letter {
                b'b' => record.numbers.push(fields.u8("a number of 8 bits")?.into()),
                b'h' => record.numbers.push(fields.u16("a number of 16 bits")?.into()),
                b'i' => record.numbers.push(fields.i32("a number")?.into()),
                b'l' => record.numbers.push(fields.u64("a number of 64 bits")? as i64),
                b'm' => {
                    own = Some(fields.i32("the caller's rank")?);
                    record.numbers.extend(own.map(i64::from));
                }
                b'o' => {
                    let root = fields.i32("a root")?;
                    record.is_root = own == Some(root);
                    record.numbers.push(root.into());
                }
                b'B' => list(fields, record, 1, |fields| fields.u8("a number of 8 bits").map(i64::from))?,
                b'H' => list(fields, record, 2, |fields| fields.u16("a number of 16 bits").map(i64::from))?,
                b'I' => list(fields, record, 4, |fields| fields.i32("a number").map(i64::from))?,
                b'T' if self.version < WITH_DISPLACEMENTS => {
                    fields.i32("a displacement")?;
                    record.lists.push(0..0);
                }
                b'T' => list(fields, record, 4, |fields| fields.i32("a displacement").map(i64::from))?,
                b'R' => {
                    let start = record.values.len();
                    for _ in 0..fields.list(4, "lists")? {
                        for _ in 0..fields.list(4, "numbers")? {
                            record.values.push(fields.i32("a number")?.into());
                        }
                    }
                    record.lists.push(start..record.values.len());
                }
                b'C' => text(fields)?,
                b'S' => texts(fields)?,
                b'U' => {
                    for _ in 0..fields.list(4, "lists of texts")? {
                        texts(fields)?;
                    }
                }
                b'v' => {
                    let count = record.numbers.last().copied().unwrap_or(0);
                    if count > fields.left() as i64 / 4 {
                        return Err(format!("{count} arguments of the program; expected fewer bytes than are left"));
                    }
                    for _ in 0..count {
                        text(fields)?;
                    }
                }
                b's' if mask & STATUSES != 0 => {
                    let has_tag = self.version >= WITH_STATUS_TAGS;
                    for _ in 0..fields.list(if has_tag { 14 } else { 10 }, "statuses")? {
                        let (bytes, source) = (fields.i32("a status")?, fields.i32("a status")?);
                        let [cancelled, _error] = fields.bytes("a status")?;
                        let tag = if has_tag { fields.i32("a status")? } else { -1 };
                        record.statuses.push(Status { bytes, source, cancelled: cancelled != 0, tag });
                    }
                }
                b's' => {}
                _ => unreachable!("a letter of the layouts"),
            }
        }
        Ok(())
    }
}

fn list(
    fields: &mut Slice<'_>,
    record: &mut Record,
    width: usize,
    mut number: impl FnMut(&mut Slice<'_>) -> Result<i64, String>,
) -> Result<(), String> {
    let start = record.values.len();
    for _ in 0..fields.list(width, "numbers")? {
        record.values.push(number(fields)?);
    }
    record.lists.push(start..record.values.len());
    Ok(())
}

fn text(fields: &mut Slice<'_>) -> Result<(), String> {
    let length = fields.list(1, "characters")?;
    fields.take(length, "a text").map(|_| ())
}

fn texts(fields: &mut Slice<'_>) -> Result<(), String> {
    for _ in 0..fields.list(4, "texts")? {
        text(fields)?;
    }
    Ok(())
}

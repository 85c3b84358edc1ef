//! The file of one rank: index, header, footer and sizes of types.

use super::layout::TOTALS;
use crate::slice::Slice;

const MAGIC: [u8; 8] = *b"\xff\xaa\xddDUMPI";
const FOOTER_MAGIC: u64 = 0xF007_FEE7;
pub(super) const BODY: usize = 8;

/// First version with tags in statuses.
pub(super) const WITH_STATUS_TAGS: [u8; 3] = [0, 6, 3];
/// First version with all displacements of a struct.
pub(super) const WITH_DISPLACEMENTS: [u8; 3] = [0, 6, 9];

/// Sizes of the types from number 2 on, on a machine with 64 bits, for files without sizes.
const TYPE_SIZES: [i32; 28] = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];

/// Whether a file begins like one of DUMPI.
pub fn is_dumpi(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// Whether a file begins like the description of a set, `NAME.meta`.
pub fn is_meta(start: &[u8]) -> bool {
    let is_key = |line: &[u8]| [&b"numprocs="[..], b"fileprefix="].iter().any(|key| line.starts_with(key));
    start.contains(&b'=') && start.split(|&byte| byte == b'\n').take(16).any(is_key)
}

/// Calls of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CallCount {
    /// Calls with a record.
    pub recorded: u32,
    /// Calls made without a record.
    pub missing: u32,
}

/// The file of one rank.
#[derive(Debug)]
pub struct File<'a> {
    pub(super) label: &'a str,
    pub(super) bytes: &'a [u8],
    /// End of the records, if the file has an index.
    pub(super) end: Option<usize>,
    pub(super) version: [u8; 3],
    /// Bytes of the data types, by number.
    pub type_sizes: Vec<i32>,
    /// Calls by kind, if the file has a footer.
    pub calls: Option<Vec<CallCount>>,
}

impl<'a> File<'a> {
    /// A file by its bytes. `label` is its name for messages.
    ///
    /// # Errors
    /// Other bytes, or an index that does not fit; says where and what was expected.
    pub fn open(label: &'a str, bytes: &'a [u8]) -> Result<Self, String> {
        let wrong = |at: usize, reason: &str| format!("{label}: byte {at}: {reason}");
        if bytes.starts_with(&[0x00, 0x05, 0x16, 0x07]) {
            return Err(wrong(0, "a file of macOS with attributes of another file; expected the file without '._'"));
        }
        if !is_dumpi(bytes) {
            return Err(wrong(0, "no magic number; expected a file of DUMPI"));
        }
        let mut file =
            Self { label, bytes, end: None, version: [u8::MAX; 3], type_sizes: TYPE_SIZES.to_vec(), calls: None };
        let Some(index) = [64, 56, 48, 40].into_iter().find_map(|length| {
            let at = bytes.len().checked_sub(length).filter(|&at| at >= BODY)?;
            bytes[at..].starts_with(&MAGIC).then_some(at)
        }) else {
            return Ok(file);
        };
        let offsets: Vec<u64> = bytes[index + 8..]
            .chunks_exact(8)
            .map(|eight| u64::from_be_bytes(eight.try_into().expect("8 bytes")))
            .collect();
        // Older files lack the first of them.
        let [sizes, _addresses, _counters, header, body, footer, keys] =
            std::array::from_fn(|place| (place + offsets.len()).checked_sub(7).map_or(0, |place| offsets[place]));
        if body != BODY as u64 {
            return Err(wrong(index, &format!("the index says that records begin at {body}; expected {BODY}")));
        }
        let inside = |offset: u64| usize::try_from(offset).ok().filter(|&at| at <= index);
        for offset in [sizes, header, footer, keys] {
            if inside(offset).is_none() {
                return Err(wrong(index, &format!("the index says {offset}; expected a place before {index}")));
            }
        }
        let part = |offset: u64| inside(offset).filter(|&at| at > BODY).map(|at| Slice::new(&bytes[..index], at));
        file.end = [sizes, header, footer].into_iter().filter_map(inside).filter(|&at| at > BODY).min();
        if let Some(mut header) = part(header) {
            file.version = header.bytes("a version").map_err(|reason| wrong(header.at, &reason))?;
        }
        if let Some(mut sizes) = part(sizes) {
            file.type_sizes = sizes
                .list(4, "sizes of data types")
                .and_then(|length| (0..length).map(|_| sizes.i32("a size")).collect())
                .map_err(|reason| wrong(sizes.at, &reason))?;
        }
        if let Some(mut footer) = part(footer) {
            file.calls = Some(call_counts(&mut footer).map_err(|reason| wrong(footer.at, &reason))?);
        }
        Ok(file)
    }

    /// Whether the file has an index. Without one it was cut short.
    pub fn is_complete(&self) -> bool {
        self.end.is_some()
    }
}

fn call_counts(footer: &mut Slice<'_>) -> Result<Vec<CallCount>, String> {
    let magic = footer.u64("a footer")?;
    if magic != FOOTER_MAGIC {
        return Err(format!("{magic:#x}; expected the footer's {FOOTER_MAGIC:#x}"));
    }
    let mut calls = vec![CallCount::default(); TOTALS + 1];
    for of_kind in &mut calls {
        of_kind.recorded = footer.i32("calls with a record")? as u32;
    }
    for of_kind in &mut calls {
        of_kind.missing = footer.i32("calls without a record")? as u32;
    }
    calls.pop();
    Ok(calls)
}

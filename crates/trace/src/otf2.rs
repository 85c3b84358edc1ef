//! OTF2 archives, the traces of Score-P: the anchor file, the definitions and the events of each location.
//!
//! ```text
//! NAME.otf2 ──► NAME.def ──► Definitions: regions, communicators, locations
//!         └──► NAME/LOCATION.def ──► LocalNumbers: numbers of this location to those of the definitions
//!         └──► NAME/LOCATION.evt ──► Events
//! ```
//! A file consists of chunks, each with a header of 18 bytes, and of records: kind, length, fields. A field is a byte or
//! a number with its length before it. Kinds of one number have no other length. Unknown kinds are skipped by their length.

mod definitions;
mod event;
mod records;

pub use definitions::{Communicator, Definitions, LocalNumbers};
pub use event::{event_name, CollectiveRecord, Event, Events, MessageRecord};

use records::{is_chunk, Cursor};

/// What the anchor file of an archive says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// Bytes of a chunk of events, the header included.
    pub event_chunk: u64,
    /// Bytes of a chunk of definitions.
    pub definition_chunk: u64,
}

/// Whether a file begins like an anchor file.
pub fn is_anchor(start: &[u8]) -> bool {
    start.len() > 8 && start[0] == 3 && start[2..].starts_with(b"OTF2\0")
}

/// Whether a file begins like another file of an archive: definitions or events.
pub fn is_part(start: &[u8]) -> bool {
    is_chunk(start) && !is_anchor(start)
}

impl Anchor {
    /// Reads an anchor file.
    ///
    /// # Errors
    /// Other bytes, or an archive in a form that is not read.
    pub fn read(label: &str, bytes: &[u8]) -> Result<Self, String> {
        let wrong = |reason: &str| format!("{label}: {reason}");
        if !is_anchor(bytes) {
            return Err(wrong("expected the anchor file of an OTF2 archive, like traces.otf2"));
        }
        let mut cursor = Cursor::new(bytes, 2).map_err(|reason| wrong(&reason))?;
        let mut read = || -> Result<(Self, u8, u8), String> {
            cursor.skip("OTF2\0".len(), "the name of the format")?;
            cursor.skip(2 + 3, "versions")?;
            let (event_chunk, definition_chunk) = (cursor.full()?, cursor.full()?);
            Ok((Self { event_chunk, definition_chunk }, cursor.byte()?, cursor.byte()?))
        };
        let (anchor, substrate, compression) = read().map_err(|reason| wrong(&reason))?;
        match (substrate, compression) {
            (2, _) => Err(wrong("an archive in SION files, which are not read; expected one file per location")),
            (_, 2) => Err(wrong(
                "an archive with files compressed by zlib, which are not read; expected files without compression",
            )),
            _ if anchor.event_chunk.min(anchor.definition_chunk) < 64 => Err(wrong("chunks of less than 64 bytes")),
            _ => Ok(anchor),
        }
    }
}

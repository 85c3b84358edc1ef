//! Programs as text: roles, loops, computation and calls, one per line.
//!
//! ```
//! use odonata_programs::{text, Call, Cursor};
//!
//! let program = "\
//! let block = 64 KiB
//! repeat 10 as i:
//!     compute 5 us
//!     irecv (rank - 1) % ranks  block  tag i
//!     isend (rank + 1) % ranks  block  tag i
//!     waitall
//! allreduce 8 B
//! ";
//! let program = text::parse("ring.program", program.as_bytes(), 4).unwrap();
//! let mut cursor = Cursor::default();
//! assert!(matches!(cursor.next(&program, 0), Some(Call::Compute { .. })));
//! assert!(matches!(cursor.next(&program, 0), Some(Call::Irecv { from: 3, .. })));
//! ```
//! `docs/models/programs.md` describes the language. A text is a tree of loops. Its leaves are straight pieces, the
//! blocks of the program. The counts of the loops give the piece of a block number, so a loop of a million rounds takes
//! no memory. The count of a loop may depend on the rank, but not on other loops.

mod check;
mod cut;
mod lines;
mod parser;
mod piece;
mod repetition;
mod statement;
mod streams;
mod tree;

#[cfg(test)]
mod tests;

pub use tree::TextProgram;

use odonata_declare::FileError;
use odonata_expression::Mistake;

/// Reads a program for a job of `ranks` ranks; `label` names the file in errors.
///
/// # Errors
/// The first invalid line: line, column, what was expected, the nearest name. Also invalid peers, sizes and times in
/// the first or last round of a loop, for ranks at both ends of their role.
pub fn parse(label: &str, bytes: &[u8], ranks: u32) -> Result<TextProgram, FileError> {
    let program = std::str::from_utf8(bytes)
        .map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u32;
            Mistake::new(line, 1, "not UTF-8 text; expected a program with one call per line".into())
        })
        .and_then(|text| parser::parse(text, ranks))
        .and_then(|program| check::check(&program).map(|()| program));
    program.map_err(|mistake| {
        let place = format!("line {}, column {}", mistake.line, mistake.column);
        FileError::new(label, place, mistake.reason)
    })
}

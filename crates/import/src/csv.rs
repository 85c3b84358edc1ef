//! CSV with a header line. Columns may be in any order; unknown columns are ignored.
//!
//! * Communication graph: `src,dst,bytes`.
//! * Placement: `rank,node`, optionally `core` and `job`. A node is a number or a name.

use crate::message_list::MessageList;
use crate::placement_table::{Entry, Place};
use crate::{CommunicationGraph, PlacementTable};
use ::csv::{ReaderBuilder, StringRecord, Trim};
use odonata_declare::FileError;

/// Reads a communication graph of `ranks` ranks, or of as many as it mentions.
///
/// # Errors
/// A missing column, a line with the wrong number of fields, an invalid number, a rank out of range, or a number of
/// bytes that is negative or infinite.
pub fn communication_graph(label: &str, bytes: &[u8], ranks: Option<u32>) -> Result<CommunicationGraph, FileError> {
    let mut messages = MessageList::new(label, ranks);
    each_record(
        label,
        bytes,
        |header| Ok([header.require("src")?, header.require("dst")?, header.require("bytes")?]),
        |record, [source, target, size]| {
            let (source, target) = (record.number::<i64>(source, "src")?, record.number::<i64>(target, "dst")?);
            messages.push(source, target, record.number::<f64>(size, "bytes")?, || record.place())
        },
    )?;
    messages.finish()
}

/// Reads a placement.
///
/// # Errors
/// Errors as for a communication graph. The placement checks later whether the nodes exist.
pub fn placement(label: &str, bytes: &[u8]) -> Result<PlacementTable, FileError> {
    let mut entries = Vec::new();
    each_record(
        label,
        bytes,
        |header| Ok((header.require("rank")?, header.require("node")?, header.find("core"), header.find("job"))),
        |record, (rank, node, core, job)| {
            let name = record.field(node);
            if name.is_empty() {
                return Err(record.error("node is empty, expected a number or a name"));
            }
            entries.push(Entry {
                job: job.map_or(Ok(0), |job| record.number(job, "job"))?,
                rank: record.number(rank, "rank")?,
                place: Place::Name(name.to_owned()),
                core: core.map(|core| record.number(core, "core")).transpose()?,
                at: record.line,
            });
            Ok(())
        },
    )?;
    Ok(PlacementTable::new(label, "line", entries))
}

/// Reads the columns `names` of a table of numbers, row by row.
///
/// # Errors
/// A missing column, a line with the wrong number of fields, or an invalid number.
pub fn numbers<const N: usize>(label: &str, bytes: &[u8], names: [&str; N]) -> Result<Vec<[f64; N]>, FileError> {
    let mut rows = Vec::new();
    each_record(
        label,
        bytes,
        |header| header.require_all(names),
        |record, columns| {
            let mut row = [0.0; N];
            for ((value, column), name) in row.iter_mut().zip(columns).zip(names) {
                *value = record.number(column, name)?;
            }
            rows.push(row);
            Ok(())
        },
    )?;
    Ok(rows)
}

/// The header line.
#[derive(Debug)]
pub struct Header<'a> {
    label: &'a str,
    fields: StringRecord,
}

impl Header<'_> {
    /// Position of a column, if it exists.
    pub fn find(&self, column: &str) -> Option<usize> {
        self.fields.iter().position(|field| field == column)
    }

    /// Positions of all `names`.
    ///
    /// # Errors
    /// A missing column.
    pub fn require_all<const N: usize>(&self, names: [&str; N]) -> Result<[usize; N], FileError> {
        let mut columns = [0; N];
        for (column, name) in columns.iter_mut().zip(names) {
            *column = self.require(name)?;
        }
        Ok(columns)
    }

    /// Position of a column.
    ///
    /// # Errors
    /// The column is missing.
    pub fn require(&self, column: &str) -> Result<usize, FileError> {
        self.find(column).ok_or_else(|| {
            let found: Vec<&str> = self.fields.iter().collect();
            let reason = format!("no column '{column}' in the header '{}'", found.join(","));
            FileError::new(self.label, "line 1", reason)
        })
    }
}

/// A line after the header.
#[derive(Debug)]
pub struct Record<'a> {
    label: &'a str,
    line: u64,
    fields: &'a StringRecord,
}

impl Record<'_> {
    /// The text of a column.
    pub fn field(&self, column: usize) -> &str {
        self.fields.get(column).expect("the reader rejects short lines")
    }

    /// Place for messages: `line 12`.
    pub fn place(&self) -> String {
        format!("line {}", self.line)
    }

    /// Error for this line.
    pub fn error(&self, reason: impl Into<String>) -> FileError {
        FileError::new(self.label, self.place(), reason)
    }

    /// The number in a column. Errors call the column `name`.
    ///
    /// # Errors
    /// An invalid number.
    pub fn number<T: std::str::FromStr>(&self, column: usize, name: &str) -> Result<T, FileError> {
        let text = self.field(column);
        text.parse().map_err(|_| {
            let kind = match std::any::type_name::<T>() {
                "f64" => "a number",
                "i64" => "a whole number",
                _ => "a whole number from 0 to 4294967295",
            };
            self.error(format!("{name} is '{text}', expected {kind}"))
        })
    }
}

/// Reads all lines. `columns` finds the columns in the header that `each` needs.
///
/// # Errors
/// No table, a line with the wrong number of fields, or an error of the two functions.
pub fn each_record<C: Copy>(
    label: &str,
    bytes: &[u8],
    columns: impl FnOnce(&Header<'_>) -> Result<C, FileError>,
    mut each: impl FnMut(&Record<'_>, C) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(bytes);
    let wrong =
        |error: &::csv::Error| FileError::new(label, format!("line {}", line(bytes, error.position())), reason(error));
    let header = Header { label, fields: reader.headers().map_err(|error| wrong(&error))?.clone() };
    let columns = columns(&header)?;
    let mut fields = StringRecord::new();
    while reader.read_record(&mut fields).map_err(|error| wrong(&error))? {
        each(&Record { label, line: line(bytes, fields.position()), fields: &fields }, columns)?;
    }
    Ok(())
}

/// Line of a record. The reader counts empty lines before a record as part of it; users do not.
fn line(bytes: &[u8], position: Option<&::csv::Position>) -> u64 {
    let Some(position) = position else { return 1 };
    let rest = &bytes[(position.byte() as usize).min(bytes.len())..];
    let empty = rest.iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').filter(|&&byte| byte == b'\n');
    position.line() + empty.count() as u64
}

/// The problem without its place, which the caller adds.
fn reason(error: &::csv::Error) -> String {
    match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, but the header has {expected_len}")
        }
        ::csv::ErrorKind::Utf8 { .. } => "not UTF-8 text".into(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::RankId;
    use proptest::prelude::*;

    #[test]
    fn reads_columns_in_any_order() {
        let text = "dst, bytes, tag, src\n1, 65536, a, 0\n0, 1e3, b, 2\n";
        let graph = communication_graph("a.csv", text.as_bytes(), None).unwrap();
        assert_eq!((graph.ranks(), graph.len()), (3, 2));
        let (target, bytes) = graph.messages_of(RankId(2)).next().unwrap();
        assert_eq!((target.0, bytes.0), (0, 1_000));
    }

    #[test]
    fn mistakes_have_a_line() {
        let message = |text: &str| communication_graph("a.csv", text.as_bytes(), Some(4)).unwrap_err().to_string();
        assert_eq!(message("src,dst,size\n0,1,8\n"), "a.csv:line 1: no column 'bytes' in the header 'src,dst,size'");
        assert_eq!(message(""), "a.csv:line 1: no column 'src' in the header ''");
        assert_eq!(message("src,dst,bytes\n0,1,8\n\n0,1\n"), "a.csv:line 4: 2 fields, but the header has 3");
        assert_eq!(message("src,dst,bytes\n0,one,8\n"), "a.csv:line 2: dst is 'one', expected a whole number");
        assert_eq!(message("src,dst,bytes\n0,1,8\n0,1,8 KiB\n"), "a.csv:line 3: bytes is '8 KiB', expected a number");
        assert_eq!(message("src,dst,bytes\n0,4,8\n"), "a.csv:line 2: rank 4 in a job with ranks 0 to 3");
        assert_eq!(message("src,dst,bytes\n0,1,-8\n"), "a.csv:line 2: -8 bytes, expected a number of at least 0");
        assert_eq!(message("src,dst,bytes\n0,1,NaN\n"), "a.csv:line 2: NaN bytes, expected a number of at least 0");
        let error = communication_graph("a.csv", b"src,dst,bytes\n0,1,\xff\n", None).unwrap_err();
        assert_eq!(error.to_string(), "a.csv:line 2: not UTF-8 text");
    }

    #[test]
    fn reads_placements() {
        let table = placement("p.csv", b"rank,node,job,core\n1,g0r0c1n0,3,2\n0,7,3,1\n").unwrap();
        assert_eq!((table.jobs(), table.ranks(3)), (vec![3], 2));
        assert_eq!(placement("p.csv", b"rank,node\n0,7\n").unwrap().jobs(), [0]);
        let message = |text: &str| placement("p.csv", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(message("rank,node\n0,\n"), "p.csv:line 2: node is empty, expected a number or a name");
        assert_eq!(
            message("rank,node\n-1,3\n"),
            "p.csv:line 2: rank is '-1', expected a whole number from 0 to 4294967295"
        );
    }

    proptest! {
        /// No text crashes a reader.
        #[test]
        fn survives_any_text(body in "\\PC*", numbers in "[-0-9,.e\\n]{0,80}") {
            for text in [&body, &format!("src,dst,bytes\n{numbers}"), &format!("rank,node\n{numbers}")] {
                let _ = communication_graph("a.csv", text.as_bytes(), None);
                let _ = placement("p.csv", text.as_bytes());
            }
        }
    }
}

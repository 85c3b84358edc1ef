//! A communication matrix as text: row r has the bytes that rank r sends to each rank.
//!
//! Profilers have no common file, but their matrices of bytes (CrayPat, mpiP, IPM, TAU) can all be written so. Numbers are
//! apart by blanks, commas or semicolons; `#` begins a comment.

use crate::message_list::MessageList;
use crate::text::text;
use crate::CommunicationGraph;
use odonata_declare::FileError;

/// Whether the first line that is no comment has only numbers, and more than one.
pub(crate) fn matches_format(start: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(start) else { return false };
    let first = text.lines().map(numbers).find(|words| !words.is_empty());
    first.is_some_and(|words| words.len() > 1 && words.iter().all(|word| word.parse::<f64>().is_ok()))
}

fn numbers(line: &str) -> Vec<&str> {
    let content = line.split('#').next().unwrap_or_default();
    content.split([',', ';', ' ', '\t']).map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// Reads a matrix as one message for each entry that is not 0. Its rows are the ranks.
///
/// # Errors
/// A row of another length than the first, too many or too few rows, or no number; with the line.
pub fn communication_graph(label: &str, bytes: &[u8], ranks: Option<u32>) -> Result<CommunicationGraph, FileError> {
    let wrong = |line: usize, reason: String| FileError::new(label, format!("line {line}"), reason);
    let rows = (1..).zip(text(label, bytes)?.lines()).map(|(line, content)| (line, numbers(content)));
    let rows: Vec<_> = rows.filter(|(_, row)| !row.is_empty()).collect();
    let count = rows.len();
    let mut messages = MessageList::new(label, ranks);
    for (source, (line, row)) in rows.iter().enumerate() {
        if row.len() != count {
            let reason = format!("{} numbers, expected {count}: the matrix has {count} rows", row.len());
            return Err(wrong(*line, reason));
        }
        for (target, word) in row.iter().enumerate() {
            let size: f64 = word.parse().map_err(|_| wrong(*line, format!("'{word}', expected a number of bytes")))?;
            if size != 0.0 {
                messages.push(source as i64, target as i64, size, || format!("line {line}"))?;
            }
        }
    }
    messages.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::RankId;

    #[test]
    fn rows_are_senders() {
        let text = b"# bytes of 3 ranks\n0, 10, 0\n5 0 0.4e1\n\n0;0;7\n";
        assert!(matches_format(text) && !matches_format(b"src,dst,bytes\n0,1,2\n") && !matches_format(b"# none\n"));
        let graph = communication_graph("m.txt", text, Some(4)).unwrap();
        let sent = |rank| graph.messages_of(RankId(rank)).map(|(to, bytes)| (to.0, bytes.0)).collect::<Vec<_>>();
        assert_eq!([sent(0), sent(1), sent(2)], [vec![(1, 10)], vec![(0, 5), (2, 4)], vec![(2, 7)]]);
    }

    #[test]
    fn mistakes_name_their_line() {
        let wrong = |text: &[u8]| communication_graph("m.txt", text, Some(2)).unwrap_err().to_string();
        assert_eq!(wrong(b"0 1\n2\n"), "m.txt:line 2: 1 numbers, expected 2: the matrix has 2 rows");
        assert_eq!(wrong(b"0 x\n2 0\n"), "m.txt:line 1: 'x', expected a number of bytes");
        assert!(wrong(b"0 -1\n2 0\n").starts_with("m.txt:line 1: "), "{}", wrong(b"0 -1\n2 0\n"));
        assert!(wrong(b"0 0 0\n0 0 0\n9 0 0\n").contains("rank 2"));
    }
}

//! The ports in the rows of an edge list. Their only use is to find cables that are listed twice.

use super::edge_columns::EdgeListColumns;
use super::ends::Ends;
use std::collections::HashMap;

/// Checks that every port has one cable. A row in the other direction is the same cable. `place` names a row.
///
/// # Errors
/// The row, and the port with two cables.
pub(super) fn check_ports(
    columns: &EdgeListColumns,
    ends: &Ends,
    place: &dyn Fn(usize) -> String,
) -> Result<(), (usize, String)> {
    fn named(ports: &[String], row: usize) -> Option<&str> {
        ports.get(row).map(String::as_str).filter(|port| !port.is_empty())
    }
    // Router and port at the source and at the target of a row.
    let of_row =
        |row: usize| [(ends.src[row], named(&columns.src_port, row)), (ends.dst[row], named(&columns.dst_port, row))];
    let is_reverse = |row: usize, other: usize| {
        let ([from, to], [there, back]) = (of_row(row), of_row(other));
        [from, to] == [back, there]
    };
    let mut first_row: HashMap<(u32, &str), usize> = HashMap::new();
    let mut reverse: HashMap<usize, usize> = HashMap::new();
    for row in 0..ends.src.len() {
        for (router, port) in of_row(row) {
            let Some(port) = port else { continue };
            let name = ends.name(router);
            if let Some(&count) = columns.count.get(row).filter(|&&count| count > 1) {
                let reason =
                    format!("{count} parallel cables on port '{port}' of router {name}; give each its own row");
                return Err((row, reason));
            }
            let first = *first_row.entry((router, port)).or_insert(row);
            if first == row || (is_reverse(row, first) && *reverse.entry(first).or_insert(row) == row) {
                continue;
            }
            let reason = format!("two cables on port '{port}' of router {name}; {} has the first", place(first));
            return Err((row, reason));
        }
    }
    Ok(())
}

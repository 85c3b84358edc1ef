//! The routers in the rows of an edge list: numbers, names, coordinates and nodes.

use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::shape::Routers;
use crate::Coordinates;
use std::collections::HashMap;

/// Largest router number. Numbers count from 0, so a larger one is a mistake that would exhaust the memory.
const LARGEST_NUMBER: u32 = 1 << 22;

/// Axes of the families whose router names have distinct axis letters.
const FAMILY_AXES: [&[&str]; 5] = [
    &["group", "row", "column"],
    &["group", "router_in_group"],
    &["level", "pod", "index"],
    &["X", "Y", "Z"],
    &["A", "B", "C", "D", "E"],
];

/// Row and reason.
type PlacedReason = (usize, String);

/// The routers at both ends of each row.
pub(super) struct Ends {
    pub(super) src: Vec<u32>,
    pub(super) dst: Vec<u32>,
    /// Number of routers.
    count: usize,
    /// Names in order of appearance; empty if the routers are numbered.
    names: Vec<String>,
}

impl Ends {
    /// Reads the ends: numbers if every end is a number, else names, numbered in the order of appearance.
    pub(super) fn read(columns: &EdgeListColumns) -> Result<Self, PlacedReason> {
        let numbers = |texts: &[String]| texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<u32>>>();
        if let (Some(src), Some(dst)) = (numbers(&columns.src), numbers(&columns.dst)) {
            let largest = |row: &usize| src[*row].max(dst[*row]);
            if let Some(row) = (0..src.len()).find(|row| largest(row) > LARGEST_NUMBER) {
                let reason = format!("router {}; numbers count from 0 to at most {LARGEST_NUMBER}", largest(&row));
                return Err((row, reason));
            }
            let count = (0..src.len()).map(|row| largest(&row) as usize + 1).max().unwrap_or(0);
            return Ok(Self { src, dst, count, names: Vec::new() });
        }
        let mut index_of: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        let (mut src, mut dst) = (Vec::new(), Vec::new());
        for (row, (from, to)) in columns.src.iter().zip(&columns.dst).enumerate() {
            for (name, ends) in [(from, &mut src), (to, &mut dst)] {
                if name.is_empty() || name.contains(['>', ':']) || name.contains(char::is_whitespace) {
                    return Err((
                        row,
                        format!(
                            "'{name}' can't be the name of a router: spaces, '>' and ':' are not \
                        allowed"
                        ),
                    ));
                }
                let next = names.len() as u32;
                let index = *index_of.entry(name).or_insert(next);
                if index == next {
                    names.push(name.clone());
                }
                ends.push(index);
            }
        }
        Ok(Self { src, dst, count: names.len(), names })
    }

    /// Name of a router.
    pub(super) fn name(&self, router: u32) -> String {
        self.names.get(router as usize).cloned().unwrap_or_else(|| router.to_string())
    }

    /// The routers with all their data from the columns.
    pub(super) fn routers(
        &self,
        columns: &EdgeListColumns,
        options: &EdgeListOptions,
    ) -> Result<Routers, PlacedReason> {
        let nodes = self.each("number of nodes", 1, &columns.src_nodes, &columns.dst_nodes)?;
        let default = options.nodes_per_router;
        let nodes = nodes.into_iter().map(|of| of.map_or(default, |nodes| nodes[0])).collect();
        let mut routers =
            Routers { axes: Vec::new(), values: Vec::new(), groups: None, names: self.names.clone(), nodes };
        if columns.axes.is_empty() {
            if let Some((axes, values)) = coordinates_in_names(&self.names) {
                (routers.axes, routers.values) = (axes, values);
                routers.names.clear();
            }
            return Ok(routers);
        }
        let n = columns.axes.len();
        let coordinates = self.each("position", n, &columns.src_coordinates, &columns.dst_coordinates)?;
        for (router, values) in coordinates.into_iter().enumerate() {
            match values {
                Some(values) => routers.values.extend_from_slice(values),
                None => {
                    let reason =
                        format!("router {router} is in no row, so its {} is not known", columns.axes.join(", "));
                    return Err((0, reason));
                }
            }
        }
        if columns.axes == ["group"] {
            routers.groups = Some(std::mem::take(&mut routers.values));
        } else {
            routers.axes.clone_from(&columns.axes);
        }
        Ok(routers)
    }

    /// The `width` values of each router in the columns `src` and `dst`; empty columns give none.
    fn each<'a>(
        &self,
        what: &str,
        width: usize,
        src: &'a [u32],
        dst: &'a [u32],
    ) -> Result<Vec<Option<&'a [u32]>>, PlacedReason> {
        let mut found: Vec<Option<&[u32]>> = vec![None; self.count];
        let rows = src.chunks(width).zip(dst.chunks(width)).enumerate();
        for (row, (at_src, at_dst)) in rows {
            for (router, values) in [(self.src[row], at_src), (self.dst[row], at_dst)] {
                let before = *found[router as usize].get_or_insert(values);
                if before != values {
                    let name = self.name(router);
                    return Err((row, format!("router {name} has another {what} here: {values:?}, before {before:?}")));
                }
            }
        }
        Ok(found)
    }
}

/// Axes and values, if all names have the form of one family.
fn coordinates_in_names(names: &[String]) -> Option<(Vec<String>, Vec<u32>)> {
    let first = names.first()?;
    let dimensions = first.matches('_').count() + 1;
    let torus: Vec<String> = (0..dimensions).map(|d| format!("x{d}")).collect();
    let families = FAMILY_AXES.iter().map(|axes| axes.iter().map(|&axis| axis.to_owned()).collect()).chain([torus]);
    for axes in families {
        let form = Coordinates { axes, ..Coordinates::default() };
        let values: Option<Vec<Vec<u32>>> = names.iter().map(|name| form.parse(name)).collect();
        if let Some(values) = values {
            return Some((form.axes, values.concat()));
        }
    }
    None
}

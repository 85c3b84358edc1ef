//! The routers in the rows of an edge list: numbers, names, coordinates and nodes.

use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::shape::Routers;
use crate::Coordinates;
use std::collections::HashMap;

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

/// A router that a file lists with or without cables: its name and its nodes.
pub(super) type ListedRouter = (String, u32);

/// The routers at both ends of each row.
pub(super) struct Ends {
    pub(super) src: Vec<u32>,
    pub(super) dst: Vec<u32>,
    /// Names of the routers. Numbers are names, too.
    names: Vec<String>,
    /// Nodes of the first routers, if the file lists routers.
    listed: Vec<u32>,
}

impl Ends {
    /// Reads the ends. Routers come in the order of `listed`, then in the order of their appearance; if all names are
    /// numbers and none is listed, in the order of the numbers.
    pub(super) fn read(columns: &EdgeListColumns, listed: &[ListedRouter]) -> Result<Self, PlacedReason> {
        let mut index_of: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<&str> = Vec::new();
        let mut index = |name, row| {
            check_name(name).map_err(|reason| (row, reason))?;
            let next = index_of.len() as u32;
            let index = *index_of.entry(name).or_insert(next);
            if index == next {
                names.push(name);
            }
            Ok(index)
        };
        for (name, _) in listed {
            index(name, 0)?;
        }
        let (mut src, mut dst) = (Vec::new(), Vec::new());
        for (row, (from, to)) in columns.src.iter().zip(&columns.dst).enumerate() {
            src.push(index(from, row)?);
            dst.push(index(to, row)?);
        }
        let numbers: Option<Vec<u32>> = names.iter().map(|name| name.parse().ok()).collect();
        if let Some(numbers) = numbers.filter(|_| listed.is_empty()) {
            let mut order: Vec<usize> = (0..numbers.len()).collect();
            order.sort_by_key(|&router| (numbers[router], names[router]));
            let mut place = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, &router)| place[router] = at as u32);
            src.iter_mut().chain(&mut dst).for_each(|router| *router = place[*router as usize]);
            names = order.iter().map(|&router| names[router]).collect();
        }
        let listed = listed.iter().map(|(_, nodes)| *nodes).collect();
        Ok(Self { src, dst, names: names.into_iter().map(str::to_owned).collect(), listed })
    }

    /// Name of a router.
    pub(super) fn name(&self, router: u32) -> String {
        self.names[router as usize].clone()
    }

    /// Names of the routers, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The routers with all their data from the columns.
    pub(super) fn routers(
        &self,
        columns: &EdgeListColumns,
        options: &EdgeListOptions,
    ) -> Result<Routers, PlacedReason> {
        let nodes = self.each("number of nodes", 1, &columns.src_nodes, &columns.dst_nodes)?;
        let default = options.nodes_per_router;
        let listed = |router: usize| self.listed.get(router).copied().unwrap_or(default);
        let of_router = |(router, of): (usize, Option<&[u32]>)| of.map_or_else(|| listed(router), |nodes| nodes[0]);
        let nodes = nodes.into_iter().enumerate().map(of_router).collect();
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
                    let name = self.name(router as u32);
                    return Err((
                        0,
                        format!("router {name} is in no row, so its {} is not known", columns.axes.join(", ")),
                    ));
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
        let mut found: Vec<Option<&[u32]>> = vec![None; self.names.len()];
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

/// Refuses a name that an edit or a link name could not contain.
fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.contains(['>', ':']) || name.contains(char::is_whitespace) {
        return Err(format!("'{name}' can't be the name of a router: spaces, '>' and ':' are not allowed"));
    }
    Ok(())
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

//! Mapping: ranks to places of a torus, by an order of its axes or by a map file.
//!
//! A place is a node and one of its `T` ranks. An order such as `TXYZ` numbers all places, one letter faster than the
//! next. The machine's convention decides which end is fastest. A tilt rolls each plane of one axis along another: with
//! `tilt Z X 1`, the rank at (x, y, z) moves to (x, y, z + x mod n), like Rubik's tilt. Rubik's other steps exist as
//! well (Bhatele et al., "Mapping applications with collectives over sub-communicators on torus networks", SC 2012). A
//! script cuts a box of the ranks and the box of the places into leaves, and puts the ranks on the places leaf by leaf.

mod boxes;
mod script;

use super::cell::cell;
use super::free::FreeNodes;
use super::rule::{ranks_per_node, NodeAssignment, PendingPlacement, PlacementRequest, PlacementRule};
use crate::WorkloadError;
use boxes::RankBox;
use odonata_declare::{parameters, Kind, ParameterMistake, Reader};
use odonata_machine::{FastestLetter, Machine};
use odonata_units::{NodeId, RouterId};
use std::collections::HashSet;
use std::sync::Arc;

parameters! {
    /// Parameters of `mapping`.
    #[derive(PartialEq, Eq)]
    pub struct MappingParameters {
        /// Order of all axes and `T`, the ranks of a node, in the machine's notation: `TXYZ` fills a node first on Blue
        /// Gene/P, `ABCDET` on Blue Gene/Q.
        pub order: Option<String> = None, Kind::Text, else "`file` or `script` is given";
        /// Path of a map file. Line r has the coordinates of rank r, one per axis and the last for `T`.
        pub file: Option<String> = None, Kind::Path, else "`order` or `script` is given";
        /// Rubik steps. `app 16 8 16` makes a box of all ranks; `net` is the box of all places with the axes of the
        /// machine and `T`. Both are cut into leaves (`app tile 1 8 16`, `net tile 8 8 2`; `div`, `mod`, `cut`; `net
        /// leaves div 2` cuts again). `net map app` puts the ranks of each leaf on the places of the leaf with the same
        /// number. Before and after it, `tilt`, `shear`, `zigzag`, `zorder` and `transpose` move ranks in a box or,
        /// after `leaves`, in each leaf.
        pub script: Vec<String> = Vec::new(), Kind::List(&Kind::Text);
        /// Transformations of the finished mapping. `tilt Z X 1` rolls each plane of X along Z, by 1 more than the
        /// plane before. The other steps of a `script` work without `net`.
        pub transforms: Vec<String> = Vec::new(), Kind::List(&Kind::Text);
        /// Content of the file, after it was read.
        pub text: Option<Arc<str>> = None, no key;
    }
}

impl PlacementRule for MappingParameters {
    fn read(&mut self, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let Some(path) = &self.file else { return Ok(()) };
        let bytes = files.read_filled(path).map_err(|reason| ("file", reason))?;
        let text = String::from_utf8(bytes).map_err(|_| ("file", format!("'{path}' is not a text file")))?;
        self.text = Some(text.into());
        Ok(())
    }

    fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        free.next_job(request.job);
        let on_node = ranks_per_node(request, free)?;
        let wrong = |(parameter, reason): ParameterMistake| request.error(parameter, reason);
        let space = Space::new(free.machine(), on_node).map_err(wrong)?;
        let mut cells = self.cells(&space, request.ranks).map_err(wrong)?;
        if !self.transforms.is_empty() {
            let mut ranks = RankBox::of_cells(&space.sizes, &cells);
            for step in &self.transforms {
                let words: Vec<&str> = step.split_whitespace().collect();
                let done = script::apply(&mut ranks, &space.names(), &words);
                done.map_err(|reason| wrong(("transforms", format!("'{step}': {reason}"))))?;
            }
            cells = ranks.cell_of_rank();
        }
        let mut held = HashSet::new();
        let node_of_rank: Vec<NodeId> = cells.iter().map(|&cell| space.node(cell)).collect();
        for &node in node_of_rank.iter().filter(|&&node| held.insert(node)) {
            if free.machine().is_storage(node) {
                let reason = format!("node {} is a storage node", free.machine().node_name(node));
                return Err(wrong(("name", reason)));
            }
            free.claim(node).map_err(|reason| wrong(("name", reason)))?;
        }
        Ok(NodeAssignment { node_of_rank, ranks_per_node: on_node }.into())
    }
}

impl MappingParameters {
    /// The place of every rank before the transforms.
    fn cells(&self, space: &Space<'_>, ranks: u32) -> Result<Vec<u32>, ParameterMistake> {
        let given =
            [("order", self.order.is_some()), ("file", self.file.is_some()), ("script", !self.script.is_empty())];
        let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        if let (Some(one), Some(other)) = (given.next(), given.next()) {
            return Err((one, format!("and '{other}' exclude each other; remove one")));
        }
        match (&self.order, &self.file) {
            (Some(order), _) => space.by_order(order, ranks).map_err(|reason| ("order", reason)),
            (None, Some(path)) => {
                let text = self.text.as_deref().unwrap_or_default();
                space.by_file(text, ranks).map_err(|reason| ("file", format!("'{path}', {reason}")))
            }
            (None, None) if self.script.is_empty() => {
                Err(("order", format!("missing; write an order like \"{}\"", space.usual())))
            }
            (None, None) => {
                let net = script::run(&self.script, &space.names(), &space.sizes, ranks);
                net.map(|net| net.cell_of_rank()).map_err(|reason| ("script", reason))
            }
        }
    }
}

/// The places of a machine: a box of its axes and `T`. A place is a cell, numbered in row-major order.
struct Space<'m> {
    machine: &'m Machine,
    letters: Vec<char>,
    sizes: Vec<u32>,
}

impl<'m> Space<'m> {
    fn new(machine: &'m Machine, on_node: u32) -> Result<Self, ParameterMistake> {
        let coordinates = machine.coordinates();
        let one_each = machine.routers().all(|router| machine.nodes_of(router).len() == 1);
        let Some(letters) = coordinates.letters().filter(|_| one_each) else {
            let reason = "requires one node per router and axes named by letters, as on a Blue Gene";
            return Err(("name", format!("{reason}; a torus gets them with `axes = \"XYZ\"`")));
        };
        let sizes: Vec<u32> = coordinates.sizes.iter().copied().chain([on_node]).collect();
        if sizes.iter().try_fold(1u32, |places, &size| places.checked_mul(size)).is_none() {
            return Err(("name", format!("supports at most {} places", u32::MAX)));
        }
        Ok(Self { machine, letters: letters.chars().chain(['T']).collect(), sizes })
    }

    /// An order that fills a node first.
    fn usual(&self) -> String {
        match self.machine.coordinates().fastest {
            FastestLetter::Last => self.letters.iter().collect(),
            FastestLetter::First => ['T'].iter().chain(&self.letters[..self.letters.len() - 1]).collect(),
        }
    }

    /// The axes' letters, one by one.
    fn names(&self) -> Vec<String> {
        self.letters.iter().map(char::to_string).collect()
    }

    fn by_order(&self, order: &str, ranks: u32) -> Result<Vec<u32>, String> {
        let mut axes = self.axes_of(order)?;
        if self.machine.coordinates().fastest == FastestLetter::Last {
            axes.reverse();
        }
        let room = self.sizes.iter().map(|&size| u64::from(size)).product::<u64>();
        if u64::from(ranks) > room {
            let sizes: Vec<String> = self.sizes.iter().map(u32::to_string).collect();
            return Err(format!("{ranks} ranks, but {} places ({})", room, sizes.join(" x ")));
        }
        let place = |rank: u32| {
            let (mut place, mut left) = (vec![0; axes.len()], rank);
            for &axis in &axes {
                place[axis] = left % self.sizes[axis];
                left /= self.sizes[axis];
            }
            cell(&self.sizes, &place)
        };
        Ok((0..ranks).map(place).collect())
    }

    /// The axes of an order. Each letter must appear once.
    fn axes_of(&self, order: &str) -> Result<Vec<usize>, String> {
        let mut axes = Vec::new();
        let all: String = self.letters.iter().collect();
        for letter in order.chars() {
            let known = self.letters.iter().position(|&known| known == letter);
            let axis = known.ok_or_else(|| format!("'{order}': there is no axis {letter}; the letters are {all}"))?;
            if axes.contains(&axis) {
                let missing: String = self.letters.iter().filter(|letter| !order.contains(**letter)).collect();
                let missing = if missing.is_empty() { String::new() } else { format!(" and {missing} is missing") };
                return Err(format!("'{order}': {letter} appears twice{missing}; did you mean '{}'?", self.usual()));
            }
            axes.push(axis);
        }
        match self.letters.iter().find(|letter| !order.contains(**letter)) {
            None => Ok(axes),
            Some(letter) => Err(format!("'{order}': {letter} is missing; expected all of {all}")),
        }
    }

    fn by_file(&self, text: &str, ranks: u32) -> Result<Vec<u32>, String> {
        let (mut cells, mut line_of) = (Vec::new(), std::collections::HashMap::new());
        let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (line, row) in rows.map(|(index, row)| (index + 1, row.trim())) {
            let place: Vec<u32> = row
                .split_whitespace()
                .map(|value| value.parse().map_err(|_| format!("line {line}: '{value}' is not a coordinate")))
                .collect::<Result<_, _>>()?;
            let letters: String = self.letters.iter().collect();
            if place.len() != self.letters.len() {
                let (found, expected) = (place.len(), self.letters.len());
                return Err(format!("line {line}: {found} coordinates; expected {expected}, of {letters}"));
            }
            if let Some(axis) = (0..place.len()).find(|&axis| place[axis] >= self.sizes[axis]) {
                let (letter, most) = (self.letters[axis], self.sizes[axis] - 1);
                return Err(format!("line {line}: {letter} is {} in '{row}'; expected 0 to {most}", place[axis]));
            }
            if let Some(before) = line_of.insert(place.clone(), line) {
                return Err(format!("line {line}: the place '{row}' is already used in line {before}"));
            }
            cells.push(cell(&self.sizes, &place));
        }
        if cells.len() != ranks as usize {
            return Err(format!("has {} places, but the job has {ranks} ranks", cells.len()));
        }
        Ok(cells)
    }

    /// The node of a place: `T` is the last axis.
    fn node(&self, cell: u32) -> NodeId {
        self.machine.nodes_of(RouterId(cell / self.sizes[self.sizes.len() - 1]))[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::cell::place;
    use crate::placement::IoRanks;
    use crate::PlacementSpec;
    use odonata_machine::presets::{self, Partition};
    use serde_json::json;

    fn machine(preset: &str, shape: &[u32]) -> Machine {
        presets::block(preset, &Partition { shape: shape.to_vec(), mesh: None }).unwrap().build().unwrap()
    }

    /// Nodes of the ranks by name, or the error.
    fn mapped(
        machine: &Machine,
        ranks: u32,
        on_node: u32,
        given: &[(&str, serde_json::Value)],
        file: &str,
    ) -> Result<Vec<String>, String> {
        let mut spec = PlacementSpec::parse("mapping").unwrap();
        given.iter().for_each(|(key, value)| spec.set(key, value.clone()).unwrap());
        let rule: &mut MappingParameters = spec.rule_mut().as_any_mut().downcast_mut().unwrap();
        rule.text = Some(file.into());
        let request = PlacementRequest {
            job: "test",
            placement: "mapping",
            index: 0,
            ranks,
            ranks_per_node: Some(on_node),
            seed: 1,
            io_ranks: IoRanks::default(),
        };
        let mut free = FreeNodes::new(machine);
        let begun = spec.rule().begin(&request, &mut free).map_err(|error| error.to_string())?;
        let placed = begun.finish(&request, &mut free).unwrap();
        Ok(placed.node_of_rank.iter().map(|&node| machine.router_name(machine.router_of(node))).collect())
    }

    /// The first letter is the fastest on Blue Gene/P, the last on Blue Gene/Q.
    #[test]
    fn orders_by_hand() {
        let p = machine("bgp-midplane", &[2, 2, 2]);
        let by = |order: &str| mapped(&p, 5, 2, &[("order", json!(order))], "").unwrap();
        assert_eq!(by("TXYZ"), ["X0Y0Z0", "X0Y0Z0", "X1Y0Z0", "X1Y0Z0", "X0Y1Z0"]);
        assert_eq!(by("ZXYT"), ["X0Y0Z0", "X0Y0Z1", "X1Y0Z0", "X1Y0Z1", "X0Y1Z0"]);
        let q = machine("bgq-midplane", &[1, 1, 1, 2, 2]);
        let by = |order: &str| mapped(&q, 4, 2, &[("order", json!(order))], "").unwrap();
        assert_eq!(by("ABCDET"), ["A0B0C0D0E0", "A0B0C0D0E0", "A0B0C0D0E1", "A0B0C0D0E1"]);
        assert_eq!(by("TABCED"), ["A0B0C0D0E0", "A0B0C0D1E0", "A0B0C0D0E1", "A0B0C0D1E1"]);
    }

    /// Rubik's tilts (Z, X, 1) and (X, Y, 1) of a 4 x 4 x 4 box in an order with x the fastest. Ranks 0 to 5 are at 000
    /// 101 202 303 011 112 as z y x.
    #[test]
    fn tilts_as_rubik_does() {
        let machine = machine("bgp-midplane", &[4, 4, 4]);
        let steps = json!(["tilt Z X 1", "tilt X Y 1"]);
        let found = mapped(&machine, 64, 1, &[("order", json!("XYZT")), ("transforms", steps)], "").unwrap();
        assert_eq!(found[..6], ["X0Y0Z0", "X1Y0Z1", "X2Y0Z2", "X3Y0Z3", "X1Y1Z0", "X2Y1Z1"]);
        let mut places = found.clone();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), 64, "a tilt moves ranks and leaves no place twice");
    }

    /// Mean hops to the next rank along each dimension of a periodic grid in row-major order, 2,048 ranks on 8 x 8 x 8.
    /// By hand for 4 x 8 x 8 x 8 and XYZT: its last three dimensions are X, Y and Z, one hop each, and its first is T, none: 3/4.
    #[test]
    fn hops_of_grids() {
        let machine = machine("bgp-midplane", &[8, 8, 8]);
        let space = Space::new(&machine, 4).unwrap();
        let apart = |a: &[u32], b: &[u32]| -> u32 {
            (0..3).map(|axis| a[axis].abs_diff(b[axis])).map(|steps| steps.min(8 - steps)).sum()
        };
        let hops = |dims: &[u32], order: &str| {
            let cells = space.by_order(order, 2048).unwrap();
            let places: Vec<Vec<u32>> = cells.iter().map(|&cell| place(&space.sizes, cell)).collect();
            let (mut sum, mut stride) = (0, 1);
            for &size in dims.iter().rev() {
                let next = |rank: u32| match rank / stride % size + 1 == size {
                    true => rank + stride - size * stride,
                    false => rank + stride,
                };
                sum += (0..2048).map(|rank| apart(&places[rank as usize], &places[next(rank) as usize])).sum::<u32>();
                stride *= size;
            }
            f64::from(sum) / (2048 * dims.len()) as f64
        };
        assert_eq!([hops(&[32, 64], "TXYZ"), hops(&[32, 64], "XYZT")], [1.265625, 1.0625]);
        assert_eq!([hops(&[8, 16, 16], "TXYZ"), hops(&[8, 16, 16], "XYZT")], [1.958_333_333_333_333_3, 2.5]);
        assert_eq!([hops(&[4, 8, 8, 8], "TXYZ"), hops(&[4, 8, 8, 8], "XYZT")], [1.6875, 0.75]);
    }

    #[test]
    fn a_map_file_says_where_every_rank_is() {
        let machine = machine("bgp-midplane", &[2, 2, 2]);
        let of = |text| mapped(&machine, 3, 2, &[("file", json!("a.map"))], text);
        assert_eq!(of("1 0 0 0\n0 1 1 1\n1 0 0 1\n").unwrap(), ["X1Y0Z0", "X0Y1Z1", "X1Y0Z0"]);
        let wrong = |text| of(text).unwrap_err().split_once("file: ").unwrap().1.to_owned();
        assert_eq!(wrong("1 0 0\n"), "'a.map', line 1: 3 coordinates; expected 4, of XYZT");
        assert_eq!(wrong("1 0 0 0\n0 2 0 0\n"), "'a.map', line 2: Y is 2 in '0 2 0 0'; expected 0 to 1");
        assert_eq!(wrong("0 0 0 2\n"), "'a.map', line 1: T is 2 in '0 0 0 2'; expected 0 to 1");
        assert_eq!(wrong("1 0 0 0\n\n1 0 0 0\n"), "'a.map', line 3: the place '1 0 0 0' is already used in line 1");
        assert_eq!(wrong("1 0 0 0\n1 0 0 1\n"), "'a.map', has 2 places, but the job has 3 ranks");
    }

    #[test]
    fn mistakes() {
        let p = machine("bgp-midplane", &[2, 2, 2]);
        let wrong = |order: &str, then: &str| {
            let given = [("order", json!(order)), ("transforms", json!([then]))];
            mapped(&p, 16, 2, &given, "").unwrap_err().split_once("'mapping': ").unwrap().1.to_owned()
        };
        let good = "tilt Z X 1";
        assert_eq!(wrong("TXYY", good), "order: 'TXYY': Y appears twice and Z is missing; did you mean 'TXYZ'?");
        assert_eq!(wrong("TXY", good), "order: 'TXY': Z is missing; expected all of XYZT");
        assert_eq!(wrong("TXYE", good), "order: 'TXYE': there is no axis E; the letters are XYZT");
        assert_eq!(
            wrong("TXYZ", "tilt X X 1"),
            "transforms: 'tilt X X 1': tilt moves an axis along itself; expected two axes"
        );
        assert_eq!(
            wrong("TXYZ", "turn X"),
            "transforms: 'turn X': 'turn' is not a step; known: div, tile, mod, cut, tilt, shear, zigzag, zorder, transpose"
        );
        assert_eq!(wrong("TXYZ", "tilt Z X"), "transforms: 'tilt Z X': expected a step like 'tilt Z X 1'");
        assert_eq!(
            wrong("TXYZ", "tilt Z E 1"),
            "transforms: 'tilt Z E 1': there is no axis E; expected one of X Y Z T"
        );
        let many = mapped(&p, 17, 2, &[("order", json!("TXYZ"))], "").unwrap_err();
        assert!(many.ends_with("order: 17 ranks, but 16 places (2 x 2 x 2 x 2)"), "{many}");
        let other = crate::test_machines::torus(&[2, 2], 1);
        assert!(mapped(&other, 2, 1, &[("order", json!("TXY"))], "").unwrap_err().contains("`axes = \"XYZ\"`"));
    }
}

//! Ranks in a box of cells, cut into leaves and moved as in Rubik.
//!
//! A box is an array in row-major order, its last axis the fastest. Cutting makes leaves, which are views: a move in a
//! leaf moves ranks in the box.

use crate::placement::cell::{cell, places};
use std::cmp::Ordering;

/// The cell has no rank.
const EMPTY: u32 = u32::MAX;

/// Kind of a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CutKind {
    /// Contiguous parts of floor(n / parts) cells. The last part has the remainder.
    Div,
    /// Part p has the cells p, p + parts, ...
    Mod,
}

/// A step on a box or its leaves. Axes are numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Cuts each axis into parts. Axes that are not listed stay whole.
    Cut(Vec<(u32, CutKind)>),
    /// Like `Cut` with `Div`, into floor(n / size) parts of each axis.
    Tile(Vec<u32>),
    /// Rolls plane i of `by` along `along` by i `each`: out[.., (z + each i) mod n, .., i] = in[.., z, .., i].
    Tilt { along: usize, by: usize, each: i64 },
    /// Rolls plane i of `by` along `along` by depth - floor(|i - base| depth / stride), base = 2 stride floor(i / (2 stride)) + stride.
    Zigzag { along: usize, by: usize, depth: i64, stride: u32 },
    /// Takes the ranks in row-major order and puts them on the cells in the order of Morton codes, axis 0 in the lowest bit.
    Zorder,
    /// Puts the ranks, in row-major order of the array whose axis k is axis `axes[k]` of the box, on the cells in row-major order.
    Transpose(Vec<usize>),
}

/// A part of a box: its sizes, and its cells as numbers of the box, in row-major order.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Leaf {
    sizes: Vec<u32>,
    cells: Vec<u32>,
}

/// Ranks in a box of cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RankBox {
    sizes: Vec<u32>,
    /// The rank in each cell, in row-major order.
    rank_of_cell: Vec<u32>,
    leaves: Vec<Leaf>,
}

impl RankBox {
    fn filled(sizes: &[u32], rank_of_cell: Vec<u32>) -> Self {
        let whole = Leaf { sizes: sizes.to_vec(), cells: (0..rank_of_cell.len() as u32).collect() };
        Self { sizes: sizes.to_vec(), rank_of_cell, leaves: vec![whole] }
    }

    /// Rank r in cell r.
    pub(super) fn numbered(sizes: &[u32]) -> Self {
        Self::filled(sizes, (0..sizes.iter().product()).collect())
    }

    /// No ranks.
    pub(super) fn empty(sizes: &[u32]) -> Self {
        Self::filled(sizes, vec![EMPTY; sizes.iter().product::<u32>() as usize])
    }

    /// Each rank in its cell.
    pub(super) fn of_cells(sizes: &[u32], cell_of_rank: &[u32]) -> Self {
        let mut filled = Self::empty(sizes);
        for (&cell, rank) in cell_of_rank.iter().zip(0..) {
            filled.rank_of_cell[cell as usize] = rank;
        }
        filled
    }

    /// Sizes of its axes.
    pub(super) fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The cell of each rank.
    pub(super) fn cell_of_rank(&self) -> Vec<u32> {
        let mut cells: Vec<(u32, u32)> = self.rank_of_cell.iter().copied().zip(0..).collect();
        cells.retain(|&(rank, _)| rank != EMPTY);
        cells.sort_unstable();
        cells.into_iter().map(|(_, cell)| cell).collect()
    }

    /// Applies a step to the whole box, or to each leaf.
    ///
    /// # Errors
    /// An axis has too few cells for a cut.
    pub(super) fn apply(&mut self, step: &Step, each_leaf: bool) -> Result<(), String> {
        let whole = Leaf { sizes: self.sizes.clone(), cells: (0..self.rank_of_cell.len() as u32).collect() };
        let parts = if each_leaf { self.leaves.clone() } else { vec![whole] };
        match step {
            Step::Cut(cuts) => self.cut(&parts, |_| Ok(cuts.clone()))?,
            Step::Tile(tiles) => self.cut(&parts, |sizes| divisors(sizes, tiles))?,
            step => parts.iter().for_each(|part| self.rearrange(part, step)),
        }
        Ok(())
    }

    /// Cuts parts of the box into leaves, which become its leaves.
    fn cut(
        &mut self,
        parts: &[Leaf],
        cuts: impl Fn(&[u32]) -> Result<Vec<(u32, CutKind)>, String>,
    ) -> Result<(), String> {
        let mut leaves = Vec::new();
        for part in parts {
            leaves.extend(part.cut(&cuts(&part.sizes)?)?);
        }
        self.leaves = leaves;
        Ok(())
    }

    /// Moves the ranks of a part of the box.
    fn rearrange(&mut self, part: &Leaf, step: &Step) {
        let ranks: Vec<u32> = part.cells.iter().map(|&cell| self.rank_of_cell[cell as usize]).collect();
        let (sizes, box_cells) = (&part.sizes, &part.cells);
        let mut put = |to: u32, from: u32| {
            self.rank_of_cell[box_cells[to as usize] as usize] = ranks[from as usize];
        };
        let mut roll = |along: usize, by: usize, shift: &dyn Fn(i64) -> i64| {
            let size = i64::from(sizes[along]);
            for (mut to, from) in places(sizes).zip(0..) {
                let moved = i64::from(to[along]) + shift(i64::from(to[by])).rem_euclid(size);
                to[along] = (moved % size) as u32;
                put(cell(sizes, &to), from);
            }
        };
        match step {
            Step::Tilt { along, by, each } => {
                let size = i64::from(sizes[*along]);
                roll(*along, *by, &|plane| each.rem_euclid(size) * plane);
            }
            Step::Zigzag { along, by, depth, stride } => {
                let stride = i64::from(*stride);
                let base = |plane: i64| plane / (2 * stride) * (2 * stride) + stride;
                roll(*along, *by, &|plane| depth - ((plane - base(plane)).abs() * depth).div_euclid(stride));
            }
            Step::Zorder => {
                let mut order: Vec<Vec<u32>> = places(sizes).collect();
                order.sort_by(|a, b| by_morton_code(a, b));
                order.iter().zip(0..).for_each(|(to, from)| put(cell(sizes, to), from));
            }
            Step::Transpose(axes) => {
                let turned: Vec<u32> = axes.iter().map(|&axis| sizes[axis]).collect();
                for (place, to) in places(&turned).zip(0..) {
                    let mut from = vec![0; sizes.len()];
                    axes.iter().zip(place).for_each(|(&axis, value)| from[axis] = value);
                    put(to, cell(sizes, &from));
                }
            }
            Step::Cut(_) | Step::Tile(_) => unreachable!("a cut moves no rank"),
        }
    }

    /// Puts the ranks of another box's leaves into the leaves of this box, both in row-major order.
    ///
    /// # Errors
    /// Leaves do not pair.
    pub(super) fn map(&mut self, app: &Self) -> Result<(), String> {
        let (own, theirs) = (self.leaves.len(), app.leaves.len());
        if own != theirs {
            return Err(format!("net has {own} leaves, but app has {theirs}; expected as many"));
        }
        for (number, (to, from)) in self.leaves.iter().zip(&app.leaves).enumerate() {
            let (own, theirs) = (to.cells.len(), from.cells.len());
            if own != theirs {
                return Err(format!(
                    "leaf {number} of net has {own} places, but the same leaf of app has {theirs} \
                    ranks"
                ));
            }
            for (&to, &from) in to.cells.iter().zip(&from.cells) {
                self.rank_of_cell[to as usize] = app.rank_of_cell[from as usize];
            }
        }
        Ok(())
    }
}

impl Leaf {
    /// Its parts, in row-major order.
    fn cut(&self, cuts: &[(u32, CutKind)]) -> Result<Vec<Self>, String> {
        let whole = (1, CutKind::Div);
        let cuts: Vec<_> = (0..self.sizes.len()).map(|axis| cuts.get(axis).copied().unwrap_or(whole)).collect();
        for (axis, (&(parts, _), &size)) in cuts.iter().zip(&self.sizes).enumerate() {
            if parts == 0 || parts > size {
                return Err(format!("its axis {axis} of {size} cells can't be cut into {parts} parts"));
            }
        }
        let counts: Vec<u32> = cuts.iter().map(|&(parts, _)| parts).collect();
        Ok(places(&counts).map(|part| self.part(&cuts, &part)).collect())
    }

    /// The part with this number along each axis.
    fn part(&self, cuts: &[(u32, CutKind)], part: &[u32]) -> Self {
        let along = |axis: usize| -> Vec<u32> {
            let ((parts, cutting), size, number) = (cuts[axis], self.sizes[axis], part[axis]);
            let length = size / parts;
            match cutting {
                CutKind::Div if number + 1 == parts => (number * length..size).collect(),
                CutKind::Div => (number * length..(number + 1) * length).collect(),
                CutKind::Mod => (number..size).step_by(parts as usize).collect(),
            }
        };
        let chosen: Vec<Vec<u32>> = (0..self.sizes.len()).map(along).collect();
        let sizes: Vec<u32> = chosen.iter().map(|values| values.len() as u32).collect();
        let within = |place: Vec<u32>| -> Vec<u32> {
            place.iter().zip(&chosen).map(|(&value, chosen)| chosen[value as usize]).collect()
        };
        let cells = places(&sizes).map(|place| self.cells[cell(&self.sizes, &within(place)) as usize]).collect();
        Self { sizes, cells }
    }
}

/// Numbers of parts if tiles of these sizes cut a box.
fn divisors(sizes: &[u32], tiles: &[u32]) -> Result<Vec<(u32, CutKind)>, String> {
    let parts = |(axis, (&size, &tile)): (usize, (&u32, &u32))| match tile {
        0 => Err(format!("a tile of 0 cells along its axis {axis}; expected 1 to {size}")),
        tile if tile > size => Err(format!("a tile of {tile} cells along its axis {axis}, which has {size}")),
        tile => Ok((size / tile, CutKind::Div)),
    };
    sizes.iter().zip(tiles).enumerate().map(parts).collect()
}

/// Order of two places by Morton code. The axis with the highest different bit decides; among equals, the last axis.
fn by_morton_code(a: &[u32], b: &[u32]) -> Ordering {
    let highest = |axis: &usize| (u32::BITS - (a[*axis] ^ b[*axis]).leading_zeros(), *axis);
    (0..a.len()).max_by_key(highest).map_or(Ordering::Equal, |axis| a[axis].cmp(&b[axis]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::cell::place;
    use proptest::prelude::*;

    /// Places of the first ranks as digits.
    fn shown(ranks: &RankBox, count: usize) -> Vec<String> {
        let digits = |cell: u32| place(&ranks.sizes, cell).iter().map(u32::to_string).collect();
        ranks.cell_of_rank().into_iter().take(count).map(digits).collect()
    }

    fn done(sizes: &[u32], steps: &[Step]) -> RankBox {
        let mut ranks = RankBox::numbered(sizes);
        steps.iter().for_each(|step| ranks.apply(step, false).unwrap());
        ranks
    }

    /// Rubik's two tilts of 4 x 4 x 4, (Z, X, 1) and (X, Y, 1), axes in the order Z Y X.
    #[test]
    fn two_tilts() {
        let steps = [Step::Tilt { along: 0, by: 2, each: 1 }, Step::Tilt { along: 2, by: 1, each: 1 }];
        assert_eq!(shown(&done(&[4, 4, 4], &steps), 6), ["000", "101", "202", "303", "011", "112"]);
    }

    /// Rubik's example: 9 x 3 x 8 in tiles of 9 x 3 x 1 onto 6 x 6 x 6 in tiles of 3 x 3 x 3. Rank 1 is the first of
    /// the second tile, because the last axis is the fastest in the box.
    #[test]
    fn tiles_onto_tiles() {
        let (mut app, mut net) = (RankBox::numbered(&[9, 3, 8]), RankBox::empty(&[6, 6, 6]));
        app.apply(&Step::Tile(vec![9, 3, 1]), false).unwrap();
        net.apply(&Step::Tile(vec![3, 3, 3]), false).unwrap();
        net.map(&app).unwrap();
        assert_eq!(shown(&net, 5), ["000", "003", "030", "033", "300"]);
    }

    /// Morton order of 2 x 2 x 2, index 0 in the lowest bit.
    #[test]
    fn z_order() {
        assert_eq!(shown(&done(&[2, 2, 2], &[Step::Zorder]), 5), ["000", "100", "010", "110", "001"]);
        // 3 x 2: the codes of 00 10 01 11 are 0 to 3, of 20 it is 4, of 21 it is 6.
        assert_eq!(shown(&done(&[3, 2], &[Step::Zorder]), 6), ["00", "10", "01", "11", "20", "21"]);
    }

    /// By hand with depth 2 and stride 2: planes 0 to 7 roll by 0 1 2 1 0 1 2 1.
    #[test]
    fn zigzag() {
        let ranks = done(&[3, 8], &[Step::Zigzag { along: 0, by: 1, depth: 2, stride: 2 }]);
        assert_eq!(shown(&ranks, 8), ["00", "11", "22", "13", "04", "15", "26", "17"]);
    }

    /// The first row of the transposed 2 x 3 is 0 3. Refilled row by row, the box is 0 3 1 / 4 2 5.
    #[test]
    fn transpose() {
        assert_eq!(done(&[2, 3], &[Step::Transpose(vec![1, 0])]).rank_of_cell, [0, 3, 1, 4, 2, 5]);
    }

    /// Seven cells in three parts: 2, 2 and 3, or every third cell. A cut of each leaf cuts again.
    #[test]
    fn cuts_with_a_rest() {
        let of = |cutting: CutKind| {
            let mut ranks = RankBox::numbered(&[7]);
            ranks.apply(&Step::Cut(vec![(3, cutting)]), false).unwrap();
            ranks.leaves.iter().map(|leaf| leaf.cells.clone()).collect::<Vec<_>>()
        };
        assert_eq!(of(CutKind::Div), [vec![0, 1], vec![2, 3], vec![4, 5, 6]]);
        assert_eq!(of(CutKind::Mod), [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
        let mut ranks = RankBox::numbered(&[4, 2]);
        ranks.apply(&Step::Cut(vec![(2, CutKind::Mod)]), false).unwrap();
        ranks.apply(&Step::Cut(vec![(1, CutKind::Div), (2, CutKind::Div)]), true).unwrap();
        assert_eq!(ranks.leaves.iter().map(|leaf| leaf.cells.clone()).collect::<Vec<_>>()[..2], [[0, 4], [1, 5]]);
        ranks.apply(&Step::Tilt { along: 0, by: 1, each: 1 }, true).unwrap();
        assert_eq!(ranks.rank_of_cell, [0, 1, 2, 3, 4, 5, 6, 7], "a leaf one cell wide has one plane, which stays");
    }

    proptest! {
        #[test]
        fn every_step_keeps_all_ranks(
            sizes in prop::collection::vec(1u32..6, 2..4), each in -9i64..9, stride in 1u32..4, cuts in 1u32..3, which in 0..4,
        ) {
            let step = match which {
                0 => Step::Tilt { along: 0, by: 1, each },
                1 => Step::Zigzag { along: 1, by: 0, depth: each, stride },
                2 => Step::Zorder,
                _ => Step::Transpose((0..sizes.len()).rev().collect()),
            };
            let mut ranks = RankBox::numbered(&sizes);
            ranks.apply(&Step::Cut(vec![(cuts.min(sizes[0]), CutKind::Mod)]), false).unwrap();
            ranks.apply(&step, true).unwrap();
            let mut held = ranks.rank_of_cell.clone();
            held.sort_unstable();
            prop_assert_eq!(held, (0..sizes.iter().product()).collect::<Vec<u32>>());
        }
    }
}

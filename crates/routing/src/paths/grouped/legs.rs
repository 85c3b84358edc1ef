//! Minimal paths inside groups.
//!
//! Groups with the same wiring share one table. On a whole machine all groups do, and the table of one Aries group
//! (96 x 96 legs, 0.2 MB) stays in the second-level cache. A steady state spends most of its time drawing paths, and
//! a draw mostly looks up legs. A group with a fault has its own table.
//!
//! In a whole group of rows and columns (or all-to-all: a single row), a leg follows from the coordinates of its ends
//! and two small tables, which stay in the first-level cache (`Grid`). This saves a quarter of the time for the whole
//! of WD1.

use super::Draws;
use crate::ranges::Ranges;
use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_units::{LinkId, RouterId};

pub(super) const UNREACHED: u8 = u8::MAX;

/// First link of a leg: its index among the links of its router, and the next router in the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) link: u16,
    pub(super) next: u16,
}

/// Leg tables by template and pair (x, y) of routers in the group, at template * size^2 + x * size + y.
pub(super) struct Legs {
    size: usize,
    /// Start of the template of each group, in entries.
    template: Vec<u32>,
    pub(super) hops: Vec<u8>,
    /// Choices of an entry: start << 16 | count.
    range: Vec<u64>,
    choices: Vec<Choice>,
    grids: Vec<Grid>,
    /// Grid of each group, or `NO_GRID`.
    grid_of: Vec<u16>,
    /// First link of every router.
    pub(super) first_link: Vec<u32>,
}

/// The links inside one group: (link, next) for each router, in the order of its links.
type Interior = Vec<Vec<Choice>>;

impl Legs {
    /// Builds the tables, or returns `None` if two working routers of one group are not connected inside it.
    /// `groups` has the routers of each group, `routers` the working ones, at most `size`.
    pub(super) fn new(machine: &Machine, groups: &Ranges, size: usize, routers: &[Vec<RouterId>]) -> Option<Self> {
        if size > usize::from(u16::MAX) {
            return None;
        }
        let mut legs = Self {
            size,
            template: Vec::with_capacity(routers.len()),
            hops: Vec::new(),
            range: Vec::new(),
            choices: Vec::new(),
            grids: Vec::new(),
            grid_of: Vec::with_capacity(routers.len()),
            first_link: machine.routers().map(|r| machine.links_from(r).start as u32).collect(),
        };
        let mut known: Vec<((Interior, Vec<usize>), u32, u16)> = Vec::new();
        for (group, members) in groups.iter().zip(routers) {
            let base = group.start;
            let interior = interior(machine, group.clone(), size)?;
            // The members distinguish a missing router from one without cables inside.
            let members: Vec<usize> = members.iter().map(|router| router.index() - base).collect();
            let found = (interior, members);
            let same = known.iter().find(|(other, _, _)| *other == found).map(|&(_, start, grid)| (start, grid));
            let (start, grid) = match same {
                Some(same) => same,
                None => {
                    let start = legs.hops.len() as u32;
                    legs.add(&found.0, &found.1)?;
                    let whole = group.len() == size;
                    let grid = match whole.then(|| Grid::new(machine, &found.0)).flatten() {
                        Some(grid) if legs.grids.len() < usize::from(NO_GRID) => {
                            legs.grids.push(grid);
                            legs.grids.len() as u16 - 1
                        }
                        _ => NO_GRID,
                    };
                    known.push((found, start, grid));
                    (start, grid)
                }
            };
            legs.template.push(start);
            legs.grid_of.push(grid);
        }
        Some(legs)
    }

    /// Index of the entry of a pair of routers of a group.
    #[inline]
    pub(super) fn entry(&self, group: usize, x: usize, y: usize) -> usize {
        self.template[group] as usize + x * self.size + y
    }

    /// First links of the minimal paths from x to y inside a group; parallel links count separately.
    #[inline]
    pub(super) fn choices(&self, group: usize, x: usize, y: usize) -> &[Choice] {
        let range = self.range[self.entry(group, x, y)];
        let start = (range >> 16) as usize;
        &self.choices[start..start + (range & 0xffff) as usize]
    }

    /// Appends the links of a random minimal path from x to y inside a group whose first router is `base`.
    #[inline]
    pub(super) fn draw(
        &self,
        group: usize,
        base: usize,
        x: usize,
        y: usize,
        draws: &mut Draws,
        path: &mut Vec<LinkId>,
    ) {
        if let Some(grid) = self.grids.get(usize::from(self.grid_of[group])) {
            return grid.draw(&self.first_link[base..base + self.size], x, y, draws, path);
        }
        let mut at = x;
        while at != y {
            let choices = self.choices(group, at, y);
            let choice = choices[draws.any(choices.len())];
            path.push(LinkId(self.first_link[base + at] + u32::from(choice.link)));
            at = choice.next as usize;
        }
    }

    /// Appends the template of one group; `None` if its working routers are not connected.
    fn add(&mut self, interior: &Interior, members: &[usize]) -> Option<()> {
        let size = self.size;
        let start = self.hops.len();
        self.hops.resize(start + size * size, UNREACHED);
        let mut queue = Vec::with_capacity(size);
        for &to in members {
            // Cables have two directions, so distances are symmetric.
            queue.clear();
            queue.push(to);
            self.hops[start + to * size + to] = 0;
            let mut head = 0;
            while let Some(&x) = queue.get(head) {
                head += 1;
                let next = self.hops[start + x * size + to] + 1;
                for choice in &interior[x] {
                    let y = choice.next as usize;
                    if self.hops[start + y * size + to] == UNREACHED {
                        self.hops[start + y * size + to] = next;
                        queue.push(y);
                    }
                }
            }
            if queue.len() < members.len() {
                return None;
            }
        }
        for (x, links) in interior.iter().enumerate() {
            for y in 0..size {
                let here = self.hops[start + x * size + y];
                let first = self.choices.len();
                if here != UNREACHED && here > 0 {
                    let nearer = |c: &&Choice| self.hops[start + c.next as usize * size + y] + 1 == here;
                    self.choices.extend(links.iter().filter(nearer));
                }
                self.range.push((first as u64) << 16 | (self.choices.len() - first) as u64);
            }
        }
        Some(())
    }
}

/// Group without a [`Grid`].
const NO_GRID: u16 = u16::MAX;

/// Parallel links between two routers: index of the first among the links of the source router, and their number.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u16,
    count: u16,
}

/// A whole group of rows x columns; every router is linked to all others of its row and of its column.
struct Grid {
    /// Row and column of each router.
    place: Vec<(u16, u16)>,
    rows: usize,
    columns: usize,
    /// Links to the router in the same row and column c, at x * columns + c.
    along_row: Vec<Run>,
    /// Links to the router in the same column and row r, at x * rows + r.
    along_column: Vec<Run>,
}

impl Grid {
    /// The grid; `None` if the group misses a link or has one too many.
    fn new(machine: &Machine, interior: &Interior) -> Option<Self> {
        let size = interior.len();
        let &Shape::Grouped { interior: shape, .. } = machine.shape() else { return None };
        let (rows, columns) = match shape {
            GroupInterior::AllToAll => (1, size),
            GroupInterior::Grid { rows, columns } => (rows as usize, columns as usize),
            GroupInterior::Other => return None,
        };
        let none = Run { first: 0, count: 0 };
        let mut grid = Self {
            place: (0..size).map(|x| ((x / columns) as u16, (x % columns) as u16)).collect(),
            rows,
            columns,
            along_row: vec![none; size * columns],
            along_column: vec![none; size * rows],
        };
        for (x, links) in interior.iter().enumerate() {
            let (row, column) = (x / columns, x % columns);
            for run in links.chunk_by(|a, b| a.next == b.next && a.link + 1 == b.link) {
                let (to_row, to_column) = (run[0].next as usize / columns, run[0].next as usize % columns);
                let cell = match (to_row == row, to_column == column) {
                    (true, false) => &mut grid.along_row[x * columns + to_column],
                    (false, true) => &mut grid.along_column[x * rows + to_row],
                    _ => return None,
                };
                if cell.count > 0 {
                    return None;
                }
                *cell = Run { first: run[0].link, count: run.len() as u16 };
            }
            let whole = (0..columns).all(|c| c == column || grid.along_row[x * columns + c].count > 0)
                && (0..rows).all(|r| r == row || grid.along_column[x * rows + r].count > 0);
            if !whole {
                return None;
            }
        }
        Some(grid)
    }

    #[inline]
    fn draw(&self, first_link: &[u32], x: usize, y: usize, draws: &mut Draws, path: &mut Vec<LinkId>) {
        if x == y {
            return;
        }
        let (from, to) = (self.place[x], self.place[y]);
        let along_row = |x: usize| self.along_row[x * self.columns + usize::from(to.1)];
        let along_column = |x: usize| self.along_column[x * self.rows + usize::from(to.0)];
        let mut push =
            |x: usize, run: Run, i: usize| path.push(LinkId(first_link[x] + u32::from(run.first) + i as u32));
        if from.0 == to.0 || from.1 == to.1 {
            let run = if from.0 == to.0 { along_row(x) } else { along_column(x) };
            push(x, run, draws.any(usize::from(run.count)));
            return;
        }
        let (row, column) = (along_row(x), along_column(x));
        let i = draws.any(usize::from(row.count) + usize::from(column.count));
        let (intermediate, run) = if i < usize::from(row.count) {
            push(x, row, i);
            let intermediate = usize::from(from.0) * self.columns + usize::from(to.1);
            (intermediate, along_column(intermediate))
        } else {
            push(x, column, i - usize::from(row.count));
            let intermediate = usize::from(to.0) * self.columns + usize::from(from.1);
            (intermediate, along_row(intermediate))
        };
        push(intermediate, run, draws.any(usize::from(run.count)));
    }
}

/// The links inside a group. Missing routers up to `size` have none. `None` if a router has too many links for a
/// 16-bit index.
fn interior(machine: &Machine, group: std::ops::Range<usize>, size: usize) -> Option<Interior> {
    let (base, own) = (group.start, group.len());
    let mut links: Interior = group
        .map(|r| {
            let router = RouterId::from_index(r);
            let first = machine.links_from(router).start;
            let mut inside = Vec::new();
            for bundle in machine.bundles_from(router) {
                let next = bundle.target.index().wrapping_sub(base);
                if next < own {
                    for i in 0..bundle.count as usize {
                        let link = u16::try_from(bundle.first.index() + i - first).ok()?;
                        inside.push(Choice { link, next: next as u16 });
                    }
                }
            }
            Some(inside)
        })
        .collect::<Option<_>>()?;
    links.resize(size, Vec::new());
    Some(links)
}

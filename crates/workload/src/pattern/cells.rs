//! Division of a job's ranks into cells: by machine group, by router, or by number.

use super::rule::PatternContext;
use odonata_machine::Machine;
use odonata_units::{NodeId, RankId};

/// A partition of the ranks. Cells are never empty, and their ranks ascend.
#[derive(Debug)]
pub(super) struct Cells {
    /// Cell of each rank.
    cell_of: Vec<u32>,
    /// Index of each rank within its cell.
    position_of: Vec<u32>,
    /// Ranks of cell k are `members[first[k]..first[k + 1]]`.
    first: Vec<u32>,
    members: Vec<u32>,
}

impl Cells {
    /// The machine groups with ranks of the job, in the order of the machine.
    pub(super) fn of_groups(context: &PatternContext<'_>) -> Self {
        let group = |machine: &Machine, node| machine.group_of(machine.router_of(node)).index();
        Self::of_places(context, context.machine.group_count(), group)
    }

    /// The routers with ranks of the job, in the order of the machine.
    pub(super) fn of_routers(context: &PatternContext<'_>) -> Self {
        Self::of_places(context, context.machine.router_count(), |machine, node| machine.router_of(node).index())
    }

    /// Blocks of `group_ranks` ranks, or the machine groups of the job.
    pub(super) fn of_job(group_ranks: Option<u32>, context: &PatternContext<'_>) -> Self {
        group_ranks.map_or_else(|| Self::of_groups(context), |size| Self::of_size(context.ranks, size))
    }

    /// `size` consecutive ranks each; the last cell may be smaller.
    fn of_size(ranks: u32, size: u32) -> Self {
        Self::new((0..ranks).map(|rank| rank / size).collect(), ranks.div_ceil(size) as usize)
    }

    fn of_places(context: &PatternContext<'_>, places: usize, place: impl Fn(&Machine, NodeId) -> usize) -> Self {
        let place_of: Vec<usize> = context.node_of_rank.iter().map(|&node| place(context.machine, node)).collect();
        let mut cell_of_place = vec![u32::MAX; places];
        place_of.iter().for_each(|&place| cell_of_place[place] = 0);
        let mut cells = 0;
        for cell in cell_of_place.iter_mut().filter(|cell| **cell == 0) {
            *cell = cells;
            cells += 1;
        }
        Self::new(place_of.into_iter().map(|place| cell_of_place[place]).collect(), cells as usize)
    }

    fn new(cell_of: Vec<u32>, cells: usize) -> Self {
        let mut first = vec![0u32; cells + 1];
        cell_of.iter().for_each(|&cell| first[cell as usize + 1] += 1);
        for cell in 0..cells {
            first[cell + 1] += first[cell];
        }
        let mut cursor = first.clone();
        let mut members = vec![0; cell_of.len()];
        let mut position_of = Vec::with_capacity(cell_of.len());
        for (rank, &cell) in cell_of.iter().enumerate() {
            let at = &mut cursor[cell as usize];
            members[*at as usize] = rank as u32;
            position_of.push(*at - first[cell as usize]);
            *at += 1;
        }
        Self { cell_of, position_of, first, members }
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn ranks(&self) -> u32 {
        self.cell_of.len() as u32
    }

    pub(super) fn cell_of(&self, rank: RankId) -> usize {
        self.cell_of[rank.index()] as usize
    }

    /// The ranks of a cell, ascending.
    pub(super) fn members(&self, cell: usize) -> &[u32] {
        &self.members[self.first[cell] as usize..self.first[cell + 1] as usize]
    }

    /// The rank of `cell` with the index of `rank` in its own cell, modulo the size of `cell`.
    pub(super) fn matching(&self, rank: RankId, cell: usize) -> RankId {
        let members = self.members(cell);
        RankId(members[self.position_of[rank.index()] as usize % members.len()])
    }
}

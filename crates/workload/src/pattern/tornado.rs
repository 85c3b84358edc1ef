//! Tornado: everyone sends just less than half-way around (Dally and Towles 2004, table 3.2).

use super::adversarial::cells;
use super::cells::Cells;
use super::grid::{Grid, GridOrder};
use super::{Pattern, PatternContext, Send};
use crate::{quantity_text, WorkloadError};
use odonata_machine::Shape;
use odonata_units::{Bytes, RankId, RouterId, Stream};
use serde::{Deserialize, Serialize};

/// Parameters of `tornado`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TornadoParameters {
    /// Size of the one message of each rank.
    #[serde(with = "quantity_text")]
    pub bytes: Bytes,
    /// Sizes of a process grid, row-major, whose dimensions are the rings; by default the machine's own.
    pub dims: Option<Vec<u32>>,
    /// Cuts the ranks into groups of this many instead of by the machine groups that they run on.
    pub group_ranks: Option<u32>,
}

impl Default for TornadoParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64), dims: None, group_ranks: None }
    }
}

/// On a ring of k places the shift is ceil(k / 2) - 1, at least 1 where k > 1. The rings are, the first that applies:
/// the dimensions of `dims`; the groups of `group_ranks` ranks; the dimensions of a torus machine on every router of
/// which the job has ranks; the machine groups in which the job has ranks, if there are two or more; all ranks as one
/// ring. From a group or router to another, a rank sends to the one with its own index there.
#[derive(Debug)]
pub(super) struct Tornado {
    bytes: Bytes,
    rings: Rings,
}

#[derive(Debug)]
enum Rings {
    /// Every dimension of a grid of ranks.
    Ranks { ranks: u32, grid: Grid },
    /// Groups or routers; the target cell of each.
    Cells { cells: Cells, target: Vec<u32> },
}

/// How far a place on a ring of `size` sends.
fn shift(size: u32) -> u32 {
    match size {
        0 | 1 => 0,
        _ => (size.div_ceil(2) - 1).max(1),
    }
}

/// The point of a grid that is shifted along every dimension.
fn shifted(grid: &Grid, point: u32) -> u32 {
    (0..grid.sizes.len())
        .map(|d| (grid.coordinate(point, d) + shift(grid.sizes[d])) % grid.sizes[d] * grid.strides[d])
        .sum()
}

impl Tornado {
    pub(super) fn new(
        owner: &str,
        parameters: &TornadoParameters,
        context: &PatternContext<'_>,
    ) -> Result<Self, WorkloadError> {
        let ranks = context.ranks;
        let rings = if let Some(dims) = &parameters.dims {
            Rings::Ranks { ranks, grid: Grid::new(owner, ranks, Some(dims), dims.len(), GridOrder::RowMajor)? }
        } else if parameters.group_ranks.is_some() {
            Self::ring_of(cells(owner, parameters.group_ranks, context)?)
        } else if let Some(torus) = Self::whole_torus(context) {
            torus
        } else {
            let groups = Cells::of_groups(context);
            if groups.len() > 1 {
                Self::ring_of(groups)
            } else {
                Rings::Ranks { ranks, grid: Grid::new(owner, ranks, Some(&[ranks]), 1, GridOrder::RowMajor)? }
            }
        };
        Ok(Self { bytes: parameters.bytes, rings })
    }

    fn ring_of(cells: Cells) -> Rings {
        let n = cells.len() as u32;
        Rings::Cells { target: (0..n).map(|cell| (cell + shift(n)) % n).collect(), cells }
    }

    fn whole_torus(context: &PatternContext<'_>) -> Option<Rings> {
        let Shape::Torus { dims, .. } = context.machine.shape() else { return None };
        let cells = Cells::of_routers(context);
        let routers = context.machine.router_count() as u32;
        if cells.len() as u32 != routers {
            return None;
        }
        let grid = Grid::new("machine", routers, Some(dims), dims.len(), GridOrder::RowMajor).ok()?;
        Some(Rings::Cells { target: (0..routers).map(|router| shifted(&grid, RouterId(router).0)).collect(), cells })
    }

    fn target(&self, rank: RankId) -> Option<RankId> {
        let target = match &self.rings {
            Rings::Ranks { grid, .. } => RankId(shifted(grid, rank.0)),
            Rings::Cells { cells, target } => cells.matching(rank, target[cells.cell_of(rank)] as usize),
        };
        (target != rank).then_some(target)
    }
}

impl Pattern for Tornado {
    fn ranks(&self) -> u32 {
        match &self.rings {
            Rings::Ranks { ranks, .. } => *ranks,
            Rings::Cells { cells, .. } => cells.ranks(),
        }
    }

    fn sends(&self, rank: RankId, out: &mut Vec<Send>) {
        out.extend(self.target(rank).map(|target| Send { target, bytes: self.bytes }));
    }

    fn destination(&self, rank: RankId, _stream: &mut Stream) -> Option<RankId> {
        self.target(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, injective, try_build_on};
    use crate::test_machines::{groups, torus};
    use odonata_units::NodeId;
    use serde_json::json;

    fn on(machine: &odonata_machine::Machine) -> Vec<(u32, u32, u64)> {
        let nodes: Vec<NodeId> = machine.nodes().collect();
        let messages = check(&*try_build_on(machine, &nodes, "tornado", &[]).unwrap());
        assert!(injective(&messages));
        messages
    }

    /// A ring of 8: ceil(8 / 2) - 1 = 3 further.
    #[test]
    fn a_ring() {
        assert!(check(&*build("tornado", 8, &[])).iter().all(|m| m.1 == (m.0 + 3) % 8));
        assert!(check(&*build("tornado", 1, &[])).is_empty());
        // Two places: to the other one, not to oneself.
        assert_eq!(check(&*build("tornado", 2, &[])).len(), 2);
    }

    /// 9 groups of 6 nodes: ceil(9 / 2) - 1 = 4 groups further, to the matching node.
    #[test]
    fn groups_of_a_dragonfly() {
        let messages = on(&groups(9, 3, 2));
        assert_eq!(messages.len(), 54);
        assert!(messages.iter().all(|m| m.1 == (m.0 + 24) % 54));
    }

    /// A 5 x 4 torus with 2 nodes per router: 2 further along the first dimension, 1 along the second.
    #[test]
    fn every_dimension_of_a_torus() {
        let messages = on(&torus(&[5, 4], 2));
        assert_eq!(messages.len(), 40);
        for (source, target, _) in messages {
            let (row, column, slot) = (source / 8, source / 2 % 4, source % 2);
            assert_eq!(target, (row + 2) % 5 * 8 + (column + 1) % 4 * 2 + slot);
        }
    }

    #[test]
    fn given_dims_and_groups() {
        let messages = check(&*build("tornado", 12, &[("dims", json!([3, 4]))]));
        assert!(messages.iter().all(|m| m.1 == (m.0 / 4 + 1) % 3 * 4 + (m.0 + 1) % 4));
        let messages = check(&*build("tornado", 12, &[("group_ranks", json!(2))]));
        assert!(messages.iter().all(|m| m.1 == (m.0 + 4) % 12));
        assert!(super::super::test_help::try_build("tornado", 12, &[("dims", json!([]))]).is_err());
    }
}

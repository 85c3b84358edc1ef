//! Tornado: every rank sends just less than half-way around a ring (Dally and Towles 2004, table 3.2).

use super::cells::Cells;
use super::permutation::Permutation;
use super::rule::{PatternContext, PatternRule};
use crate::communication::Pattern;
use odonata_declare::{parameters, Kind, ParameterMistake, AUTO};
use odonata_machine::Shape;
use odonata_programs::{Grid, GridOrder};
use odonata_units::{Bytes, RankId, RouterId};
use std::sync::Arc;

parameters! {
    /// Parameters of `tornado`.
    pub struct TornadoParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Sizes of a row-major process grid whose dimensions are the rings. If not given, the rings of the machine.
        pub dims: Option<Vec<u32>> = None, Kind::WordOr(AUTO, &Kind::List(&Kind::COUNT));
        /// Ranks per group, in order of their numbers. If not given, the groups of the machine are used.
        pub group_ranks: Option<u32> = None, Kind::WordOr(AUTO, &Kind::COUNT);
    }
}

#[derive(Debug)]
enum Rings {
    /// Every dimension of a grid of ranks is a ring.
    Ranks(Grid),
    /// Groups or routers form a ring, with the target cell of each.
    Cells { cells: Cells, target: Vec<u32> },
}

/// Distance of a message on a ring of `size` places.
fn shift(size: u32) -> u32 {
    match size {
        0 | 1 => 0,
        _ => (size.div_ceil(2) - 1).max(1),
    }
}

/// The point of a grid after a shift along every dimension.
fn shifted(grid: &Grid, point: u32) -> u32 {
    (0..grid.sizes.len())
        .map(|d| (grid.coordinate(point, d) + shift(grid.sizes[d])) % grid.sizes[d] * grid.strides[d])
        .sum()
}

/// On a ring of k places the shift is ceil(k / 2) - 1, at least 1 for k > 1. The rings are the first of these that
/// applies:
///
/// 1. the dimensions of `dims`;
/// 2. groups of `group_ranks` ranks;
/// 3. the dimensions of a torus, if the job has ranks on every router;
/// 4. the machine groups with ranks of the job, if there are at least two;
/// 5. all ranks as one ring.
///
/// Between groups or routers, a rank sends to the rank with its own index.
fn rings(parameters: &TornadoParameters, context: &PatternContext<'_>) -> Result<Rings, ParameterMistake> {
    let ranks = context.ranks;
    let grid = |dims: &[u32]| Grid::new(ranks, Some(dims), dims.len(), GridOrder::RowMajor).map(Rings::Ranks);
    if let Some(dims) = &parameters.dims {
        return grid(dims);
    }
    if parameters.group_ranks.is_some() {
        return Ok(ring_of(Cells::of_job(parameters.group_ranks, context)));
    }
    if let Some(torus) = whole_torus(context) {
        return Ok(torus);
    }
    let groups = Cells::of_groups(context);
    if groups.len() > 1 {
        Ok(ring_of(groups))
    } else {
        grid(&[ranks])
    }
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
    let grid = Grid::new(routers, Some(dims), dims.len(), GridOrder::RowMajor).ok()?;
    Some(Rings::Cells { target: (0..routers).map(|router| shifted(&grid, RouterId(router).0)).collect(), cells })
}

impl Rings {
    fn target(&self, rank: RankId) -> RankId {
        match self {
            Self::Ranks(grid) => RankId(shifted(grid, rank.0)),
            Self::Cells { cells, target } => cells.matching(rank, target[cells.cell_of(rank)] as usize),
        }
    }
}

impl PatternRule for TornadoParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let rings = rings(self, context)?;
        let target = Box::new(move |rank| rings.target(rank));
        Ok(Arc::new(Permutation { ranks: context.ranks, bytes: self.bytes, target }))
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
        // Two places: a rank sends to the other one.
        assert_eq!(check(&*build("tornado", 2, &[])).len(), 2);
    }

    /// 9 groups of 6 nodes: ceil(9 / 2) - 1 = 4 groups further, to the node with the same index.
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

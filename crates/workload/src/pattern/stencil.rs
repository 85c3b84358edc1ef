//! Nearest neighbours on a process grid of 2, 3 or 4 dimensions.

use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, Kind, ParameterMistake, AUTO};
use odonata_programs::{Grid, GridOrder, MessageCounts};
use odonata_units::{Bytes, RankId};
use std::sync::Arc;

parameters! {
    /// Parameters of the stencils. The defaults are the 2D stencil of the Damselfly papers.
    pub struct StencilParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Sizes of the process grid. Near-cubic, largest first, if not given.
        pub dims: Option<Vec<u32>> = None, Kind::WordOr(AUTO, &Kind::List(&Kind::COUNT));
        /// Fastest dimension in the numbering of the ranks.
        pub order: GridOrder = GridOrder::RowMajor;
        /// Whether every dimension of the process grid wraps around.
        pub periodic: bool = false;
        /// Dimensions of the process grid, given by the name of the pattern.
        pub dimensions: usize = 2, no key;
    }
}

impl PatternRule for StencilParameters {
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let grid = Grid::new(context.ranks, self.dims.as_deref(), self.dimensions, self.order)?;
        Ok(Arc::new(Stencil { ranks: context.ranks, grid, periodic: self.periodic, bytes: self.bytes }))
    }
}

impl StencilParameters {
    /// Halo3D of the interference study (Kang et al. 2022): 72,000 fields of 8 B, no wrap-around.
    pub fn default_3d() -> Self {
        Self { dimensions: 3, bytes: Bytes(576_000), ..Self::default() }
    }

    /// The 4D stencil of the Damselfly papers, 4 MiB; ranks are numbered as lattice codes do, x fastest.
    pub fn default_4d() -> Self {
        Self { dimensions: 4, bytes: Bytes::mib(4), order: GridOrder::ColumnMajor, ..Self::default() }
    }
}

/// Each rank sends to the ranks before and after it along every dimension, dimension by dimension, the rank before
/// first. In an open grid the ranks at a border send less. A dimension of size 1 has no neighbours. A periodic
/// dimension of size 2 has the same neighbour twice, as in MPI.
#[derive(Debug)]
struct Stencil {
    ranks: u32,
    grid: Grid,
    periodic: bool,
    bytes: Bytes,
}

impl Pattern for Stencil {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        for (dimension, (&size, &stride)) in self.grid.sizes.iter().zip(&self.grid.strides).enumerate() {
            if size == 1 {
                continue;
            }
            let at = self.grid.coordinate(rank.0, dimension);
            let mut send = |target| out.push(SentMessage { target: RankId(target), bytes: self.bytes });
            if at > 0 {
                send(rank.0 - stride);
            } else if self.periodic {
                send(rank.0 + (size - 1) * stride);
            }
            if at + 1 < size {
                send(rank.0 + stride);
            } else if self.periodic {
                send(rank.0 - (size - 1) * stride);
            }
        }
    }

    fn counts(&self) -> MessageCounts {
        let (mut messages, mut pairs) = (0, 0);
        let all = u64::from(self.ranks);
        for size in self.grid.sizes.iter().map(|&size| u64::from(size)).filter(|&size| size > 1) {
            let open = 2 * (size - 1) * (all / size);
            messages += if self.periodic { 2 * all } else { open };
            // Both neighbours of a rank of a ring of two are the same.
            pairs += if self.periodic && size > 2 { 2 * all } else { open };
        }
        MessageCounts::of(self.bytes, messages, pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, symmetric};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_papers_volumes() {
        // Wrapped around: 32,768 ranks x 4 x 64 KiB = 8 GiB; x 8 x 4 MiB = 1 TiB.
        let bytes = |name, periodic: bool| {
            check(&*build(name, 32_768, &[("periodic", json!(periodic))])).iter().map(|m| m.2).sum::<u64>()
        };
        assert_eq!(bytes("stencil-2d", true), 8 << 30);
        assert_eq!(bytes("stencil-4d", true), 1 << 40);
        // Open, of 256 x 128 and 16 x 16 x 16 x 8: 2 (128 + 256) and 2 (3 x 2048 + 4096) messages fewer.
        assert_eq!(bytes("stencil-2d", false), (8 << 30) - 2 * 384 * (64 << 10));
        assert_eq!(bytes("stencil-4d", false), (1 << 40) - 2 * 10_240 * (4 << 20));
    }

    #[test]
    fn neighbours_in_order() {
        // 4 x 3, row-major: rank 4 is (1, 1); before and after along the first dimension, then the second.
        let pattern = build("stencil-2d", 12, &[("dims", json!([4, 3])), ("periodic", json!(true))]);
        let of = |rank| check(&*pattern).into_iter().filter(|m| m.0 == rank).map(|m| m.1).collect::<Vec<_>>();
        assert_eq!(of(4), [1, 7, 3, 5]);
        assert_eq!(of(0), [9, 3, 2, 1]);
        let open = build("stencil-2d", 12, &[("dims", json!([4, 3])), ("bytes", json!("8 B"))]);
        assert_eq!(check(&*open).iter().filter(|m| m.0 == 0).map(|m| m.1).collect::<Vec<_>>(), [3, 1]);
        let columns = build(
            "stencil-2d",
            12,
            &[("dims", json!([4, 3])), ("order", json!("column-major")), ("periodic", json!(true))],
        );
        // Rank 5 is (1, 1) where the first dimension is the fastest.
        assert_eq!(check(&*columns).iter().filter(|m| m.0 == 5).map(|m| m.1).collect::<Vec<_>>(), [4, 6, 1, 9]);
    }

    #[test]
    fn short_dimensions() {
        // 7 ranks are 7 x 1: a ring, and the second dimension has no neighbours.
        let ring = |ranks| check(&*build("stencil-2d", ranks, &[("periodic", json!(true))]));
        assert_eq!(ring(7).len(), 14);
        // 2 x 1: the same neighbour on both sides.
        assert_eq!(ring(2).len(), 4);
        assert!(check(&*build("stencil-4d", 1, &[])).is_empty());
    }

    proptest! {
        /// An open grid of sizes d_i has 2 * ranks * sum((d_i - 1) / d_i) messages. A periodic grid has 2 * D * ranks,
        /// without dimensions of size 1. Every message has a message in the opposite direction.
        #[test]
        fn counts_and_symmetry(ranks in 1u32..600, three in any::<bool>(), periodic in any::<bool>()) {
            let (name, dimensions) = if three { ("stencil-3d", 3) } else { ("stencil-4d", 4) };
            let messages = check(&*build(name, ranks, &[("periodic", json!(periodic))]));
            let sizes = odonata_programs::near_cubic(ranks, dimensions);
            let expected: u32 = sizes
                .iter()
                .map(|&d| if d == 1 { 0 } else if periodic { 2 * ranks } else { 2 * (ranks - ranks / d) })
                .sum();
            prop_assert_eq!(messages.len() as u32, expected);
            prop_assert!(symmetric(&messages));
            prop_assert!(messages.iter().all(|m| m.0 != m.1));
        }
    }
}

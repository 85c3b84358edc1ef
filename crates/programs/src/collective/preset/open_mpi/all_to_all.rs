//! Collectives without a root: all to all.

use crate::collective::choice::SizeMeasure::{Call, Total};
use crate::collective::preset::table::{Ranks, Row, REST};

/// `ompi_coll_tuned_barrier_intra_dec_fixed`.
pub(super) const BARRIER: &[Row] = &[
    Row { ranks: Ranks::Below(4), measure: Call, below: &[(REST, "recursive-doubling")] },
    Row { ranks: Ranks::Below(8), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(REST, "recursive-doubling")] },
    Row { ranks: Ranks::Below(256), measure: Call, below: &[(REST, "dissemination")] },
    Row { ranks: Ranks::Below(512), measure: Call, below: &[(REST, "binomial")] },
    Row { ranks: Ranks::Below(1_024), measure: Call, below: &[(REST, "dissemination")] },
    Row { ranks: Ranks::Below(4_096), measure: Call, below: &[(REST, "binomial")] },
    Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "dissemination")] },
];

/// `ompi_coll_tuned_allreduce_intra_dec_fixed`.
pub(super) const ALLREDUCE: &[Row] = &[
    Row {
        ranks: Ranks::Below(4),
        measure: Call,
        below: &[
            (8, "ring"),
            (4_096, "recursive-doubling"),
            (8_192, "ring"),
            (16_384, "recursive-doubling"),
            (262_144, "ring"),
            (REST, "rabenseifner"),
        ],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[(16, "ring"), (8_192, "recursive-doubling"), (REST, "rabenseifner")],
    },
    Row { ranks: Ranks::Below(16), measure: Call, below: &[(8_192, "recursive-doubling"), (REST, "rabenseifner")] },
    Row {
        ranks: Ranks::Below(32),
        measure: Call,
        below: &[(64, "ring"), (4_096, "recursive-doubling"), (REST, "rabenseifner")],
    },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(128, "ring"), (REST, "rabenseifner")] },
    Row { ranks: Ranks::Below(128), measure: Call, below: &[(262_144, "recursive-doubling"), (REST, "rabenseifner")] },
    Row {
        ranks: Ranks::Below(256),
        measure: Call,
        below: &[(131_072, "binomial"), (262_144, "recursive-doubling"), (REST, "rabenseifner")],
    },
    Row { ranks: Ranks::Below(512), measure: Call, below: &[(4_096, "binomial"), (REST, "rabenseifner")] },
    Row {
        ranks: Ranks::Below(2_048),
        measure: Call,
        below: &[(2_048, "binomial"), (16_384, "recursive-doubling"), (REST, "rabenseifner")],
    },
    Row {
        ranks: Ranks::Below(4_096),
        measure: Call,
        below: &[(2_048, "binomial"), (4_096, "ring"), (16_384, "recursive-doubling"), (REST, "rabenseifner")],
    },
    Row {
        ranks: Ranks::Any,
        measure: Call,
        below: &[(2_048, "binomial"), (16_384, "ring"), (32_768, "recursive-doubling"), (REST, "rabenseifner")],
    },
];

/// `ompi_coll_tuned_reduce_scatter_block_intra_dec_fixed`.
pub(super) const REDUCE_SCATTER_BLOCK: &[Row] = &[
    Row { ranks: Ranks::Below(4), measure: Call, below: &[(131_072, "recursive-halving"), (REST, "binomial")] },
    Row { ranks: Ranks::Below(8), measure: Call, below: &[(1_048_576, "recursive-halving"), (REST, "binomial")] },
    Row {
        ranks: Ranks::Below(16),
        measure: Call,
        below: &[(4, "binomial"), (524_288, "recursive-halving"), (4_194_304, "binomial"), (REST, "recursive-halving")],
    },
    Row {
        ranks: Ranks::Below(32),
        measure: Call,
        below: &[
            (32, "binomial"),
            (524_288, "recursive-halving"),
            (2_097_152, "binomial"),
            (REST, "recursive-halving"),
        ],
    },
    Row {
        ranks: Ranks::Any,
        measure: Call,
        below: &[
            (4, "recursive-halving"),
            (16, "binomial"),
            (65_536, "recursive-halving"),
            (262_144, "binomial"),
            (REST, "recursive-halving"),
        ],
    },
];

/// `ompi_coll_tuned_reduce_scatter_intra_dec_fixed`.
pub(super) const REDUCE_SCATTER: &[Row] = &[
    Row {
        ranks: Ranks::Below(4),
        measure: Total,
        below: &[(65_536, "ring"), (131_072, "recursive-halving"), (REST, "ring")],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Total,
        below: &[(8, "binomial"), (262_144, "recursive-halving"), (REST, "ring")],
    },
    Row { ranks: Ranks::Below(32), measure: Total, below: &[(262_144, "recursive-halving"), (REST, "ring")] },
    Row {
        ranks: Ranks::Below(64),
        measure: Total,
        below: &[(64, "binomial"), (524_288, "recursive-halving"), (REST, "ring")],
    },
    Row { ranks: Ranks::Below(128), measure: Total, below: &[(256, "binomial"), (REST, "recursive-halving")] },
    Row { ranks: Ranks::Below(256), measure: Total, below: &[(256, "binomial"), (REST, "recursive-halving")] },
    Row { ranks: Ranks::Below(512), measure: Total, below: &[(256, "binomial"), (REST, "recursive-halving")] },
    Row { ranks: Ranks::Below(1_024), measure: Total, below: &[(512, "binomial"), (REST, "recursive-halving")] },
    Row { ranks: Ranks::Below(2_048), measure: Total, below: &[(512, "binomial"), (REST, "recursive-halving")] },
    Row { ranks: Ranks::Below(4_096), measure: Total, below: &[(512, "binomial"), (REST, "recursive-halving")] },
    Row { ranks: Ranks::Any, measure: Total, below: &[(1_024, "binomial"), (REST, "recursive-halving")] },
];

/// `ompi_coll_tuned_allgather_intra_dec_fixed`.
pub(super) const ALLGATHER: &[Row] = &[
    Row { ranks: Ranks::PowerOfTwoBelow(3), measure: Call, below: &[(REST, "recursive-doubling")] },
    Row { ranks: Ranks::Below(3), measure: Call, below: &[(REST, "bruck")] },
    Row { ranks: Ranks::PowerOfTwoBelow(32), measure: Call, below: &[(REST, "recursive-doubling")] },
    Row { ranks: Ranks::Below(32), measure: Call, below: &[(REST, "bruck")] },
    Row {
        ranks: Ranks::PowerOfTwoBelow(64),
        measure: Call,
        below: &[(1_024, "recursive-doubling"), (65_536, "neighbor-exchange"), (REST, "ring")],
    },
    Row {
        ranks: Ranks::Below(64),
        measure: Call,
        below: &[(1_024, "bruck"), (65_536, "neighbor-exchange"), (REST, "ring")],
    },
    Row {
        ranks: Ranks::PowerOfTwoBelow(128),
        measure: Call,
        below: &[(512, "recursive-doubling"), (65_536, "neighbor-exchange"), (REST, "ring")],
    },
    Row {
        ranks: Ranks::Below(128),
        measure: Call,
        below: &[(512, "bruck"), (65_536, "neighbor-exchange"), (REST, "ring")],
    },
    Row {
        ranks: Ranks::PowerOfTwoBelow(256),
        measure: Call,
        below: &[
            (512, "recursive-doubling"),
            (131_072, "neighbor-exchange"),
            (524_288, "ring"),
            (1_048_576, "neighbor-exchange"),
            (REST, "ring"),
        ],
    },
    Row {
        ranks: Ranks::Below(256),
        measure: Call,
        below: &[
            (512, "bruck"),
            (131_072, "neighbor-exchange"),
            (524_288, "ring"),
            (1_048_576, "neighbor-exchange"),
            (REST, "ring"),
        ],
    },
    Row {
        ranks: Ranks::PowerOfTwoBelow(512),
        measure: Call,
        below: &[
            (32, "recursive-doubling"),
            (128, "bruck"),
            (1_024, "recursive-doubling"),
            (131_072, "neighbor-exchange"),
            (524_288, "ring"),
            (1_048_576, "neighbor-exchange"),
            (REST, "ring"),
        ],
    },
    Row {
        ranks: Ranks::Below(512),
        measure: Call,
        below: &[
            (1_024, "bruck"),
            (131_072, "neighbor-exchange"),
            (524_288, "ring"),
            (1_048_576, "neighbor-exchange"),
            (REST, "ring"),
        ],
    },
    Row {
        ranks: Ranks::PowerOfTwoBelow(1_024),
        measure: Call,
        below: &[
            (64, "recursive-doubling"),
            (256, "bruck"),
            (2_048, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    },
    Row { ranks: Ranks::Below(1_024), measure: Call, below: &[(2_048, "bruck"), (REST, "neighbor-exchange")] },
    Row {
        ranks: Ranks::PowerOfTwoBelow(2_048),
        measure: Call,
        below: &[
            (4, "recursive-doubling"),
            (8, "bruck"),
            (16, "recursive-doubling"),
            (32, "bruck"),
            (256, "recursive-doubling"),
            (512, "bruck"),
            (4_096, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    },
    Row { ranks: Ranks::Below(2_048), measure: Call, below: &[(4_096, "bruck"), (REST, "neighbor-exchange")] },
    Row {
        ranks: Ranks::PowerOfTwoBelow(4_096),
        measure: Call,
        below: &[
            (32, "bruck"),
            (128, "recursive-doubling"),
            (512, "bruck"),
            (4_096, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    },
    Row { ranks: Ranks::Below(4_096), measure: Call, below: &[(4_096, "bruck"), (REST, "neighbor-exchange")] },
    Row {
        ranks: Ranks::PowerOfTwo,
        measure: Call,
        below: &[
            (2, "recursive-doubling"),
            (8, "bruck"),
            (16, "recursive-doubling"),
            (512, "bruck"),
            (4_096, "recursive-doubling"),
            (REST, "neighbor-exchange"),
        ],
    },
    Row { ranks: Ranks::Any, measure: Call, below: &[(4_096, "bruck"), (REST, "neighbor-exchange")] },
];

/// `ompi_coll_tuned_allgatherv_intra_dec_fixed`.
pub(super) const ALLGATHERV: &[Row] = &[
    Row {
        ranks: Ranks::Below(3),
        measure: Call,
        below: &[(2_048, "ring"), (4_096, "recursive-doubling"), (8_192, "ring"), (REST, "recursive-doubling")],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[
            (256, "binomial"),
            (4_096, "neighbor-exchange"),
            (8_192, "ring"),
            (16_384, "neighbor-exchange"),
            (262_144, "bruck"),
            (REST, "neighbor-exchange"),
        ],
    },
    Row { ranks: Ranks::Below(16), measure: Call, below: &[(1_024, "binomial"), (REST, "bruck")] },
    Row { ranks: Ranks::Below(32), measure: Call, below: &[(128, "binomial"), (262_144, "bruck"), (REST, "ring")] },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(256, "binomial"), (8_192, "bruck"), (REST, "ring")] },
    Row { ranks: Ranks::Below(128), measure: Call, below: &[(256, "binomial"), (4_096, "bruck"), (REST, "ring")] },
    Row {
        ranks: Ranks::Below(256),
        measure: Call,
        below: &[(1_024, "bruck"), (65_536, "neighbor-exchange"), (REST, "ring")],
    },
    Row { ranks: Ranks::Below(512), measure: Call, below: &[(1_024, "bruck"), (REST, "ring")] },
    Row {
        ranks: Ranks::Below(1_024),
        measure: Call,
        below: &[
            (512, "bruck"),
            (1_024, "binomial"),
            (4_096, "bruck"),
            (1_048_576, "neighbor-exchange"),
            (REST, "ring"),
        ],
    },
    Row { ranks: Ranks::Any, measure: Call, below: &[(4_096, "bruck"), (REST, "neighbor-exchange")] },
];

/// `ompi_coll_tuned_alltoall_intra_dec_fixed`.
pub(super) const ALLTOALL: &[Row] = &[
    Row {
        ranks: Ranks::Below(3),
        measure: Call,
        below: &[(32_768, "pairwise"), (262_144, "linear"), (REST, "pairwise")],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[(524_288, "linear"), (1_048_576, "pairwise"), (REST, "linear")],
    },
    Row { ranks: Ranks::Below(16), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(32), measure: Call, below: &[(4, "linear"), (512, "bruck"), (REST, "linear")] },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(512, "bruck"), (REST, "linear")] },
    Row {
        ranks: Ranks::Below(128),
        measure: Call,
        below: &[(1_024, "bruck"), (262_144, "linear"), (REST, "pairwise")],
    },
    Row {
        ranks: Ranks::Below(256),
        measure: Call,
        below: &[(1_024, "bruck"), (262_144, "linear"), (REST, "pairwise")],
    },
    Row { ranks: Ranks::Below(512), measure: Call, below: &[(1_024, "bruck"), (32_768, "linear"), (REST, "pairwise")] },
    Row {
        ranks: Ranks::Below(1_024),
        measure: Call,
        below: &[(512, "bruck"), (262_144, "linear"), (REST, "pairwise")],
    },
    Row { ranks: Ranks::Below(2_048), measure: Call, below: &[(512, "bruck"), (REST, "linear")] },
    Row { ranks: Ranks::Below(4_096), measure: Call, below: &[(1_024, "bruck"), (REST, "linear")] },
    Row { ranks: Ranks::Any, measure: Call, below: &[(2_048, "bruck"), (REST, "linear")] },
];

/// `ompi_coll_tuned_alltoallv_intra_dec_fixed`.
pub(super) const ALLTOALLV: &[Row] = &[
    Row { ranks: Ranks::Below(4), measure: Call, below: &[(REST, "pairwise")] },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(128), measure: Call, below: &[(REST, "pairwise")] },
    Row { ranks: Ranks::Below(256), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(1_024), measure: Call, below: &[(REST, "pairwise")] },
    Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "linear")] },
];

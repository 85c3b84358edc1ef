//! Collectives with a root: one to all, and all to one.

use crate::collective::choice::SizeMeasure::Call;
use crate::collective::preset::table::{Ranks, Row, REST};

/// `ompi_coll_tuned_bcast_intra_dec_fixed`.
pub(super) const BCAST: &[Row] = &[
    Row {
        ranks: Ranks::Below(4),
        measure: Call,
        below: &[
            (32, "chain"),
            (256, "binary-tree"),
            (512, "chain"),
            (1_024, "k-nomial"),
            (32_768, "linear"),
            (131_072, "binary-tree"),
            (262_144, "chain"),
            (524_288, "linear"),
            (1_048_576, "binomial"),
            (REST, "binary-tree"),
        ],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[
            (64, "binary-tree"),
            (128, "binomial"),
            (2_048, "binary-tree"),
            (8_192, "binomial"),
            (1_048_576, "linear"),
            (REST, "chain"),
        ],
    },
    Row {
        ranks: Ranks::Below(16),
        measure: Call,
        below: &[
            (8, "k-nomial"),
            (64, "binary-tree"),
            (4_096, "k-nomial"),
            (16_384, "binary-tree"),
            (32_768, "binomial"),
            (REST, "linear"),
        ],
    },
    Row {
        ranks: Ranks::Below(32),
        measure: Call,
        below: &[(4_096, "k-nomial"), (1_048_576, "binomial"), (REST, "scatter-allgather")],
    },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(2_048, "binomial"), (REST, "k-nomial")] },
    Row { ranks: Ranks::Below(128), measure: Call, below: &[(REST, "k-nomial")] },
    Row {
        ranks: Ranks::Below(256),
        measure: Call,
        below: &[
            (2, "binomial"),
            (16_384, "binary-tree"),
            (32_768, "linear"),
            (65_536, "binary-tree"),
            (REST, "k-nomial"),
        ],
    },
    Row {
        ranks: Ranks::Below(1_024),
        measure: Call,
        below: &[(16_384, "k-nomial"), (32_768, "split-binary"), (REST, "k-nomial")],
    },
    Row { ranks: Ranks::Below(2_048), measure: Call, below: &[(524_288, "k-nomial"), (REST, "scatter-allgather")] },
    Row { ranks: Ranks::Below(4_096), measure: Call, below: &[(262_144, "k-nomial"), (REST, "scatter-allgather")] },
    Row {
        ranks: Ranks::Any,
        measure: Call,
        below: &[(8_192, "k-nomial"), (16_384, "binary-tree"), (262_144, "k-nomial"), (REST, "scatter-allgather")],
    },
];

/// `ompi_coll_tuned_reduce_intra_dec_fixed`.
pub(super) const REDUCE: &[Row] = &[
    Row {
        ranks: Ranks::Below(4),
        measure: Call,
        below: &[(8, "rabenseifner"), (16, "binary-tree"), (32, "chain"), (262_144, "linear"), (REST, "chain")],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[
            (4_096, "binary-tree"),
            (65_536, "chain"),
            (262_144, "binomial"),
            (524_288, "linear"),
            (1_048_576, "binomial"),
            (REST, "linear"),
        ],
    },
    Row { ranks: Ranks::Below(16), measure: Call, below: &[(8_192, "binary-tree"), (REST, "binomial")] },
    Row { ranks: Ranks::Below(32), measure: Call, below: &[(4_096, "binary-tree"), (REST, "binomial")] },
    Row { ranks: Ranks::Below(256), measure: Call, below: &[(REST, "binomial")] },
    Row {
        ranks: Ranks::Below(512),
        measure: Call,
        below: &[(8_192, "binomial"), (16_384, "binary-tree"), (REST, "binomial")],
    },
    Row { ranks: Ranks::Below(2_048), measure: Call, below: &[(REST, "binomial")] },
    Row {
        ranks: Ranks::Below(4_096),
        measure: Call,
        below: &[
            (512, "binomial"),
            (1_024, "binary-tree"),
            (8_192, "binomial"),
            (16_384, "binary-tree"),
            (REST, "binomial"),
        ],
    },
    Row {
        ranks: Ranks::Any,
        measure: Call,
        below: &[
            (16, "binomial"),
            (32, "binary-tree"),
            (1_024, "binomial"),
            (2_048, "binary-tree"),
            (8_192, "binomial"),
            (16_384, "binary-tree"),
            (REST, "binomial"),
        ],
    },
];

/// `ompi_coll_tuned_gather_intra_dec_fixed`.
pub(super) const GATHER: &[Row] = &[
    Row {
        ranks: Ranks::Below(4),
        measure: Call,
        below: &[(4, "linear"), (32_768, "binomial"), (65_536, "linear"), (131_072, "binomial"), (REST, "linear")],
    },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[(1_024, "binomial"), (8_192, "linear"), (32_768, "binomial"), (REST, "linear")],
    },
    Row { ranks: Ranks::Below(256), measure: Call, below: &[(REST, "binomial")] },
    Row {
        ranks: Ranks::Below(512),
        measure: Call,
        below: &[(2_048, "binomial"), (8_192, "linear"), (REST, "binomial")],
    },
    Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binomial")] },
];

/// `ompi_coll_tuned_scatter_intra_dec_fixed`.
pub(super) const SCATTER: &[Row] = &[
    Row { ranks: Ranks::Below(4), measure: Call, below: &[(REST, "linear")] },
    Row {
        ranks: Ranks::Below(8),
        measure: Call,
        below: &[(2_048, "binomial"), (4_096, "linear"), (8_192, "binomial"), (REST, "linear")],
    },
    Row { ranks: Ranks::Below(16), measure: Call, below: &[(16_384, "binomial"), (REST, "linear")] },
    Row { ranks: Ranks::Below(32), measure: Call, below: &[(16_384, "binomial"), (REST, "linear")] },
    Row {
        ranks: Ranks::Below(64),
        measure: Call,
        below: &[(512, "binomial"), (8_192, "linear"), (16_384, "binomial"), (REST, "linear")],
    },
    Row { ranks: Ranks::Any, measure: Call, below: &[(512, "binomial"), (REST, "linear")] },
];

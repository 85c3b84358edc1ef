//! Open MPI's component `tuned`, with its fixed decisions for commutative operations
//! (`ompi/mca/coll/tuned/coll_tuned_decision_fixed.c`, main branch of August 2026).
//!
//! These decisions set no segments, so a pipeline is a chain and a segmented ring a ring. `docs/models/programs.md` says
//! which algorithm stands for which of Open MPI's.

use super::{Form, OperationTable, Ranks, Row, REST};
use crate::call::Operation;
use crate::collective::choice::SizeMeasure::{Call, Total};

pub(super) const TABLES: &[OperationTable] = &[
    OperationTable { operation: Operation::Barrier, form: Form::Equal, rows: BARRIER },
    OperationTable { operation: Operation::Broadcast, form: Form::Equal, rows: BCAST },
    OperationTable { operation: Operation::Reduce, form: Form::Equal, rows: REDUCE },
    OperationTable { operation: Operation::Allreduce, form: Form::Equal, rows: ALLREDUCE },
    OperationTable { operation: Operation::ReduceScatter, form: Form::Equal, rows: REDUCE_SCATTER_BLOCK },
    OperationTable { operation: Operation::ReduceScatter, form: Form::Vector, rows: REDUCE_SCATTER },
    OperationTable { operation: Operation::Gather, form: Form::Equal, rows: GATHER },
    OperationTable { operation: Operation::Scatter, form: Form::Equal, rows: SCATTER },
    OperationTable { operation: Operation::Allgather, form: Form::Equal, rows: ALLGATHER },
    OperationTable { operation: Operation::Allgather, form: Form::Vector, rows: ALLGATHERV },
    OperationTable { operation: Operation::Alltoall, form: Form::Equal, rows: ALLTOALL },
    OperationTable { operation: Operation::Alltoall, form: Form::Vector, rows: ALLTOALLV },
    OperationTable { operation: Operation::Gather, form: Form::Vector, rows: LINEAR },
    OperationTable { operation: Operation::Scatter, form: Form::Vector, rows: LINEAR },
    OperationTable { operation: Operation::Scan, form: Form::Equal, rows: LINEAR },
];

/// Collectives without a decision: those of the component `basic`.
const LINEAR: &[Row] = &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "linear")] }];

/// `ompi_coll_tuned_barrier_intra_dec_fixed`.
const BARRIER: &[Row] = &[
    Row { ranks: Ranks::Below(4), measure: Call, below: &[(REST, "recursive-doubling")] },
    Row { ranks: Ranks::Below(8), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(REST, "recursive-doubling")] },
    Row { ranks: Ranks::Below(256), measure: Call, below: &[(REST, "dissemination")] },
    Row { ranks: Ranks::Below(512), measure: Call, below: &[(REST, "binomial")] },
    Row { ranks: Ranks::Below(1_024), measure: Call, below: &[(REST, "dissemination")] },
    Row { ranks: Ranks::Below(4_096), measure: Call, below: &[(REST, "binomial")] },
    Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "dissemination")] },
];

/// `ompi_coll_tuned_bcast_intra_dec_fixed`.
const BCAST: &[Row] = &[
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
const REDUCE: &[Row] = &[
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

/// `ompi_coll_tuned_allreduce_intra_dec_fixed`.
const ALLREDUCE: &[Row] = &[
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
const REDUCE_SCATTER_BLOCK: &[Row] = &[
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
const REDUCE_SCATTER: &[Row] = &[
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

/// `ompi_coll_tuned_gather_intra_dec_fixed`.
const GATHER: &[Row] = &[
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
const SCATTER: &[Row] = &[
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

/// `ompi_coll_tuned_allgather_intra_dec_fixed`.
const ALLGATHER: &[Row] = &[
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
const ALLGATHERV: &[Row] = &[
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
const ALLTOALL: &[Row] = &[
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
const ALLTOALLV: &[Row] = &[
    Row { ranks: Ranks::Below(4), measure: Call, below: &[(REST, "pairwise")] },
    Row { ranks: Ranks::Below(64), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(128), measure: Call, below: &[(REST, "pairwise")] },
    Row { ranks: Ranks::Below(256), measure: Call, below: &[(REST, "linear")] },
    Row { ranks: Ranks::Below(1_024), measure: Call, below: &[(REST, "pairwise")] },
    Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "linear")] },
];

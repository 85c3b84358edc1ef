//! MPICH's generic selection for operations of MPI (`maint/tuning/coll/mpir/generic.json`).
//!
//! A count of elements is taken as bytes / 8. Selections by the nodes of the ranks are left out, since programs do not
//! know machines.

use crate::call::Operation;
use crate::collective::choice::SizeMeasure::{self, Call, PerMember, Total};
use crate::collective::preset::table::{Form, OperationTable, Ranks, Row, REST};

pub(super) const TABLES: &[OperationTable] = &[
    OperationTable { operation: Operation::Barrier, form: Form::Equal, rows: &[any(Call, &[(REST, "dissemination")])] },
    OperationTable { operation: Operation::Broadcast, form: Form::Equal, rows: BCAST },
    OperationTable { operation: Operation::Reduce, form: Form::Equal, rows: REDUCE },
    OperationTable { operation: Operation::Allreduce, form: Form::Equal, rows: ALLREDUCE },
    OperationTable { operation: Operation::ReduceScatter, form: Form::Equal, rows: REDUCE_SCATTER },
    OperationTable { operation: Operation::Gather, form: Form::Equal, rows: &[any(Call, &[(REST, "binomial")])] },
    OperationTable { operation: Operation::Gather, form: Form::Vector, rows: &[any(Call, &[(REST, "linear")])] },
    OperationTable { operation: Operation::Scatter, form: Form::Equal, rows: &[any(Call, &[(REST, "binomial")])] },
    OperationTable { operation: Operation::Scatter, form: Form::Vector, rows: &[any(Call, &[(REST, "linear")])] },
    OperationTable { operation: Operation::Allgather, form: Form::Equal, rows: ALLGATHER },
    OperationTable { operation: Operation::Alltoall, form: Form::Equal, rows: ALLTOALL },
    OperationTable { operation: Operation::Alltoall, form: Form::Vector, rows: &[any(Call, &[(REST, "scattered")])] },
    OperationTable {
        operation: Operation::Scan,
        form: Form::Equal,
        rows: &[any(Call, &[(REST, "recursive-doubling")])],
    },
];

const fn any(measure: SizeMeasure, below: &'static [(u64, &'static str)]) -> Row {
    Row { ranks: Ranks::Any, measure, below }
}

const BCAST: &[Row] = &[
    Row { ranks: Ranks::Below(8), measure: Call, below: &[(REST, "binomial")] },
    Row {
        ranks: Ranks::PowerOfTwo,
        measure: Call,
        below: &[(12_289, "binomial"), (524_289, "scatter-allgather"), (REST, "scatter-ring")],
    },
    any(Call, &[(12_289, "binomial"), (REST, "scatter-ring")]),
];

/// Fewer elements than the largest power of two up to the ranks.
const FEW_ELEMENTS: u64 = 8;

const REDUCE: &[Row] =
    &[any(Call, &[(2_049, "binomial")]), any(PerMember, &[(FEW_ELEMENTS, "binomial"), (REST, "rabenseifner")])];

const ALLREDUCE: &[Row] = &[
    any(Call, &[(9, "recursive-doubling")]),
    any(PerMember, &[(FEW_ELEMENTS, "recursive-doubling"), (REST, "rabenseifner")]),
];

const REDUCE_SCATTER: &[Row] = &[any(Total, &[(524_288, "recursive-halving"), (REST, "pairwise")])];

const ALLGATHER: &[Row] = &[
    Row { ranks: Ranks::PowerOfTwo, measure: Total, below: &[(524_288, "recursive-doubling"), (REST, "ring")] },
    any(Total, &[(81_920, "bruck"), (REST, "ring")]),
];

const ALLTOALL: &[Row] = &[
    Row { ranks: Ranks::Below(8), measure: Call, below: &[(32_769, "scattered"), (REST, "pairwise")] },
    any(Call, &[(257, "bruck"), (32_769, "scattered"), (REST, "pairwise")]),
];

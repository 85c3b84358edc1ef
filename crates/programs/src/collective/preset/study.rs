//! The interference study (Kang et al. 2022): one algorithm for all sizes. Its MPI has no reduce-scatter and no scan; the
//! algorithms of these two are the usual ones of MPI libraries.

use crate::call::Operation;
use crate::collective::choice::SizeMeasure::Call;
use crate::collective::preset::table::{Form, OperationTable, Ranks, Row, REST};

pub(super) const TABLES: &[OperationTable] = &[
    always(Operation::Barrier, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binary-tree")] }]),
    always(Operation::Broadcast, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binary-tree")] }]),
    always(Operation::Reduce, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binary-tree")] }]),
    always(Operation::Allreduce, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binary-tree")] }]),
    always(Operation::ReduceScatter, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "pairwise")] }]),
    always(Operation::Gather, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binary-tree")] }]),
    always(Operation::Scatter, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "binary-tree")] }]),
    always(Operation::Allgather, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "doubling")] }]),
    always(Operation::Alltoall, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "pairwise")] }]),
    always(Operation::Scan, &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "recursive-doubling")] }]),
];

const fn always(operation: Operation, rows: &'static [Row]) -> OperationTable {
    OperationTable { operation, form: Form::Equal, rows }
}

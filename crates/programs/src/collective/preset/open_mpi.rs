//! Open MPI's component `tuned`, with its fixed decisions for commutative operations
//! (`ompi/mca/coll/tuned/coll_tuned_decision_fixed.c`, main branch of August 2026).
//!
//! These decisions set no segments, so a pipeline is a chain and a segmented ring a ring. `docs/models/programs.md` says
//! which algorithm stands for which of Open MPI's.

mod all_to_all;
mod rooted;

use crate::call::Operation;
use crate::collective::choice::SizeMeasure::Call;
use crate::collective::preset::table::{Form, OperationTable, Ranks, Row, REST};
use all_to_all::{
    ALLGATHER, ALLGATHERV, ALLREDUCE, ALLTOALL, ALLTOALLV, BARRIER, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK,
};
use rooted::{BCAST, GATHER, REDUCE, SCATTER};

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

/// Collectives without a decision: the component `basic` is linear.
const LINEAR: &[Row] = &[Row { ranks: Ranks::Any, measure: Call, below: &[(REST, "linear")] }];

//! Presets: the algorithms that an MPI library selects by collective, ranks and bytes, as tables.

mod mpich;
mod open_mpi;
mod study;
mod table;

use super::choice::Choice;
use crate::call::Operation;
use odonata_declare::words;
use table::OperationTable;

pub(super) use table::Form;

words! {
    /// Source of the collective algorithms that are not given.
    #[derive(Default)]
    pub enum CollectivePreset {
        #[default]
        Mpich = "mpich": "MPICH's selection by ranks and size",
        OpenMpi = "openmpi": "Open MPI's fixed decisions by ranks and size (component `tuned`)",
        Study = "study": "the interference study (Kang et al. 2022), one algorithm for all sizes",
    }
}

impl CollectivePreset {
    fn tables(self) -> &'static [OperationTable] {
        match self {
            Self::Mpich => mpich::TABLES,
            Self::OpenMpi => open_mpi::TABLES,
            Self::Study => study::TABLES,
        }
    }

    /// The algorithms of an operation.
    pub(super) fn choice(self, operation: Operation, form: Form) -> Choice {
        let of_form =
            |form: Form| self.tables().iter().find(|table| (table.operation, table.form) == (operation, form));
        of_form(form).or_else(|| of_form(Form::Equal)).expect("a preset has every operation").choice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Collective, Collectives};
    use odonata_units::Bytes;

    /// Points of the published tables, on both sides of each limit that was read by hand.
    #[test]
    fn points_of_the_libraries_tables() {
        use CollectivePreset::{Mpich, OpenMpi};
        use Operation::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};
        let kib = |count: u64| count << 10;
        for (preset, operation, ranks, bytes, expected) in [
            (Mpich, Allreduce, 256, 8, "recursive-doubling"),
            // 255 and 256 elements of 8 B on 256 ranks, and on 300, whose largest power of two is 256.
            (Mpich, Allreduce, 256, 255 * 8, "recursive-doubling"),
            (Mpich, Allreduce, 300, 256 * 8, "rabenseifner"),
            (Mpich, Allreduce, 256, kib(1024), "rabenseifner"),
            (Mpich, Broadcast, 7, kib(1024), "binomial"),
            (Mpich, Broadcast, 8, 12_288, "binomial"),
            (Mpich, Broadcast, 8, 12_289, "scatter-allgather"),
            (Mpich, Broadcast, 8, 524_289, "scatter-ring"),
            (Mpich, Broadcast, 9, 12_289, "scatter-ring"),
            (Mpich, Reduce, 4, 2_048, "binomial"),
            (Mpich, Reduce, 4, 2_049, "rabenseifner"),
            (Mpich, Allgather, 64, 8_191, "recursive-doubling"),
            (Mpich, Allgather, 64, 8_192, "ring"),
            (Mpich, Allgather, 10, 8_191, "bruck"),
            (Mpich, Allgather, 10, 8_192, "ring"),
            (Mpich, Alltoall, 7, 8, "scattered"),
            (Mpich, Alltoall, 8, 256, "bruck"),
            (Mpich, Alltoall, 8, 257, "scattered"),
            (Mpich, Alltoall, 8, 32_769, "pairwise"),
            (Mpich, ReduceScatter, 64, 8_191, "recursive-halving"),
            (Mpich, ReduceScatter, 64, 8_192, "pairwise"),
            (Mpich, Barrier, 100, 0, "dissemination"),
            (OpenMpi, Allreduce, 3, 7, "ring"),
            (OpenMpi, Allreduce, 255, 131_071, "binomial"),
            (OpenMpi, Allreduce, 255, 131_072, "recursive-doubling"),
            (OpenMpi, Allreduce, 256, kib(1024), "rabenseifner"),
            (OpenMpi, Broadcast, 128, 20_000, "linear"),
            (OpenMpi, Broadcast, 512, 20_000, "split-binary"),
            (OpenMpi, Broadcast, 2_000, kib(512), "scatter-allgather"),
            (OpenMpi, Alltoall, 32, 511, "bruck"),
            (OpenMpi, Alltoall, 128, kib(256), "pairwise"),
            (OpenMpi, Allgather, 64, 65_535, "neighbor-exchange"),
            (OpenMpi, Allgather, 8, 8, "recursive-doubling"),
            (OpenMpi, Allgather, 9, 8, "bruck"),
            (OpenMpi, Reduce, 300, 10_000, "binary-tree"),
            (OpenMpi, Reduce, 300, 20_000, "binomial"),
            (OpenMpi, Gather, 100, 8, "binomial"),
            (OpenMpi, Scatter, 100, 511, "binomial"),
            (OpenMpi, Scatter, 100, 512, "linear"),
            (OpenMpi, Barrier, 300, 0, "binomial"),
        ] {
            let collective = Collective { operation, rank: 0, size: ranks, root: 0, bytes: Bytes(bytes), sizes: None };
            let found = Collectives::of(preset).algorithm(&collective).name;
            assert_eq!(found, expected, "{} {} of {bytes} B on {ranks}", preset.word(), operation.name());
        }
    }
}

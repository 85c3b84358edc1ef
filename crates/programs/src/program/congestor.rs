//! The congestors of GPCNeT: communication without pauses that loads the network with other jobs.

use crate::call::Call;
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use crate::slices::Slice;
use odonata_declare::{parameters, words, Kind, ParameterMistake};
use odonata_units::Bytes;
use std::sync::Arc;

words! {
    /// A congestor.
    #[derive(Default)]
    pub enum Congestor {
        #[default]
        AllToAll = "all-to-all": "n steps: exchange with rank r xor i, or with r + i and r - i if n is no power of two",
        Incast = "incast": "rank 0 posts a receive from each other rank and waits; the others send to it, blocking",
        PutIncast = "put-incast": "each rank but 0 puts into the memory of rank 0 and waits for the end",
        GetBroadcast = "get-broadcast": "each rank but 0 gets the same bytes from the memory of rank 0",
    }
}

parameters! {
    /// Parameters of `congestor`.
    pub struct CongestorParameters {
        /// The communication.
        pub kind: Congestor = Congestor::AllToAll;
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(4);
        /// Number of times that all ranks do it.
        pub iterations: u32 = 16, Kind::COUNT;
        /// Number of congestors at the same time: one of the ranks with each number modulo it. As many as ranks per node
        /// give a congestor for each place on the nodes.
        pub slices: u32 = 1, Kind::COUNT;
    }
}

impl ProgramRule for CongestorParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (ranks, &Self { kind, bytes, iterations, slices }) = (context.ranks, self);
        Ok(repeat(ranks, iterations, &["congestion"], move |rank, code| {
            code.mark(0);
            let slice = Slice::of(rank, ranks, slices);
            let root = slice.rank_at(0);
            match kind {
                Congestor::AllToAll => exchange_with_all(slice, bytes, code),
                Congestor::Incast if slice.place > 0 => code.send(root, bytes, 0),
                Congestor::Incast => {
                    for place in 1..slice.ranks {
                        code.irecv(slice.rank_at(place), bytes, 0);
                    }
                    code.wait_all();
                }
                Congestor::PutIncast if slice.place > 0 => code.push(Call::Put { to: root, bytes }),
                Congestor::GetBroadcast if slice.place > 0 => code.push(Call::Get { from: root, bytes }),
                Congestor::PutIncast | Congestor::GetBroadcast => code.serve(),
            }
        }))
    }
}

/// One `MPI_Sendrecv` per step. The step with the rank itself takes no time here and is left out.
fn exchange_with_all(slice: Slice, bytes: Bytes, code: &mut Code) {
    let (n, own) = (slice.ranks, slice.place);
    for step in 1..n {
        let (to, from) =
            if n.is_power_of_two() { (own ^ step, own ^ step) } else { ((own + step) % n, (own + n - step) % n) };
        code.irecv(slice.rank_at(from), bytes, 0);
        code.isend(slice.rank_at(to), bytes, 0);
        code.wait_all();
    }
}

#[cfg(test)]
mod tests {
    use crate::rank_walks::{build, untimed};
    use serde_json::json;
    use std::collections::BTreeSet;

    /// Source and target of all messages of an iteration.
    fn pairs(kind: &str, ranks: u32, slices: u32) -> Vec<(u32, u32)> {
        let given = [
            ("kind", json!(kind)),
            ("iterations", json!(1)),
            ("slices", json!(slices)),
            ("final_barrier", json!(false)),
        ];
        let report = untimed(&*build("congestor", ranks, &given));
        report.messages.iter().map(|message| (message.from, message.to)).collect()
    }

    #[test]
    fn everybody_meets_everybody_else() {
        for ranks in [8, 6, 1] {
            let met = pairs("all-to-all", ranks, 1);
            let unique: BTreeSet<_> = met.iter().copied().collect();
            assert_eq!((met.len(), unique.len()), ((ranks * (ranks - 1)) as usize, met.len()), "{ranks}");
        }
    }

    /// With two ranks per node there are two incasts, with both roots on the first node.
    #[test]
    fn slices_have_their_own_roots() {
        let sorted = |mut all: Vec<(u32, u32)>| {
            all.sort_unstable();
            all
        };
        let to_roots = [(2, 0), (3, 1), (4, 0), (5, 1)];
        assert_eq!(sorted(pairs("incast", 6, 2)), to_roots);
        assert_eq!(sorted(pairs("put-incast", 6, 2)), to_roots);
        assert_eq!(sorted(pairs("get-broadcast", 6, 2)), [(0, 2), (0, 4), (1, 3), (1, 5)]);
    }
}

//! Random rings, as in the tests of GPCNeT: every rank exchanges messages with both neighbours of a random ring.

use crate::call::Operation;
use crate::rank_program::RankProgram;
use crate::repeat::repeat_unequal;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule};
use crate::slices::Slice;
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Stream};
use std::sync::Arc;

parameters! {
    /// Parameters of `random-ring`. The defaults are GPCNeT's test of latency.
    pub struct RandomRingParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes(8);
        /// Messages to each neighbour in an exchange.
        pub messages: u32 = 1, Kind::COUNT;
        /// Whether an exchange ends with a barrier.
        pub barrier: bool = false;
        /// Number of rings, drawn one after the other.
        pub rings: u32 = 30, Kind::COUNT;
        /// Exchanges in each ring before those that count, without a phase of their own.
        pub warm_up: u32 = 200, Kind::count(0);
        /// Exchanges in each ring. Each is an occurrence of the phase `exchange`.
        pub iterations: u32 = 200, Kind::COUNT;
        /// Number of separate rings at the same time: the ranks with equal numbers modulo it. As many as ranks per node
        /// give a ring for each place on the nodes.
        pub slices: u32 = 1, Kind::COUNT;
    }
}

/// Before each ring a barrier of all ranks. An exchange posts the receives from both neighbours, starts the sends to
/// them, and waits for all.
impl ProgramRule for RandomRingParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let ranks = context.ranks;
        let &Self { bytes, messages, barrier, rings, warm_up, iterations, slices } = self;
        let each = warm_up.saturating_add(iterations);
        let Some(blocks) = rings.checked_mul(each) else {
            return Err(("rings", format!("{rings} rings of {each} exchanges are more than {} exchanges", u32::MAX)));
        };
        let representatives = representatives(rings.into(), each.into());
        let rings = draw(ranks, slices, rings, context.seed);
        Ok(repeat_unequal(ranks, blocks, &["setup", "exchange"], representatives, move |rank, index, code| {
            let slice = Slice::of(rank, ranks, slices);
            let (ring, exchange) = ((index / u64::from(each)) as usize, (index % u64::from(each)) as u32);
            if exchange == 0 {
                code.mark(0);
                if index == 0 {
                    slice.create(code);
                }
                code.collective(Operation::Barrier, 0, Bytes(0));
            }
            if exchange >= warm_up {
                code.mark(1);
            }
            if slice.ranks > 1 {
                let [before, after] = rings[ring][rank as usize].map(|place| slice.rank_at(place));
                // In a ring of two both neighbours are one rank: the tag is the direction.
                for _ in 0..messages {
                    code.irecv(before, bytes, 0);
                    code.irecv(after, bytes, 1);
                }
                for _ in 0..messages {
                    code.isend(after, bytes, 0);
                    code.isend(before, bytes, 1);
                }
                code.wait_all();
            }
            if barrier {
                slice.select(code);
                code.collective(Operation::Barrier, 0, Bytes(0));
            }
            if index + 1 == u64::from(blocks) {
                code.mark(0);
                slice.free(code);
            }
        }))
    }
}

/// Rings whose exchanges are looked at for counts. All send the same, but each adds pairs of ranks.
const SAMPLES: u64 = 64;

/// The first exchange of some rings, which begins with a barrier, the exchanges after it, and the last of all.
fn representatives(rings: u64, each: u64) -> Representatives {
    let (count, last) = (rings.min(SAMPLES), (rings * each).saturating_sub(1));
    let first = |number: u64| number * rings / count;
    let mut all = Representatives::default();
    for number in 0..count {
        let alike = first(number + 1) - first(number);
        // The last exchange of all stands for itself.
        let is_final = number + 1 == count;
        let begins = alike - u64::from(is_final && each == 1);
        let later = alike * (each - 1) - u64::from(is_final && each > 1);
        all.push(first(number) * each, [(0, begins), (1, later)]);
    }
    all.push(last, [(0, 1)]);
    all
}

/// Of each ring: the places before and after each rank in its slice.
fn draw(ranks: u32, slices: u32, rings: u32, seed: u64) -> Vec<Vec<[u32; 2]>> {
    let ring = |ring: u32| {
        let mut stream = Stream::new(seed, "random ring", &[ring.into()]);
        let mut neighbors = vec![[0; 2]; ranks as usize];
        for first in 0..slices.min(ranks) {
            let slice = Slice::of(first, ranks, slices);
            let mut order: Vec<u32> = (0..slice.ranks).collect();
            stream.shuffle(&mut order);
            for (at, &place) in order.iter().enumerate() {
                let step = |by: usize| order[(at + by) % order.len()];
                neighbors[slice.rank_at(place) as usize] = [step(order.len() - 1), step(1)];
            }
        }
        neighbors
    };
    (0..rings).map(ring).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{build, untimed};
    use serde_json::json;

    /// Each ring of a slice is one cycle through all its ranks.
    #[test]
    fn rings_pass_through_all_ranks() {
        for (ranks, slices) in [(12, 1), (12, 3), (2, 1), (7, 2)] {
            for ring in draw(ranks, slices, 3, 5) {
                for first in 0..slices {
                    let slice = Slice::of(first, ranks, slices);
                    let (mut place, mut seen) = (0, vec![false; slice.ranks as usize]);
                    for _ in 0..slice.ranks {
                        let [_, after] = ring[slice.rank_at(place) as usize];
                        assert_eq!(ring[slice.rank_at(after) as usize][0], place, "neighbours agree");
                        assert!(!std::mem::replace(&mut seen[place as usize], true));
                        place = after;
                    }
                    assert_eq!(place, 0);
                }
            }
        }
        assert_ne!(draw(12, 1, 1, 5), draw(12, 1, 1, 6));
    }

    /// Each exchange has 2 x `messages` messages of each rank; a barrier of all ranks before each ring has 2 (n - 1).
    #[test]
    fn messages_of_an_exchange() {
        let given = [
            ("bytes", json!("64 B")),
            ("messages", json!(3)),
            ("rings", json!(2)),
            ("warm_up", json!(1)),
            ("iterations", json!(2)),
            ("final_barrier", json!(false)),
        ];
        for slices in [1, 2] {
            let given: Vec<_> = given.iter().cloned().chain([("slices", json!(slices))]).collect();
            let report = untimed(&*build("random-ring", 6, &given));
            let data = report.messages.iter().filter(|message| message.bytes == 64);
            assert_eq!(data.clone().count(), 2 * 3 * 6 * 6);
            assert!(data.clone().all(|message| message.from % slices == message.to % slices));
        }
    }
}

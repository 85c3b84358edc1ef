//! Uniform random traffic of the interference study: a permutation of the ranks per iteration.

use crate::rank_program::RankProgram;
use crate::repeat::repeat_unequal;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::Bytes;
use std::sync::{Arc, Mutex, PoisonError};

parameters! {
    /// Parameters of `uniform-random`. The defaults are from the study.
    pub struct UniformRandomParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes(3072);
        /// Number of times that every rank sends, each with a new permutation.
        pub iterations: u32 = 7200, Kind::COUNT;
    }
}

/// Each iteration starts a send to the rank's image and a receive from its pre-image, and waits for both. A fixed point
/// does nothing.
impl ProgramRule for UniformRandomParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (permutations, bytes) = (Permutations::new(context.ranks, self.iterations), self.bytes);
        Ok(repeat_unequal(
            context.ranks,
            self.iterations,
            &["exchange"],
            sample(self.iterations.into()),
            move |rank, index, code| {
                code.mark(0);
                let (image, source) = permutations.get(index)[rank as usize];
                if image != rank {
                    code.isend(image, bytes, 0);
                    code.irecv(source, bytes, 0);
                    code.wait_all();
                }
            },
        ))
    }
}

/// Permutations that are looked at for counts. The number of places that stay varies by about one, so the mean of 64 is
/// exact to about 0.2 messages of a permutation.
const SAMPLES: u64 = 64;

/// Blocks that stand for all permutations, evenly spread.
fn sample(iterations: u64) -> Representatives {
    let count = iterations.min(SAMPLES);
    let place = |number: u64| number * iterations / count;
    let blocks = (0..count).map(|number| (place(number), place(number + 1) - place(number)));
    Representatives { is_estimate: count < iterations, ..Representatives::of(blocks) }
}

/// Image and pre-image of every rank.
type Permutation = Arc<Vec<(u32, u32)>>;

/// The permutations of all iterations. Running ranks are in nearly the same iteration, but a walk rank by rank needs
/// all permutations again for each rank. So as many as possible are stored, each at its number modulo their count.
#[derive(Debug)]
struct Permutations {
    ranks: u32,
    kept: Mutex<Vec<Option<(u64, Permutation)>>>,
}

/// Limit on ranks of all stored permutations: 32 MiB. Fewer are drawn again too often.
const KEPT_RANKS: u32 = 1 << 22;

impl Permutations {
    fn new(ranks: u32, iterations: u32) -> Self {
        let most = (KEPT_RANKS / ranks.max(1)).max(2).min(iterations.max(1));
        Self { ranks, kept: Mutex::new(vec![None; most as usize]) }
    }

    fn get(&self, iteration: u64) -> Permutation {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (iteration % kept.len() as u64) as usize;
        match &kept[place] {
            Some((of, permutation)) if *of == iteration => Arc::clone(permutation),
            _ => {
                let permutation = Arc::new(permutation(self.ranks, iteration));
                kept[place] = Some((iteration, Arc::clone(&permutation)));
                permutation
            }
        }
    }
}

/// The study's permutation of an iteration, equal for every run. Each place in turn is swapped with a random place from
/// a generator seeded with ranks + iteration. Any place may be drawn, not only later ones, so the permutations are not
/// equally likely: on average 0.90 places stay instead of one.
fn permutation(ranks: u32, iteration: u64) -> Vec<(u32, u32)> {
    let mut generator = XorShift::new((u64::from(ranks) + iteration) as u32);
    let mut images: Vec<u32> = (0..ranks).collect();
    for place in 0..ranks as usize {
        images.swap(place, (generator.next() % ranks) as usize);
    }
    let mut both: Vec<(u32, u32)> = images.iter().map(|&image| (image, 0)).collect();
    for (rank, &image) in (0..ranks).zip(&images) {
        both[image as usize].1 = rank;
    }
    both
}

/// Marsaglia's xorshift of 128 bits (2003), started with the seed and zeros.
#[derive(Debug)]
struct XorShift([u32; 4]);

impl XorShift {
    fn new(seed: u32) -> Self {
        Self([seed, 0, 0, 0])
    }

    fn next(&mut self) -> u32 {
        let [x, y, z, w] = self.0;
        let mixed = x ^ (x << 11);
        let next = w ^ (w >> 19) ^ mixed ^ (mixed >> 8);
        self.0 = [y, z, w, next];
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The study's draws: of 7,200 permutations of 528, 6,465 places stay.
    #[test]
    fn places_that_stay() {
        let stay = |iteration| {
            let both = permutation(528, iteration);
            both.iter().zip(0..).filter(|((image, _), rank)| image == rank).count()
        };
        assert_eq!((0..7200).map(stay).sum::<usize>(), 6465);
    }

    /// Independent of earlier queries, and inverse to each other.
    #[test]
    fn kept_or_drawn_again() {
        let permutations = Permutations::new(20, 100);
        for iteration in (0..200).chain([3, 150, 3]) {
            let both = permutations.get(iteration);
            assert_eq!(*both, permutation(20, iteration));
            assert!((0..20).all(|rank| both[both[rank].0 as usize].1 as usize == rank));
        }
        assert_eq!(Permutations::new(528, 7_200).kept.lock().unwrap().len(), 7_200, "all of the study's");
    }
}

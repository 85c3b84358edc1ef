//! The pairs of a NIC, by destination.
//!
//! A NIC with random traffic starts a pair with almost every packet. A new pair takes the place of one that is idle, in
//! the order in which they started. The oldest is the likeliest to be idle, and the memory in use stays small enough for
//! caches. Which idle pairs stay changes no result.

use super::rules::Pair;
use serde::{Deserialize, Serialize};

/// Pairs of a NIC.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Pairs {
    /// Destination and place of each pair, sorted.
    places: Vec<(u32, u32)>,
    pairs: Vec<Pair>,
    /// Destination of the pair at each place.
    destinations: Vec<u32>,
    /// Place at which the next search for an idle pair starts.
    oldest: usize,
}

/// Result of a search.
#[derive(Clone, Copy, Debug)]
pub(super) enum PairPlace {
    /// Place of the pair.
    At(usize),
    /// Index among the sorted places at which its own would be.
    Missing(usize),
}

/// Pairs that are looked at for an idle one. With one, each pair in use for long would add a place in every round; more
/// cost time when all are in use.
const TRIES: usize = 2;

impl Pairs {
    /// Place of the pair of a destination, or where it would be among the sorted ones. The only search: whoever has
    /// found a pair keeps its place until the next [`Self::insert`].
    pub(super) fn find(&self, destination: u32) -> PairPlace {
        match self.places.binary_search_by_key(&destination, |place| place.0) {
            Ok(i) => PairPlace::At(self.places[i].1 as usize),
            Err(i) => PairPlace::Missing(i),
        }
    }

    /// The pair of a destination, if there is one.
    pub(super) fn get_mut(&mut self, destination: u32) -> Option<&mut Pair> {
        match self.find(destination) {
            PairPlace::At(place) => Some(&mut self.pairs[place]),
            PairPlace::Missing(_) => None,
        }
    }

    /// The pair at a place.
    pub(super) fn at(&mut self, place: usize) -> &mut Pair {
        &mut self.pairs[place]
    }

    /// The pair of a destination to which a packet goes.
    pub(super) fn known(&self, destination: u32) -> &Pair {
        match self.find(destination) {
            PairPlace::At(place) => &self.pairs[place],
            PairPlace::Missing(_) => unreachable!("a packet was offered before"),
        }
    }

    /// Adds the pair of a destination that was `found`, or replaces it. A pair for which `is_idle` holds may be dropped.
    pub(super) fn insert(
        &mut self,
        found: PairPlace,
        destination: u32,
        pair: Pair,
        is_idle: impl Fn(u32, &Pair) -> bool,
    ) {
        let new = match found {
            PairPlace::At(place) => {
                self.pairs[place] = pair;
                return;
            }
            PairPlace::Missing(i) => i,
        };
        let Some(old) = self.idle_pair(is_idle) else {
            self.places.insert(new, (destination, self.pairs.len() as u32));
            self.pairs.push(pair);
            self.destinations.push(destination);
            return;
        };
        // One move of the pairs between the two, instead of one to remove and one to insert.
        let new = if old < new {
            self.places[old..new].rotate_left(1);
            new - 1
        } else {
            self.places[new..=old].rotate_right(1);
            new
        };
        let place = self.places[new].1 as usize;
        self.places[new].0 = destination;
        (self.pairs[place], self.destinations[place]) = (pair, destination);
    }

    /// Searches the oldest pairs for an idle one. Returns its index among the sorted ones.
    fn idle_pair(&mut self, is_idle: impl Fn(u32, &Pair) -> bool) -> Option<usize> {
        for _ in 0..TRIES.min(self.pairs.len()) {
            let place = self.oldest;
            self.oldest = if place + 1 < self.pairs.len() { place + 1 } else { 0 };
            let destination = self.destinations[place];
            if is_idle(destination, &self.pairs[place]) {
                let found = self.places.binary_search_by_key(&destination, |place| place.0);
                return Some(found.expect("each pair has a place"));
            }
        }
        None
    }

    pub(super) fn memory_bytes(&self) -> usize {
        8 * self.places.capacity() + 4 * self.destinations.capacity() + self.pairs.capacity() * size_of::<Pair>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::Rules;
    use super::super::{ControlSettings, PairLimits};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map: a pair in use stays as it is, whichever idle ones are dropped.
        #[test]
        fn pairs_in_use_stay(steps in proptest::collection::vec((0u32..40, any::<bool>()), 1..400)) {
            let rules = Rules::new(&ControlSettings::default(), 512);
            let limits = PairLimits { window_max: 1 << 20, round_trip: 1, packet_time: 1 };
            let (mut pairs, mut expected) = (Pairs::default(), BTreeMap::new());
            for (number, (destination, uses)) in steps.into_iter().enumerate() {
                if uses {
                    let mut pair = rules.pair(limits, 0);
                    pair.last_departure = number as u64;
                    pairs.insert(pairs.find(destination), destination, pair, |other, _| !expected.contains_key(&other));
                    expected.insert(destination, number as u64);
                } else {
                    expected.remove(&destination);
                }
                for (&destination, &departure) in &expected {
                    prop_assert_eq!(pairs.known(destination).last_departure, departure);
                }
            }
        }
    }

    /// With one pair in use among many that are idle at once, three places suffice.
    #[test]
    fn idle_pairs_give_their_place() {
        let rules = Rules::new(&ControlSettings::default(), 512);
        let limits = PairLimits { window_max: 1 << 20, round_trip: 1, packet_time: 1 };
        let mut pairs = Pairs::default();
        for destination in 0..1_000 {
            pairs.insert(pairs.find(destination), destination, rules.pair(limits, 0), |other, _| other > 0);
        }
        assert!(pairs.get_mut(0).is_some() && pairs.pairs.len() <= 3, "{}", pairs.pairs.len());
    }
}

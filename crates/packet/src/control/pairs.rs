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

/// Pairs that are looked at for an idle one. With one, each pair in use for long would add a place in every round; more
/// cost time when all are in use.
const TRIES: usize = 2;

impl Pairs {
    fn find(&self, destination: u32) -> Result<usize, usize> {
        self.places.binary_search_by_key(&destination, |place| place.0)
    }

    pub(super) fn get(&self, destination: u32) -> Option<&Pair> {
        self.find(destination).ok().map(|i| &self.pairs[self.places[i].1 as usize])
    }

    pub(super) fn get_mut(&mut self, destination: u32) -> Option<&mut Pair> {
        self.find(destination).ok().map(|i| &mut self.pairs[self.places[i].1 as usize])
    }

    /// The pair of a destination to which a packet goes.
    pub(super) fn known(&self, destination: u32) -> &Pair {
        self.get(destination).expect("a packet was offered before")
    }

    /// Adds a pair, or replaces it. A pair for which `is_idle` holds may be dropped.
    pub(super) fn insert(&mut self, destination: u32, pair: Pair, is_idle: impl Fn(u32, &Pair) -> bool) {
        if let Ok(i) = self.find(destination) {
            self.pairs[self.places[i].1 as usize] = pair;
            return;
        }
        let place = match self.drop_idle(is_idle) {
            Some(place) => {
                (self.pairs[place], self.destinations[place]) = (pair, destination);
                place
            }
            None => {
                self.pairs.push(pair);
                self.destinations.push(destination);
                self.pairs.len() - 1
            }
        };
        let i = self.find(destination).expect_err("the destination has no pair");
        self.places.insert(i, (destination, place as u32));
    }

    /// Drops one of the oldest pairs if it is idle. Returns its place.
    fn drop_idle(&mut self, is_idle: impl Fn(u32, &Pair) -> bool) -> Option<usize> {
        for _ in 0..TRIES.min(self.pairs.len()) {
            let place = self.oldest;
            self.oldest = if place + 1 < self.pairs.len() { place + 1 } else { 0 };
            let destination = self.destinations[place];
            if is_idle(destination, &self.pairs[place]) {
                let i = self.find(destination).expect("each pair has a place");
                self.places.remove(i);
                return Some(place);
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
                    pairs.insert(destination, pair, |other, _| !expected.contains_key(&other));
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
            pairs.insert(destination, rules.pair(limits, 0), |other, _| other > 0);
        }
        assert!(pairs.get(0).is_some() && pairs.pairs.len() <= 3, "{}", pairs.pairs.len());
    }
}

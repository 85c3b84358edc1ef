//! The pairs of a NIC, by destination.
//!
//! A NIC with random traffic starts a pair with almost every packet. So pairs stay where they are in memory, and only
//! the sorted list of their numbers moves.

use super::rules::Pair;
use serde::{Deserialize, Serialize};

/// Pairs of a NIC.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Pairs {
    /// Destination and place of each pair, sorted.
    places: Vec<(u32, u32)>,
    pairs: Vec<Pair>,
    free: Vec<u32>,
    /// Number of pairs at which idle ones are dropped. No result depends on it.
    purge_at: usize,
}

/// Pairs of a NIC below which idle ones stay. Fewer cost time, more cost memory.
const PAIRS_KEPT: usize = 64;

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

    /// Adds a pair, or replaces it.
    pub(super) fn insert(&mut self, destination: u32, pair: Pair) {
        match self.find(destination) {
            Ok(i) => self.pairs[self.places[i].1 as usize] = pair,
            Err(i) => {
                let place = self.free.pop().unwrap_or(self.pairs.len() as u32);
                self.places.insert(i, (destination, place));
                match self.pairs.get_mut(place as usize) {
                    Some(free) => *free = pair,
                    None => self.pairs.push(pair),
                }
            }
        }
    }

    /// Drops pairs for which `is_idle` holds, if there are many. A search among many pairs in use would cost too much
    /// if it came with each packet, so the next one waits until their number has doubled.
    pub(super) fn purge(&mut self, is_idle: impl Fn(u32, &Pair) -> bool) {
        if self.places.len() <= self.purge_at.max(PAIRS_KEPT) {
            return;
        }
        let Self { places, pairs, free, purge_at } = self;
        places.retain(|&(destination, place)| {
            let is_dropped = is_idle(destination, &pairs[place as usize]);
            if is_dropped {
                free.push(place);
            }
            !is_dropped
        });
        *purge_at = 2 * places.len();
    }

    pub(super) fn memory_bytes(&self) -> usize {
        8 * self.places.capacity() + 4 * self.free.capacity() + self.pairs.capacity() * size_of::<Pair>()
    }
}

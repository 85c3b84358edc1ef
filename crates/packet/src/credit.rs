//! Credits: room that comes back to the sender of a packet.
//!
//! They have no events of their own. A sender keeps those on their way in a list by arrival and takes in what has arrived
//! when it looks.

use serde::{Deserialize, Serialize};

/// Room that comes back to a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Credit {
    /// When it arrives at the sender.
    pub(crate) at: u64,
    pub(crate) bytes: u32,
    pub(crate) vc: u8,
}

/// A list of credits in the array of all of them, [`Credits`]: entries go round in a power of two of places.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Ring {
    start: u32,
    /// Place of the first entry, counted from the start; grows for ever.
    head: u32,
    /// Entries, times 32, and the logarithm of the places.
    size: u32,
}

impl Ring {
    #[inline]
    fn len(self) -> u32 {
        self.size >> 5
    }

    #[inline]
    fn places(self) -> u32 {
        1 << (self.size & 31)
    }

    #[inline]
    fn at(self, i: u32) -> usize {
        (self.start + ((self.head.wrapping_add(i)) & (self.places() - 1))) as usize
    }
}

/// The credits on their way to all ports of a partition, in one array: side by side, they stay in the cache.
#[derive(Default)]
pub(crate) struct Credits {
    entries: Vec<Credit>,
}

odonata_checkpoint::state!(Credits { value: entries });

impl Credits {
    /// Whether one more entry would need more places.
    #[inline]
    pub(crate) fn is_full(ring: Ring) -> bool {
        ring.len() == ring.places() || ring.size == 0
    }

    #[inline]
    pub(crate) fn front(&self, ring: Ring) -> Option<Credit> {
        (ring.len() > 0).then(|| self.entries[ring.at(0)])
    }

    /// The entries, by arrival.
    pub(crate) fn iter(&self, ring: Ring) -> impl Iterator<Item = Credit> + '_ {
        (0..ring.len()).map(move |i| self.entries[ring.at(i)])
    }

    /// Takes away the first entry, which there is.
    #[inline]
    pub(crate) fn pop(ring: &mut Ring) {
        ring.head = ring.head.wrapping_add(1);
        ring.size -= 1 << 5;
    }

    #[inline]
    pub(crate) fn push(&mut self, ring: &mut Ring, credit: Credit) {
        if Self::is_full(*ring) {
            self.grow(ring);
        }
        self.entries[ring.at(ring.len())] = credit;
        ring.size += 1 << 5;
    }

    /// Twice as many places, at the end of the array; those given up are less than those taken.
    #[cold]
    fn grow(&mut self, ring: &mut Ring) {
        let start = u32::try_from(self.entries.len()).expect("fewer than 2^32 credits are on their way");
        let log2 = if ring.size == 0 { 2 } else { (ring.size & 31) + 1 };
        for i in 0..ring.len() {
            self.entries.push(self.entries[ring.at(i)]);
        }
        self.entries.resize(start as usize + (1 << log2), Credit { at: 0, bytes: 0, vc: 0 });
        *ring = Ring { start, head: 0, size: ring.len() << 5 | log2 };
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Credit>()
    }
}

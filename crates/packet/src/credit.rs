//! Credits: buffer space that returns to the sender of a packet.
//!
//! Credits have no events. A sender keeps a list of its credits by arrival time and applies the arrived
//! ones when it needs them.

use serde::{Deserialize, Serialize};

/// Buffer space that returns to a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Credit {
    /// Arrival time at the sender.
    pub(crate) at: u64,
    pub(crate) bytes: u32,
    pub(crate) vc: u8,
}

/// A ring buffer of credits in the common array of [`Credits`]. Its capacity is a power of two.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Ring {
    start: u32,
    /// Position of the first entry, counted from `start`; wraps around at 2^32.
    head: u32,
    /// Number of entries times 32, plus log2 of the capacity: one word, so that a port stays within a cache
    /// line.
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

/// Credits in flight to all ports of a partition. One array keeps them close together in the cache.
#[derive(Default)]
pub(crate) struct Credits {
    entries: Vec<Credit>,
}

odonata_checkpoint::state!(Credits { value: entries });

impl Credits {
    /// Whether another entry needs a larger ring.
    #[inline]
    pub(crate) fn is_full(ring: Ring) -> bool {
        ring.len() == ring.places() || ring.size == 0
    }

    #[inline]
    pub(crate) fn front(&self, ring: Ring) -> Option<Credit> {
        (ring.len() > 0).then(|| self.entries[ring.at(0)])
    }

    /// Entries by arrival time.
    #[inline]
    pub(crate) fn iter(&self, ring: Ring) -> impl Iterator<Item = Credit> + '_ {
        (0..ring.len()).map(move |i| self.entries[ring.at(i)])
    }

    /// Removes the first entry. The ring must not be empty.
    #[inline]
    pub(crate) fn pop(ring: &mut Ring) {
        // No modulo here: `at` masks the position.
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

    /// Moves a ring to a place of twice its size at the end of the array. The abandoned places of a ring sum to
    /// less than its new size, so nothing is compacted.
    #[cold]
    fn grow(&mut self, ring: &mut Ring) {
        let start = u32::try_from(self.entries.len()).expect("fewer than 2^32 credits are in flight");
        // Four places first; doubling keeps the copies per credit constant.
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

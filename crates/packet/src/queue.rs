//! The event queue: a time wheel with an overflow heap.
//!
//! Events are ordered by (time, key); a key names one component and one kind of event, so no two pending events
//! are equal unless one of them is stale, and the order never depends on the order of insertion.
//!
//! The wheel has 2^k buckets of 2^s ps. Events beyond it wait in a heap until the wheel reaches them. A bucket is
//! sorted when it becomes the current one; it then holds a handful of 8-byte entries, (offset in the bucket, key).
//! Invariant: every event in the heap lies at least one turn of the wheel ahead of the current bucket.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Names a component and a kind of event.
pub(crate) type Key = u32;

pub(crate) struct EventQueue {
    /// log2 of the width of a bucket in ps.
    shift: u32,
    /// Number of buckets - 1.
    mask: u64,
    buckets: Vec<Vec<u64>>,
    /// One bit per bucket that holds events.
    occupied: Vec<u64>,
    /// Sorted events of the current bucket; those before `cursor` are done.
    current: Vec<u64>,
    cursor: usize,
    now_bucket: u64,
    overflow: BinaryHeap<Reverse<(u64, Key)>>,
    /// Bucket of the earliest event in the heap.
    overflow_bucket: u64,
}

impl EventQueue {
    /// A queue of `1 << buckets_log2` buckets of `1 << shift` ps.
    pub(crate) fn new(shift: u32, buckets_log2: u32) -> Self {
        assert!(shift <= 31 && (6..=24).contains(&buckets_log2), "a wheel has 64 to 2^24 buckets of at most 2^31 ps");
        let buckets = 1usize << buckets_log2;
        Self {
            shift,
            mask: buckets as u64 - 1,
            buckets: vec![Vec::new(); buckets],
            occupied: vec![0; buckets / 64],
            current: Vec::new(),
            cursor: 0,
            now_bucket: 0,
            overflow: BinaryHeap::new(),
            overflow_bucket: u64::MAX,
        }
    }

    #[inline]
    fn entry(&self, time: u64, key: Key) -> u64 {
        let offset = time & ((1 << self.shift) - 1);
        offset << 32 | u64::from(key)
    }

    /// Adds an event. It must not be earlier than the last one popped, nor than a time up to which all were popped.
    #[inline]
    pub(crate) fn schedule(&mut self, time: u64, key: Key) {
        let bucket = time >> self.shift;
        let entry = self.entry(time, key);
        if bucket > self.now_bucket && bucket - self.now_bucket <= self.mask {
            let i = (bucket & self.mask) as usize;
            self.buckets[i].push(entry);
            self.occupied[i >> 6] |= 1 << (i & 63);
        } else {
            self.schedule_outside(bucket, time, entry, key);
        }
    }

    #[cold]
    fn schedule_outside(&mut self, bucket: u64, time: u64, entry: u64, key: Key) {
        if bucket == self.now_bucket {
            let rest = &self.current[self.cursor..];
            let at = self.cursor + rest.partition_point(|&e| e < entry);
            self.current.insert(at, entry);
        } else {
            assert!(bucket > self.now_bucket, "an event lies in the future");
            self.overflow.push(Reverse((time, key)));
            self.overflow_bucket = self.overflow_bucket.min(bucket);
        }
    }

    /// Takes the earliest event before `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: u64) -> Option<(u64, Key)> {
        loop {
            if let Some(&entry) = self.current.get(self.cursor) {
                let time = (self.now_bucket << self.shift) + (entry >> 32);
                if time >= until {
                    return None;
                }
                self.cursor += 1;
                return Some((time, entry as Key));
            }
            if !self.turn(until) {
                return None;
            }
        }
    }

    /// Whether the next event is at `time`, the time of the last one popped.
    #[inline]
    pub(crate) fn more_at(&self, time: u64) -> bool {
        let offset = time & ((1 << self.shift) - 1);
        self.current.get(self.cursor).is_some_and(|&e| e >> 32 == offset)
    }

    /// A time not later than the earliest event (the start of its bucket), or `u64::MAX` if there is none.
    pub(crate) fn earliest(&self) -> u64 {
        if let Some(&entry) = self.current.get(self.cursor) {
            return (self.now_bucket << self.shift) + (entry >> 32);
        }
        match self.next_bucket() {
            u64::MAX => u64::MAX,
            bucket => bucket << self.shift,
        }
    }

    /// Makes the next bucket with events the current one, unless it starts at `until` or later.
    fn turn(&mut self, until: u64) -> bool {
        let bucket = self.next_bucket();
        if bucket == u64::MAX || bucket << self.shift >= until {
            return false;
        }
        self.now_bucket = bucket;
        self.cursor = 0;
        self.current.clear();
        let i = (bucket & self.mask) as usize;
        std::mem::swap(&mut self.current, &mut self.buckets[i]);
        self.occupied[i >> 6] &= !(1 << (i & 63));
        if self.overflow_bucket <= bucket + self.mask {
            self.pull_overflow();
        }
        self.current.sort_unstable();
        true
    }

    #[cold]
    fn pull_overflow(&mut self) {
        while let Some(&Reverse((time, key))) = self.overflow.peek() {
            let bucket = time >> self.shift;
            if bucket > self.now_bucket + self.mask {
                self.overflow_bucket = bucket;
                return;
            }
            self.overflow.pop();
            if bucket == self.now_bucket {
                let entry = self.entry(time, key);
                self.current.push(entry);
            } else {
                self.schedule(time, key);
            }
        }
        self.overflow_bucket = u64::MAX;
    }

    /// The next bucket with events after the current one; `u64::MAX` if there is none.
    fn next_bucket(&self) -> u64 {
        let words = self.occupied.len();
        let start = ((self.now_bucket + 1) & self.mask) as usize;
        let (first, bit) = (start >> 6, start & 63);
        for step in 0..=words {
            let w = (first + step) % words;
            let mut word = self.occupied[w];
            if step == 0 {
                word &= u64::MAX << bit;
            } else if step == words {
                word &= !(u64::MAX << bit);
            }
            if word != 0 {
                let i = (w as u64) << 6 | u64::from(word.trailing_zeros());
                let ahead = i.wrapping_sub(self.now_bucket + 1) & self.mask;
                return self.now_bucket + 1 + ahead;
            }
        }
        self.overflow_bucket
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let entries: usize = self.buckets.iter().map(Vec::capacity).sum();
        8 * (entries + self.current.capacity())
            + std::mem::size_of::<Vec<u64>>() * self.buckets.len()
            + 16 * self.overflow.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::Stream;

    /// The slow twin: a binary heap.
    fn compare(shift: u32, buckets_log2: u32, farthest: u64, seed: u64) {
        let mut random = Stream::new(seed, "test", &[]);
        let mut wheel = EventQueue::new(shift, buckets_log2);
        let mut heap = BinaryHeap::new();
        let mut now = 0;
        for round in 0..3000u64 {
            for _ in 0..random.below(4) {
                let time = now + 1 + random.below(farthest);
                let key = random.below(1 << 20) as Key;
                wheel.schedule(time, key);
                heap.push(Reverse((time, key)));
            }
            let until = now + random.below(farthest / 2);
            loop {
                let expected = match heap.peek() {
                    Some(Reverse((time, _))) if *time < until => heap.pop().map(|Reverse(event)| event),
                    _ => None,
                };
                assert!(heap.is_empty() || wheel.earliest() <= expected.map_or(u64::MAX, |e| e.0));
                let found = wheel.pop(until);
                assert_eq!(found, expected, "round {round}, before {until}");
                match found {
                    Some((time, _)) => {
                        now = time;
                        let same = heap.peek().is_some_and(|Reverse((t, _))| *t == time);
                        assert_eq!(wheel.more_at(time), same);
                    }
                    None => break,
                }
            }
            // What comes in between two calls is not before the end of the first.
            now = now.max(until.saturating_sub(1));
        }
    }

    #[test]
    fn pops_in_the_order_of_a_heap() {
        for seed in 0..4 {
            compare(4, 6, 300, seed);
            compare(4, 6, 5_000, seed);
            compare(10, 9, 100_000_000, seed);
            compare(0, 6, 50, seed);
        }
    }
}

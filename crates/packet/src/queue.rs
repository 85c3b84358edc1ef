//! The event queue: a time wheel with an overflow heap.
//!
//! Every component has a key and at most one pending event. Moving the event earlier replaces it. Events
//! are ordered by (time, key), so their order never depends on the order of insertion.
//!
//! The wheel has 2^k buckets of 2^s ps. A bucket is a list that links the slots of its keys. A bucket takes
//! 4 bytes and a key 16 bytes, so the wheel of a group of routers stays in the first-level cache. A bucket
//! is sorted when it becomes the current one. It then holds a few 8-byte entries (offset in the bucket,
//! key). Events beyond the wheel wait in a heap until the wheel reaches them.
//!
//! An entry of the current bucket or of the heap is stale if the slot of its key has a different time.
//! Invariant: every valid event in the heap lies at least one turn of the wheel ahead of the current
//! bucket.

use odonata_checkpoint::{DecodeError, Reader, State, Writer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of a component.
pub(crate) type Key = u32;

/// End of a list.
const NONE: u32 = u32::MAX;
/// Instead of the next key: the event is in no list.
const UNLISTED: u32 = u32::MAX - 1;

/// Pending event of one key.
#[derive(Clone, Copy)]
struct Slot {
    /// Time of the event; `u64::MAX` if there is none.
    time: u64,
    /// Next key of the bucket's list, `NONE` or `UNLISTED`.
    next: u32,
    /// Number of the component's owner.
    owner: u32,
}

pub(crate) struct EventQueue {
    /// log2 of the width of a bucket in ps.
    shift: u32,
    /// Number of buckets - 1.
    mask: u64,
    /// First key of each bucket.
    buckets: Vec<u32>,
    /// One bit per bucket; set if the bucket holds events.
    occupied: Vec<u64>,
    slots: Vec<Slot>,
    /// Sorted events of the current bucket; entries before `cursor` are done.
    current: Vec<u64>,
    cursor: usize,
    now_bucket: u64,
    overflow: BinaryHeap<Reverse<(u64, Key)>>,
    /// Bucket of the earliest event in the heap.
    overflow_bucket: u64,
}

impl EventQueue {
    /// Creates a queue of `1 << buckets_log2` buckets of `1 << shift` ps. `owners` lists the owner of every
    /// key.
    pub(crate) fn new(shift: u32, buckets_log2: u32, owners: impl Iterator<Item = u32>) -> Self {
        // One slot per key bounds the memory for any number of moves.
        let slots: Vec<Slot> = owners.map(|owner| Slot { time: u64::MAX, next: UNLISTED, owner }).collect();
        assert!(shift <= 31 && (6..=24).contains(&buckets_log2), "a wheel has 64 to 2^24 buckets of at most 2^31 ps");
        assert!(slots.len() < UNLISTED as usize, "keys fit in 32 bits");
        let buckets = 1usize << buckets_log2;
        Self {
            shift,
            mask: buckets as u64 - 1,
            buckets: vec![NONE; buckets],
            occupied: vec![0; buckets / 64],
            slots,
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

    /// Moves the event of `key` to `time` unless it is earlier already. `time` must not precede the last popped
    /// event, nor a time up to which everything was popped.
    #[inline]
    pub(crate) fn wake(&mut self, time: u64, key: Key) {
        let slot = &mut self.slots[key as usize];
        if slot.time <= time {
            return;
        }
        // Nearly all events are new and lie within the wheel. This path looks up the slot only once.
        let bucket = time >> self.shift;
        // One comparison tests both ends of the wheel: earlier buckets wrap around to large values.
        if slot.next != UNLISTED || bucket.wrapping_sub(self.now_bucket).wrapping_sub(1) >= self.mask {
            return self.wake_again(time, key);
        }
        let i = (bucket & self.mask) as usize;
        slot.time = time;
        slot.next = std::mem::replace(&mut self.buckets[i], key);
        self.occupied[i >> 6] |= 1 << (i & 63);
    }

    /// Cancels the event of `key`, if there is one.
    pub(crate) fn cancel(&mut self, key: Key) {
        if self.slots[key as usize].next != UNLISTED {
            self.unlist(key);
        }
        let slot = &mut self.slots[key as usize];
        (slot.time, slot.next) = (u64::MAX, UNLISTED);
    }

    /// Moves the event of `key`, or stores it outside the wheel. Rare, so it stays out of the hot path.
    #[inline(never)]
    fn wake_again(&mut self, time: u64, key: Key) {
        if self.slots[key as usize].next != UNLISTED {
            self.unlist(key);
        }
        self.insert(time, key);
    }

    #[inline]
    fn insert(&mut self, time: u64, key: Key) {
        let bucket = time >> self.shift;
        if bucket.wrapping_sub(self.now_bucket).wrapping_sub(1) < self.mask {
            let i = (bucket & self.mask) as usize;
            let slot = &mut self.slots[key as usize];
            slot.time = time;
            slot.next = std::mem::replace(&mut self.buckets[i], key);
            self.occupied[i >> 6] |= 1 << (i & 63);
        } else {
            self.insert_outside(time, key);
        }
    }

    #[inline(never)]
    fn insert_outside(&mut self, time: u64, key: Key) {
        let bucket = time >> self.shift;
        let slot = &mut self.slots[key as usize];
        (slot.time, slot.next) = (time, UNLISTED);
        if bucket == self.now_bucket {
            // Its bucket is sorted already: insert it in place.
            let entry = self.entry(time, key);
            let rest = &self.current[self.cursor..];
            let at = self.cursor + rest.partition_point(|&e| e < entry);
            self.current.insert(at, entry);
        } else {
            assert!(bucket > self.now_bucket, "an event lies in the future");
            self.overflow.push(Reverse((time, key)));
            self.overflow_bucket = self.overflow_bucket.min(bucket);
        }
    }

    /// Removes a key from the list of its bucket.
    #[inline]
    fn unlist(&mut self, key: Key) {
        let slot = self.slots[key as usize];
        let i = ((slot.time >> self.shift) & self.mask) as usize;
        if self.buckets[i] == key {
            self.buckets[i] = slot.next;
            if slot.next == NONE {
                self.occupied[i >> 6] &= !(1 << (i & 63));
            }
            return;
        }
        // Lists are short, so a search for the predecessor beats a second link.
        let mut before = self.buckets[i];
        while self.slots[before as usize].next != key {
            before = self.slots[before as usize].next;
        }
        self.slots[before as usize].next = slot.next;
    }

    /// Removes and returns the earliest event before `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: u64) -> Option<(u64, Key)> {
        loop {
            if let Some(&entry) = self.current.get(self.cursor) {
                let time = (self.now_bucket << self.shift) + (entry >> 32);
                if time >= until {
                    return None;
                }
                self.cursor += 1;
                let slot = &mut self.slots[entry as u32 as usize];
                if slot.time == time {
                    slot.time = u64::MAX;
                    return Some((time, entry as Key));
                }
            } else if let Some(found) = self.turn(until)? {
                return Some(found);
            }
        }
    }

    /// Whether no other event at `time` belongs to a component of `owner`. `time` is the time of the last
    /// popped event.
    #[inline]
    pub(crate) fn is_alone(&self, time: u64, owner: u32) -> bool {
        let offset = time & ((1 << self.shift) - 1);
        let rest = self.current.get(self.cursor..).unwrap_or(&[]);
        // The list is sorted by time, so only its start can be at this instant.
        rest.iter().take_while(|&&entry| entry >> 32 == offset).all(|&entry| {
            let slot = &self.slots[entry as u32 as usize];
            slot.owner != owner || slot.time != time
        })
    }

    /// Whether the next event is at `time`, the time of the last popped event.
    #[inline]
    pub(crate) fn has_more_at(&mut self, time: u64) -> bool {
        let offset = time & ((1 << self.shift) - 1);
        while let Some(&entry) = self.current.get(self.cursor) {
            if entry >> 32 != offset {
                return false;
            }
            if self.slots[entry as u32 as usize].time == time {
                return true;
            }
            self.cursor += 1;
        }
        false
    }

    /// A lower bound of the earliest event (the start of its bucket), or `u64::MAX` if there is none.
    pub(crate) fn earliest(&mut self) -> u64 {
        while let Some(&entry) = self.current.get(self.cursor) {
            let time = (self.now_bucket << self.shift) + (entry >> 32);
            if self.slots[entry as u32 as usize].time == time {
                return time;
            }
            self.cursor += 1;
        }
        if self.next_bucket() == self.overflow_bucket {
            self.drop_stale();
        }
        match self.next_bucket() {
            u64::MAX => u64::MAX,
            bucket => bucket << self.shift,
        }
    }

    /// Removes the first events of the heap that were moved or cancelled. A run without events ends at once, so none
    /// of them may look like an event.
    fn drop_stale(&mut self) {
        while let Some(&Reverse((time, key))) = self.overflow.peek() {
            let slot = self.slots[key as usize];
            if slot.time == time && slot.next == UNLISTED {
                break;
            }
            self.overflow.pop();
        }
        self.overflow_bucket = self.overflow.peek().map_or(u64::MAX, |Reverse((time, _))| time >> self.shift);
    }

    /// Makes the next bucket with events the current one, unless it starts at `until` or later. A bucket with a
    /// single event returns that event at once: most buckets have one, and it needs no sorting.
    #[inline]
    #[allow(clippy::option_option)]
    fn turn(&mut self, until: u64) -> Option<Option<(u64, Key)>> {
        let bucket = self.next_bucket();
        if bucket == u64::MAX || bucket << self.shift >= until {
            return None;
        }
        self.now_bucket = bucket;
        self.cursor = 0;
        self.current.clear();
        // The wheel has reached events of the heap.
        if self.overflow_bucket <= bucket + self.mask {
            self.pull_overflow();
        }
        let i = (bucket & self.mask) as usize;
        let mut key = std::mem::replace(&mut self.buckets[i], NONE);
        self.occupied[i >> 6] &= !(1 << (i & 63));
        if key == NONE {
            self.current.sort_unstable();
            return Some(None);
        }
        let slot = &mut self.slots[key as usize];
        // A single event needs no list and no sorting.
        if slot.next == NONE && slot.time < until && self.current.is_empty() {
            slot.next = UNLISTED;
            return Some(Some((std::mem::replace(&mut slot.time, u64::MAX), key)));
        }
        let start = bucket << self.shift;
        while key != NONE {
            let slot = &mut self.slots[key as usize];
            self.current.push((slot.time - start) << 32 | u64::from(key));
            key = std::mem::replace(&mut slot.next, UNLISTED);
        }
        if self.current.len() > 1 {
            self.current.sort_unstable();
        }
        Some(None)
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
            let slot = self.slots[key as usize];
            // Stale: the event was moved or popped.
            if slot.time != time || slot.next != UNLISTED {
                continue;
            }
            if bucket == self.now_bucket {
                let entry = self.entry(time, key);
                // An event that was moved earlier and back has two entries in the heap.
                if !self.current.contains(&entry) {
                    self.current.push(entry);
                }
            } else {
                self.insert(time, key);
            }
        }
        self.overflow_bucket = u64::MAX;
    }

    /// The next bucket with events after the current one; `u64::MAX` if there is none.
    #[inline]
    fn next_bucket(&self) -> u64 {
        let words = self.occupied.len();
        let start = ((self.now_bucket + 1) & self.mask) as usize;
        let (first, bit) = (start >> 6, start & 63);
        // The next event is mostly in the same word.
        let word = self.occupied[first] >> bit;
        if word != 0 {
            return self.now_bucket + 1 + u64::from(word.trailing_zeros());
        }
        // All other words, and at the end of the turn the rest of the first word.
        for step in 1..=words {
            let w = (first + step) & (words - 1);
            let mut word = self.occupied[w];
            if step == words {
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

    /// Pending events, by key.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (Key, u64)> + '_ {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.time != u64::MAX).map(|(key, slot)| (key, slot.time))
    }

    /// Bytes in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        4 * self.buckets.capacity()
            + 8 * (self.occupied.capacity() + self.current.capacity())
            + std::mem::size_of::<Slot>() * self.slots.capacity()
            + 16 * self.overflow.capacity()
    }
}

/// Saves events by key. Their places in the wheel follow from their times.
impl State for EventQueue {
    fn save(&self, into: &mut Writer) {
        let pending: Vec<(Key, u64)> = self.pending().collect();
        // Stale entries of the heap decide when it is looked at, so they belong to the state.
        let stale = self.overflow.iter().filter(|Reverse((time, key))| self.slots[*key as usize].time != *time);
        let mut stale: Vec<(u64, Key)> = stale.map(|Reverse(entry)| *entry).collect();
        stale.sort_unstable();
        into.put(&(self.now_bucket, pending, stale, self.overflow_bucket));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let (now_bucket, pending): (u64, Vec<(Key, u64)>) = from.get()?;
        let (stale, overflow_bucket): (Vec<(u64, Key)>, u64) = from.get()?;
        self.now_bucket = now_bucket;
        for (key, time) in pending {
            if key as usize >= self.slots.len() || time >> self.shift < now_bucket {
                return Err(DecodeError(format!("an event {key} at {time} ps")));
            }
            self.insert(time, key);
        }
        if stale.iter().any(|(_, key)| *key as usize >= self.slots.len()) {
            return Err(DecodeError("an event of nobody".into()));
        }
        self.overflow.extend(stale.into_iter().map(Reverse));
        self.overflow_bucket = overflow_bucket;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::Stream;
    use std::collections::BTreeMap;

    /// The slow twin: a map with the time of every key, searched in full.
    fn compare(shift: u32, buckets_log2: u32, farthest: u64, seed: u64) {
        const KEYS: u64 = 40;
        let mut random = Stream::new(seed, "test", &[]);
        let mut wheel = EventQueue::new(shift, buckets_log2, (0..KEYS as u32).map(|key| key % 3));
        let mut pending: BTreeMap<Key, u64> = BTreeMap::new();
        let mut now = 0;
        let mut popped = 0;
        for round in 0..3000u64 {
            for _ in 0..random.below(6) {
                let time = now + 1 + random.below(farthest);
                let key = random.below(KEYS) as Key;
                wheel.wake(time, key);
                let at = pending.entry(key).or_insert(time);
                *at = time.min(*at);
            }
            let until = now + random.below(farthest / 2);
            loop {
                let expected = pending.iter().map(|(&key, &time)| (time, key)).min();
                let (earliest, next) = (wheel.earliest(), expected.map_or(u64::MAX, |e| e.0));
                assert!(earliest <= next && earliest >> shift == next >> shift, "{earliest} for {next}");
                let expected = expected.filter(|e| e.0 < until);
                let found = wheel.pop(until);
                assert_eq!(found, expected, "round {round}, before {until}");
                let Some((time, key)) = found else { break };
                pending.remove(&key);
                now = time;
                popped += 1;
                for owner in 0..3 {
                    let other = pending.iter().any(|(&key, &t)| t == time && key % 3 == owner);
                    assert_eq!(wheel.is_alone(time, owner), !other);
                }
                assert_eq!(wheel.has_more_at(time), pending.values().any(|&t| t == time));
                // An event that does not happen.
                if random.chance(0.1) {
                    let cancelled = random.below(KEYS) as Key;
                    wheel.cancel(cancelled);
                    pending.remove(&cancelled);
                }
                // A component wakes itself and others at once, also at times that others had before.
                if random.chance(0.3) {
                    let again = [time + 1, time + farthest][random.index(2)];
                    wheel.wake(again, key);
                    pending.insert(key, again);
                }
            }
            // Events inserted between two calls lie after the end of the first call.
            now = now.max(until.saturating_sub(1));
        }
        assert!(popped > 1_000, "{popped}");
    }

    #[test]
    fn pops_in_order_of_time_and_key() {
        for seed in 0..4 {
            compare(4, 6, 300, seed);
            compare(4, 6, 5_000, seed);
            compare(10, 9, 100_000_000, seed);
            compare(0, 6, 50, seed);
        }
    }
}

//! Packets, their pool, and first-in-first-out lists of them.
//!
//! A packet sits in exactly one list at a time (a link, an input channel, an output channel), so one `next` field
//! links all lists and moving a packet allocates nothing.

use odonata_routing::algorithm::Header;

/// No packet.
pub(crate) const NONE: u32 = u32::MAX;

/// One packet; 80 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// When the source made it.
    pub(crate) birth: u64,
    /// When its head left the source's network interface.
    pub(crate) inject: u64,
    /// When its head reaches or reached the router (or node) at the end of the link it is or was on.
    pub(crate) arrived: u64,
    /// The same for the router before.
    pub(crate) previous: u64,
    /// When it may leave its output at the earliest.
    pub(crate) ready: u64,
    pub(crate) header: Header,
    pub(crate) size: u32,
    pub(crate) next: u32,
    /// What the router where it is expected when it decided; NaN where nothing is to be told.
    pub(crate) estimate: f32,
    /// Tag of the endpoint.
    pub(crate) message: u32,
    pub(crate) job: u16,
    /// Port chosen at the router where it is.
    pub(crate) out_port: u16,
    pub(crate) out_vc: u8,
}

/// All packets of a partition. Slots are reused, the last freed first, so that they stay in the cache.
#[derive(Default)]
pub(crate) struct Pool {
    slots: Vec<Packet>,
    free: Vec<u32>,
}

impl Pool {
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = packet;
                slot
            }
            None => {
                self.slots.push(packet);
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 packets are in flight")
            }
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) -> Packet {
        self.free.push(slot);
        self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Packet {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.slots[slot as usize]
    }

    /// Packets in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Most packets ever in use.
    pub(crate) fn peak(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * std::mem::size_of::<Packet>() + 4 * self.free.capacity()
    }
}

/// A list of packets, linked through their `next` fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    pub(crate) head: u32,
    tail: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl Fifo {
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }

    #[inline]
    pub(crate) fn push(&mut self, slot: u32, pool: &mut Pool) {
        pool.get_mut(slot).next = NONE;
        if self.head == NONE {
            self.head = slot;
        } else {
            pool.get_mut(self.tail).next = slot;
        }
        self.tail = slot;
    }

    /// Takes the first packet.
    #[inline]
    pub(crate) fn pop(&mut self, pool: &Pool) -> u32 {
        let slot = self.head;
        debug_assert!(slot != NONE);
        self.head = pool.get(slot).next;
        slot
    }
}

//! The ways of packets under way.
//!
//! A packet moves between partitions and carries no room for its way, which only few runs record. So ways live beside
//! them, under a key that no two packets share: the source and the time at which the head left it, as a source sends
//! one packet at a time. Shards keep threads apart; a packet is in one place at a time, so its hops are added in order
//! whatever the threads do. The memory is that of the packets under way.

use crate::packet::Packet;
use std::collections::HashMap;
use std::sync::Mutex;

/// One link of a way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathHop {
    /// Global number of the port that sent the packet.
    pub port: u32,
    /// Virtual channel.
    pub vc: u8,
}

const SHARDS: usize = 64;

/// Ways by (source, time of leaving it).
#[derive(Default)]
struct Shard(Mutex<HashMap<(u32, u64), Vec<PathHop>>>);

pub(crate) struct Paths {
    shards: Vec<Shard>,
}

impl Paths {
    pub(crate) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    fn shard(&self, packet: &Packet) -> std::sync::MutexGuard<'_, HashMap<(u32, u64), Vec<PathHop>>> {
        let source = packet.header.source.0 as usize;
        self.shards[source % SHARDS].0.lock().expect("no thread panicked")
    }

    /// Adds the port that sends a packet, the one that leads to its node included.
    pub(crate) fn add(&self, packet: &Packet, hop: PathHop) {
        self.shard(packet).entry((packet.header.source.0, packet.inject)).or_default().push(hop);
    }

    /// The way of a packet that has arrived, without the port that led to its node.
    pub(crate) fn take(&self, packet: &Packet) -> Vec<PathHop> {
        let mut path = self.shard(packet).remove(&(packet.header.source.0, packet.inject)).unwrap_or_default();
        path.pop();
        path
    }
}

//! Runs ranks without time, for tests. Every send waits for its receive, so programs that need a buffer block.
//!
//! Messages carry what their sender knew when it sent. At first a rank knows itself. It learns the content of a message
//! when it has waited for it.

use crate::call::Call;
use odonata_units::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Slot of blocking calls.
const BLOCKING: u32 = u32::MAX;

/// A received message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Message {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: u64,
    pub(crate) tag: u32,
}

/// Results of the run.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) messages: Vec<Message>,
    known: Vec<BTreeSet<u32>>,
}

impl Report {
    /// Messages and bytes of all.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.messages.len() as u64, self.messages.iter().map(|message| message.bytes).sum())
    }

    pub(crate) fn sends_of(&self, rank: u32) -> u64 {
        self.messages.iter().filter(|message| message.from == rank).count() as u64
    }

    pub(crate) fn bytes_of(&self, rank: u32) -> u64 {
        self.messages.iter().filter(|message| message.from == rank).map(|message| message.bytes).sum()
    }

    pub(crate) fn received_by(&self, rank: u32) -> u64 {
        self.messages.iter().filter(|message| message.to == rank).map(|message| message.bytes).sum()
    }

    pub(crate) fn knows(&self, rank: u32, of: u32) -> bool {
        self.known[rank as usize].contains(&of)
    }
}

#[derive(Clone, Debug)]
enum Request {
    Open,
    /// With the content of the message.
    Done(BTreeSet<u32>),
}

/// Requests on one side of a channel, for sends with the content.
type PostQueue = VecDeque<(u32, Bytes, BTreeSet<u32>)>;

/// Source, target, tag, communicator.
type Channel = (u32, u32, u32, u16);

#[derive(Debug)]
struct World {
    requests: Vec<BTreeMap<u32, Request>>,
    known: Vec<BTreeSet<u32>>,
    sends: BTreeMap<Channel, PostQueue>,
    receives: BTreeMap<Channel, PostQueue>,
    messages: Vec<Message>,
}

/// Runs all ranks to their end. `next` returns the next call of a rank, with ranks of the job and without collectives.
///
/// # Panics
/// If ranks block, sizes differ, or a message or a request remains.
pub(crate) fn run(ranks: u32, next: &mut dyn FnMut(u32) -> Option<Call>) -> Report {
    let mut world = World {
        requests: vec![BTreeMap::new(); ranks as usize],
        known: (0..ranks).map(|rank| BTreeSet::from([rank])).collect(),
        sends: BTreeMap::new(),
        receives: BTreeMap::new(),
        messages: Vec::new(),
    };
    // Slots that each rank waits for.
    let mut waits: Vec<Option<(Call, Vec<u32>)>> = vec![None; ranks as usize];
    let mut ended = vec![false; ranks as usize];
    let mut moved = true;
    while moved {
        moved = false;
        for rank in 0..ranks {
            loop {
                if let Some((_, slots)) = &waits[rank as usize] {
                    if !world.finish(rank, slots) {
                        break;
                    }
                    waits[rank as usize] = None;
                    moved = true;
                }
                let Some(call) = next(rank) else {
                    moved |= !ended[rank as usize];
                    ended[rank as usize] = true;
                    break;
                };
                moved = true;
                waits[rank as usize] = Some((call, world.begin(rank, call)));
            }
        }
    }
    let stuck: Vec<_> = (0..ranks).filter(|&rank| !ended[rank as usize]).collect();
    assert!(stuck.is_empty(), "stuck: {:?}", stuck.iter().map(|&r| (r, &waits[r as usize])).collect::<Vec<_>>());
    assert!(world.sends.values().chain(world.receives.values()).all(VecDeque::is_empty), "nothing is left over");
    assert!(world.requests.iter().all(BTreeMap::is_empty), "every request is waited for");
    Report { messages: world.messages, known: world.known }
}

impl World {
    /// Starts a call. Returns the slots that it waits for.
    fn begin(&mut self, rank: u32, call: Call) -> Vec<u32> {
        match call {
            Call::Send { to, bytes, tag, communicator } => {
                self.send(rank, BLOCKING, bytes, (rank, to, tag, communicator));
                vec![BLOCKING]
            }
            Call::Recv { from, bytes, tag, communicator } => {
                self.receive(rank, BLOCKING, bytes, (from, rank, tag, communicator));
                vec![BLOCKING]
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                self.send(rank, request, bytes, (rank, to, tag, communicator));
                Vec::new()
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                self.receive(rank, request, bytes, (from, rank, tag, communicator));
                Vec::new()
            }
            Call::Put { to, bytes } => {
                self.messages.push(Message { from: rank, to, bytes: bytes.0, tag: 0 });
                Vec::new()
            }
            Call::Get { from, bytes } => {
                self.messages.push(Message { from, to: rank, bytes: bytes.0, tag: 0 });
                Vec::new()
            }
            Call::Wait { request } => vec![request],
            Call::WaitAll { first, count } => {
                let used = self.requests[rank as usize].keys().copied();
                used.filter(|slot| (first..first + count).contains(slot)).collect()
            }
            Call::Compute { .. } | Call::Sleep { .. } | Call::WaitUntil { .. } | Call::Mark { .. } | Call::Round => {
                Vec::new()
            }
            other => panic!("{other:?} is not for an untimed run"),
        }
    }

    /// Frees the slots if all are complete. Returns whether they are.
    fn finish(&mut self, rank: u32, slots: &[u32]) -> bool {
        let requests = &mut self.requests[rank as usize];
        if slots.iter().any(|slot| matches!(requests[slot], Request::Open)) {
            return false;
        }
        for slot in slots {
            if let Some(Request::Done(carried)) = requests.remove(slot) {
                self.known[rank as usize].extend(carried);
            }
        }
        true
    }

    fn open(&mut self, rank: u32, slot: u32) {
        let before = self.requests[rank as usize].insert(slot, Request::Open);
        assert!(before.is_none(), "rank {rank} uses slot {slot} twice");
    }

    fn send(&mut self, rank: u32, slot: u32, bytes: Bytes, channel: Channel) {
        self.open(rank, slot);
        let carried = self.known[rank as usize].clone();
        self.sends.entry(channel).or_default().push_back((slot, bytes, carried));
        self.meet(channel);
    }

    fn receive(&mut self, rank: u32, slot: u32, bytes: Bytes, channel: Channel) {
        self.open(rank, slot);
        self.receives.entry(channel).or_default().push_back((slot, bytes, BTreeSet::new()));
        self.meet(channel);
    }

    fn meet(&mut self, channel: Channel) {
        let (sends, receives) = (self.sends.entry(channel).or_default(), self.receives.entry(channel).or_default());
        if sends.is_empty() || receives.is_empty() {
            return;
        }
        let (send, bytes, carried) = sends.pop_front().expect("not empty");
        let (receive, room, _) = receives.pop_front().expect("not empty");
        let (from, to, tag, _) = channel;
        assert_eq!(bytes, room, "{from} sends {to} a size that it does not expect, tag {tag}");
        self.requests[from as usize].insert(send, Request::Done(BTreeSet::new()));
        self.requests[to as usize].insert(receive, Request::Done(carried));
        self.messages.push(Message { from, to, bytes: bytes.0, tag });
    }
}

/// The interpreter itself: two ranks that both send first block.
#[test]
#[should_panic(expected = "stuck")]
fn two_that_send_first_are_stuck() {
    let mut learned = [false; 2];
    run(2, &mut |rank| {
        let first = !std::mem::replace(&mut learned[rank as usize], true);
        first.then_some(Call::Send { to: 1 - rank, bytes: Bytes(1), tag: 0, communicator: 0 })
    });
}

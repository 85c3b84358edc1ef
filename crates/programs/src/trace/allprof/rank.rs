//! The calls of a rank from its lines.

use super::super::compute_times::ComputeTimes;
use super::super::rank::{Member, RankTrace, EXCLUDED, SLOTS};
use super::communicators::{creation, Handles, NewCommunicator};
use super::ignored::{self, NO_COUNTS};
use super::layout::{bytes, is_collective};
use crate::call::{Call, ANY};
use odonata_trace::allprof::{AllprofCall, AllprofCommunicator};
use odonata_trace::Survey;
use odonata_units::Bytes;
use std::collections::HashMap;

/// First bytes of MPICH's handles of communicators: predefined and others. Other libraries have addresses or small numbers.
const MPICH_HANDLES: [u64; 2] = [0x44, 0x84];

/// Sizes of a request in C on 64 bits, and in MPICH and Fortran.
const REQUEST_SIZES: [u64; 2] = [8, 4];

/// A message as a line shows it.
#[derive(Clone, Copy, Debug)]
struct Message {
    is_send: bool,
    peer: i64,
    bytes: u64,
    tag: i64,
    communicator: AllprofCommunicator,
}

/// A request by its address.
#[derive(Clone, Copy, Debug)]
enum Request {
    Active {
        slot: u32,
        order: u64,
    },
    /// `active` while it is started.
    Persistent {
        message: Message,
        active: Option<(u32, u64)>,
    },
}

/// Makes calls of the lines of a rank.
pub(super) struct RankCalls<'a> {
    pub(super) trace: RankTrace,
    rank: u32,
    ranks: u32,
    handles: Handles,
    created: std::vec::IntoIter<Option<NewCommunicator>>,
    requests: HashMap<u64, Request>,
    /// Number of requests so far.
    count: u64,
    /// End of the latest call, in us.
    latest_us: Option<f64>,
    survey: &'a mut Survey,
}

impl<'a> RankCalls<'a> {
    pub(super) fn new(
        rank: u32,
        ranks: u32,
        times: ComputeTimes,
        created: Vec<Option<NewCommunicator>>,
        survey: &'a mut Survey,
    ) -> Self {
        let mut trace = RankTrace::new(rank, ranks, times);
        trace.push(Call::Mark { phase: 0 });
        Self {
            trace,
            rank,
            ranks,
            handles: Handles::new(),
            created: created.into_iter(),
            requests: HashMap::new(),
            count: 0,
            latest_us: None,
            survey,
        }
    }

    pub(super) fn end(self) -> RankTrace {
        self.trace
    }

    /// Handles a line.
    pub(super) fn follow(&mut self, call: &AllprofCall<'_>) -> Result<(), String> {
        self.trace.line = u32::try_from(call.line).unwrap_or(u32::MAX);
        if let (Some(before), Some(start)) = (self.latest_us, call.start_us) {
            if before < start {
                self.trace.compute_ps((start - before) * 1e6)?;
            }
        }
        if let Some(end) = call.end_us {
            self.latest_us = Some(self.latest_us.map_or(end, |latest| latest.max(end)));
        }
        let is_used = self.replay(call)?;
        let why = match is_used {
            None => ignored::why(call.name),
            Some(false) if is_collective(call.name) && self.trace.here.ranks > 1 => NO_COUNTS,
            Some(_) => ignored::simplified(call.name),
        };
        self.survey.count(&format!("MPI_{}", call.name), is_used == Some(true), why);
        Ok(())
    }

    /// Replays a call. Returns whether it has an effect, or `None` for calls that are never replayed.
    fn replay(&mut self, call: &AllprofCall<'_>) -> Result<Option<bool>, String> {
        let is_used = match call.name {
            "Init" | "Init_thread" | "Finalize" => true,
            "Send" | "Bsend" | "Ssend" | "Rsend" | "Recv" => self.blocking(message(call, call.name != "Recv")?)?,
            "Isend" | "Ibsend" | "Issend" | "Irsend" | "Irecv" => {
                let address = call.address(6)?;
                let slot = self.begin(message(call, call.name != "Irecv")?)?;
                slot.into_iter().for_each(|slot| self.started(address, slot));
                slot.is_some()
            }
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Recv_init" => {
                let message = message(call, call.name != "Recv_init")?;
                self.requests.insert(call.address(6)?, Request::Persistent { message, active: None });
                true
            }
            "Start" => self.start(&[call.address(0)?])?,
            "Startall" => {
                let found = self.in_array(call.number(0)?, call.address(1)?, true);
                self.start(&found)?
            }
            "Sendrecv" | "Sendrecv_replace" => self.exchange(call)?,
            "Wait" => self.wait(&[call.address(0)?]),
            "Waitall" => {
                let all = self.waited(call)?;
                self.wait(&all)
            }
            "Waitany" | "Waitsome" => {
                let oldest: Vec<u64> = self.waited(call)?.into_iter().take(1).collect();
                self.wait(&oldest)
            }
            "Request_free" => self.requests.remove(&call.address(0)?).is_some(),
            name if is_collective(name) => self.collective(call)?,
            _ => match creation(call)? {
                Some(_) => self.create(call.communicator(0)?)?,
                None => return Ok(None),
            },
        };
        Ok(Some(is_used))
    }

    /// Goes to the communicator of a call.
    pub(super) fn go_to(&mut self, seen: AllprofCommunicator) -> Result<(), String> {
        let found = self.handles.find(seen, self.rank, self.ranks)?;
        let member = self.trace.members.get(&found.number).copied();
        self.trace.here = member.ok_or_else(|| format!("communicator {}, which was freed", seen.handle))?;
        Ok(())
    }

    fn create(&mut self, old: AllprofCommunicator) -> Result<bool, String> {
        self.go_to(old)?;
        let communicator = self.trace.here.slot;
        let Some(created) = self.created.next().flatten() else {
            let color = u32::MAX - 1 - self.rank;
            self.trace.push(Call::CommSplit { communicator, new: EXCLUDED, color, key: 0 });
            self.trace.push(Call::CommFree { communicator: EXCLUDED });
            return Ok(true);
        };
        let NewCommunicator { number, event, ranks, rank } = created;
        // Communicators of one creation have no rank in common, so they share a slot.
        let slot = EXCLUDED + event as u16;
        if event > SLOTS {
            return Err(format!("more than {SLOTS} communicators; the trace does not say which ones are freed"));
        }
        self.trace.push(Call::CommSplit { communicator, new: slot, color: number, key: rank });
        let member = Member { number, slot, ranks, rank };
        self.trace.made.insert(number, (member, self.trace.line));
        self.trace.members.insert(number, member);
        self.handles.add(created);
        Ok(true)
    }

    /// Peer, tag and communicator of a message. `None` for no rank.
    fn addressed(&mut self, message: Message) -> Result<Option<(u32, u32, u16)>, String> {
        self.go_to(message.communicator)?;
        let is_mpich = MPICH_HANDLES.contains(&(message.communicator.handle >> 24));
        let (any, none) = if is_mpich { (-2, -1) } else { (-1, -2) };
        let ranks = self.trace.here.ranks;
        let peer = match message.peer {
            peer if peer == none => return Ok(None),
            peer if peer == any && !message.is_send => ANY,
            peer => u32::try_from(peer)
                .ok()
                .filter(|&peer| peer < ranks)
                .ok_or_else(|| format!("rank {peer} of a communicator of {ranks} ranks, which count from 0"))?,
        };
        let tag = match message.tag {
            -1 if !message.is_send => ANY,
            tag => u32::try_from(tag).map_err(|_| format!("tag {tag}; expected 0 or more"))?,
        };
        Ok(Some((peer, tag, self.trace.here.slot)))
    }

    fn blocking(&mut self, message: Message) -> Result<bool, String> {
        let Some((peer, tag, communicator)) = self.addressed(message)? else { return Ok(false) };
        let bytes = Bytes(message.bytes);
        self.trace.push(match message.is_send {
            true => Call::Send { to: peer, bytes, tag, communicator },
            false => Call::Recv { from: peer, bytes, tag, communicator },
        });
        Ok(true)
    }

    /// Starts a message; returns its slot.
    fn begin(&mut self, message: Message) -> Result<Option<u32>, String> {
        let Some((peer, tag, communicator)) = self.addressed(message)? else { return Ok(None) };
        let (bytes, request) = (Bytes(message.bytes), self.trace.take_slot());
        self.trace.push(match message.is_send {
            true => Call::Isend { to: peer, bytes, tag, communicator, request },
            false => Call::Irecv { from: peer, bytes, tag, communicator, request },
        });
        Ok(Some(request))
    }

    /// Remembers the request of a slot. At the address of an open one: a test found that one complete, or the program
    /// dropped it.
    pub(super) fn started(&mut self, address: u64, slot: u32) {
        self.wait(&[address]);
        self.count += 1;
        self.requests.insert(address, Request::Active { slot, order: self.count });
    }

    fn start(&mut self, addresses: &[u64]) -> Result<bool, String> {
        for &address in addresses {
            let Some(&Request::Persistent { message, active }) = self.requests.get(&address) else {
                return Err(
                    "a start of a request that is not persistent; expected a line like MPI_Send_init before".into()
                );
            };
            // A test found it complete.
            if active.is_some() {
                self.wait(&[address]);
            }
            self.count += 1;
            let active = self.begin(message)?.map(|slot| (slot, self.count));
            self.requests.insert(address, Request::Persistent { message, active });
        }
        Ok(!addresses.is_empty())
    }

    fn exchange(&mut self, call: &AllprofCall<'_>) -> Result<bool, String> {
        let (sent, received) = match call.name {
            "Sendrecv" => {
                let communicator = call.communicator(10)?;
                let of = |is_send, at: usize| -> Result<Message, String> {
                    let (peer, tag) = (call.number(at + 3)?, call.number(at + 4)?);
                    Ok(Message { is_send, peer, bytes: bytes(call, at + 1)?, tag, communicator })
                };
                (of(true, 0)?, of(false, 5)?)
            }
            _ => {
                let (bytes, communicator) = (bytes(call, 1)?, call.communicator(7)?);
                let of = |is_send, at: usize| -> Result<Message, String> {
                    Ok(Message { is_send, peer: call.number(at)?, bytes, tag: call.number(at + 1)?, communicator })
                };
                (of(true, 3)?, of(false, 5)?)
            }
        };
        let slots = [self.begin(received)?, self.begin(sent)?];
        for slot in slots.into_iter().flatten() {
            self.trace.push(Call::Wait { request: slot });
            self.trace.free_slots([slot]);
        }
        Ok(slots.iter().any(Option::is_some))
    }

    /// Open requests of a wait for several, the oldest first.
    fn waited(&self, call: &AllprofCall<'_>) -> Result<Vec<u64>, String> {
        let mut found = self.in_array(call.number(0)?, call.address(1)?, false);
        found.sort_unstable_by_key(|address| self.active(*address).map(|(_, order)| order));
        Ok(found)
    }

    /// Slot and order of an open request.
    fn active(&self, address: u64) -> Option<(u32, u64)> {
        match self.requests.get(&address)? {
            Request::Active { slot, order } => Some((*slot, *order)),
            Request::Persistent { active, .. } => *active,
        }
    }

    /// Addresses of an array at which requests are: open ones, or persistent ones. The trace does not say how large a
    /// request is, so the size counts with which more are found.
    fn in_array(&self, count: i64, address: u64, are_persistent: bool) -> Vec<u64> {
        let count = u64::try_from(count).unwrap_or(0);
        let is_there = |at: u64| match self.requests.get(&at) {
            Some(Request::Persistent { .. }) if are_persistent => true,
            _ => !are_persistent && self.active(at).is_some(),
        };
        let found = |size: u64| -> Vec<u64> {
            // No array has more requests than there are.
            if count <= self.requests.len() as u64 {
                return (0..count).map(|place| address.wrapping_add(place * size)).filter(|&at| is_there(at)).collect();
            }
            let is_part = |at: &u64| {
                let offset = at.wrapping_sub(address);
                offset % size == 0 && offset / size < count && is_there(*at)
            };
            let mut all: Vec<u64> = self.requests.keys().copied().filter(is_part).collect();
            all.sort_unstable_by_key(|at| at.wrapping_sub(address));
            all
        };
        let [large, small] = REQUEST_SIZES.map(found);
        if small.len() > large.len() {
            small
        } else {
            large
        }
    }

    /// Waits for requests. Returns whether any is open.
    fn wait(&mut self, addresses: &[u64]) -> bool {
        let mut slots = Vec::new();
        for &address in addresses {
            let Some((slot, _)) = self.active(address) else { continue };
            slots.push(slot);
            match self.requests.get_mut(&address) {
                Some(Request::Persistent { active, .. }) => *active = None,
                _ => drop(self.requests.remove(&address)),
            }
            self.trace.push(Call::Wait { request: slot });
        }
        let is_used = !slots.is_empty();
        self.trace.free_slots(slots);
        is_used
    }
}

/// The message of arguments buffer, count, type, peer, tag, communicator.
fn message(call: &AllprofCall<'_>, is_send: bool) -> Result<Message, String> {
    let (peer, tag, communicator) = (call.number(3)?, call.number(4)?, call.communicator(5)?);
    Ok(Message { is_send, bytes: bytes(call, 1)?, peer, tag, communicator })
}

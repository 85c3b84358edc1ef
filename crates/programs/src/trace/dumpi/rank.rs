//! The calls of a rank from its records.

use super::super::compute_times::ComputeTimes;
use super::super::rank::{Member, RankTrace, EXCLUDED, SLOTS};
use super::communicators::{action_of, NewCommunicator};
use super::ignored;
use crate::call::{Call, ANY, WORLD};
use odonata_trace::dumpi::{kind_name, Record, Status};
use odonata_trace::Survey;
use odonata_units::Bytes;
use std::collections::HashMap;

/// Communicators with a meaning in every file.
const COMM_WORLD: u16 = 2;
const COMM_SELF: u16 = 3;

/// A communicator of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Local {
    /// Number among all of the job.
    Member(u32),
    /// The rank alone.
    Own,
    Foreign,
}

/// A message that a request stands for.
#[derive(Clone, Copy, Debug)]
struct Message {
    is_send: bool,
    peer: i64,
    bytes: u64,
    tag: i64,
    communicator: u16,
}

/// A request of the file.
#[derive(Clone, Copy, Debug)]
enum Request {
    /// A message in flight: its slot, and the place of its call.
    Active { slot: u32, call: usize },
    /// To or from no rank, or cancelled: complete.
    Complete,
    /// Persistent; `active` while it is started.
    Persistent { message: Message, active: Option<(u32, usize)> },
}

/// Makes calls of the records of a rank.
pub(super) struct RankRecords<'a> {
    pub(super) trace: RankTrace,
    rank: u32,
    type_sizes: &'a [i32],
    /// Sizes of types that records created.
    user_types: HashMap<u16, u64>,
    communicators: HashMap<u16, Local>,
    created: std::vec::IntoIter<NewCommunicator>,
    requests: HashMap<i64, Request>,
    /// End of the latest call, in ns.
    latest_ns: Option<i64>,
}

impl<'a> RankRecords<'a> {
    pub(super) fn new(
        rank: u32,
        ranks: u32,
        times: ComputeTimes,
        type_sizes: &'a [i32],
        created: Vec<NewCommunicator>,
    ) -> Self {
        let mut trace = RankTrace::new(rank, ranks, times);
        trace.push(Call::Mark { phase: 0 });
        Self {
            trace,
            rank,
            type_sizes,
            user_types: HashMap::new(),
            communicators: HashMap::from([(COMM_WORLD, Local::Member(0)), (COMM_SELF, Local::Own)]),
            created: created.into_iter(),
            requests: HashMap::new(),
            latest_ns: None,
        }
    }

    pub(super) fn end(self) -> RankTrace {
        self.trace
    }

    /// Handles a record.
    pub(super) fn follow(&mut self, record: &Record, survey: &mut Survey) -> Result<(), String> {
        self.trace.line = u32::try_from(record.number).unwrap_or(u32::MAX);
        let name = kind_name(record.kind);
        let kind = name.strip_prefix("MPI_").unwrap_or(match record.kind {
            291 => "Function_enter",
            _ => "Function_exit",
        });
        if let Some((start, end)) = record.wall_ns.filter(|_| name.starts_with("MPI_")) {
            // Threads form one sequence; a gap is one in which no thread was in a call.
            if let Some(before) = self.latest_ns.filter(|&before| before < start) {
                self.trace.compute_ps((start - before) as f64 * 1e3)?;
            }
            self.latest_ns = Some(self.latest_ns.map_or(end, |latest| latest.max(end)));
        }
        if !ignored::is_replayed(kind) {
            self.foreign(record);
            survey.count(&name, false, ignored::why(kind));
            return Ok(());
        }
        let is_used = self.replay(kind, record)?;
        survey.count(&name, is_used, ignored::simplified(kind));
        Ok(())
    }

    /// Takes note of a communicator that cannot be replayed.
    fn foreign(&mut self, record: &Record) {
        if let Some(new) = action_of(record).and_then(|action| action.foreign()) {
            self.communicators.insert(new, Local::Foreign);
            self.created.next();
        }
    }

    /// Replays a record. Returns whether it has an effect.
    fn replay(&mut self, kind: &str, record: &Record) -> Result<bool, String> {
        let number = |at: usize| record.numbers.get(at).copied().unwrap_or(0);
        let handle = |at: usize| number(at) as u16;
        match kind {
            "Init" | "Init_thread" | "Finalize" => {}
            "Send" | "Bsend" | "Ssend" | "Rsend" => {
                let message = self.message(true, record, [0, 1, 2, 3, 4])?;
                return self.blocking(message, None);
            }
            "Recv" => {
                let message = self.message(false, record, [0, 1, 2, 3, 4])?;
                return self.blocking(message, record.statuses.first());
            }
            "Isend" | "Ibsend" | "Issend" | "Irsend" | "Irecv" => {
                let message = self.message(kind != "Irecv", record, [0, 1, 2, 3, 4])?;
                let request = match self.start(message)? {
                    Some((slot, call)) => Request::Active { slot, call },
                    None => Request::Complete,
                };
                self.requests.insert(number(5), request);
            }
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Recv_init" => {
                let message = self.message(kind != "Recv_init", record, [0, 1, 2, 3, 4])?;
                self.requests.insert(number(5), Request::Persistent { message, active: None });
            }
            "Start" => self.start_persistent(number(0))?,
            "Startall" => {
                for &request in record.list(0) {
                    self.start_persistent(request)?;
                }
            }
            "Sendrecv" => {
                let sent = self.message(true, record, [0, 1, 2, 3, 8])?;
                let received = self.message(false, record, [4, 5, 6, 7, 8])?;
                self.exchange(sent, received, record.statuses.first())?;
            }
            "Sendrecv_replace" => {
                let sent = self.message(true, record, [0, 1, 2, 3, 6])?;
                let received = self.message(false, record, [0, 1, 4, 5, 6])?;
                self.exchange(sent, received, record.statuses.first())?;
            }
            "Cancel" => self.cancel(number(0)),
            // Its message goes on; nothing waits for it.
            "Request_free" => drop(self.requests.remove(&number(0))),
            "Wait" | "Test" | "Waitany" | "Testany" | "Waitall" | "Testall" | "Waitsome" | "Testsome" => {
                return self.wait(kind, record);
            }
            "Comm_free" | "Comm_disconnect" => {
                if let Some(Local::Member(number)) = self.communicators.remove(&handle(0)) {
                    if let Some(member) = self.trace.members.remove(&number) {
                        self.trace.push(Call::CommFree { communicator: member.slot });
                    }
                }
            }
            "Comm_dup" => self.create(handle(0), handle(1))?,
            "Comm_split" => self.create(handle(0), handle(3))?,
            "Comm_create" => self.create(handle(0), handle(2))?,
            "Cart_create" => self.create(handle(0), handle(3))?,
            "Cart_sub" => self.create(handle(1), handle(2))?,
            "Graph_create" => self.create(handle(1), handle(4))?,
            _ if kind.starts_with("Type_") => return self.create_type(kind, record),
            // Groups were resolved with the communicators.
            _ if kind.starts_with("Group_") || kind == "Comm_group" => {}
            _ => return self.collective(kind, record),
        }
        Ok(true)
    }

    /// A communicator of the record. Returns whether its calls are replayed.
    pub(super) fn go_to(&mut self, communicator: u16) -> Result<Local, String> {
        let local = *self.communicators.get(&communicator).ok_or_else(|| {
            format!("communicator {communicator}; expected MPI_COMM_WORLD (2), MPI_COMM_SELF (3) or one that an earlier record made")
        })?;
        self.trace.here = match local {
            Local::Member(number) => self.trace.members[&number],
            Local::Own => Member { ranks: 1, rank: 0, ..self.trace.members[&0] },
            Local::Foreign => {
                return Err(format!(
                    "communicator {communicator} is one with other jobs or of two groups, which is not replayed"
                ));
            }
        };
        Ok(local)
    }

    fn create(&mut self, old: u16, new: u16) -> Result<(), String> {
        let slot_of_old = match self.communicators.get(&old) {
            Some(Local::Member(number)) => self.trace.members[number].slot,
            _ => WORLD,
        };
        match self.created.next().expect("one for each creation of the first pass") {
            NewCommunicator::Member { number, event, ranks, rank } => {
                // Communicators of one creation have no rank in common, so they share a slot.
                let slot = EXCLUDED + 1 + ((event - 1) % SLOTS) as u16;
                if self.trace.members.values().any(|member| member.slot == slot) {
                    return Err(format!("more than {SLOTS} communicators between two creations that are in use"));
                }
                self.trace.push(Call::CommSplit { communicator: slot_of_old, new: slot, color: number, key: rank });
                let member = Member { number, slot, ranks, rank };
                self.trace.made.insert(number, (member, self.trace.line));
                self.trace.members.insert(number, member);
                self.communicators.insert(new, Local::Member(number));
            }
            NewCommunicator::Excluded => {
                let color = u32::MAX - 1 - self.rank;
                self.trace.push(Call::CommSplit { communicator: slot_of_old, new: EXCLUDED, color, key: 0 });
                self.trace.push(Call::CommFree { communicator: EXCLUDED });
            }
            NewCommunicator::Own => drop(self.communicators.insert(new, Local::Own)),
            NewCommunicator::Foreign => drop(self.communicators.insert(new, Local::Foreign)),
        }
        Ok(())
    }

    /// Bytes of `count` elements of a type.
    pub(super) fn bytes(&self, count: i64, data_type: i64) -> Result<u64, String> {
        let count = u64::try_from(count).map_err(|_| format!("{count} elements; expected 0 or more"))?;
        if count == 0 {
            return Ok(0);
        }
        count
            .checked_mul(self.size(data_type)?)
            .filter(|&bytes| bytes <= 1 << 50)
            .ok_or_else(|| format!("{count} elements of data type {data_type}; expected at most 2^50 bytes"))
    }

    fn size(&self, data_type: i64) -> Result<u64, String> {
        let in_file = || usize::try_from(data_type).ok().and_then(|at| self.type_sizes.get(at)).copied();
        let size = self.user_types.get(&(data_type as u16)).copied();
        let size = size.or_else(|| in_file().and_then(|size| u64::try_from(size).ok()));
        size.ok_or_else(|| format!("data type {data_type} without a size; expected a record that creates it"))
    }

    /// A record that creates a type or gives its size.
    fn create_type(&mut self, kind: &str, record: &Record) -> Result<bool, String> {
        let number = |at: usize| record.numbers.get(at).copied().unwrap_or(0);
        let size = |data_type: i64| self.size(data_type).ok();
        let sum = |list: &[i64]| list.iter().map(|&length| u64::try_from(length).unwrap_or(0)).sum::<u64>();
        let times = |count: u64, data_type: i64| size(data_type).and_then(|size| size.checked_mul(count));
        let positive = |at: usize| u64::try_from(number(at)).unwrap_or(0);
        let (new, bytes) = match kind {
            "Type_size" => (0, u64::try_from(number(1)).ok()),
            "Type_contiguous" => (2, times(positive(0), number(1))),
            "Type_vector" | "Type_hvector" | "Type_create_hvector" => {
                (4, positive(0).checked_mul(positive(1)).and_then(|count| times(count, number(3))))
            }
            "Type_indexed" | "Type_hindexed" | "Type_create_hindexed" => (2, times(sum(record.list(0)), number(1))),
            "Type_create_indexed_block" => {
                (3, positive(0).checked_mul(positive(1)).and_then(|count| times(count, number(2))))
            }
            "Type_struct" | "Type_create_struct" => {
                let parts = record.list(0).iter().zip(record.list(2));
                (1, parts.map(|(&length, &of)| times(u64::try_from(length).unwrap_or(0), of)).sum())
            }
            "Type_dup" => (1, size(number(0))),
            "Type_create_resized" => (3, size(number(0))),
            "Type_create_subarray" => {
                let count = record
                    .list(1)
                    .iter()
                    .try_fold(1u64, |product, &size| product.checked_mul(u64::try_from(size).unwrap_or(0)));
                (3, count.and_then(|count| times(count, number(2))))
            }
            _ => return Ok(false),
        };
        if let Some(bytes) = bytes {
            self.user_types.insert(number(new) as u16, bytes);
        }
        Ok(bytes.is_some())
    }

    /// The message of arguments count, type, peer, tag, communicator.
    fn message(&self, is_send: bool, record: &Record, at: [usize; 5]) -> Result<Message, String> {
        let [count, data_type, peer, tag, communicator] = at.map(|at| record.numbers.get(at).copied().unwrap_or(0));
        let bytes = self.bytes(count, data_type)?;
        Ok(Message { is_send, peer, bytes, tag, communicator: communicator as u16 })
    }

    /// Peer, tag and communicator of a call. `None` for no rank.
    fn addressed(&mut self, message: Message) -> Result<Option<(u32, u32, u16)>, String> {
        let local = self.go_to(message.communicator)?;
        let (ranks, communicator) = (self.trace.here.ranks, self.trace.here.slot);
        // MPI_PROC_NULL is the library's own number, which is negative.
        if message.peer < -1 || (message.peer == -1 && message.is_send) {
            return Ok(None);
        }
        let peer = if message.peer == -1 { ANY } else { message.peer as u32 };
        if peer != ANY && message.peer >= i64::from(ranks) {
            return Err(format!("rank {} of a communicator of {ranks} ranks, which count from 0", message.peer));
        }
        let tag = match message.tag {
            -1 if !message.is_send => ANY,
            tag => u32::try_from(tag).map_err(|_| format!("tag {tag}; expected 0 or more"))?,
        };
        // The rank alone sends to itself, as on the communicator of all.
        let peer = if local == Local::Own { self.rank } else { peer };
        Ok(Some((peer, tag, communicator)))
    }

    /// A blocking call. Returns whether it has a partner.
    fn blocking(&mut self, message: Message, status: Option<&Status>) -> Result<bool, String> {
        let Some((peer, tag, communicator)) = self.addressed(message)? else { return Ok(false) };
        let bytes = Bytes(message.bytes);
        self.trace.push(match message.is_send {
            true => Call::Send { to: peer, bytes, tag, communicator },
            false => {
                let (from, tag) = self.received(peer, tag, status);
                Call::Recv { from, bytes, tag, communicator }
            }
        });
        Ok(true)
    }

    /// Starts a message. Returns its slot and the place of its call; `None` if it has no partner.
    fn start(&mut self, message: Message) -> Result<Option<(u32, usize)>, String> {
        let Some((peer, tag, communicator)) = self.addressed(message)? else { return Ok(None) };
        let (bytes, request) = (Bytes(message.bytes), self.trace.take_slot());
        self.trace.push(match message.is_send {
            true => Call::Isend { to: peer, bytes, tag, communicator, request },
            false => Call::Irecv { from: peer, bytes, tag, communicator, request },
        });
        Ok(Some((request, self.trace.calls.len() - 1)))
    }

    fn start_persistent(&mut self, request: i64) -> Result<(), String> {
        let Some(&Request::Persistent { message, .. }) = self.requests.get(&request) else {
            return Err(format!("request {request} is not persistent; expected a record like MPI_Send_init before"));
        };
        let active = self.start(message)?;
        self.requests.insert(request, Request::Persistent { message, active });
        Ok(())
    }

    fn exchange(&mut self, sent: Message, received: Message, status: Option<&Status>) -> Result<(), String> {
        let receive = self.start(received)?;
        let send = self.start(sent)?;
        if let Some((_, call)) = receive {
            self.set_sender(call, status);
        }
        for (slot, _) in receive.into_iter().chain(send) {
            self.trace.push(Call::Wait { request: slot });
            self.trace.free_slots([slot]);
        }
        Ok(())
    }

    /// Sender and tag of a receive from any, from its status if that can be true. A status may be garbage.
    fn received(&self, from: u32, tag: u32, status: Option<&Status>) -> (u32, u32) {
        let Some(status) = status else { return (from, tag) };
        let sender = u32::try_from(status.source).ok().filter(|&sender| sender < self.trace.here.ranks);
        let Some(sender) = sender.filter(|&sender| from == ANY || from == sender) else { return (from, tag) };
        match u32::try_from(status.tag) {
            Ok(found) if tag == ANY || tag == found => (sender, found),
            _ if tag != ANY && from == ANY && status.tag >= 0 => (from, tag),
            _ => (sender, tag),
        }
    }

    /// Gives a posted receive from any its sender.
    fn set_sender(&mut self, call: usize, status: Option<&Status>) {
        let Call::Irecv { from, bytes, tag, communicator, request } = self.trace.calls[call].0 else { return };
        // The ranks of its communicator bound the sender.
        let member = self.trace.members.values().find(|member| member.slot == communicator);
        if let Some(member) = member {
            self.trace.here = *member;
            let (from, tag) = self.received(from, tag, status);
            self.trace.calls[call].0 = Call::Irecv { from, bytes, tag, communicator, request };
        }
    }

    /// A receive that is cancelled never was.
    fn cancel(&mut self, request: i64) {
        let active = match self.requests.get(&request) {
            Some(&Request::Active { slot, call }) => Some((slot, call)),
            Some(&Request::Persistent { active, .. }) => active,
            _ => None,
        };
        let Some((slot, call)) = active else { return };
        if matches!(self.trace.calls[call].0, Call::Irecv { .. }) {
            self.trace.calls[call].0 = Call::Compute { time: odonata_units::Time::ZERO };
            self.trace.free_slots([slot]);
            self.complete(request);
        }
    }

    /// The request after it completed: a persistent one may start again.
    fn complete(&mut self, request: i64) {
        match self.requests.get_mut(&request) {
            Some(Request::Persistent { active, .. }) => *active = None,
            _ => drop(self.requests.insert(request, Request::Complete)),
        }
    }

    /// Waits for the requests that completed in the recorded run. Returns whether there were any.
    fn wait(&mut self, kind: &str, record: &Record) -> Result<bool, String> {
        let number = |at: usize| record.numbers.get(at).copied().unwrap_or(0);
        let place = |at: i64| usize::try_from(at).ok().and_then(|at| record.list(0).get(at)).copied();
        // The requests, each with its status.
        let status = |at: usize| record.statuses.get(at);
        let completed: Vec<(i64, Option<&Status>)> = match kind {
            "Wait" => vec![(number(0), status(0))],
            "Test" if number(1) != 0 => vec![(number(0), status(0))],
            "Waitall" => (0..).zip(record.list(0)).map(|(at, &request)| (request, status(at))).collect(),
            "Testall" if number(1) != 0 => {
                (0..).zip(record.list(0)).map(|(at, &request)| (request, status(at))).collect()
            }
            "Waitany" => place(number(1)).map(|request| (request, status(0))).into_iter().collect(),
            "Testany" if number(2) != 0 => place(number(1)).map(|request| (request, status(0))).into_iter().collect(),
            "Waitsome" | "Testsome" => {
                let count = usize::try_from(number(1)).unwrap_or(0);
                let places = record.list(1).iter().take(count);
                (0..).zip(places).filter_map(|(at, &of)| Some((place(of)?, status(at)))).collect()
            }
            _ => Vec::new(),
        };
        let mut slots = Vec::new();
        for (request, status) in completed {
            let active = match self.requests.get(&request) {
                Some(&Request::Active { slot, call }) => Some((slot, call)),
                Some(&Request::Persistent { active, .. }) => active,
                // Null, complete, of a file, or of a call without a record.
                Some(Request::Complete) | None => None,
            };
            let Some((slot, call)) = active else { continue };
            self.set_sender(call, status);
            self.complete(request);
            slots.push(slot);
        }
        for &slot in &slots {
            self.trace.push(Call::Wait { request: slot });
        }
        let is_used = !slots.is_empty();
        self.trace.free_slots(slots);
        Ok(is_used)
    }
}

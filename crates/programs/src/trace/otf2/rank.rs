//! The calls of a rank from its events.

use super::super::compute_times::ComputeTimes;
use super::super::rank::{Member, RankTrace};
use super::communicators::{CommunicatorKind, NewCommunicators};
use super::completions::Completions;
use crate::call::Call;
use odonata_trace::otf2::{event_name, Definitions, Event, MessageRecord};
use odonata_trace::{Survey, NOTHING};
use odonata_units::Bytes;
use std::collections::HashMap;

/// Why a record of two groups has no effect.
pub(super) const TWO_GROUPS: &str = "between two groups of ranks, or of a group that is not defined";

/// Makes calls of the events of a rank.
pub(super) struct RankEvents<'a> {
    pub(super) trace: RankTrace,
    rank: u32,
    definitions: &'a Definitions,
    created: &'a NewCommunicators,
    completions: Completions,
    /// Requests in flight, with their slots.
    requests: HashMap<u64, u32>,
    /// Regions of MPI that are open.
    depth: u32,
    /// Ticks at the end of the latest call.
    latest: Option<u64>,
    /// Messages of a call that sends and receives at once, as MPI_Sendrecv: they start together.
    together: Option<Vec<(bool, MessageRecord)>>,
    /// Whether a nonblocking collective began, and no record has said what it is.
    has_unknown_collective: bool,
}

impl<'a> RankEvents<'a> {
    pub(super) fn new(
        rank: u32,
        definitions: &'a Definitions,
        created: &'a NewCommunicators,
        times: ComputeTimes,
        completions: Completions,
    ) -> Self {
        let mut trace = RankTrace::new(rank, definitions.ranks.len() as u32, times);
        trace.push(Call::Mark { phase: 0 });
        created.make(rank, &mut trace);
        Self {
            trace,
            rank,
            definitions,
            created,
            completions,
            requests: HashMap::new(),
            depth: 0,
            latest: None,
            together: None,
            has_unknown_collective: false,
        }
    }

    pub(super) fn end(mut self, survey: &mut Survey) -> Self {
        // The file is cut within an exchange.
        if let Some(messages) = self.together.take() {
            survey.notes.push(format!("rank {}: {} messages of its last call are cut", self.rank, messages.len()));
        }
        self
    }

    /// Handles an event.
    pub(super) fn follow(
        &mut self,
        number: u64,
        kind: u8,
        ticks: u64,
        event: Event,
        survey: &mut Survey,
    ) -> Result<(), String> {
        self.trace.line = u32::try_from(number).unwrap_or(u32::MAX);
        match event {
            Event::Enter(region) => self.enter(region, ticks, survey)?,
            Event::Leave(region) => self.leave(region, ticks, survey)?,
            Event::Other => survey.count(&event_name(kind), false, why_ignored(kind)),
            _ => {
                if self.depth == 0 {
                    self.compute_until(ticks)?;
                }
                let is_used = self.replay(event)?;
                survey.count(&event_name(kind), is_used, if is_used { "" } else { why_unused(event) });
            }
        }
        if self.depth > 0 {
            self.latest = Some(ticks);
        }
        Ok(())
    }

    /// The time since the latest call is computation.
    fn compute_until(&mut self, ticks: u64) -> Result<(), String> {
        if let Some(before) = self.latest.filter(|&before| before < ticks) {
            let ps = (ticks - before) as f64 * (1e12 / self.definitions.ticks_per_s as f64);
            self.trace.compute_ps(ps)?;
        }
        self.latest = Some(ticks);
        Ok(())
    }

    fn enter(&mut self, region: u64, ticks: u64, survey: &mut Survey) -> Result<(), String> {
        let Some(name) = self.definitions.mpi_regions.get(&region) else {
            survey.count("ENTER", false, NOTHING);
            return Ok(());
        };
        survey.count("ENTER", true, "");
        if self.depth == 0 {
            self.compute_until(ticks)?;
            if name.starts_with("MPI_Sendrecv") || name.starts_with("MPI_Isendrecv") {
                self.together = Some(Vec::new());
            }
            self.has_unknown_collective = is_nonblocking_collective(name);
        }
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self, region: u64, ticks: u64, survey: &mut Survey) -> Result<(), String> {
        let Some(name) = self.definitions.mpi_regions.get(&region) else {
            survey.count("LEAVE", false, NOTHING);
            return Ok(());
        };
        survey.count("LEAVE", true, "");
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.latest = Some(ticks);
            if let Some(messages) = self.together.take() {
                self.exchange(&messages)?;
            }
            if std::mem::take(&mut self.has_unknown_collective) {
                survey.kinds.entry(format!("{name} (its sizes)")).or_default().missing += 1;
            }
        }
        Ok(())
    }

    /// Replays an event. Returns whether it has an effect.
    fn replay(&mut self, event: Event) -> Result<bool, String> {
        match event {
            Event::Send(message) | Event::Recv(message) => {
                let is_send = matches!(event, Event::Send(_));
                if let Some(messages) = &mut self.together {
                    messages.push((is_send, message));
                    return Ok(true);
                }
                self.blocking(is_send, message)
            }
            Event::Isend(message, request) => self.start(true, message, request),
            Event::IrecvRequest(request) => match self.completions.next_receive(request) {
                Some(message) => self.start(false, message, request),
                None => Ok(false),
            },
            Event::IsendComplete(request) | Event::Irecv(_, request) => Ok(self.wait(request)),
            // A receive that is cancelled never starts; a send goes on.
            Event::Cancelled(request) => {
                self.requests.remove(&request);
                Ok(true)
            }
            Event::Collective(collective) => self.collective(collective, None),
            Event::CollectiveRequest(request) => {
                self.has_unknown_collective = false;
                match self.completions.next_collective(request) {
                    Some(collective) => self.collective(collective, Some(request)),
                    None => Ok(false),
                }
            }
            Event::CollectiveComplete(_, request) => Ok(self.wait(request)),
            Event::Enter(_) | Event::Leave(_) | Event::Other => Ok(false),
        }
    }

    /// Goes to a communicator. `None` if its records have no effect.
    pub(super) fn go_to(&mut self, number: u64) -> Result<Option<CommunicatorKind>, String> {
        let known = self.created.known(number);
        let known = known.ok_or_else(|| format!("communicator {number} is not in the definitions"))?;
        self.trace.here = match known {
            CommunicatorKind::World => self.trace.members[&0],
            CommunicatorKind::New(place) => *self
                .trace
                .members
                .get(&place)
                .ok_or_else(|| format!("communicator {number}, whose group does not contain rank {}", self.rank))?,
            CommunicatorKind::Own => Member { ranks: 1, rank: 0, ..self.trace.members[&0] },
            CommunicatorKind::Foreign => return Ok(None),
        };
        Ok(Some(known))
    }

    /// Peer, tag and communicator of a message.
    fn addressed(&mut self, message: MessageRecord) -> Result<Option<(u32, u32, u16)>, String> {
        let Some(known) = self.go_to(message.communicator)? else { return Ok(None) };
        let (ranks, communicator) = (self.trace.here.ranks, self.trace.here.slot);
        let peer = u32::try_from(message.peer).ok().filter(|&peer| peer < ranks);
        let peer = peer
            .ok_or_else(|| format!("rank {} of a communicator of {ranks} ranks, which count from 0", message.peer))?;
        let tag = u32::try_from(message.tag).ok().filter(|&tag| tag < 1 << 31);
        let tag = tag.ok_or_else(|| format!("tag {}; expected less than 2^31", message.tag))?;
        if message.bytes > 1 << 50 {
            return Err(format!("{} bytes; expected at most 2^50", message.bytes));
        }
        // The rank alone sends to itself, as on the communicator of all.
        let peer = if known == CommunicatorKind::Own { self.rank } else { peer };
        Ok(Some((peer, tag, communicator)))
    }

    fn blocking(&mut self, is_send: bool, message: MessageRecord) -> Result<bool, String> {
        let Some((peer, tag, communicator)) = self.addressed(message)? else { return Ok(false) };
        let bytes = Bytes(message.bytes);
        self.trace.push(match is_send {
            true => Call::Send { to: peer, bytes, tag, communicator },
            false => Call::Recv { from: peer, bytes, tag, communicator },
        });
        Ok(true)
    }

    /// Starts a message; returns its slot.
    fn begin(&mut self, is_send: bool, message: MessageRecord) -> Result<Option<u32>, String> {
        let Some((peer, tag, communicator)) = self.addressed(message)? else { return Ok(None) };
        let (bytes, request) = (Bytes(message.bytes), self.trace.take_slot());
        self.trace.push(match is_send {
            true => Call::Isend { to: peer, bytes, tag, communicator, request },
            false => Call::Irecv { from: peer, bytes, tag, communicator, request },
        });
        Ok(Some(request))
    }

    fn start(&mut self, is_send: bool, message: MessageRecord, request: u64) -> Result<bool, String> {
        let slot = self.begin(is_send, message)?;
        if let Some(slot) = slot {
            self.requests.insert(request, slot);
        }
        Ok(slot.is_some())
    }

    /// Remembers the slot of a request that started.
    pub(super) fn started(&mut self, request: u64, slot: u32) {
        self.requests.insert(request, slot);
    }

    /// Waits for a request. Returns whether it is in flight.
    fn wait(&mut self, request: u64) -> bool {
        let Some(slot) = self.requests.remove(&request) else { return false };
        self.trace.push(Call::Wait { request: slot });
        self.trace.free_slots([slot]);
        true
    }

    /// Starts all receives and sends, then waits for them.
    fn exchange(&mut self, messages: &[(bool, MessageRecord)]) -> Result<(), String> {
        let mut slots = Vec::new();
        for of_sends in [false, true] {
            for &(is_send, message) in messages.iter().filter(|(is_send, _)| *is_send == of_sends) {
                slots.extend(self.begin(is_send, message)?);
            }
        }
        for &slot in &slots {
            self.trace.push(Call::Wait { request: slot });
        }
        self.trace.free_slots(slots);
        Ok(())
    }
}

/// Whether a region starts a collective whose sizes may have no record.
fn is_nonblocking_collective(name: &str) -> bool {
    const NAMES: [&str; 9] =
        ["barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "scatter", "alltoall", "scan"];
    let Some(rest) = name.strip_prefix("MPI_I") else { return false };
    NAMES.iter().any(|name| rest.starts_with(name)) || rest.starts_with("exscan") || rest.starts_with("neighbor_all")
}

/// Why kinds of events have no effect.
fn why_ignored(kind: u8) -> &'static str {
    match kind {
        // Transfers of one-sided communication: put, get, atomic.
        46..=48 => "one-sided communication is not replayed",
        90..=92 => "receives of matched probes are not replayed",
        _ => NOTHING,
    }
}

fn why_unused(event: Event) -> &'static str {
    match event {
        Event::IrecvRequest(_) | Event::CollectiveRequest(_) => "its completion is not in the file",
        Event::IsendComplete(_) | Event::Irecv(..) | Event::CollectiveComplete(..) => "its start is not in the file",
        _ => TWO_GROUPS,
    }
}

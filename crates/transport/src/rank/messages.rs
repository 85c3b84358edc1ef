//! Messages of a rank: sends, receives, and notices to its host.

use super::lane::LaneState;
use super::state_machine::{Rank, RankContext};
use super::transfers::{Notice, PostedReceive, ReceivedMessage, Transfer, NO_REMOTE};
use crate::calls::{ClockJump, EventStream, WaitEvent};
use crate::job::RankWork;
use crate::matching::Label;
use crate::outbox::OutboundMessage;
use crate::requests::{Slot, Wait};
use crate::settings::MpiSettings;
use crate::wire::{one_sided_volume, wire_volume, MessageKind};
use odonata_packet::Envelope;
use odonata_programs::expansion::find_call;
use odonata_programs::Call;
use odonata_units::{Bytes, NodeId, RouterId};

impl Rank {
    pub(super) fn send(
        &mut self,
        to: u32,
        label: Label,
        bytes: Bytes,
        slot: Slot,
        context: &mut RankContext<'_>,
    ) -> Result<(), String> {
        let settings = context.settings;
        self.host.requests.start(slot, 0)?;
        let (node, created_ps) = (context.nodes[to as usize], self.host.clock);
        self.count_sent(to, node, bytes, context.routers);
        let number = self.sent;
        self.sent += 1;
        self.host.clock += settings.send_setup.ps();
        let envelope = Envelope {
            bytes: bytes.0,
            tag: label.tag,
            communicator: label.communicator,
            order: 0,
            sequence: 0,
            source: label.source,
            destination: to,
            kind: 0,
        };
        if node == self.node {
            let transfer = self.host.sends.add(Transfer { peer: to, bytes: bytes.0, slot, number, remote: 0 });
            let envelope = Envelope { kind: MessageKind::OnNode as u8, sequence: transfer, ..envelope };
            if let Some(log) = &mut context.log {
                log.record_send(self.job, &envelope, MessageKind::OnNode, created_ps);
                log.record_injection(self.job, &envelope, self.host.clock);
            }
            if let Some(calls) = &mut context.calls {
                calls.causes.push((self.events(self.number, to, WaitEvent::Message), self.host.clock));
            }
            context.on_node.push((self.host.clock + settings.node_latency.ps(), envelope));
            return Ok(());
        }
        self.record.wire_bytes += wire_volume(settings, context.packet, bytes).0;
        self.host.clock += settings.header_setup.ps();
        let kind = if settings.is_eager(bytes) { MessageKind::Eager } else { MessageKind::RendezvousHeader };
        if let Some(log) = &mut context.log {
            log.record_send(self.job, &envelope, kind, created_ps);
        }
        if kind == MessageKind::Eager {
            self.host.clock += MpiSettings::copy_ps(settings.copy_ns_per_byte, bytes);
            self.command(Envelope { kind: kind as u8, ..envelope }, number, context);
            self.complete_request(slot, settings);
        } else {
            self.host.clock += settings.registration_ps(bytes);
            let transfer = self.host.sends.add(Transfer { peer: to, bytes: bytes.0, slot, number, remote: 0 });
            self.command(Envelope { kind: kind as u8, sequence: transfer, ..envelope }, number, context);
        }
        Ok(())
    }

    /// Passes a message to a NIC.
    fn command(&self, envelope: Envelope, number: u64, context: &mut RankContext<'_>) {
        let kind = MessageKind::from_code(envelope.kind);
        let start = if kind.requests_data() { 0 } else { context.settings.nic_start.ps() };
        if let Some(calls) = &mut context.calls {
            let event = match kind {
                MessageKind::GetRequest | MessageKind::Get | MessageKind::Put => WaitEvent::Data,
                MessageKind::Acknowledgement => WaitEvent::Receipt,
                _ => WaitEvent::Message,
            };
            calls.causes.push((self.events(self.number, envelope.destination, event), self.host.clock));
        }
        let message = OutboundMessage {
            ready_ps: self.host.clock + context.settings.host_latency.ps() + start,
            job: self.job,
            node: context.nodes[envelope.destination as usize],
            nic: 0,
            envelope,
            wire: kind.wire_bytes(envelope.bytes, context.settings),
        };
        (context.send)(message, number);
    }

    /// Starts a one-sided transfer to (`is_put`) or from the memory of rank `peer`. On its own node the rank copies.
    pub(super) fn transfer(
        &mut self,
        is_put: bool,
        peer: u32,
        bytes: Bytes,
        slot: Slot,
        context: &mut RankContext<'_>,
    ) -> Result<(), String> {
        let (settings, node) = (context.settings, context.nodes[peer as usize]);
        self.host.requests.start(slot, 0)?;
        if is_put {
            self.count_sent(peer, node, bytes, context.routers);
        }
        let number = self.sent;
        self.sent += 1;
        self.host.clock += settings.send_setup.ps();
        if node == self.node {
            self.host.clock += settings.node_latency.ps() + MpiSettings::copy_ps(settings.copy_ns_per_byte, bytes);
            self.complete_request(slot, settings);
            return Ok(());
        }
        self.record.wire_bytes += one_sided_volume(settings, context.packet, is_put, bytes).0;
        let open = Transfer { peer, bytes: bytes.0, slot, number, remote: NO_REMOTE };
        let [kind, _] = MessageKind::of_transfer(is_put);
        let open = if is_put { self.host.sends.add(open) } else { self.host.receives.add(open) };
        // The answer of a get takes the rail of this number.
        let envelope = Envelope { bytes: bytes.0, tag: number as u32, ..self.reply(kind, peer, open) };
        self.command(envelope, number, context);
        Ok(())
    }

    /// Counts a message to rank `to` on `node`.
    pub(crate) fn count_sent(&mut self, to: u32, node: NodeId, bytes: Bytes, routers: &[RouterId]) {
        self.record.messages += 1;
        self.record.bytes += bytes.0;
        if to == self.number {
            self.record.self_bytes += bytes.0;
        } else if node == self.node {
            self.record.on_node_bytes += bytes.0;
        } else if are_on_one_router(routers, node, self.node) {
            self.record.on_router_bytes += bytes.0;
        }
    }

    /// Counts the bytes of a put that arrived at the memory of the rank.
    pub(crate) fn count_put(&mut self, bytes: u64) {
        self.record.received_bytes += bytes;
    }

    pub(super) fn receive(
        &mut self,
        label: Label,
        bytes: Bytes,
        slot: Slot,
        context: &mut RankContext<'_>,
    ) -> Result<(), String> {
        let settings = context.settings;
        let registration = settings.registration_ps(bytes);
        self.host.requests.start(slot, registration)?;
        self.host.clock += registration;
        let (compared, found) = self.host.unexpected.take(&label);
        self.host.clock += compared as u64 * settings.matching.ps();
        let posted = PostedReceive { bytes: bytes.0, slot, call: self.lane.code.calls() };
        match found {
            Some((label, message)) => self.complete_match(posted, label, message, context),
            None => {
                self.host.posted.push(label, posted);
                Ok(())
            }
        }
    }

    /// Handles a notice of time `at`.
    pub(super) fn handle(&mut self, at: u64, notice: Notice, context: &mut RankContext<'_>) -> Result<(), String> {
        let stream = context.calls.is_some().then(|| self.stream_of(notice));
        let before = self.host.clock;
        self.host.clock = before.max(at);
        let slot = match notice {
            Notice::Message { kind, label, bytes, transfer } => {
                let message = ReceivedMessage { kind, bytes, transfer };
                let (compared, found) = self.host.posted.take(&label);
                self.host.clock += compared as u64 * context.settings.matching.ps();
                match found {
                    Some((_, posted)) => {
                        let slot = posted.slot;
                        self.complete_match(posted, label, message, context)?;
                        Some(slot)
                    }
                    None => {
                        self.host.unexpected.push(label, message);
                        None
                    }
                }
            }
            Notice::DataArrived { transfer } => {
                let Transfer { peer, bytes, slot, remote, .. } = self.host.receives.remove(transfer);
                self.complete_request(slot, context.settings);
                self.record.received_bytes += bytes;
                if remote != NO_REMOTE {
                    let envelope = self.reply(MessageKind::Acknowledgement, peer, remote);
                    self.command(Envelope { bytes, ..envelope }, 0, context);
                }
                Some(slot)
            }
            Notice::Complete { transfer } => {
                let send = self.host.sends.remove(transfer);
                self.complete_request(send.slot, context.settings);
                Some(send.slot)
            }
        };
        if let Some(stream) = stream {
            self.record_notice(stream, before, at, slot, context);
        }
        if self.lane.collectives.has_ready() {
            self.continue_collectives(context)?;
        }
        Ok(())
    }

    /// The events of one kind that `caused_by` causes for `other`.
    fn events(&self, caused_by: u32, other: u32, event: WaitEvent) -> EventStream {
        EventStream { job: self.job, caused_by, other, event }
    }

    /// The events that a notice belongs to.
    #[cold]
    fn stream_of(&self, notice: Notice) -> EventStream {
        match notice {
            Notice::Message { label, .. } => self.events(label.source, self.number, WaitEvent::Message),
            Notice::DataArrived { transfer } => {
                self.events(self.number, self.host.receives.list[transfer as usize].peer, WaitEvent::Data)
            }
            Notice::Complete { transfer } => match self.host.sends.list[transfer as usize] {
                Transfer { peer, remote: NO_REMOTE, .. } => self.events(self.number, peer, WaitEvent::Data),
                Transfer { peer, .. } => self.events(peer, self.number, WaitEvent::Receipt),
            },
        }
    }

    /// Records a notice of time `at` for a host whose clock was `before`, and which call or task waited for it. `slot` is
    /// the request that it went to.
    #[cold]
    fn record_notice(
        &self,
        stream: EventStream,
        before: u64,
        at: u64,
        slot: Option<Slot>,
        context: &mut RankContext<'_>,
    ) {
        let Some(calls) = &mut context.calls else { return };
        let waiting = match (&self.tasks, slot) {
            // A task waits for its event from its start, whatever the host does.
            (Some(lanes), Some(Slot::Task(task))) => {
                lanes.window.started(task).map(|(start_ps, _)| (u64::from(task) + 1, start_ps))
            }
            (Some(_), _) => None,
            // No call waits for what comes during a computation.
            (None, _) => self.lane.call.is_some().then(|| (self.lane.code.calls(), before)),
        };
        let jump = waiting.filter(|(_, start_ps)| at > *start_ps);
        let jump = jump.map(|(call, start_ps)| ClockJump { call, start_ps, end_ps: at });
        calls.events.push((stream, jump));
    }

    /// The destination, bytes and message number of data that were requested from this rank's NIC.
    pub(crate) fn requested_data(&self, transfer: u32) -> (u32, u64, u64) {
        let send = &self.host.sends.list[transfer as usize];
        (send.peer, send.bytes, send.number)
    }

    fn reply(&self, kind: MessageKind, to: u32, sequence: u32) -> Envelope {
        Envelope { kind: kind as u8, source: self.number, destination: to, sequence, ..Envelope::default() }
    }

    /// Describes a message that is longer than its receive, and both calls.
    fn truncation(&self, posted: &PostedReceive, label: &Label, bytes: u64, work: &RankWork) -> String {
        let received = format!("receives at most {} B from rank {} with tag {}", posted.bytes, label.source, label.tag);
        let shared = match work {
            RankWork::Calls(shared) => shared,
            RankWork::Tasks(_) => return format!("{} {received}, but the message has {bytes} B", posted.slot),
        };
        let own = if posted.call == self.lane.code.calls() {
            String::new()
        } else {
            let receive = find_call(shared, self.number, |_, number| number == posted.call);
            receive.map_or_else(String::new, |place| format!(" ({place})"))
        };
        let is_sent = |call: &Call| {
            let (Call::Send { to, bytes: size, tag, communicator }
            | Call::Isend { to, bytes: size, tag, communicator, .. }) = *call
            else {
                return false;
            };
            (to, size.0, tag, communicator) == (self.number, bytes, label.tag, label.communicator)
        };
        // Another call may send an equal message, but seldom on another line.
        let sender = find_call(shared, label.source, |call, _| is_sent(call));
        let sender = sender.map_or_else(String::new, |place| format!(", sent at {place} of rank {}", label.source));
        format!("{received}{own}, but the message has {bytes} B{sender}")
    }

    /// Completes the match of a receive and a message.
    fn complete_match(
        &mut self,
        posted: PostedReceive,
        label: Label,
        ReceivedMessage { kind, bytes, transfer }: ReceivedMessage,
        context: &mut RankContext<'_>,
    ) -> Result<(), String> {
        if bytes > posted.bytes {
            return Err(self.truncation(&posted, &label, bytes, context.work));
        }
        if let Some(log) = &mut context.log {
            log.record_match(self.job, &label, self.number, kind == MessageKind::RendezvousHeader, self.host.clock);
        }
        let settings = context.settings;
        self.host.clock += settings.receive_setup.ps();
        let copied = |ns_per_byte| MpiSettings::copy_ps(ns_per_byte, Bytes(bytes));
        match kind {
            MessageKind::RendezvousHeader => {
                let remote = Transfer { peer: label.source, bytes, slot: posted.slot, number: 0, remote: transfer };
                let here = self.host.receives.add(remote);
                let get = Envelope { tag: here, ..self.reply(MessageKind::GetRequest, label.source, transfer) };
                self.command(get, 0, context);
                return Ok(());
            }
            MessageKind::OnNode => {
                self.host.clock += copied(settings.copy_ns_per_byte);
                if let Some(calls) = &mut context.calls {
                    calls.causes.push((self.events(self.number, label.source, WaitEvent::Receipt), self.host.clock));
                }
                context.on_node.push((self.host.clock, self.reply(MessageKind::OnNodeReceipt, label.source, transfer)));
            }
            _ => self.host.clock += copied(settings.receive_copy_ns_per_byte),
        }
        self.record.received_bytes += bytes;
        self.complete_request(posted.slot, settings);
        Ok(())
    }

    /// Completes a request, which may end a wait.
    pub(super) fn complete_request(&mut self, slot: Slot, settings: &MpiSettings) {
        if let Slot::Task(task) = slot {
            return self.end_task(task, settings);
        }
        self.host.requests.complete(slot);
        if let Slot::Lane { lane, .. } = slot {
            return self.lane.collectives.complete(lane, slot);
        }
        if let LaneState::Blocked { wait, incomplete, .. } = &mut self.lane.state {
            if wait.includes(slot) {
                *incomplete = if matches!(wait, Wait::All(..)) { *incomplete - 1 } else { 0 };
            }
        }
    }
}

/// Whether two nodes are at one router. No, if the routers are not known.
fn are_on_one_router(routers: &[RouterId], one: NodeId, other: NodeId) -> bool {
    routers.get(one.index()).is_some_and(|router| *router == routers[other.index()])
}

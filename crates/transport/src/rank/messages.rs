//! What a rank does with messages: sends, receives, and what its host is told of.

use super::{Around, Doing, Rank};
use crate::calls::{Jump, Told};
use crate::matching::Label;
use crate::outbox::Outbound;
use crate::requests::{Requests, Slot, Wait};
use crate::settings::MpiSettings;
use crate::wire::{on_the_wire, Wire};
use odonata_packet::Envelope;
use odonata_units::Bytes;
use serde::{Deserialize, Serialize};

/// Something that a host has to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// A message: with its data, announced, or of the node.
    Message { kind: Wire, label: Label, bytes: u64, transfer: u32 },
    /// The data of a receive have come.
    Come { transfer: u32 },
    /// A send is complete.
    Complete { transfer: u32 },
}

/// A receive that waits for its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Posted {
    bytes: u64,
    pub(super) slot: Slot,
}

/// A message that waits for its receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Unexpected {
    kind: Wire,
    bytes: u64,
    transfer: u32,
}

/// A message of which only the announcement is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Transfer {
    peer: u32,
    bytes: u64,
    slot: Slot,
    /// Number of the message among those of its sender.
    number: u64,
    /// Its number at the other end, at the receiver.
    there: u32,
}

/// Transfers by number.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(super) struct Transfers {
    list: Vec<Transfer>,
    free: Vec<u32>,
}

impl Transfers {
    fn add(&mut self, transfer: Transfer) -> u32 {
        if let Some(number) = self.free.pop() {
            self.list[number as usize] = transfer;
            return number;
        }
        self.list.push(transfer);
        self.list.len() as u32 - 1
    }

    /// The other end of the transfer of a request.
    pub(super) fn peer_of(&self, slot: Slot) -> Option<u32> {
        let open = (0..).zip(&self.list).filter(|(number, _)| !self.free.contains(number));
        open.map(|(_, transfer)| transfer).find(|transfer| transfer.slot == slot).map(|transfer| transfer.peer)
    }

    pub(super) fn capacity(&self) -> usize {
        self.list.capacity()
    }

    fn remove(&mut self, number: u32) -> Transfer {
        self.free.push(number);
        self.list[number as usize]
    }
}

impl Rank {
    pub(super) fn send(
        &mut self,
        (to, communicator, tag): (u32, u16, u32),
        bytes: Bytes,
        slot: Slot,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        let settings = around.settings;
        self.requests.begin(slot, 0)?;
        self.record.messages += 1;
        self.record.bytes += bytes.0;
        let (node, posted_ps) = (around.nodes[to as usize], self.clock);
        let number = self.sent;
        self.sent += 1;
        self.clock += settings.send_setup.ps();
        let envelope = Envelope {
            bytes: bytes.0,
            tag,
            communicator,
            order: 0,
            sequence: 0,
            source: self.number,
            destination: to,
            kind: 0,
        };
        if node == self.node {
            let transfer = self.sends.add(Transfer { peer: to, bytes: bytes.0, slot, number, there: 0 });
            let envelope = Envelope { kind: Wire::OnNode as u8, sequence: transfer, ..envelope };
            if let Some(log) = &mut around.log {
                log.posted(self.job, &envelope, Wire::OnNode, posted_ps);
                log.started(self.job, &envelope, self.clock);
            }
            if let Some(calls) = &mut around.calls {
                calls.caused((self.job, self.number, to, Told::Message), self.clock);
            }
            around.on_node.push((self.clock + settings.node_latency.ps(), envelope));
            return Ok(());
        }
        self.record.wire_bytes += on_the_wire(settings, around.packet, bytes).0;
        self.clock += settings.header.ps();
        let kind = if settings.is_eager(bytes) { Wire::Eager } else { Wire::Announcement };
        if let Some(log) = &mut around.log {
            log.posted(self.job, &envelope, kind, posted_ps);
        }
        if kind == Wire::Eager {
            self.clock += MpiSettings::copy_ps(settings.copy_ns_per_byte, bytes);
            self.command(Envelope { kind: kind as u8, ..envelope }, number, around);
            self.requests.done(slot);
        } else {
            self.clock += settings.registration_ps(bytes);
            let transfer = self.sends.add(Transfer { peer: to, bytes: bytes.0, slot, number, there: 0 });
            self.command(Envelope { kind: kind as u8, sequence: transfer, ..envelope }, number, around);
        }
        Ok(())
    }

    /// Hands a message to an interface.
    fn command(&self, envelope: Envelope, number: u64, around: &mut Around<'_>) {
        let kind = Wire::of(envelope.kind);
        let start = if kind == Wire::Get { 0 } else { around.settings.nic_start.ps() };
        if let Some(calls) = &mut around.calls {
            let told = match kind {
                Wire::Get => Told::Data,
                Wire::Acknowledgement => Told::Receipt,
                _ => Told::Message,
            };
            calls.caused((self.job, self.number, envelope.destination, told), self.clock);
        }
        let message = Outbound {
            ready_ps: self.clock + around.settings.host_latency.ps() + start,
            job: self.job,
            node: around.nodes[envelope.destination as usize],
            interface: 0,
            envelope,
            wire: kind.bytes(envelope.bytes, around.settings),
        };
        (around.send)(message, number);
    }

    pub(super) fn receive(
        &mut self,
        label: Label,
        bytes: Bytes,
        slot: Slot,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        let settings = around.settings;
        let registration = settings.registration_ps(bytes);
        self.requests.begin(slot, registration)?;
        self.clock += registration;
        let (compared, found) = self.unexpected.take(&label);
        self.clock += compared as u64 * settings.matching.ps();
        let posted = Posted { bytes: bytes.0, slot };
        match found {
            Some((message, Unexpected { kind, bytes, transfer })) => {
                self.matched(posted, message, (kind, bytes, transfer), around)
            }
            None => {
                self.posted.push(label, posted);
                Ok(())
            }
        }
    }

    /// Works off a notice that came at `at`.
    pub(super) fn look_at(&mut self, at: u64, notice: Notice, around: &mut Around<'_>) -> Result<(), String> {
        if around.calls.is_some() {
            self.note(at, notice, around);
        }
        self.clock = self.clock.max(at);
        match notice {
            Notice::Message { kind, label, bytes, transfer } => {
                let (compared, found) = self.posted.take(&label);
                self.clock += compared as u64 * around.settings.matching.ps();
                match found {
                    Some((_, posted)) => self.matched(posted, label, (kind, bytes, transfer), around)?,
                    None => self.unexpected.push(label, Unexpected { kind, bytes, transfer }),
                }
            }
            Notice::Come { transfer } => {
                let Transfer { peer, bytes, slot, there, .. } = self.receives.remove(transfer);
                self.done(slot);
                self.record.received_bytes += bytes;
                let envelope = self.answer(Wire::Acknowledgement, peer, there);
                self.command(Envelope { bytes, ..envelope }, 0, around);
            }
            Notice::Complete { transfer } => {
                let send = self.sends.remove(transfer);
                self.done(send.slot);
            }
        }
        Ok(())
    }

    /// Notes what its host is told of, and whether its clock jumps to that time.
    #[cold]
    fn note(&self, at: u64, notice: Notice, around: &mut Around<'_>) {
        let Some(calls) = &mut around.calls else { return };
        let way = match notice {
            Notice::Message { label, .. } => (self.job, label.source, self.number, Told::Message),
            Notice::Come { transfer } => {
                (self.job, self.number, self.receives.list[transfer as usize].peer, Told::Data)
            }
            Notice::Complete { transfer } => {
                (self.job, self.sends.list[transfer as usize].peer, self.number, Told::Receipt)
            }
        };
        let jump = Jump { call: self.code.calls(), from_ps: self.clock, until_ps: at };
        calls.told(way, (at > self.clock).then_some(jump));
    }

    /// Its interface is asked for the data of a message that it announced: where to, how many bytes, and the message's number.
    pub(crate) fn asked_for(&self, transfer: u32) -> (u32, u64, u64) {
        let send = &self.sends.list[transfer as usize];
        (send.peer, send.bytes, send.number)
    }

    fn answer(&self, kind: Wire, to: u32, sequence: u32) -> Envelope {
        Envelope { kind: kind as u8, source: self.number, destination: to, sequence, ..Envelope::default() }
    }

    /// A receive and a message have found each other.
    fn matched(
        &mut self,
        posted: Posted,
        message: Label,
        (kind, bytes, transfer): (Wire, u64, u32),
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        if bytes > posted.bytes {
            return Err(format!(
                "receives at most {} B from rank {} with tag {}, but the message has {bytes} B",
                posted.bytes, message.source, message.tag
            ));
        }
        if let Some(log) = &mut around.log {
            log.matched(self.job, &message, self.number, kind == Wire::Announcement, self.clock);
        }
        let settings = around.settings;
        self.clock += settings.receive_setup.ps();
        let copied = |ns_per_byte| MpiSettings::copy_ps(ns_per_byte, Bytes(bytes));
        match kind {
            Wire::Announcement => {
                let there = Transfer { peer: message.source, bytes, slot: posted.slot, number: 0, there: transfer };
                let here = self.receives.add(there);
                let get = Envelope { tag: here, ..self.answer(Wire::Get, message.source, transfer) };
                self.command(get, 0, around);
                return Ok(());
            }
            Wire::OnNode => {
                self.clock += copied(settings.copy_ns_per_byte);
                if let Some(calls) = &mut around.calls {
                    calls.caused((self.job, self.number, message.source, Told::Receipt), self.clock);
                }
                around.on_node.push((self.clock, self.answer(Wire::Received, message.source, transfer)));
            }
            _ => self.clock += copied(settings.receive_copy_ns_per_byte),
        }
        self.record.received_bytes += bytes;
        self.done(posted.slot);
        Ok(())
    }

    /// A request is done, which may be what the rank waits for.
    fn done(&mut self, slot: Slot) {
        self.requests.done(slot);
        if let Doing::Blocked { wait, missing, .. } = &mut self.doing {
            if Requests::concerns(wait, slot) {
                *missing = if matches!(wait, Wait::All(..)) { *missing - 1 } else { 0 };
            }
        }
    }
}

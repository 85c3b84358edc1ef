//! The link: from output queues to the next router or node, and what comes back.

use super::port::Credit;
use super::{kind, Message, Partition};
use crate::packet::NONE;
use odonata_routing::algorithm::Feedback;

impl Partition {
    /// Sends the next packet of port `o` if the link is free and a channel has a packet and credit for all of it;
    /// whether one was sent. Channels take turns.
    pub(super) fn send(&mut self, o: usize) -> bool {
        let out = &self.out[o];
        if out.occupied == 0 {
            return false;
        }
        if out.link_free > self.now {
            self.wake_link(o, out.link_free);
            return false;
        }
        self.collect_credits(o);
        let (slot, ready) = self.next_packet(o);
        if slot == NONE {
            self.starve(o, ready);
            return false;
        }
        self.depart(o, slot);
        let out = &self.out[o];
        if out.occupied != 0 {
            self.wake_link(o, out.link_free);
        }
        true
    }

    /// The packet that leaves next, or `NONE` and the time at which one with credit gets ready.
    #[inline]
    fn next_packet(&self, o: usize) -> (u32, u64) {
        let out = &self.out[o];
        let mut ready = u64::MAX;
        // First the channels from next_vc on, then those below.
        let upper = out.occupied & u16::MAX.checked_shl(u32::from(out.next_vc)).unwrap_or(0);
        for mut part in [upper, out.occupied & !upper] {
            while part != 0 {
                let vc = part.trailing_zeros() as usize;
                part &= part - 1;
                let channel = &self.out_channel[o * self.channels + vc];
                let packet = self.pool.get(channel.queue.head);
                if !out.ejects && channel.credit < packet.size {
                    continue;
                }
                if packet.ready > self.now {
                    ready = ready.min(packet.ready);
                    continue;
                }
                return (channel.queue.head, 0);
            }
        }
        (NONE, ready)
    }

    /// Nothing can leave port `o`: wait for a packet to get ready or for a credit.
    fn starve(&mut self, o: usize, ready: u64) {
        if ready != u64::MAX {
            self.wake_link(o, ready);
            return;
        }
        let now = self.now;
        let out = &mut self.out[o];
        out.starved = true;
        if out.stalled_since == u64::MAX {
            out.stalled_since = now;
        }
        self.recorder.starved(o, out.occupied, now);
        if let Some(credit) = out.credits.front() {
            let at = credit.at;
            self.wake_link(o, at);
        }
    }

    fn depart(&mut self, o: usize, slot: u32) {
        let now = self.now;
        let (vc, size) = {
            let packet = self.pool.get(slot);
            (packet.out_vc, packet.size)
        };
        let channel = &mut self.out_channel[o * self.channels + usize::from(vc)];
        channel.queue.pop(&self.pool);
        channel.bytes -= size;
        let out = &mut self.out[o];
        let busy =
            if size == self.full { out.full_time } else { self.fabric.link_time(self.ports.start + o as u32, size) };
        if channel.queue.is_empty() {
            out.occupied &= !(1 << vc);
        }
        out.queued_bytes -= size;
        out.next_vc = vc + 1;
        out.link_free = now + busy;
        if out.stalled_since != u64::MAX {
            self.recorder.stalled(o, out.stalled_since, now);
            out.stalled_since = u64::MAX;
        }
        out.starved = false;
        let arrives = now + out.latency;
        let (ejects, remote, peer) = (out.ejects, out.remote, out.peer);
        if ejects {
            self.recorder.sent(o, usize::from(vc), self.pool.get(slot), now, busy);
            self.eject((peer - self.nics.start) as usize, slot, arrives + busy);
            return;
        }
        channel.credit -= size;
        out.downstream_bytes += size;
        let packet = self.pool.get_mut(slot);
        packet.previous = packet.arrived;
        packet.arrived = arrives;
        packet.header.state.hops += 1;
        packet.header.state.vc = vc;
        self.recorder.sent(o, usize::from(vc), packet, now, busy);
        if let Some(sent) = self.sent.get_mut(o) {
            while sent.front().is_some_and(|s| s.at <= now) {
                sent.pop_front();
            }
            sent.push_back(Credit { at: arrives, bytes: size, vc });
        }
        if remote {
            let packet = self.pool.remove(slot);
            self.outgoing.push(Message::Packet { port: peer, packet });
        } else {
            self.fly((peer - self.ports.start) as usize, slot);
        }
    }

    /// The packet's last byte reaches the node at `at`. Where the endpoint does not listen, that is as good as done.
    fn eject(&mut self, nic: usize, slot: u32, at: u64) {
        if !self.listens {
            let packet = self.pool.remove(slot);
            self.recorder.delivered(&packet, at);
            return;
        }
        self.pool.get_mut(slot).arrived = at;
        let incoming = &mut self.nic[nic].incoming;
        if incoming.is_empty() {
            self.events.schedule(at, kind::DELIVER | nic as u32);
        }
        incoming.push(slot, &mut self.pool);
    }

    /// Takes in the credits that have arrived at port `o`.
    #[inline]
    fn collect_credits(&mut self, o: usize) {
        let out = &mut self.out[o];
        while let Some(&Credit { at, bytes, vc }) = out.credits.front() {
            if at > self.now {
                break;
            }
            out.credits.pop_front();
            out.downstream_bytes -= bytes;
            self.out_channel[o * self.channels + usize::from(vc)].credit += bytes;
        }
    }

    /// A credit is on its way to port `o`.
    #[inline]
    pub(super) fn take_credit(&mut self, o: usize, credit: Credit) {
        let out = &mut self.out[o];
        out.credits.push_back(credit);
        if out.starved {
            self.wake_link(o, credit.at);
        }
    }

    /// Feedback is on its way to port `o`.
    pub(super) fn take_feedback(&mut self, o: usize, at: u64, feedback: Feedback) {
        let router = &mut self.router[self.out[o].router as usize];
        router.next_feedback = router.next_feedback.min(at);
        self.feedback[o].push_back((at, feedback));
    }

    /// Makes sure that the link of port `o` is looked at at `time` at the latest.
    #[inline]
    fn wake_link(&mut self, o: usize, time: u64) {
        let out = &mut self.out[o];
        if out.send_at > time {
            out.send_at = time;
            self.events.schedule(time, kind::SEND | o as u32);
        }
    }
}

//! A partition relative to now (`odonata_checkpoint::Snapshot`).
//!
//! What `state!` calls state is here, too, without records, and each value as what it is: a time, a counter, an order
//! or a plain value. Every struct is taken apart in full, so a new field does not compile until it is assigned.
//!
//! Slots of packets and places of credits are names. They are left out: each packet is in one list, and stands there.

use super::inputs::{InChannel, InPort, Inputs};
use super::nics::{Nic, NicStates};
use super::outputs::{OutChannel, OutPort, OutputQueues, Outputs, STALLED};
use super::routers::{Router, Routers};
use super::state::Partition;
use crate::credit::{Credit, Credits, Ring};
use crate::endpoint::PacketInFlight;
use crate::packet::{Fifo, Packet, NONE};
use odonata_checkpoint::{Snapshot, State, Writer};

/// State without times.
fn put_state(state: &impl State, into: &mut Snapshot) {
    let mut bytes = Writer::default();
    state.save(&mut bytes);
    into.put(&bytes.into_bytes());
}

/// Credits that have not arrived. The others are part of the credit of their channel.
fn put_credits(credits: &Credits, ring: Ring, now: u64, into: &mut Snapshot) {
    for Credit { at, bytes, vc } in credits.iter(ring).filter(|credit| credit.at > now) {
        into.put(&(bytes, vc));
        into.time(at);
    }
}

impl Partition {
    /// The state at `now`, when all events before it have been handled and all mail delivered.
    pub(crate) fn snapshot(&self, now: u64) -> Snapshot {
        let Self {
            section,
            clock: _,
            agenda,
            pool: _,
            inputs,
            outputs,
            queues,
            on_link,
            turns,
            reservations,
            rings: _,
            pending: _,
            deferred,
            routers,
            feedback,
            nics,
            classes,
            control,
            observes_arrivals: _,
            endpoints,
            recorder: _,
            outbox: _,
        } = self;
        let mut into = Snapshot::new(now);
        into.part("pending events");
        for (key, at) in agenda.queue.pending() {
            into.put(&key);
            into.time(at);
        }
        into.part("router inputs");
        self.put_inputs(inputs, &mut into);
        into.part("router outputs");
        self.put_outputs(outputs, queues, now, &mut into);
        into.part("packets on links");
        on_link.snapshot(now, &mut into);
        into.part("arbiters");
        let Routers { list, routing: _, needs: _ } = routers;
        let channels = |router: &Router| {
            router.ports.start as usize * section.channels..router.ports.end as usize * section.channels
        };
        turns.snapshot(list.iter().map(channels), &mut into);
        into.part("reservations");
        put_state(reservations, &mut into);
        put_state(deferred, &mut into);
        into.part("routers");
        for Router { id, ports: _, nics: _, link_ports_from: _, next_feedback, random, memory } in list {
            into.time(*next_feedback);
            into.stream(|| format!("the routing of router {}", id.0), random);
            into.put(memory);
        }
        into.part("feedback");
        feedback.snapshot(&mut into);
        into.part("NICs");
        self.put_nics(nics, now, &mut into);
        into.part("traffic classes and congestion control");
        // Both have absolute times: a state with one never repeats.
        put_state(classes, &mut into);
        put_state(control, &mut into);
        endpoints.snapshot(&mut into);
        into
    }

    fn put_inputs(&self, Inputs { ports, channels }: &Inputs, into: &mut Snapshot) {
        for port in ports {
            let InPort {
                flight,
                crossbar_free,
                kind: _,
                peer: _,
                router: _,
                place: _,
                occupied,
                end: _,
                has_deferred,
                part: _,
            } = port;
            self.put_packets(*flight, into);
            into.deadline(*crossbar_free);
            into.put(&(occupied, has_deferred));
        }
        // Only channels in a list of waiters have a next one; others keep an old number.
        for InChannel { queue, next_waiter: _, port: _ } in channels {
            self.put_packets(*queue, into);
        }
    }

    fn put_outputs(
        &self,
        Outputs { ports, credits }: &Outputs,
        OutputQueues { stalled_since, channels }: &OutputQueues,
        now: u64,
        into: &mut Snapshot,
    ) {
        for (o, port) in ports.iter().enumerate() {
            let OutPort {
                link_free,
                crossbar_free,
                credits: ring,
                kind: _,
                peer: _,
                first_waiter,
                queued_bytes,
                downstream_bytes,
                occupied,
                part: _,
                next_vc,
                crossed_vc,
                end: _,
                flags,
            } = port;
            let arrived = |vc: Option<u8>| -> u32 {
                let of_vc = |credit: &Credit| vc.is_none_or(|vc| vc == credit.vc);
                let arrived = credits.iter(*ring).take_while(|credit| credit.at <= now);
                arrived.filter(of_vc).map(|credit| credit.bytes).sum()
            };
            into.deadline(*link_free);
            into.deadline(*crossbar_free);
            put_credits(credits, *ring, now, into);
            let downstream = downstream_bytes - arrived(None);
            self.put_waiters(*first_waiter, into);
            into.put(&(queued_bytes, downstream, occupied, next_vc, crossed_vc, flags));
            if port.has_flag(STALLED) {
                into.time(stalled_since[o]);
            }
            let first = self.section.channel(o, 0);
            for (vc, channel) in (0..).zip(&channels[first..first + self.section.channels]) {
                let OutChannel { queue, bytes, credit } = channel;
                self.put_packets(*queue, into);
                into.put(&(bytes, credit + arrived(Some(vc))));
            }
        }
    }

    /// The input channels that wait for an output, in order.
    fn put_waiters(&self, first: u32, into: &mut Snapshot) {
        let mut waiter = first;
        while waiter != NONE {
            into.put(&waiter);
            waiter = self.inputs.channels[waiter as usize].next_waiter;
        }
        into.put(&NONE);
    }

    fn put_nics(&self, NicStates { list, listeners, .. }: &NicStates, now: u64, into: &mut Snapshot) {
        for nic in list {
            let Nic {
                link_free,
                next_ready,
                leaves,
                credits: ring,
                credit,
                port: _,
                incoming,
                kind: _,
                is_stalled,
                reports_arrivals: _,
                reports_departures: _,
                has_departure_events: _,
            } = nic;
            into.deadline(*link_free);
            into.time(*next_ready);
            into.time(*leaves);
            let credits = &self.outputs.credits;
            put_credits(credits, *ring, now, into);
            let arrived: u32 = credits.iter(*ring).filter(|credit| credit.at <= now).map(|credit| credit.bytes).sum();
            into.put(&(credit + arrived, is_stalled));
            self.put_packets(*incoming, into);
        }
        listeners.snapshot(into, |arrival, into| {
            into.put(&(arrival.source, arrival.size, arrival.job));
            self.endpoints.snapshot_envelope(arrival.envelope.as_ref(), into);
        });
    }

    /// The packets of a list, in order.
    fn put_packets(&self, list: Fifo, into: &mut Snapshot) {
        let mut slot = list.head;
        while slot != NONE {
            let packet = self.pool.get(slot);
            let Packet { created, injected, arrived, ready, header, next, message, size_and_vc, job, nic, overhead } =
                packet;
            [created, injected, arrived].into_iter().for_each(|time| into.time(*time));
            into.deadline(*ready);
            into.put(&(header, size_and_vc, job, nic, overhead));
            let packet =
                PacketInFlight { source: header.source, destination: header.destination, nic: *nic, message: *message };
            self.endpoints.snapshot_message(&packet, into);
            self.endpoints.snapshot_envelope(self.pool.envelope(slot).as_ref(), into);
            slot = *next;
        }
        into.put(&NONE);
    }
}

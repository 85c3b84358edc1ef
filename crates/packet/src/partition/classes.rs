//! Traffic classes at NICs and output ports. Without classes nothing here exists.
//!
//! A NIC knows for each class when its next packet exists and how much space the class has at the router. It injects at
//! the earliest time at which a class has both and may start. At an output port each class has its own channels.

use super::class_state::ClassOffer;
use super::state::Partition;
use crate::credit::{Credit, Credits};
use crate::packet::NONE;
use crate::traffic_class::{Charge, LinkTimes, CLASSES_MAX};

impl Partition {
    fn port_times(&self, o: usize) -> LinkTimes {
        let full_time = self.section.kind(self.outputs.ports[o].kind).full_time;
        LinkTimes { full: self.section.full, full_time }
    }

    fn nic_times(&self, n: usize) -> LinkTimes {
        let full_time = self.section.kind(self.nics.list[n].kind).incoming_time;
        LinkTimes { full: self.section.full, full_time }
    }

    /// Whether a packet in channel `vc` may depart from the idle port `o` as far as its class is concerned.
    #[inline(always)]
    pub(super) fn class_may_start(&self, o: usize, vc: u8, now: u64) -> bool {
        self.classes.is_none() || self.credited_class_may_start(o, vc, now)
    }

    #[inline(never)]
    fn credited_class_may_start(&self, o: usize, vc: u8, now: u64) -> bool {
        let classes = self.classes.as_ref().expect("there are classes");
        classes.ports.earliest(o, self.section.class_of(vc), self.port_times(o)) <= now
    }

    /// The packet that departs from port `o` at time `at`, or `NONE` and the time at which one may depart.
    #[inline(never)]
    pub(super) fn next_packet_by_class(&mut self, o: usize, at: u64) -> (u32, u64) {
        let (occupied, times) = (self.outputs.ports[o].occupied, self.port_times(o));
        let classes = self.classes.take().expect("there are classes");
        let (mut heads, mut candidates, mut ready) = ([NONE; CLASSES_MAX], 0, u64::MAX);
        for (class, head) in heads.iter_mut().enumerate().take(self.section.classes) {
            let channels = occupied & self.section.channel_set(class);
            if channels == 0 {
                continue;
            }
            let earliest = classes.ports.earliest(o, class, times);
            match self.next_packet_of(o, at, channels, classes.ports.next_vc(o, class)) {
                (NONE, u64::MAX) => {}
                (NONE, leaves) => ready = ready.min(leaves.max(earliest)),
                (_, _) if earliest > at => ready = ready.min(earliest),
                (slot, _) => {
                    *head = slot;
                    candidates |= 1 << class;
                }
            }
        }
        if candidates != 0 {
            let size = |class: usize| self.pool.get(heads[class]).size();
            let class = classes.ports.choose(o, candidates, size);
            self.classes = Some(classes);
            return (heads[class], 0);
        }
        self.classes = Some(classes);
        (NONE, ready)
    }

    /// Charges the class of a packet in channel `vc` that departs from port `o` at `now` and occupies it for `busy`.
    #[inline(never)]
    pub(super) fn charge_class(&mut self, o: usize, slot: u32, vc: u8, now: u64, busy: u64) {
        let class = self.section.class_of(vc);
        let is_last = self.outputs.ports[o].occupied & self.section.channel_set(class) == 0;
        let charge = Charge { size: self.pool.get(slot).size(), next_vc: vc + 1, now, busy, is_last };
        let classes = self.classes.as_mut().expect("there are classes");
        classes.ports.charge(o, class, self.section.full, charge);
    }

    /// Finds the next packet of each class at NIC `n`.
    #[inline(never)]
    pub(super) fn arm_classes(&mut self, n: usize) {
        let link_free = self.nics.list[n].link_free;
        for class in 0..self.section.classes {
            let created = self.next_class_offer(n, class);
            let ready = if created == u64::MAX { created } else { created.max(link_free) };
            let classes = self.classes.as_mut().expect("there are classes");
            classes.offers[n * self.section.classes + class].ready = ready;
        }
        self.schedule(n);
    }

    /// Asks for the offers of all classes at NIC `n` again: packets and times may have changed.
    #[inline(never)]
    pub(super) fn refresh_classes(&mut self, n: usize) {
        let (now, since) = (self.clock.now, self.nics.list[n].next_ready);
        let mut has_changed = false;
        for class in 0..self.section.classes {
            let created = self.next_class_offer(n, class);
            let (link_free, place) = (self.nics.list[n].link_free, n * self.section.classes + class);
            let offer = &mut self.classes.as_mut().expect("there are classes").offers[place];
            // It still waits for credit, or for another class.
            if offer.ready <= now && created <= now {
                continue;
            }
            let wanted = if created == u64::MAX { created } else { created.max(link_free).max(now) };
            has_changed |= wanted != offer.ready;
            offer.ready = wanted;
        }
        if has_changed {
            self.schedule(n);
            if since <= now && self.nics.list[n].next_ready > now {
                self.recorder.record_nic_stall(n, since, now);
            }
        }
    }

    /// Sets the time at which NIC `n` injects its next packet, of any class, and schedules it if the time is known.
    #[inline(never)]
    pub(super) fn schedule_classes(&mut self, n: usize) {
        let times = self.nic_times(n);
        let classes = self.classes.as_ref().expect("there are classes");
        let nic = &mut self.nics.list[n];
        (nic.next_ready, nic.leaves, nic.is_stalled) = (u64::MAX, u64::MAX, false);
        for class in 0..self.section.classes {
            let ClassOffer { ready, credit, .. } = classes.offers[n * self.section.classes + class];
            if ready == u64::MAX {
                continue;
            }
            nic.next_ready = nic.next_ready.min(ready);
            let may_start = ready.max(classes.nics.earliest(n, class, times));
            let mut own = self.outputs.credits.iter(nic.credits).filter(|c| self.section.class_of(c.vc) == class);
            let (mut room, mut at) = (credit, 0);
            while room < times.full {
                let Some(credit) = own.next() else { break };
                (room, at) = (room + credit.bytes, credit.at);
            }
            if room < times.full {
                nic.is_stalled = true;
            } else {
                nic.leaves = nic.leaves.min(may_start.max(at));
            }
        }
        if nic.leaves != u64::MAX {
            self.wake_injection(n);
        }
    }

    /// Injects a packet of NIC `n` at `leaves`, of the class whose turn it is. Returns its slot.
    #[inline(never)]
    pub(super) fn inject_by_class(&mut self, n: usize, leaves: u64) -> u32 {
        let (times, first) = (self.nic_times(n), n * self.section.classes);
        let classes = self.classes.as_mut().expect("there are classes");
        let nic = &mut self.nics.list[n];
        let ready = nic.next_ready;
        while let Some(Credit { bytes, vc, .. }) = self.outputs.credits.front(nic.credits).filter(|c| c.at <= leaves) {
            Credits::pop(&mut nic.credits);
            classes.offers[first + self.section.class_of(vc)].credit += bytes;
        }
        // What waits for the link is known only now: load, programs and notices may have changed it.
        for class in (0..self.section.classes).filter(|class| classes.offers[first + class].ready > leaves) {
            classes.nics.forfeit(n, class);
        }
        let may_start = |class: &usize| {
            let ClassOffer { ready, credit, .. } = classes.offers[first + class];
            ready <= leaves && credit >= times.full && classes.nics.earliest(n, *class, times) <= leaves
        };
        let mut candidates: u8 = (0..self.section.classes).filter(may_start).map(|class| 1 << class).sum();
        while candidates != 0 {
            let classes = self.classes.as_ref().expect("there are classes");
            let class = classes.nics.choose(n, candidates, |_| times.full);
            if let Some(packet) = self.take_control_packet(n, class, leaves) {
                return self.inject_control_packet(n, leaves, &packet, Some(class));
            }
            if let Some(injection) = self.take_of_class(n, class, leaves) {
                return self.inject(n, ready, leaves, &injection, Some(class));
            }
            // A congestion control holds its packets.
            candidates &= !(1 << class);
            self.classes.as_mut().expect("there are classes").nics.forfeit(n, class);
        }
        self.arm_classes(n);
        NONE
    }

    /// Charges a class for a packet of `size` bytes that NIC `n` injects at `leaves`.
    #[inline(never)]
    pub(super) fn charge_nic(&mut self, n: usize, class: usize, size: u32, leaves: u64, busy: u64) {
        let classes = self.classes.as_mut().expect("there are classes");
        classes.offers[n * self.section.classes + class].credit -= size;
        let charge = Charge { size, next_vc: 0, now: leaves, busy, is_last: false };
        classes.nics.charge(n, class, self.section.full, charge);
    }
}

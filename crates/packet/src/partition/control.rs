//! Congestion control: what happens at which event.
//!
//! | event | at the router | at the NIC |
//! |---|---|---|
//! | a packet arrives at its last router | count it; hold its source | |
//! | it departs to its node | count it; acknowledge it; credits and releases | |
//! | a NIC can send | | apply the notices that have arrived; choose a packet |
//! | a notice is sent | | the NIC tries when it arrives, if a packet waits for it |
//!
//! Notices carry their arrival time and have no events. A NIC with waiting packets tries to send when one arrives.

use super::congestion::{limits, ClassControl, Control};
use super::state::Partition;
use crate::control::{
    ControlInterval, ControlIntervalKey, ControlName, ControlPacket, ControlRecord, ControlRule, IntervalKey,
    NicControl, Notice, NoticeKind, PairKey, PortRate,
};
use crate::endpoint::OutgoingPacket;
use crate::packet::NONE;

impl Partition {
    /// When NIC `n` can next have a packet to send; `u64::MAX` if that is not known.
    #[inline(always)]
    pub(super) fn next_offer(&mut self, n: usize) -> u64 {
        let created = self.endpoints.next_created_ps(n as u32).unwrap_or(u64::MAX);
        match &self.control {
            None => created,
            Some(control) => created.min(control.nics[n].next_chance()),
        }
    }

    /// When NIC `n` can next have a packet of a class to send; `u64::MAX` if that is not known.
    pub(super) fn next_class_offer(&mut self, n: usize, class: usize) -> u64 {
        let created = self.endpoints.next_created_in(n as u32, class as u8).unwrap_or(u64::MAX);
        match &self.control {
            None => created,
            Some(control) => created.min(control.nics[n * self.section.classes + class].next_chance()),
        }
    }

    /// Takes the packet of a class that may leave NIC `n` at `leaves`, if there is one.
    pub(super) fn take_of_class(&mut self, n: usize, class: usize, leaves: u64) -> Option<OutgoingPacket> {
        match &self.control {
            Some(control) if control.classes[class].settings.is_on() => self.take_controlled(n, class, leaves),
            _ => Some(self.endpoints.take_in(n as u32, class as u8, leaves)),
        }
    }

    /// Injects a packet of NIC `n` that may go at `leaves`, if there is one. Returns its slot.
    #[inline(never)]
    pub(super) fn inject_controlled(&mut self, n: usize, ready: u64, leaves: u64) -> u32 {
        if let Some(packet) = self.take_control_packet(n, 0, leaves) {
            return self.inject_control_packet(n, leaves, &packet, None);
        }
        match self.take_controlled(n, 0, leaves) {
            Some(injection) => self.inject(n, ready, leaves, &injection, None),
            None => {
                self.arm_nic(n);
                NONE
            }
        }
    }

    /// Takes the packet of a class of NIC `n` that may go at `leaves`: the oldest one that waits, or the next one of the endpoint.
    /// Packets of the endpoint that may not go wait in the queue of their destination.
    fn take_controlled(&mut self, n: usize, class: usize, leaves: u64) -> Option<OutgoingPacket> {
        let mut control = self.control.take().expect("there is a control");
        let source = self.section.nics.start + n as u32;
        let Control { nics, records, classes, latencies, interval_ps, .. } = &mut *control;
        let (nic, class_control) = (&mut nics[n * self.section.classes + class], &classes[class]);
        let rules = &class_control.rules;
        nic.apply(leaves, rules);
        let mut has_waited = false;
        let found = match nic.take_ready(leaves, rules) {
            Some(held) => {
                let destination = self.nic_of(&held.packet);
                let pair = PairKey { job: held.packet.job, source, destination };
                records.count_held(pair, leaves - held.since);
                self.endpoints.release(n as u32, held.packet.job, leaves);
                Some((held.packet, held.size))
            }
            None => loop {
                let created = self.endpoints.next_created_in(n as u32, class as u8);
                if created.is_none_or(|created| created > leaves) {
                    break None;
                }
                let packet = self.endpoints.take_in(n as u32, class as u8, leaves);
                let (job, size) = (packet.job, self.size_of(&packet));
                let destination = self.nic_of(&packet);
                let limits = || limits(&self.section, class_control, latencies, source, destination);
                if let Some(packet) = nic.offer(packet, size, destination, leaves, rules, limits) {
                    break Some((packet, size));
                }
                has_waited = true;
                self.endpoints.hold(n as u32, job);
            },
        };
        if let Some((packet, size)) = &found {
            if let Some(interval) = leaves.checked_div(*interval_ps) {
                let destination = self.nic_of(packet);
                let (window, rate, is_credited) = nic.limits_of(destination, *size, leaves, rules);
                let key = IntervalKey { interval, source, destination };
                records.count_departure(key, window, rate, is_credited);
            }
        }
        self.control = Some(control);
        // What the endpoint offers at other NICs of the node may depend on what it handed over.
        if has_waited && self.nics.list[n].has_departure_events {
            self.refresh_others(n);
        }
        found.map(|(packet, _)| packet)
    }

    fn nic_of(&self, packet: &OutgoingPacket) -> u32 {
        self.section.fabric.node_nic[packet.destination.index()] + u32::from(packet.nic)
    }

    fn size_of(&self, packet: &OutgoingPacket) -> u32 {
        packet.size + self.section.fabric.overhead(packet.size) + packet.padding
    }

    /// Counts the packet of `slot`, which arrives at a router, if its node is there, and holds its source if the port
    /// is congested.
    pub(super) fn control_arrival(&mut self, router: usize, slot: u32) {
        let packet = self.pool.get(slot);
        if packet.is_control() {
            return;
        }
        let fabric = &self.section.fabric;
        let nic = fabric.node_nic[packet.header.destination.index()] + u32::from(packet.nic);
        if !self.routers.list[router].nics.contains(&nic) {
            return;
        }
        let (source, size) = (fabric.node_nic[packet.header.source.index()], packet.size());
        let class = self.section.class_of(packet.header.state.vc);
        let place = (nic - self.section.nics.start) as usize * self.section.classes + class;
        let mut control = self.control.take().expect("there is a control");
        if !control.classes[class].settings.is_on() {
            self.control = Some(control);
            return;
        }
        control.ports.count_arrival(place, size, packet.job);
        let Control { ports, classes, latencies, records, sent, .. } = &mut *control;
        let settings = &classes[class].settings;
        let full_time = classes[class].full_time(fabric.full_time[fabric.nic_port[nic as usize] as usize]);
        let pair = PairKey { job: packet.job, source, destination: nic };
        match settings.rule() {
            ControlRule::Credit => {
                let round_trip = || latencies.round_trip(fabric, nic, source) + full_time;
                ports.react_to_arrival(place, source, size, settings, round_trip, |to, kind, bytes| {
                    records.count_hold(pair);
                    sent.push((to, kind, bytes, 0));
                });
            }
            ControlRule::Merlin => {
                let rate = PortRate { now: self.clock.now, departed: false, full: self.section.full, full_time };
                ports.list_source(place, source, size, rate, settings, |to, kind, sources, pause| {
                    records.count_hold(PairKey { source: to, ..pair });
                    sent.push((to, kind, sources, pause));
                });
            }
            ControlRule::Fixed | ControlRule::Dctcp | ControlRule::Nscc | ControlRule::Dcqcn | ControlRule::Cct => {}
        }
        self.control = Some(control);
        self.send_notices(nic, class);
    }

    /// Acknowledges the packet of `slot`, which departs to NIC `n` and is delivered at `delivered`, and lets the port
    /// give credits. Returns whether the packet was one of the control.
    #[cold]
    pub(super) fn control_departure(&mut self, o: usize, n: usize, slot: u32, delivered: u64) -> bool {
        let packet = self.pool.get(slot);
        if packet.is_control() {
            self.deliver_control_packet(n, slot, delivered);
            return true;
        }
        let (size, is_marked) = (packet.size(), packet.is_marked());
        let source = self.section.fabric.node_nic[packet.header.source.index()];
        let nic = self.section.nics.start + n as u32;
        let (job, injected, class) = (packet.job, packet.injected, self.section.class_of(packet.out_vc()));
        let place = n * self.section.classes + class;
        let control = self.control.as_mut().expect("there is a control");
        let name = control.classes[class].settings.name;
        if name == ControlName::None {
            return false;
        }
        let (from, queued) = (packet.header.source.0, control.ports.queued(place));
        control.ports.count_departure(place, size);
        let is_long = || self.section.marking[class].marks(queued, injected, from);
        let is_marked = name == ControlName::Window && (is_marked || is_long());
        let fabric = &self.section.fabric;
        // Beyond the fastest path: waits, and detours. Only windows follow it.
        let busy = || fabric.link_time(fabric.nic_port[nic as usize], size);
        let forth = || control.latencies.between_nics(fabric, source, nic);
        let delay_ps =
            if name == ControlName::Window { delivered.saturating_sub(injected + forth() + busy()) } else { 0 };
        if is_marked {
            control.records.count_mark(PairKey { job, source, destination: nic });
        }
        let kind = if is_marked { NoticeKind::MarkedAck } else { NoticeKind::Ack };
        match self.control_packet_size(class) {
            Some(_) => {
                let packet = ControlPacket { ready: delivered, to: source, kind, bytes: size, delay_ps, job };
                self.add_control_packet(n, class, packet);
            }
            None => {
                let control = self.control.as_ref().expect("there is a control");
                let back = control.latencies.between_nics(&self.section.fabric, nic, source);
                let at = delivered + back;
                self.send_notice(
                    source,
                    Notice { at, destination: nic, class: class as u8, kind, bytes: size, delay_ps },
                );
            }
        }
        if self.control.as_ref().is_some_and(|control| control.has_sources(place, class)) {
            self.serve_sources(o, n, class, Some(size));
        }
        false
    }

    /// Lets port `o`, which leads to NIC `n`, give credits for a class after a packet of `departed` bytes, and schedules the
    /// next time if nothing of the class is queued.
    fn serve_sources(&mut self, o: usize, n: usize, class: usize, departed: Option<u32>) {
        let nic = self.section.nics.start + n as u32;
        let kind = self.section.kind(self.outputs.ports[o].kind);
        let Control { ports, classes, sent, .. } = &mut **self.control.as_mut().expect("there is a control");
        let ClassControl { settings, .. } = &classes[class];
        let (full, full_time) = (self.section.full, classes[class].full_time(kind.full_time));
        let rate = PortRate { now: self.clock.now, departed: departed.is_some(), full, full_time };
        let place = n * self.section.classes + class;
        if let (ControlRule::Merlin, Some(size)) = (settings.rule(), departed) {
            ports.free_sources(place, size, rate, settings, |to, kind, sources, pause| {
                sent.push((to, kind, sources, pause))
            });
        }
        ports.serve(place, rate, settings, |to, kind, bytes| sent.push((to, kind, bytes, 0)));
        let expiry = ports.next_expiry(place);
        self.send_notices(nic, class);
        if let Some(at) = expiry {
            self.agenda.wake_output(o, at);
        }
    }

    /// Lets port `o`, which leads to NIC `n`, give credits, if nothing is queued and credits have expired.
    pub(super) fn serve_idle_port(&mut self, o: usize, n: usize) {
        for class in 0..self.section.classes {
            let place = n * self.section.classes + class;
            match self.control.as_ref().and_then(|control| control.ports.next_expiry(place)) {
                Some(at) if at <= self.clock.now => self.serve_sources(o, n, class, None),
                // The port has one event, which may have been for something else.
                Some(at) => self.agenda.wake_output(o, at),
                None => {}
            }
        }
    }

    /// Sends the notices of the port of NIC `nic` for a class.
    fn send_notices(&mut self, nic: u32, class: usize) {
        let control = self.control.as_mut().expect("there is a control");
        if control.sent.is_empty() {
            return;
        }
        let mut sent = std::mem::take(&mut control.sent);
        if self.control_packet_size(class).is_some() {
            self.send_control_packets(nic, class, &mut sent);
        }
        for (source, kind, bytes, delay_ps) in sent.drain(..) {
            let fabric = &self.section.fabric;
            let router = fabric.port_router[fabric.nic_port[nic as usize] as usize];
            let control = self.control.as_mut().expect("there is a control");
            let at = self.clock.now + control.latencies.router_to_nic(fabric, router, source);
            self.send_notice(source, Notice { at, destination: nic, class: class as u8, kind, bytes, delay_ps });
        }
        self.control.as_mut().expect("there is a control").sent = sent;
    }

    /// The same as packets: the NIC of the port learns of its notices after the latency of the link, and sends them.
    fn send_control_packets(&mut self, nic: u32, class: usize, sent: &mut Vec<(u32, NoticeKind, u32, u64)>) {
        let n = (nic - self.section.nics.start) as usize;
        let ready = self.clock.now + self.section.kind(self.nics.list[n].kind).latency;
        let control = self.control.as_ref().expect("there is a control");
        let job = control.ports.job(n * self.section.classes + class);
        for (to, kind, bytes, delay_ps) in sent.drain(..) {
            self.add_control_packet(n, class, ControlPacket { ready, to, kind, bytes, delay_ps, job });
        }
    }

    fn send_notice(&mut self, source: u32, notice: Notice) {
        if self.section.nics.contains(&source) {
            return self.take_notice((source - self.section.nics.start) as usize, notice);
        }
        let fabric = &self.section.fabric;
        let router = fabric.port_router[fabric.nic_port[source as usize] as usize];
        let part = self.control.as_ref().expect("there is a control").parts[router as usize];
        self.outbox.notice(part, source, notice);
    }

    /// Adds a notice that arrives later at NIC `n`.
    pub(super) fn take_notice(&mut self, n: usize, notice: Notice) {
        let control = self.control.as_mut().expect("there is a control");
        let place = n * self.section.classes + usize::from(notice.class);
        if !control.nics[place].add(notice) {
            return;
        }
        self.offer_from(n, place, notice.at);
    }

    /// NIC `n` may have a packet of a class from `at` on. The class and the NIC have `place`.
    pub(super) fn offer_from(&mut self, n: usize, place: usize, at: u64) {
        let nic = &mut self.nics.list[n];
        let at = at.max(nic.link_free);
        let ready = match &mut self.classes {
            None => &mut nic.next_ready,
            Some(classes) => &mut classes.offers[place].ready,
        };
        if at < *ready {
            *ready = at;
            self.schedule(n);
        }
    }

    /// Whether packets of some jobs that were created before `before` wait at NICs.
    pub(crate) fn holds_packets(&self, before: u64, jobs: &[usize]) -> bool {
        self.control.as_ref().is_some_and(|control| control.nics.iter().any(|own| own.has_packets(before, jobs)))
    }

    /// Records of the control at the end of the run.
    pub(super) fn control_records(&self) -> (Vec<ControlRecord>, Vec<(ControlIntervalKey, ControlInterval)>) {
        let node = |nic| self.section.fabric.node_of(nic);
        let of = |control: &Control| (control.records.rows(node), control.records.series(node));
        self.control.as_deref().map(of).unwrap_or_default()
    }

    pub(super) fn control_bytes(&self) -> usize {
        self.control.as_ref().map_or(0, |control| {
            control.nics.iter().map(NicControl::memory_bytes).sum::<usize>()
                + control.ports.memory_bytes()
                + if self.section.routers.start == 0 { control.latencies.memory_bytes() } else { 0 }
                + control.records.memory_bytes()
        })
    }
}

//! Congested ejection ports (`pair`): who sends to them, and how much they may.
//!
//! A port with more than `q_hi` bytes in its router holds each source whose packet arrives. Held sources take turns in
//! getting credits, so that the bytes in the router and the granted bytes together keep the port busy
//! and the queue between `q_lo` and `q_hi`:
//!
//! ```text
//! queued + granted <= (q_lo + q_hi) / 2 + rate x mean round trip of the held sources
//! ```
//! Each departure from a queue below `q_lo` releases one source. A source that has not used its credit in two round
//! trips has nothing to send and is released, too.

use super::merlin::MerlinPort;
use super::notice::NoticeKind;
use super::port_rate::PortRate;
use super::settings::ControlSettings;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A held source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Source {
    /// Bytes of credit that have not arrived as packets.
    granted: u32,
    round_trip: u64,
}

/// A congested port.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Congestion {
    sources: BTreeMap<u32, Source>,
    /// The next source to get credit is at the front.
    turns: VecDeque<u32>,
    /// Credits by expiry: time, source, bytes.
    grants: VecDeque<(u64, u32, u32)>,
    granted: u64,
    round_trips: u64,
}

impl Congestion {
    fn hold(&mut self, source: u32, round_trip: u64) {
        self.sources.insert(source, Source { granted: 0, round_trip });
        self.turns.push_back(source);
        self.round_trips += round_trip;
    }

    fn use_credit(&mut self, source: u32, size: u32) {
        if let Some(of) = self.sources.get_mut(&source) {
            let used = of.granted.min(size);
            of.granted -= used;
            self.granted -= u64::from(used);
        }
    }

    fn release(&mut self, source: u32, send: &mut impl FnMut(u32, NoticeKind, u32)) {
        let Some(of) = self.sources.remove(&source) else { return };
        self.turns.retain(|other| *other != source);
        self.grants.retain(|grant| grant.1 != source);
        self.granted -= u64::from(of.granted);
        self.round_trips -= of.round_trip;
        send(source, NoticeKind::Release, 0);
    }

    /// Releases the sources whose credit has expired unused.
    fn expire(&mut self, now: u64, send: &mut impl FnMut(u32, NoticeKind, u32)) {
        while let Some(&(_, source, _)) = self.grants.front().filter(|(until, ..)| *until <= now) {
            self.grants.pop_front();
            // The oldest credit is used first, so all of it is used if no more is left than was granted later.
            let later: u32 = self.grants.iter().filter(|grant| grant.1 == source).map(|grant| grant.2).sum();
            let unused = self.sources.get(&source).is_some_and(|of| of.granted > later);
            if unused {
                self.release(source, send);
            }
        }
    }
}

/// What every packet of an ejection port reads and writes, in one place.
#[derive(Clone, Default, Serialize, Deserialize)]
struct PortCount {
    /// Bytes in the router for the port.
    queued: u32,
    /// Job of the last packet that arrived: control packets of the port are attributed to it.
    job: u16,
    /// Whether the port is among the congested ones. Most are not, and need no search.
    is_congested: bool,
}

/// The ejection ports of a partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct PortControl {
    counts: Vec<PortCount>,
    congested: BTreeMap<u32, Congestion>,
    /// Ports with listed sources, with the rule `merlin`.
    listed: BTreeMap<u32, MerlinPort>,
}

impl PortControl {
    pub(crate) fn new(nics: usize) -> Self {
        Self { counts: vec![PortCount::default(); nics], congested: BTreeMap::new(), listed: BTreeMap::new() }
    }

    /// Bytes in the router for the port of NIC `n`.
    pub(crate) fn queued(&self, n: usize) -> u32 {
        self.counts[n].queued
    }

    /// Whether the port of NIC `n` holds sources.
    pub(crate) fn is_congested(&self, n: usize) -> bool {
        self.counts[n].is_congested
    }

    /// Job of the last packet that arrived for the port of NIC `n`.
    pub(crate) fn job(&self, n: usize) -> u16 {
        self.counts[n].job
    }

    /// Counts a packet that arrives at the router of NIC `n`, to which it goes.
    pub(crate) fn count_arrival(&mut self, n: usize, size: u32, job: u16) {
        let count = &mut self.counts[n];
        count.queued += size;
        count.job = job;
    }

    /// Counts a packet that departs to NIC `n`.
    pub(crate) fn count_departure(&mut self, n: usize, size: u32) {
        self.counts[n].queued -= size;
    }

    /// Holds the `source` of a packet that has arrived, if the port is congested.
    pub(crate) fn react_to_arrival(
        &mut self,
        n: usize,
        source: u32,
        size: u32,
        settings: &ControlSettings,
        round_trip: impl FnOnce() -> u64,
        mut send: impl FnMut(u32, NoticeKind, u32),
    ) {
        let count = &mut self.counts[n];
        let is_over = u64::from(count.queued) > settings.q_hi.0;
        if !is_over && !count.is_congested {
            return;
        }
        count.is_congested = true;
        let port = self.congested.entry(n as u32).or_default();
        if port.sources.contains_key(&source) {
            port.use_credit(source, size);
        } else if is_over {
            port.hold(source, round_trip());
            send(source, NoticeKind::Hold, 0);
        }
    }

    /// Gives credits and releases sources after a departure, or when credits have expired at an idle port.
    pub(crate) fn serve(
        &mut self,
        n: usize,
        rate: PortRate,
        settings: &ControlSettings,
        mut send: impl FnMut(u32, NoticeKind, u32),
    ) {
        let Some(port) = self.congested.get_mut(&(n as u32)) else { return };
        let (PortRate { now, full, full_time, .. }, queued) = (rate, u64::from(self.counts[n].queued));
        port.expire(now, &mut send);
        if rate.departed && queued < settings.q_lo.0 {
            if let Some(&first) = port.turns.front() {
                port.release(first, &mut send);
            }
        }
        let credit = settings.credit * full;
        while !port.turns.is_empty() {
            let round_trip = port.round_trips / port.turns.len() as u64;
            let in_flight = u64::from(full) * round_trip / full_time;
            if queued + port.granted >= (settings.q_lo.0 + settings.q_hi.0) / 2 + in_flight {
                break;
            }
            port.turns.rotate_left(1);
            let source = *port.turns.back().expect("a source is held");
            let of = port.sources.get_mut(&source).expect("sources take turns");
            of.granted += credit;
            port.granted += u64::from(credit);
            let grant = (now + 2 * of.round_trip, source, credit);
            let place = port.grants.partition_point(|other| other.0 <= grant.0);
            port.grants.insert(place, grant);
            send(source, NoticeKind::Credit, credit);
        }
        if port.sources.is_empty() {
            self.congested.remove(&(n as u32));
            self.counts[n].is_congested = false;
        }
    }

    /// `merlin`: counts the packet of `source` that has arrived.
    pub(crate) fn list_source(
        &mut self,
        n: usize,
        source: u32,
        size: u32,
        rate: PortRate,
        settings: &ControlSettings,
        send: impl FnMut(u32, NoticeKind, u32, u64),
    ) {
        let queued = u64::from(self.counts[n].queued);
        self.listed.entry(n as u32).or_default().arrive(source, size, queued, &rate, settings, send);
    }

    /// `merlin`: counts a packet that departs.
    pub(crate) fn free_sources(
        &mut self,
        n: usize,
        size: u32,
        rate: PortRate,
        settings: &ControlSettings,
        send: impl FnMut(u32, NoticeKind, u32, u64),
    ) {
        if let Some(port) = self.listed.get_mut(&(n as u32)) {
            port.depart(size, &rate, settings, send);
            if port.is_empty() {
                self.listed.remove(&(n as u32));
            }
        }
    }

    /// When the port of NIC `n` must be served without a departure: nothing is queued, and sources are held.
    pub(crate) fn next_expiry(&self, n: usize) -> Option<u64> {
        let count = &self.counts[n];
        if !count.is_congested || count.queued > 0 {
            return None;
        }
        let port = self.congested.get(&(n as u32))?;
        port.grants.front().map(|(until, ..)| *until)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let of = |port: &Congestion| 32 * port.sources.len() + 16 * port.grants.len() + 4 * port.turns.len();
        let listed: usize = self.listed.values().map(|port| 24 * port.len()).sum();
        8 * self.counts.len() + self.congested.values().map(of).sum::<usize>() + listed
    }
}

//! Open-loop sources: packets are made at an offered load, whatever the network does.
//!
//! Load 1 is one full packet per packet time of the node's link. A message is `burst` packets to one destination, made
//! at once; messages are made at `load / burst` per packet time:
//! * Bernoulli: time is cut into packet times (slots, with a random phase per node), and each slot makes a message with
//!   that probability. The gap to the next one is drawn from the geometric distribution.
//! * Poisson: exponential gaps. * Interval: a constant gap, with a random phase per node.
//!
//! * Paced: a constant gap, counted from when the packet before entered the interface, which has room for so many packets: a
//!   packet that is due enters as soon as the one that many before it begins to leave. So a source that was delay up does not
//!   catch up, and what it offers falls to what the network takes.
//!
//! When the load steps, the gap after the step is drawn anew from the step on.

use super::Destinations;
use crate::endpoint::{Endpoints, Nics, OutgoingPacket};
use odonata_checkpoint::state;
use odonata_units::{NodeId, Stream, Time};
use odonata_workload::{Injection, LoadStep};
use std::sync::Arc;

/// An open-loop job.
#[derive(Clone)]
pub struct OpenJob {
    /// Its nodes.
    pub nodes: Arc<[NodeId]>,
    /// Where its messages go.
    pub destinations: Arc<dyn Destinations>,
    /// The load from each time on, by time; none before the first.
    pub steps: Vec<LoadStep>,
    /// When packets are made.
    pub injection: Injection,
    /// Packets per message.
    pub burst: u32,
    /// Packets for which its interface has room; if none is said, for all.
    pub room: Option<u32>,
    /// Packets that each of its nodes makes before it stops; if none is said, it never does.
    pub packets: Option<u64>,
}

impl std::fmt::Debug for OpenJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenJob")
            .field("nodes", &self.nodes.len())
            .field("steps", &self.steps)
            .field("injection", &self.injection)
            .field("burst", &self.burst)
            .finish_non_exhaustive()
    }
}

impl OpenJob {
    /// A job with a constant load from the start on, one packet per message.
    pub fn constant(nodes: Vec<NodeId>, destinations: Arc<dyn Destinations>, load: f64) -> Self {
        let nodes = nodes.into();
        let steps = vec![LoadStep { from: Time::ZERO, load }];
        Self { nodes, destinations, steps, injection: Injection::Bernoulli, burst: 1, room: None, packets: None }
    }

    /// Whether a state of it may go on with other steps than those under which it was kept: where an interface has room for a few packets, when
    /// they are due follows from what the network took.
    fn accepts_new_steps(&self) -> bool {
        self.room.is_none()
    }

    /// The job as it is known before a time: without steps from then on. The first one stays, whenever it is.
    pub(super) fn before(&self, time: Time) -> Self {
        let mut job = self.clone();
        if job.accepts_new_steps() {
            let mut first = true;
            job.steps.retain(|step| std::mem::take(&mut first) || step.from < time);
        }
        job
    }
}

/// One job at one node.
struct OpenSource {
    job: u16,
    /// Place of the job among those here.
    place: u16,
    node: NodeId,
    random: Stream,
    /// When the next message is made; `u64::MAX` if there is none any more.
    created: u64,
    /// Of the message that it is at: where it goes, and packets left. If none are, the next message has no destination yet: it is drawn
    /// with its first packet, so that a load that ends first changes no draw but that of a time.
    destination: NodeId,
    left: u32,
    /// Time of a full packet on the node's link.
    slot: u64,
    phase: u64,
    /// The step that holds, its messages per slot, and the logarithm of the probability that a slot makes none.
    step: usize,
    rate: f64,
    log_none: f64,
    /// Packets that are still to be made.
    remaining: u64,
    /// How long the next packet is delay up after it was due.
    delay: u64,
    /// When the last packets began to leave, so many as there is room for, if that is limited; the oldest of them is overwritten
    /// next.
    departures: Box<[u64]>,
    oldest: usize,
}

/// The sources of a range of NICs.
pub(super) struct OpenEndpoints {
    jobs: Vec<OpenJob>,
    packet: u32,
    /// Sources of NIC n are `sources[first[n]..first[n + 1]]`.
    first: Vec<u32>,
    sources: Vec<OpenSource>,
}

state!(OpenSource {
    value: random, created, destination, left, phase, step, rate, log_none, remaining, delay, departures, oldest;
    rebuilt: job, place, node, slot
});
state!(OpenEndpoints { nested: sources; rebuilt: jobs, packet, first });

impl OpenEndpoints {
    /// Of jobs with their numbers.
    pub(super) fn new(jobs: &[(u16, &OpenJob)], nics: &Nics<'_>) -> Self {
        let mut placed: Vec<(u32, usize, NodeId)> = Vec::new();
        for (j, (_, job)) in jobs.iter().enumerate() {
            placed.extend(job.nodes.iter().filter_map(|&node| Some((nics.first_of(node)?, j, node))));
        }
        placed.sort_unstable();
        let count = nics.count() as usize;
        let mut first = vec![0u32; count + 1];
        let mut sources = Vec::with_capacity(placed.len());
        for (nic, j, node) in placed {
            first[nic as usize + 1] += 1;
            let slot = nics.time_ps(nic, nics.payload());
            sources.push(OpenSource::new(jobs[j], j as u16, node, slot, nics.seed()));
        }
        for n in 0..count {
            first[n + 1] += first[n];
        }
        let jobs = jobs.iter().map(|(_, job)| (*job).clone()).collect();
        Self { jobs, packet: nics.payload(), first, sources }
    }

    #[inline]
    fn earliest(&self, nic: u32) -> Option<usize> {
        let range = self.first[nic as usize] as usize..self.first[nic as usize + 1] as usize;
        match range.len() {
            0 => None,
            1 => Some(range.start),
            _ => range.min_by_key(|&s| (self.sources[s].created, s)),
        }
    }
}

impl OpenSource {
    fn new((number, job): (u16, &OpenJob), place: u16, node: NodeId, slot: u64, seed: u64) -> Self {
        let random = Stream::new(seed, "injection", &[u64::from(number), u64::from(node.0)]);
        let mut source = Self {
            job: number,
            place,
            node,
            random,
            created: 0,
            destination: node,
            left: 0,
            slot,
            phase: 0,
            step: 0,
            rate: 0.0,
            log_none: 0.0,
            remaining: job.packets.unwrap_or(u64::MAX),
            delay: 0,
            departures: vec![0; job.room.unwrap_or(0) as usize].into(),
            oldest: 0,
        };
        if job.steps.is_empty() {
            source.created = u64::MAX;
            return source;
        }
        source.phase = source.random.below(slot);
        source.begin_step(job, 0);
        source
    }

    /// The first message of step `step` or, if it makes none, of a later one.
    fn begin_step(&mut self, job: &OpenJob, step: usize) {
        self.step = step;
        self.rate = job.steps[step].load / f64::from(job.burst);
        self.log_none = (1.0 - self.rate).ln();
        // A source that was delay up goes on from when it was let go.
        let from = job.steps[step].from.ps().max(self.created);
        // The first slot that starts at or after the step; the gap below counts from one slot before.
        let slots = from.saturating_sub(self.phase).div_ceil(self.slot);
        let start = match job.injection {
            Injection::Bernoulli => self.phase + slots * self.slot,
            _ => from,
        };
        self.advance_from(job, start, true);
    }

    /// Sets the time of the next message, counted from `from`.
    fn advance_from(&mut self, job: &OpenJob, from: u64, first: bool) {
        let next = if self.rate <= 0.0 { u64::MAX } else { from.saturating_add(self.gap(job.injection, first)) };
        match job.steps.get(self.step + 1) {
            Some(step) if next >= step.from.ps() => self.begin_step(job, self.step + 1),
            _ => self.created = next,
        }
    }

    /// Time to the next message; after a step, `first` gives a random phase.
    fn gap(&mut self, injection: Injection, first: bool) -> u64 {
        let slots = match injection {
            Injection::Bernoulli if self.rate >= 1.0 => return if first { 0 } else { self.slot },
            Injection::Bernoulli => {
                // As an integer: rounded down.
                let failures = (1.0 - self.random.unit()).ln() / self.log_none;
                let slots = failures as u64 + u64::from(!first);
                return slots.saturating_mul(self.slot);
            }
            Injection::Poisson => -(1.0 - self.random.unit()).ln() / self.rate,
            Injection::Interval | Injection::Paced if first => self.random.unit() / self.rate,
            Injection::Interval | Injection::Paced => 1.0 / self.rate,
        };
        (slots * self.slot as f64).round() as u64
    }

    /// A packet begins to leave, and the next one, whose `created` is when it is due, enters when there is room.
    fn enter(&mut self, leaves: u64, same_message: bool) {
        self.departures[self.oldest] = leaves;
        self.oldest = if self.oldest + 1 == self.departures.len() { 0 } else { self.oldest + 1 };
        let due = self.created;
        self.created = due.max(self.departures[self.oldest]);
        self.delay = self.created - due + if same_message { self.delay } else { 0 };
    }

    /// Goes on with the steps of `job`, if they are others than those under which its state was kept: what it would send from the next one
    /// on is drawn anew, as where the load before came to its end. Whether anything changed.
    fn apply_load_steps(&mut self, job: &OpenJob) -> bool {
        let Some(step) = job.steps.get(self.step + 1) else { return false };
        if self.left > 0 || self.remaining == 0 || self.created < step.from.ps() || !job.accepts_new_steps() {
            return false;
        }
        // Of a source that nothing holds up, the message before was made before the step.
        self.created = 0;
        self.begin_step(job, self.step + 1);
        true
    }
}

impl Endpoints for OpenEndpoints {
    #[inline]
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let created = self.sources[self.earliest(nic)?].created;
        (created != u64::MAX).then_some(created)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let chosen = self.earliest(nic).expect("a NIC without sources is never asked");
        let source = &mut self.sources[chosen];
        let job = &self.jobs[usize::from(source.place)];
        if source.left == 0 {
            source.destination = job.destinations.draw(source.node, &mut source.random);
            source.left = job.burst;
        }
        let packet = OutgoingPacket {
            job: source.job,
            delay_ps: source.delay,
            message_bytes: u64::from(self.packet) * u64::from(job.burst),
            ..OutgoingPacket::new(source.created, source.destination, self.packet)
        };
        source.left -= 1;
        let same_message = source.left > 0;
        if !same_message {
            source.advance_from(job, source.created, false);
        }
        source.remaining -= 1;
        if source.remaining == 0 {
            source.created = u64::MAX;
        } else if !source.departures.is_empty() {
            source.enter(leaves_ps, same_message);
        }
        packet
    }

    fn has_work(&self, before_ps: u64) -> bool {
        self.sources.iter().any(|s| s.created < before_ps)
    }

    fn apply_load_steps(&mut self, nic: u32) -> bool {
        let range = self.first[nic as usize] as usize..self.first[nic as usize + 1] as usize;
        let jobs = &self.jobs;
        let follow =
            |changed, source: &mut OpenSource| source.apply_load_steps(&jobs[usize::from(source.place)]) | changed;
        self.sources[range].iter_mut().fold(false, follow)
    }
}

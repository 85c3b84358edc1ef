//! Open-loop sources: packets are created at an offered load, independent of the network.
//!
//! Load 1 is one full packet per packet time of the node's link. A message consists of `burst` packets to one
//! destination, created at once. Messages are created at `load / burst` per packet time:
//! * Bernoulli: time is divided into packet times (slots, with a random phase per node). Each slot creates a message
//!   with this probability. The gap is drawn from the geometric distribution.
//! * Poisson: exponential gaps.
//! * Interval: a constant gap, with a random phase per node.
//! * Paced: a constant gap since the previous packet entered the NIC, whose FIFO has a limited size. A due packet
//!   enters when the packet that many places before it starts to leave. So a stalled source does not catch up, and
//!   its offered load decreases to the accepted load.
//!
//! When the load steps, a new gap is drawn from the step on.

use super::destinations::Destinations;
use crate::endpoint::{Endpoints, Nics, OutgoingPacket};
use crate::traffic_class::JobClass;
use odonata_checkpoint::state;
use odonata_units::{NodeId, Stream, Time};
use odonata_workload::{Injection, LoadStep};
use std::sync::Arc;

/// An open-loop job.
#[derive(Clone)]
pub struct OpenJob {
    /// Its nodes.
    pub nodes: Arc<[NodeId]>,
    /// Destinations of its messages.
    pub destinations: Arc<dyn Destinations>,
    /// Load from each time on, in order of time; no load before the first.
    pub steps: Vec<LoadStep>,
    /// Process that creates packets.
    pub injection: Injection,
    /// Packets per message.
    pub burst: u32,
    /// Capacity of its NIC in packets; unlimited if `None`.
    pub room: Option<u32>,
    /// Number of packets per node; endless if `None`.
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
    /// Creates a job with constant load from the start, and one packet per message.
    pub fn constant(nodes: Vec<NodeId>, destinations: Arc<dyn Destinations>, load: f64) -> Self {
        let nodes = nodes.into();
        let steps = vec![LoadStep { from: Time::ZERO, load }];
        Self { nodes, destinations, steps, injection: Injection::Bernoulli, burst: 1, room: None, packets: None }
    }

    /// Traffic class of its messages, whose packets contain `payload` bytes.
    pub(super) fn class(&self, classes: JobClass, payload: u32) -> u8 {
        classes.of_message(u64::from(self.burst) * u64::from(payload))
    }

    /// Whether a saved state accepts other load steps. With a limited capacity it does not: creation times depend on
    /// what the network accepted.
    fn accepts_new_steps(&self) -> bool {
        self.room.is_none()
    }

    /// The job as known before `time`, without later steps. It always keeps the first step.
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
    /// Position of the job in the list of jobs here.
    place: u16,
    node: NodeId,
    random: Stream,
    /// Creation time of the next message; `u64::MAX` if there is none.
    created: u64,
    /// Destination of the current message, and its packets left. If none are left, the destination of the next
    /// message is drawn with its first packet. So a load that ends earlier changes only the draw of a time.
    destination: NodeId,
    left: u32,
    /// Time of a full packet on the node's link.
    slot: u64,
    phase: u64,
    /// Current step, its messages per slot, and the logarithm of the probability that a slot creates none.
    step: usize,
    rate: f64,
    log_none: f64,
    /// Packets left to create.
    remaining: u64,
    /// Time at which the next packet is due, and its delay after that.
    due: u64,
    delay: u64,
    /// Delay of the previous packets of its message.
    delay_before: u64,
    /// Departure times of the last packets, as many as the capacity if it is limited. The oldest is overwritten next.
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
    value: random, created, destination, left, phase, step, rate, log_none, remaining, due, delay, delay_before, departures, oldest;
    rebuilt: job, place, node, slot
});
state!(OpenEndpoints { nested: sources; rebuilt: jobs, packet, first });

impl OpenEndpoints {
    /// Creates the sources of numbered jobs.
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
            let (number, job) = jobs[j];
            sources.push(OpenSource::new(number, job, j as u16, node, slot, nics.seed()));
        }
        for n in 0..count {
            first[n + 1] += first[n];
        }
        let jobs = jobs.iter().map(|(_, job)| (*job).clone()).collect();
        Self { jobs, packet: nics.payload(), first, sources }
    }

    #[inline(always)]
    fn earliest(&self, nic: u32) -> Option<usize> {
        let range = self.first[nic as usize] as usize..self.first[nic as usize + 1] as usize;
        match range.len() {
            0 => None,
            1 => Some(range.start),
            _ => range.min_by_key(|&s| (self.sources[s].created, s)),
        }
    }

    /// Source of a job at a NIC.
    fn of_job(&mut self, nic: u32, job: u16) -> &mut OpenSource {
        let range = self.first[nic as usize] as usize..self.first[nic as usize + 1] as usize;
        self.sources[range].iter_mut().find(|source| source.job == job).expect("its packet was taken")
    }
}

impl OpenSource {
    fn new(number: u16, job: &OpenJob, place: u16, node: NodeId, slot: u64, seed: u64) -> Self {
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
            due: 0,
            delay: 0,
            delay_before: 0,
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

    /// Draws the first message of step `step`, or of a later step if it creates none.
    fn begin_step(&mut self, job: &OpenJob, step: usize) {
        self.step = step;
        self.rate = job.steps[step].load / f64::from(job.burst);
        self.log_none = (1.0 - self.rate).ln();
        // A stalled source continues when its stall ends.
        let from = job.steps[step].from.ps().max(self.created);
        // First slot that starts at or after the step. The gap below counts from the slot before it.
        let slots = from.saturating_sub(self.phase).div_ceil(self.slot);
        let start = match job.injection {
            Injection::Bernoulli => self.phase + slots * self.slot,
            _ => from,
        };
        self.advance_from(job, start, true);
    }

    /// Draws the time of the next message, counted from `from`.
    fn advance_from(&mut self, job: &OpenJob, from: u64, first: bool) {
        let next = if self.rate <= 0.0 { u64::MAX } else { from.saturating_add(self.gap(job.injection, first)) };
        match job.steps.get(self.step + 1) {
            Some(step) if next >= step.from.ps() => self.begin_step(job, self.step + 1),
            _ => self.created = next,
        }
    }

    /// Time to the next message. `first` requests a random phase after a step.
    fn gap(&mut self, injection: Injection, first: bool) -> u64 {
        let slots = match injection {
            Injection::Bernoulli if self.rate >= 1.0 => return if first { 0 } else { self.slot },
            Injection::Bernoulli => {
                // Truncated to an integer.
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

    /// A packet departs. The next one, due at `created`, enters the NIC when there is space.
    fn enter(&mut self, leaves: u64, same_message: bool) {
        self.departures[self.oldest] = leaves;
        self.oldest = if self.oldest + 1 == self.departures.len() { 0 } else { self.oldest + 1 };
        self.due = self.created;
        self.delay_before = if same_message { self.delay } else { 0 };
        self.enter_later();
    }

    /// The last packet did not leave: it keeps its space in the NIC.
    fn hold(&mut self) {
        let capacity = self.departures.len();
        if capacity > 0 {
            self.departures[(self.oldest + capacity - 1) % capacity] = u64::MAX;
            self.enter_later();
        }
    }

    /// A held packet leaves. The NIC has space for as many packets whichever leaves first.
    fn release(&mut self, leaves: u64) {
        let capacity = self.departures.len();
        let mut from_oldest = (0..capacity).map(|i| (self.oldest + i) % capacity);
        if let Some(held) = from_oldest.find(|&i| self.departures[i] == u64::MAX) {
            self.departures[held] = leaves;
            self.enter_later();
        }
    }

    /// Finds the time at which the next packet enters; `u64::MAX` while a held packet takes its space.
    fn enter_later(&mut self) {
        if self.remaining > 0 {
            self.created = self.due.max(self.departures[self.oldest]);
            self.delay = self.created.wrapping_sub(self.due).wrapping_add(self.delay_before);
        }
    }

    /// Applies the steps of `job` if they differ from the saved ones. Messages from the next step on are drawn again,
    /// as at the end of the previous load. Returns whether anything changed.
    fn apply_load_steps(&mut self, job: &OpenJob) -> bool {
        let Some(step) = job.steps.get(self.step + 1) else { return false };
        if self.left > 0 || self.remaining == 0 || self.created < step.from.ps() || !job.accepts_new_steps() {
            return false;
        }
        // Without stalls, the previous message was created before the step.
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

    fn hold(&mut self, nic: u32, job: u16) {
        self.of_job(nic, job).hold();
    }

    fn release(&mut self, nic: u32, job: u16, leaves_ps: u64) {
        self.of_job(nic, job).release(leaves_ps);
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

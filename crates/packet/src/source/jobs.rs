//! Traffic from the jobs of a workload.

use super::{ClosedJob, Destinations, JobTraffic, NodeMessage, OpenJob, Traffic};
use crate::endpoint::Program;
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, RankId, Stream};
use odonata_workload::rails::RailPaths;
use odonata_workload::volumes::{Locality, Messages, Volumes};
use odonata_workload::{ClosedParameters, Job, OpenParameters, Pattern, TrafficKind, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Draws after which a rank counts as having no destination on other nodes. With fewer, a rank with rare destinations
/// is dropped; more take longer for idle ranks.
const DRAWS: u32 = 1_000;

/// Ranks of a job by node, and their destinations.
struct RankDestinations {
    pattern: Arc<dyn Pattern>,
    node_of_rank: Vec<NodeId>,
    /// Ranks that send from each node; with rails, from each of its ends.
    senders: BTreeMap<NodeId, Senders>,
    /// Ends that a fault disconnected.
    dead: BTreeSet<NodeId>,
}

/// Ranks that send from one end.
#[derive(Default)]
struct Senders {
    ranks: Vec<RankId>,
    /// Difference between the number of an end on this rail and the number of its node.
    offset: u32,
}

impl RankDestinations {
    fn new(machine: &Machine, job: &Job) -> Self {
        let mut senders: BTreeMap<NodeId, Senders> = BTreeMap::new();
        let (mut dead, lanes) = (BTreeSet::new(), RailPaths::new(machine, job));
        for rank in job.rank_ids() {
            let node = job.node_of(rank);
            for rail in 0..machine.rails().of_node() {
                let end = machine.end(node, rail);
                if !machine.router_up(machine.router_of(end)) {
                    dead.insert(end);
                } else if lanes.sends_on(rank, node, rail) {
                    let of_end = senders.entry(end).or_default();
                    of_end.ranks.push(rank);
                    of_end.offset = end.0 - node.0;
                }
            }
        }
        Self { pattern: Arc::clone(&job.pattern), node_of_rank: job.node_of_rank.clone(), senders, dead }
    }

    /// Destination node of a random rank of `source` on another node, if a draw finds one.
    fn try_draw(&self, source: NodeId, random: &mut Stream) -> Option<NodeId> {
        let Senders { ranks, offset } = &self.senders[&source];
        (0..DRAWS).find_map(|_| {
            let rank = ranks[random.index(ranks.len())];
            let target = self.pattern.destination(rank, random)?;
            let node = NodeId(self.node_of_rank[target.index()].0 + offset);
            (node != source && (self.dead.is_empty() || !self.dead.contains(&node))).then_some(node)
        })
    }
}

impl Destinations for RankDestinations {
    fn draw(&self, source: NodeId, random: &mut Stream) -> NodeId {
        self.try_draw(source, random).expect("nodes without destinations have no source")
    }
}

impl OpenJob {
    /// Creates an open job from a workload. Each message comes from a random rank of its node. Destinations on the
    /// same node are drawn again. A node whose ranks only send within the node creates no packets.
    ///
    /// With rails, each end of a node acts as a node: under `affinity` its messages come from the ranks assigned to
    /// it. Destinations at a disconnected end are drawn again, too.
    fn of(machine: &Machine, job: &Job, open: &OpenParameters) -> Self {
        let destinations = RankDestinations::new(machine, job);
        let mut probe = Stream::new(0, "probe", &[]);
        let mut nodes: Vec<NodeId> = destinations.senders.keys().copied().collect();
        nodes.retain(|&node| destinations.try_draw(node, &mut probe).is_some());
        Self {
            nodes: nodes.into(),
            destinations: Arc::new(destinations),
            steps: open.schedule(),
            injection: open.injection,
            burst: open.burst,
            room: open.buffer_packets(),
            packets: open.packets,
        }
    }
}

/// Messages that the closed jobs of a workload send once: between nodes, and bytes that never reach the network.
/// Nothing for open jobs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClosedTraffic {
    /// Messages between ranks of different nodes, by job.
    pub messages: Vec<Arc<Vec<NodeMessage>>>,
    /// Volumes of each job, of any kind.
    pub volumes: Vec<Volumes>,
}

/// Memory per message between nodes: here, during the sort by node, and in its source with its progress.
const BYTES_PER_MESSAGE: u64 = 3 * std::mem::size_of::<NodeMessage>() as u64 + 8;

impl ClosedTraffic {
    /// Gathers the messages of all closed jobs, by rank in the order of the pattern. Each is sent once per iteration
    /// of its job.
    ///
    /// # Errors
    /// The messages need more than `memory_bytes`. The error is the number of bytes for the ranks so far.
    pub fn gather(machine: &Machine, workload: &Workload, memory_bytes: u64) -> Result<Self, u64> {
        let mut traffic = Self::default();
        let mut count = 0;
        for job in &workload.jobs {
            let rounds = job.iterations;
            let (mut messages, mut volumes) = (Vec::new(), Volumes::default());
            let mut walk = Messages::new(machine, job);
            let lanes = RailPaths::new(machine, job);
            let is_closed = matches!(job.traffic, TrafficKind::Closed(_));
            let is_program = matches!(job.traffic, TrafficKind::Program(_));
            for rank in job.rank_ids().filter(|_| is_program) {
                walk.repeated(rank).for_each(|message| volumes.add_repeated(&message));
            }
            for rank in job.rank_ids().filter(|_| is_closed) {
                let sent = walk.of(rank);
                // An upper bound: all messages of this rank leave its node, in as many parts as possible.
                let parts = sent.len() as u64 * u64::from(machine.rails().of_node());
                let needed = (count as u64 + parts) * BYTES_PER_MESSAGE;
                if needed > memory_bytes {
                    return Err(needed);
                }
                for (number, message) in sent.enumerate() {
                    volumes.add(&message);
                    if matches!(message.within, Locality::Router | Locality::Network) {
                        lanes.parts(&message, number, |part| {
                            let (source, destination) = (part.source, part.target);
                            messages.push(NodeMessage { source, destination, bytes: part.bytes, rounds });
                            count += 1;
                        });
                    }
                }
            }
            traffic.volumes.push(volumes.times(rounds));
            traffic.messages.push(Arc::new(messages));
        }
        Ok(traffic)
    }
}

impl ClosedTraffic {
    /// Memory of its messages, here and in their sources.
    pub fn memory_bytes(&self) -> u64 {
        Self::memory_of(self.messages.iter().map(|messages| messages.len() as u64).sum())
    }

    /// Memory of so many messages.
    pub const fn memory_of(messages: u64) -> u64 {
        messages.saturating_mul(BYTES_PER_MESSAGE)
    }

    /// Bytes of all its messages.
    pub fn bytes(&self) -> u64 {
        let all = self.messages.iter().flat_map(|messages| messages.iter());
        all.fold(0, |sum, m| m.bytes.0.saturating_mul(m.rounds.into()).saturating_add(sum))
    }

    /// Number of packets of at most `packet` bytes for all its messages.
    pub fn packets(&self, packet: Bytes) -> u64 {
        (0..self.messages.len()).fold(0, |sum, job| self.packets_of(job, packet).saturating_add(sum))
    }

    /// The same of one job.
    pub fn packets_of(&self, job: usize, packet: Bytes) -> u64 {
        let of = |m: &NodeMessage| m.bytes.0.div_ceil(packet.0.max(1)).saturating_mul(m.rounds.into());
        self.messages[job].iter().fold(0, |sum, m| of(m).saturating_add(sum))
    }
}

impl Traffic {
    /// Creates the traffic of a workload. `closed` has the messages of its closed jobs, and `program` runs its
    /// programs.
    ///
    /// # Panics
    /// If a job is a program and `program` is `None`.
    pub fn of(
        machine: &Machine,
        workload: &Workload,
        closed: &ClosedTraffic,
        program: Option<&Arc<dyn Program>>,
    ) -> Self {
        let jobs = workload.jobs.iter().zip(&closed.messages).map(|(job, messages)| match &job.traffic {
            TrafficKind::Program(_) => {
                JobTraffic::Program(Arc::clone(program.expect("jobs with programs have a program")))
            }
            TrafficKind::Open(open) => JobTraffic::Open(OpenJob::of(machine, job, open)),
            TrafficKind::Closed(ClosedParameters { start }) => {
                JobTraffic::Closed(ClosedJob { messages: Arc::clone(messages), start: *start })
            }
        });
        Self { jobs: jobs.collect() }
    }
}

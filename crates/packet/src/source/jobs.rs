//! The jobs of a workload as traffic.

use super::{ClosedJob, Destinations, JobTraffic, NodeMessage, OpenJob, Traffic};
use crate::endpoint::Program;
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, RankId, Stream};
use odonata_workload::rails::RailPaths;
use odonata_workload::volumes::{Locality, Messages, Volumes};
use odonata_workload::{ClosedParameters, Job, OpenParameters, Pattern, TrafficKind, Workload};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Draws after which a rank that only names itself or its own node is taken to have nobody else to send to.
const DRAWS: u32 = 1_000;

/// The ranks of a job at its nodes, and where they send.
struct RankDestinations {
    pattern: Arc<dyn Pattern>,
    node_of_rank: Vec<NodeId>,
    /// Those that send from a node; where nodes have several interfaces, from each of its ends.
    senders: BTreeMap<NodeId, Senders>,
    /// Ends that a fault cut off.
    dead: BTreeSet<NodeId>,
}

/// Ranks that send from one end.
#[derive(Default)]
struct Senders {
    ranks: Vec<RankId>,
    /// From the number of a node to that of its end on this rail.
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
                } else if lanes.sends_on(rank, rail) {
                    let of_end = senders.entry(end).or_default();
                    of_end.ranks.push(rank);
                    of_end.offset = end.0 - node.0;
                }
            }
        }
        Self { pattern: Arc::clone(&job.pattern), node_of_rank: job.node_of_rank.clone(), senders, dead }
    }

    /// The node that a random rank of `source` sends to over the network, if one of many draws finds one.
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
        self.try_draw(source, random).expect("nodes without a partner were left out")
    }
}

impl OpenJob {
    /// A job of a workload whose traffic is open. Each message comes from a random rank of its node; what stays on the node
    /// is drawn again, and a node whose ranks send nothing elsewhere makes no packets.
    ///
    /// Where nodes have several interfaces, each of them is such a node: under `affinity` its messages come from the ranks whose it is. What
    /// would go to an end that a fault cut off is drawn again, too.
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

/// What the jobs of a workload whose traffic is closed send once: messages between nodes, and the bytes that never reach
/// the network. Of jobs of open traffic nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClosedTraffic {
    /// Per job: messages between ranks of different nodes.
    pub messages: Vec<Arc<Vec<NodeMessage>>>,
    /// What each job sends, of any kind.
    pub volumes: Vec<Volumes>,
}

/// Memory for each message between nodes: here, while they are put in the order of nodes, and in its source with what is left to send.
const BYTES_PER_MESSAGE: u64 = 3 * std::mem::size_of::<NodeMessage>() as u64 + 8;

impl ClosedTraffic {
    /// The messages of all closed jobs, rank by rank in the order of the pattern, each sent as often as its job iterates.
    ///
    /// # Errors
    /// The messages would take more than `memory_bytes`; says how many bytes those of the first ranks take that are too much.
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
                walk.of(rank).for_each(|message| volumes.add(&message));
            }
            for rank in job.rank_ids().filter(|_| is_closed) {
                let sent = walk.of(rank);
                // As if all of this rank's messages left its node, in as many parts as there may be.
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
    /// Memory that its messages take, here and in their sources.
    pub fn memory_bytes(&self) -> u64 {
        self.messages.iter().map(|messages| messages.len() as u64 * BYTES_PER_MESSAGE).sum()
    }

    /// Bytes of all its messages.
    pub fn bytes(&self) -> u64 {
        let all = self.messages.iter().flat_map(|messages| messages.iter());
        all.fold(0, |sum, m| m.bytes.0.saturating_mul(m.rounds.into()).saturating_add(sum))
    }

    /// Packets of at most `packet` bytes that are made of all its messages.
    pub fn packets(&self, packet: Bytes) -> u64 {
        let of = |m: &NodeMessage| m.bytes.0.div_ceil(packet.0.max(1)).saturating_mul(m.rounds.into());
        self.messages.iter().flat_map(|messages| messages.iter()).fold(0, |sum, m| of(m).saturating_add(sum))
    }
}

impl Traffic {
    /// The traffic of a workload; the messages of its closed jobs are in `closed`, and `program` runs those that are programs.
    ///
    /// # Panics
    /// If a job is a program and there is none.
    pub fn of(
        machine: &Machine,
        workload: &Workload,
        closed: &ClosedTraffic,
        program: Option<&Arc<dyn Program>>,
    ) -> Self {
        let jobs = workload.jobs.iter().zip(&closed.messages).map(|(job, messages)| match &job.traffic {
            TrafficKind::Program(_) => JobTraffic::Program(Arc::clone(program.expect("something runs the programs"))),
            TrafficKind::Open(open) => JobTraffic::Open(OpenJob::of(machine, job, open)),
            TrafficKind::Closed(ClosedParameters { start }) => {
                JobTraffic::Closed(ClosedJob { messages: Arc::clone(messages), start: *start })
            }
        });
        Self { jobs: jobs.collect() }
    }
}

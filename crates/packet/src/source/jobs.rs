//! The jobs of a workload as traffic.

use super::{ClosedLoop, Destinations, Message, OpenJob, Traffic};
use odonata_machine::Machine;
use odonata_units::{NodeId, RankId, Stream};
use odonata_workload::volumes::{Messages, Volumes, Within};
use odonata_workload::{Job, Pattern, Traffic as WorkloadTraffic, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Draws after which a rank that only names itself or its own node is taken to have nobody else to send to.
const DRAWS: u32 = 1_000;

/// The ranks of a job at its nodes, and where they send.
struct RankDestinations {
    pattern: Arc<dyn Pattern>,
    node_of_rank: Vec<NodeId>,
    /// Ranks of a node.
    ranks: BTreeMap<NodeId, Vec<RankId>>,
}

impl RankDestinations {
    fn new(job: &Job) -> Self {
        let mut ranks: BTreeMap<NodeId, Vec<RankId>> = BTreeMap::new();
        for rank in job.rank_ids() {
            ranks.entry(job.node_of(rank)).or_default().push(rank);
        }
        Self { pattern: Arc::clone(&job.pattern), node_of_rank: job.node_of_rank.clone(), ranks }
    }

    /// The node that a random rank of `source` sends to over the network, if one of many draws finds one.
    fn try_draw(&self, source: NodeId, random: &mut Stream) -> Option<NodeId> {
        let ranks = &self.ranks[&source];
        (0..DRAWS).find_map(|_| {
            let rank = ranks[random.index(ranks.len())];
            let target = self.pattern.destination(rank, random)?;
            let node = self.node_of_rank[target.index()];
            (node != source).then_some(node)
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
    /// is drawn again, and a node whose ranks send nothing elsewhere makes no packets. `None` if its traffic is closed.
    pub fn of(job: &Job) -> Option<Self> {
        let WorkloadTraffic::Open(open) = &job.traffic else { return None };
        let destinations = RankDestinations::new(job);
        let mut probe = Stream::new(0, "probe", &[]);
        let mut nodes: Vec<NodeId> = destinations.ranks.keys().copied().collect();
        nodes.retain(|&node| destinations.try_draw(node, &mut probe).is_some());
        let (injection, burst) = (open.injection, open.burst);
        Some(Self { nodes, destinations: Arc::new(destinations), steps: open.schedule(), injection, burst })
    }
}

/// What the jobs of a workload send once: messages between nodes, and the bytes that never reach the network.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClosedTraffic {
    /// Messages between ranks of different nodes.
    pub messages: Vec<Message>,
    /// What each job sends, of any kind.
    pub volumes: Vec<Volumes>,
}

/// Memory for each message between nodes: here, as traffic, and in its source with what is left to send.
const BYTES_PER_MESSAGE: u64 = 3 * std::mem::size_of::<Message>() as u64 + 8;

impl ClosedTraffic {
    /// The messages of all jobs, rank by rank in the order of the pattern, each sent as often as its job iterates.
    ///
    /// # Errors
    /// The messages would take more than `memory_bytes`; says how many bytes those of the first ranks take that are too much.
    pub fn within(machine: &Machine, workload: &Workload, memory_bytes: u64) -> Result<Self, u64> {
        let mut traffic = Self::default();
        for (j, job) in workload.jobs.iter().enumerate() {
            let (j, rounds) = (j as u16, job.iterations);
            let mut volumes = Volumes::default();
            let mut walk = Messages::new(machine, job);
            for rank in job.rank_ids() {
                let sent = walk.of(rank);
                // As if all of this rank's messages left its node.
                let needed = (traffic.messages.len() + sent.len()) as u64 * BYTES_PER_MESSAGE;
                if needed > memory_bytes {
                    return Err(needed);
                }
                for message in sent {
                    volumes.add(&message);
                    if matches!(message.within, Within::Router | Within::Network) {
                        let (source, destination) = (message.source_node, message.target_node);
                        traffic.messages.push(Message { source, destination, bytes: message.bytes, job: j, rounds });
                    }
                }
            }
            traffic.volumes.push(volumes.times(rounds));
        }
        Ok(traffic)
    }

    /// The messages as traffic.
    pub fn into_traffic(self) -> Traffic {
        let jobs = self.volumes.len();
        Traffic::Closed(Arc::new(ClosedLoop { messages: self.messages, jobs }))
    }
}

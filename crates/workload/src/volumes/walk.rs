//! One walk over the messages of a job, with the locality of each.

use crate::{Job, SentMessage};
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, RankId};

/// The smallest part of the machine that contains both ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Locality {
    /// The rank sends to itself.
    Rank,
    /// Another rank of the same node: nothing leaves the node.
    Node,
    /// Another node of the same router: it passes two NICs and no link between routers.
    Router,
    /// Another router.
    Network,
}

/// One message of one iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Sending rank.
    pub source: RankId,
    /// Receiving rank.
    pub target: RankId,
    /// Node of the sending rank.
    pub source_node: NodeId,
    /// Node of the receiving rank.
    pub target_node: NodeId,
    /// Size.
    pub bytes: Bytes,
    /// Locality.
    pub within: Locality,
}

/// A message that is sent several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepeatedMessage {
    /// The message.
    pub message: Message,
    /// How often it is sent.
    pub times: u64,
}

/// A walk over the messages of a job, rank by rank.
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    machine: &'a Machine,
    job: &'a Job,
    sends: Vec<SentMessage>,
    /// How often each is sent; empty for once.
    times: Vec<u64>,
}

impl<'a> Messages<'a> {
    /// A walk over the messages of `job`, placed on `machine`.
    pub const fn new(machine: &'a Machine, job: &'a Job) -> Self {
        Self { machine, job, sends: Vec::new(), times: Vec::new() }
    }

    /// Messages of `rank` in one iteration, in the order of the pattern.
    pub fn of(&mut self, rank: RankId) -> impl ExactSizeIterator<Item = Message> + use<'_, 'a> {
        let Self { machine, job, sends, .. } = self;
        sends.clear();
        job.pattern.sends(rank, sends);
        let place = place(machine, job, rank);
        sends.iter().map(place)
    }

    /// Messages of `rank` in one iteration and how often each is sent, in any order ([`Pattern::repeated_sends`]).
    ///
    /// [`Pattern::repeated_sends`]: crate::Pattern::repeated_sends
    pub fn repeated(&mut self, rank: RankId) -> impl Iterator<Item = RepeatedMessage> + use<'_, 'a> {
        let Self { machine, job, sends, times } = self;
        sends.clear();
        times.clear();
        job.pattern.repeated_sends(rank, sends, times);
        let place = place(machine, job, rank);
        let times = times.iter().copied().chain(std::iter::repeat(1));
        sends.iter().zip(times).map(move |(sent, times)| RepeatedMessage { message: place(sent), times })
    }
}

/// Places the messages of a rank.
fn place<'a>(machine: &'a Machine, job: &'a Job, rank: RankId) -> impl Fn(&SentMessage) -> Message + 'a {
    let source_node = job.node_of(rank);
    let router = machine.router_of(source_node);
    move |&SentMessage { target, bytes }| {
        let target_node = job.node_of(target);
        let within = if target == rank {
            Locality::Rank
        } else if target_node == source_node {
            Locality::Node
        } else if machine.router_of(target_node) == router {
            Locality::Router
        } else {
            Locality::Network
        };
        Message { source: rank, target, source_node, target_node, bytes, within }
    }
}

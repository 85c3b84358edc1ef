//! A graph of computations, messages and collectives as tasks.
//!
//! A node becomes one task, a collective a start, the messages of its algorithm, and an end. Whatever waits for a node
//! waits for its last task, but for the start of a send. Lanes: 0 the CPU, 1 computation of an accelerator, 2 its communication.

use crate::call::Operation;
use crate::code::Code;
use crate::collective::{Collective, Collectives};
use crate::tasks::{Slots, TaskList};
use odonata_trace::chakra::{CollectiveKind, Node, NodeKind};
use odonata_trace::{Dependency, Event, RankTasks, TaskGraph, Work};
use odonata_units::{Bytes, Time};
use std::collections::{BTreeMap, HashMap};

const CPU: u8 = 0;
const COMPUTE: u8 = 1;
const COMMUNICATION: u8 = 2;

/// Most ranks of a rank's groups, and most groups. Communicators have numbers of 16 bits, of which 0 is for messages.
const MAX_GROUPS: usize = u16::MAX as usize - 1;

/// Most tasks of a job: 10 GB.
const MAX_TASKS: u64 = 200_000_000;

/// The nodes of all ranks, with groups.
#[derive(Debug)]
pub(crate) struct NodeGraph {
    /// Nodes by rank, each list with dependencies on its own nodes only.
    ranks: Vec<Vec<Node>>,
    /// Groups by name.
    groups: BTreeMap<String, Group>,
    /// Dependencies of the nodes of each rank, as places in its list.
    waits: Vec<Vec<(u32, u32)>>,
    /// Time of each computation.
    times: Vec<Vec<Time>>,
}

/// A group of ranks.
#[derive(Debug)]
struct Group {
    /// As ranks of the job.
    members: Vec<u32>,
    /// Place of each of them.
    places: HashMap<u32, u32>,
    /// Communicator of its messages.
    communicator: u16,
}

/// Dependencies that need a word to the user.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Oddities {
    /// On nodes that are not in the file.
    pub(super) missing: u64,
    /// On nodes that come later.
    pub(super) later: u64,
}

impl NodeGraph {
    /// A graph of nodes. `name` is the name of a rank's file for messages, `time` the time of a computation.
    ///
    /// # Errors
    /// Nodes that wait for each other, unknown groups or ranks, collectives on which ranks disagree.
    pub(super) fn new(
        ranks: Vec<Vec<Node>>,
        mut groups: BTreeMap<String, Vec<u32>>,
        name: &dyn Fn(u32) -> String,
        time: &dyn Fn(&Node) -> Result<Time, String>,
    ) -> Result<(Self, Oddities), String> {
        let count = ranks.len() as u32;
        let mut odd = Oddities::default();
        let (mut all_waits, mut all_times) = (Vec::new(), Vec::new());
        for (rank, nodes) in (0..).zip(&ranks) {
            let wrong = |node: &Node, reason: String| format!("{}: node {}: {reason}", name(rank), node.id);
            let mut places = HashMap::with_capacity(nodes.len());
            for (place, node) in (0u32..).zip(nodes) {
                if places.insert(node.id, place).is_some() {
                    return Err(wrong(node, "another node has this number; expected unique numbers".into()));
                }
            }
            let mut waits = Vec::new();
            for (place, node) in (0u32..).zip(nodes) {
                for id in &node.waits {
                    match places.get(id) {
                        Some(&on) => {
                            odd.later += u64::from(on > place);
                            waits.push((place, on));
                        }
                        None => odd.missing += 1,
                    }
                }
                if let Some(peer) = node.peer.filter(|&peer| peer >= count) {
                    return Err(wrong(
                        node,
                        format!("rank {peer}; expected one of the {count} ranks, which count from 0"),
                    ));
                }
            }
            if let Some(place) = circle(nodes.len(), &waits) {
                return Err(wrong(&nodes[place], "it waits for itself through other nodes; expected no circle".into()));
            }
            let times = nodes.iter().map(|node| time(node).map_err(|reason| wrong(node, reason)));
            all_times.push(times.collect::<Result<_, _>>()?);
            all_waits.push(waits);
        }
        for (group, members) in &groups {
            let mut sorted = members.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != members.len() || sorted.last().is_some_and(|&rank| rank >= count) {
                return Err(format!("group '{group}': {members:?}; expected different ranks below {count}"));
            }
        }
        groups.entry(String::new()).or_insert_with(|| (0..count).collect());
        if !groups.contains_key("0") {
            groups.insert("0".into(), groups[""].clone());
        }
        if groups.len() > MAX_GROUPS {
            return Err(format!("{} groups; expected at most {MAX_GROUPS}", groups.len()));
        }
        let groups = (1..).zip(groups).map(|(communicator, (name, members))| {
            let places = members.iter().copied().zip(0..).collect();
            (name, Group { members, places, communicator })
        });
        let graph = Self { ranks, groups: groups.collect(), waits: all_waits, times: all_times };
        graph.check_collectives(name)?;
        Ok((graph, odd))
    }

    /// Places of the collectives of a rank on a group, by number of the node.
    fn collectives<'a>(&'a self, rank: u32, group: &'a str) -> Vec<&'a Node> {
        let nodes = self.ranks[rank as usize].iter();
        let mut of_group: Vec<_> =
            nodes.filter(|node| matches!(node.kind, NodeKind::Collective(_)) && node.group == group).collect();
        of_group.sort_unstable_by_key(|node| node.id);
        of_group
    }

    /// The ranks of a group call the same collectives, in the order of their nodes' numbers.
    fn check_collectives(&self, name: &dyn Fn(u32) -> String) -> Result<(), String> {
        for (rank, nodes) in (0..).zip(&self.ranks) {
            for node in nodes.iter().filter(|node| matches!(node.kind, NodeKind::Collective(_))) {
                let is_member = self.groups.get(&node.group).map(|group| group.places.contains_key(&rank));
                let reason = match is_member {
                    Some(true) => continue,
                    Some(false) => format!("group '{}', which does not contain rank {rank}", node.group),
                    None => {
                        let known: Vec<_> =
                            self.groups.keys().filter(|name| !name.is_empty()).take(8).cloned().collect();
                        format!("group '{}'; expected one of the groups file, such as {}", node.group, known.join(", "))
                    }
                };
                return Err(format!("{}: node {}: {reason}", name(rank), node.id));
            }
        }
        for (group, Group { members, .. }) in &self.groups {
            let Some((&leader, others)) = members.split_first() else { continue };
            let first = self.collectives(leader, group);
            for &rank in others {
                let own = self.collectives(rank, group);
                let differs = first.iter().zip(&own).find(|(a, b)| (a.kind, a.bytes) != (b.kind, b.bytes));
                if let Some((a, b)) = differs {
                    return Err(format!(
                        "{}: node {}: {}, but rank {leader} has {} in node {} on group '{group}'",
                        name(rank),
                        b.id,
                        words(b),
                        words(a),
                        a.id
                    ));
                }
                if own.len() != first.len() {
                    return Err(format!(
                        "{}: {} collectives on group '{group}', but rank {leader} has {}",
                        name(rank),
                        own.len(),
                        first.len()
                    ));
                }
            }
        }
        Ok(())
    }

    /// Ranks of each group, by name.
    pub(super) fn groups(&self) -> BTreeMap<String, Vec<u32>> {
        self.groups.iter().map(|(name, group)| (name.clone(), group.members.clone())).collect()
    }

    /// Number of ranks.
    pub(crate) fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The nodes of a rank.
    pub(crate) fn nodes(&self, rank: u32) -> &[Node] {
        &self.ranks[rank as usize]
    }

    /// Time of each of them as a computation.
    pub(crate) fn times(&self, rank: u32) -> &[Time] {
        &self.times[rank as usize]
    }

    /// Places of the nodes that a node of a rank waits for.
    pub(super) fn waits(&self, rank: u32, node: u32) -> impl Iterator<Item = u32> + '_ {
        let waits = &self.waits[rank as usize];
        let first = waits.partition_point(|(of, _)| *of < node);
        waits[first..].iter().take_while(move |(of, _)| *of == node).map(|(_, on)| *on)
    }

    /// Communicator of the messages of a node's group.
    pub(super) fn group_number(&self, node: &Node) -> Option<u16> {
        self.groups.get(&node.group).map(|group| group.communicator)
    }

    /// Ranks of a node's group.
    pub(crate) fn group_size(&self, node: &Node) -> u32 {
        self.groups.get(&node.group).map_or(0, |group| group.members.len() as u32)
    }

    /// The tasks, with collectives as the messages of their algorithms.
    ///
    /// # Errors
    /// Too many tasks.
    pub(crate) fn tasks(&self, collectives: &Collectives) -> Result<TaskGraph, String> {
        let mut graph = TaskGraph { place_word: "node", ..TaskGraph::default() };
        let mut left = MAX_TASKS;
        for rank in 0..self.ranks() {
            let tasks = self.rank_tasks(rank, collectives, left)?;
            left -= tasks.tasks().len() as u64;
            graph.ranks.push(tasks);
        }
        Ok(graph)
    }

    fn rank_tasks(&self, rank: u32, collectives: &Collectives, most: u64) -> Result<RankTasks, String> {
        // Numbers of the collectives on each group follow the numbers of the nodes.
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        for (group, Group { places, .. }) in &self.groups {
            if places.contains_key(&rank) {
                numbers.extend(self.collectives(rank, group).into_iter().map(|node| node.id).zip(0..));
            }
        }
        let mut list = TaskList::default();
        let mut ends = Vec::new();
        let nodes = self.nodes(rank);
        for (node, &time) in nodes.iter().zip(&self.times[rank as usize]) {
            let compute = Work::Compute { time };
            let lane = lane(node);
            let (bytes, tag, communicator) = (Bytes(node.bytes.unwrap_or(0)), node.tag, 0);
            let first = list.tasks.len();
            match (node.kind, node.peer) {
                (NodeKind::Send, Some(to)) => {
                    list.push_alone(Work::Send { to, bytes, tag, communicator }, COMMUNICATION);
                }
                (NodeKind::Receive, Some(from)) => {
                    list.push_alone(Work::Receive { from, bytes, tag, communicator }, COMMUNICATION);
                }
                (NodeKind::Collective(kind), _) => {
                    let number = numbers[&node.id];
                    self.expand(rank, node, kind, number, collectives, &mut list);
                }
                _ => list.push_alone(compute, lane),
            }
            list.place(Some(node.id));
            if list.tasks.len() as u64 > most {
                return Err(format!(
                    "more than {MAX_TASKS} tasks with the messages of collectives; expected a shorter trace, or algorithms of fewer messages"
                ));
            }
            // As in ASTRA-sim, a send does not wait for its receive, and what follows does not wait for its end.
            let event = if node.kind == NodeKind::Send { Event::Start } else { Event::End };
            ends.push((first as u32, Dependency { on: list.tasks.len() as u32 - 1, event }));
        }
        for &(place, on) in &self.waits[rank as usize] {
            list.waits.push((ends[place as usize].0, ends[on as usize].1));
        }
        Ok(RankTasks::new(list.tasks, &list.waits).with_places(list.places))
    }

    /// Adds the messages of a collective between two tasks without time.
    fn expand(
        &self,
        rank: u32,
        node: &Node,
        kind: CollectiveKind,
        number: u32,
        collectives: &Collectives,
        list: &mut TaskList,
    ) {
        let Group { members, places, communicator } = &self.groups[&node.group];
        let nothing = Work::Compute { time: Time::ZERO };
        let first = list.tasks.len();
        list.next.clear();
        list.push(nothing, Event::End);
        let size = members.len() as u32;
        let own = places[&rank];
        let bytes = node.bytes.unwrap_or(0);
        // The size of a rank's part, for sizes that count all ranks, as in ASTRA-sim.
        let part = |of: u32| Bytes(bytes / u64::from(size) + u64::from(u64::from(of) < bytes % u64::from(size)));
        let parts = |_: u32, to: u32| part(to);
        let (operation, is_divided) = match kind {
            CollectiveKind::AllReduce => (Operation::Allreduce, false),
            CollectiveKind::Reduce => (Operation::Reduce, false),
            CollectiveKind::Broadcast => (Operation::Broadcast, false),
            CollectiveKind::AllGather => (Operation::Allgather, false),
            CollectiveKind::Gather => (Operation::Gather, false),
            CollectiveKind::Barrier => (Operation::Barrier, false),
            CollectiveKind::AllToAll => (Operation::Alltoall, true),
            CollectiveKind::ReduceScatter => (Operation::ReduceScatter, true),
            CollectiveKind::Scatter => (Operation::Scatter, true),
        };
        if size > 1 {
            let is_even = bytes % u64::from(size) == 0;
            let collective = Collective {
                operation,
                rank: own,
                size,
                root: 0,
                bytes: Bytes(if is_divided { bytes / u64::from(size) } else { bytes }),
                sizes: if is_divided && !is_even { Some(&parts) } else { None },
            };
            let algorithm = collectives.algorithm(&collective).algorithm;
            let mut code = Code::default();
            for step in 0.. {
                code.clear();
                if !algorithm.step(&collective, step, &mut code) {
                    break;
                }
                for &call in code.calls() {
                    let call = addressed(call, members, number, *communicator);
                    list.add(call, Slots::Collective).expect("algorithms send, receive and wait");
                }
            }
        }
        list.push(nothing, Event::End);
        list.next.clear();
        list.tasks[first..].iter_mut().for_each(|task| task.lane = COMMUNICATION);
    }
}

/// Lane of a node.
pub(super) fn lane(node: &Node) -> u8 {
    match node.kind {
        NodeKind::Send | NodeKind::Receive | NodeKind::Collective(_) => COMMUNICATION,
        _ if node.is_cpu => CPU,
        _ => COMPUTE,
    }
}

/// A call of an algorithm with ranks of the job.
fn addressed(mut call: crate::call::Call, members: &[u32], number: u32, of: u16) -> crate::call::Call {
    use crate::call::Call;
    match &mut call {
        Call::Send { to: peer, tag, communicator, .. }
        | Call::Isend { to: peer, tag, communicator, .. }
        | Call::Recv { from: peer, tag, communicator, .. }
        | Call::Irecv { from: peer, tag, communicator, .. } => {
            (*peer, *tag, *communicator) = (members[*peer as usize], number, of);
        }
        _ => {}
    }
    call
}

fn words(node: &Node) -> String {
    let kind = match node.kind {
        NodeKind::Collective(kind) => kind.name(),
        _ => "no collective",
    };
    format!("{kind} of {} B", node.bytes.unwrap_or(0))
}

/// A node that waits for itself through others, if there is one.
fn circle(nodes: usize, waits: &[(u32, u32)]) -> Option<usize> {
    let mut open = vec![0u32; nodes];
    let mut first = vec![0usize; nodes + 1];
    for &(place, on) in waits {
        open[place as usize] += 1;
        first[on as usize + 1] += 1;
    }
    (0..nodes).for_each(|node| first[node + 1] += first[node]);
    let (mut next, mut waiting) = (first.clone(), vec![0u32; waits.len()]);
    for &(place, on) in waits {
        waiting[next[on as usize]] = place;
        next[on as usize] += 1;
    }
    let mut ready: Vec<usize> = (0..nodes).filter(|&node| open[node] == 0).collect();
    while let Some(node) = ready.pop() {
        for &place in &waiting[first[node]..first[node + 1]] {
            open[place as usize] -= 1;
            if open[place as usize] == 0 {
                ready.push(place as usize);
            }
        }
    }
    open.iter().position(|&count| count > 0)
}

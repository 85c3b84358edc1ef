//! Messages gathered into commodities.

use crate::progress::Interruption;
use crate::resource_limits::ResourceLimits;
use crate::workers;
use odonata_machine::Machine;
use odonata_processes::{sum, Processes};
use odonata_units::{JobId, NodeId, RankId, RouterId};
use odonata_workload::rails::RailPaths;
use odonata_workload::volumes::complete::{CompleteExchange, NodeExchange};
use odonata_workload::volumes::{Locality, Message, Messages, RepeatedMessage, Volumes};
use odonata_workload::{Job, Workload};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// All messages of one job from one node to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Member {
    pub(crate) source: NodeId,
    pub(crate) target: NodeId,
    pub(crate) messages: u32,
    pub(crate) bytes: u64,
}

/// Memory of a member while jobs are gathered and afterwards: twice its own 24 B, and 16 for its weight and grant.
pub(crate) const BYTES_PER_MEMBER: u64 = 64;

/// All messages of one job from one router to another. Its members are consecutive. If both routers are the same, the
/// members have different nodes. With one path per flow, all messages of one job from one node to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Commodity {
    pub(crate) job: JobId,
    pub(crate) source: RouterId,
    pub(crate) target: RouterId,
    /// Source and target node of the first member.
    pub(crate) ends: [NodeId; 2],
    pub(crate) first_member: u32,
    pub(crate) members: u32,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Commodity {
    /// Owner of the random numbers for its paths; independent of other jobs.
    pub(crate) const fn owner(&self) -> u64 {
        (self.job.0 as u64) << 48 ^ (self.source.0 as u64) << 24 ^ self.target.0 as u64
    }
}

/// Reason why the messages of a workload are not gathered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GatherError {
    /// They take this many bytes of memory so far.
    TooManyBytes(u64),
    /// The caller stopped the run.
    Interrupted,
}

impl From<Interruption> for GatherError {
    fn from(_: Interruption) -> Self {
        Self::Interrupted
    }
}

/// A workload as commodities, sorted by (job, source, target).
#[derive(Debug, Default)]
pub(crate) struct Commodities {
    /// Whether every pair of nodes is a commodity.
    by_node: bool,
    pub(crate) commodities: Vec<Commodity>,
    pub(crate) members: Vec<Member>,
    pub(crate) jobs: Vec<Volumes>,
}

impl Commodities {
    /// Bytes injected and ejected by each node.
    pub(crate) fn bytes_of_nodes(&self, processes: &dyn Processes, nodes: usize) -> [Vec<u64>; 2] {
        let [mut out, mut into] = [0, 1].map(|_| vec![0u64; nodes]);
        for member in &self.members {
            out[member.source.index()] += member.bytes;
            into[member.target.index()] += member.bytes;
        }
        sum(processes, &mut [&mut out, &mut into]);
        [out, into]
    }

    /// Gathers all messages of a workload from `routers`, for each pair of nodes if `by_node`.
    ///
    /// # Errors
    /// They take more than the memory of `limits`, or `should_continue` returned false.
    pub(crate) fn gather(
        machine: &Machine,
        workload: &Workload,
        routers: &Range<usize>,
        by_node: bool,
        limits: ResourceLimits,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<Self, GatherError> {
        let mut traffic = Self { by_node, ..Self::default() };
        for job in &workload.jobs {
            traffic.add_job(machine, job, routers, limits, should_continue)?;
        }
        Ok(traffic)
    }

    pub(crate) fn members_of(&self, commodity: &Commodity) -> &[Member] {
        let first = commodity.first_member as usize;
        &self.members[first..first + commodity.members as usize]
    }

    /// Adds the next job of the workload.
    fn add_job(
        &mut self,
        machine: &Machine,
        job: &Job,
        routers: &Range<usize>,
        limits: ResourceLimits,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<(), GatherError> {
        let ranks = RanksByRouter::new(machine, job, routers);
        let parts: Vec<Mutex<RouterPart>> = ranks.routers.iter().map(|_| Mutex::new(RouterPart::default())).collect();
        let lanes = machine.has_rails().then(|| RailPaths::new(machine, job));
        let complete = if lanes.is_some() { None } else { CompleteExchange::of(job) };
        let members = complete.as_ref().map_or(0, CompleteExchange::pairs_of_nodes);
        let expected = members.saturating_add(self.members.len() as u64).saturating_mul(BYTES_PER_MEMBER);
        if routers.len() == machine.router_count() && expected > limits.memory_bytes {
            return Err(GatherError::TooManyBytes(expected));
        }
        let mut walks = vec![Messages::new(machine, job); limits.threads];
        let gathered = AtomicU64::new(self.members.len() as u64);
        let taken = || gathered.load(Ordering::Relaxed).saturating_mul(BYTES_PER_MEMBER);
        workers::for_each(&parts, &mut walks, should_continue, |i, part, messages| {
            // Once the limit is exceeded, the remaining parts are not needed.
            if taken() <= limits.memory_bytes {
                match (&complete, &lanes) {
                    (Some(complete), _) => part.count(machine, job, ranks.of(i), complete),
                    (None, Some(lanes)) => part.gather_by_rail(job, lanes, ranks.of(i), messages),
                    (None, None) => part.gather(machine, job, ranks.of(i), messages),
                }
                gathered.fetch_add(part.members.len() as u64, Ordering::Relaxed);
            }
        })?;
        if taken() > limits.memory_bytes {
            return Err(GatherError::TooManyBytes(taken()));
        }
        let id = JobId::from_index(self.jobs.len());
        let mut volumes = Volumes::default();
        let mut by_rail = Vec::new();
        for (part, router) in parts.into_iter().zip(&ranks.routers) {
            let part = part.into_inner().expect("all threads have finished");
            volumes.merge(&part.volumes);
            match lanes {
                None => self.add_part(machine, id, router.0, &part.members),
                Some(_) => by_rail.extend(part.members),
            }
        }
        // NICs of a node may be at different routers.
        by_rail
            .sort_unstable_by_key(|m| (machine.router_of(m.source), machine.router_of(m.target), m.source, m.target));
        for of_router in by_rail.chunk_by(|a, b| machine.router_of(a.source) == machine.router_of(b.source)) {
            self.add_part(machine, id, machine.router_of(of_router[0].source), of_router);
        }
        self.jobs.push(volumes.times(job.iterations));
        Ok(())
    }

    /// Appends the members of one source router, sorted by target router.
    fn add_part(&mut self, machine: &Machine, job: JobId, source: RouterId, members: &[Member]) {
        let by_node = self.by_node;
        let together = |a: &Member, b: &Member| match by_node {
            false => machine.router_of(a.target) == machine.router_of(b.target),
            true => (a.source, a.target) == (b.source, b.target),
        };
        for group in members.chunk_by(together) {
            self.commodities.push(Commodity {
                job,
                source,
                target: machine.router_of(group[0].target),
                ends: [group[0].source, group[0].target],
                first_member: u32::try_from(self.members.len()).expect("fewer than 2^32 pairs of nodes"),
                members: group.len() as u32,
                messages: group.iter().map(|m| u64::from(m.messages)).sum(),
                bytes: group.iter().fold(0, |sum, m| sum.saturating_add(m.bytes)),
            });
            self.members.extend_from_slice(group);
        }
    }
}

/// Ranks of a job on some routers, sorted by router and node.
struct RanksByRouter {
    ranks: Vec<RankId>,
    /// Router and first of its ranks.
    routers: Vec<(RouterId, usize)>,
}

impl RanksByRouter {
    fn new(machine: &Machine, job: &Job, among: &Range<usize>) -> Self {
        let here = |rank: &RankId| among.contains(&machine.router_of(job.node_of_rank[rank.index()]).index());
        let mut ranks: Vec<RankId> = (0..job.ranks).map(RankId).filter(here).collect();
        let place = |rank: &RankId| {
            let node = job.node_of_rank[rank.index()];
            (machine.router_of(node), node, *rank)
        };
        ranks.sort_unstable_by_key(place);
        let mut routers: Vec<(RouterId, usize)> = Vec::new();
        for (i, rank) in ranks.iter().enumerate() {
            let router = place(rank).0;
            if routers.last().is_none_or(|last| last.0 != router) {
                routers.push((router, i));
            }
        }
        Self { ranks, routers }
    }

    fn of(&self, i: usize) -> &[RankId] {
        let end = self.routers.get(i + 1).map_or(self.ranks.len(), |next| next.1);
        &self.ranks[self.routers[i].1..end]
    }
}

/// Messages from the ranks of one job on one router.
#[derive(Debug, Default)]
struct RouterPart {
    members: Vec<Member>,
    volumes: Volumes,
}

/// Messages of a node that are collected before equal targets are merged. So a node needs memory for at most this
/// many, or for twice its targets. A smaller threshold sorts more often.
const MERGE_THRESHOLD: usize = 1 << 16;

impl RouterPart {
    fn gather(&mut self, machine: &Machine, job: &Job, ranks: &[RankId], messages: &mut Messages<'_>) {
        for group in ranks.chunk_by(|a, b| job.node_of(*a) == job.node_of(*b)) {
            let first = self.members.len();
            let mut full = first + MERGE_THRESHOLD;
            for &rank in group {
                for message in messages.repeated(rank) {
                    self.volumes.add_repeated(&message);
                    self.members.extend(member(&message, job.iterations));
                    if self.members.len() >= full {
                        merge_equal_targets(&mut self.members, first);
                        // Doubling keeps the repeated merging proportional to the new messages.
                        full = first + (2 * (self.members.len() - first)).max(MERGE_THRESHOLD);
                    }
                }
            }
            merge_equal_targets(&mut self.members, first);
        }
        self.members.sort_unstable_by_key(|m| (machine.router_of(m.target), m.source, m.target));
        self.members.shrink_to_fit();
    }
}

impl RouterPart {
    /// Like `gather`, on nodes with rails. The members are not sorted.
    fn gather_by_rail(&mut self, job: &Job, lanes: &RailPaths<'_>, ranks: &[RankId], messages: &mut Messages<'_>) {
        for group in ranks.chunk_by(|a, b| job.node_of(*a) == job.node_of(*b)) {
            let first = self.members.len();
            for &rank in group {
                for (number, message) in messages.of(rank).enumerate() {
                    self.volumes.add(&message);
                    let Some(whole) = member(&RepeatedMessage { message, times: 1 }, job.iterations) else { continue };
                    let iterations = u64::from(job.iterations);
                    lanes.parts(&message, number, |part| {
                        let bytes = part.bytes.0.saturating_mul(iterations);
                        self.members.push(Member { source: part.source, target: part.target, bytes, ..whole });
                    });
                }
            }
            merge_equal_ends(&mut self.members, first);
        }
        self.members.shrink_to_fit();
    }

    /// Like `gather`, for a complete exchange, node by node.
    fn count(&mut self, machine: &Machine, job: &Job, ranks: &[RankId], complete: &CompleteExchange) {
        let iterations = u64::from(job.iterations);
        for group in ranks.chunk_by(|a, b| job.node_of(*a) == job.node_of(*b)) {
            let source = job.node_of(group[0]);
            for exchange in complete.from(machine, source, group.len() as u32) {
                self.volumes.add_exchange(&exchange);
                let NodeExchange { target, messages, bytes, within } = exchange;
                if bytes > 0 && matches!(within, Locality::Router | Locality::Network) {
                    let messages = u32::try_from(messages).unwrap_or(u32::MAX);
                    self.members.push(Member { source, target, messages, bytes: bytes.saturating_mul(iterations) });
                }
            }
        }
        self.members.sort_unstable_by_key(|m| (machine.router_of(m.target), m.source, m.target));
        self.members.shrink_to_fit();
    }
}

/// A member with one message that is sent several times, unless the message loads nothing.
fn member(repeated: &RepeatedMessage, iterations: u32) -> Option<Member> {
    let RepeatedMessage { message, times } = *repeated;
    let Message { source_node: source, target_node: target, bytes, within, .. } = message;
    let loads = bytes.0 > 0 && matches!(within, Locality::Router | Locality::Network);
    // In a steady state the messages of one iteration compete, however many iterations there are.
    let messages = u32::try_from(times).unwrap_or(u32::MAX);
    let bytes = bytes.0.saturating_mul(times).saturating_mul(iterations.into());
    loads.then_some(Member { source, target, messages, bytes })
}

/// Sorts `members[first..]` by source and target and merges equal pairs.
fn merge_equal_ends(members: &mut Vec<Member>, first: usize) {
    let mut own = members.split_off(first);
    own.sort_unstable_by_key(|m| m.source);
    for of_source in own.chunk_by(|a, b| a.source == b.source) {
        let start = members.len();
        members.extend_from_slice(of_source);
        merge_equal_targets(members, start);
    }
}

/// Sorts `members[first..]` of one source node by target and merges equal targets.
fn merge_equal_targets(members: &mut Vec<Member>, first: usize) {
    members[first..].sort_unstable_by_key(|m| m.target);
    let mut kept = first;
    for i in first..members.len() {
        let member = members[i];
        if kept > first && members[kept - 1].target == member.target {
            members[kept - 1].messages = members[kept - 1].messages.saturating_add(member.messages);
            members[kept - 1].bytes = members[kept - 1].bytes.saturating_add(member.bytes);
        } else {
            members[kept] = member;
            kept += 1;
        }
    }
    members.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_machine::topology::Torus;
    use odonata_workload::{JobSettings, JobSpec, PatternSpec, PlacementSpec};
    use std::collections::BTreeSet;

    /// Two jobs, each on one node of every router, all-to-all. With equal random numbers they would take equal paths.
    #[test]
    fn every_commodity_draws_for_itself() {
        let machine = Torus { dims: vec![4], nodes_per_router: 2, ..Torus::default() };
        let machine = machine.builder().unwrap().build().unwrap();
        let job = |name: &str| JobSpec {
            name: name.into(),
            ranks: 4,
            settings: JobSettings { ranks_per_node: Some(1), ..JobSettings::default() },
            work: odonata_workload::Work::pattern(PatternSpec::parse("all-to-all").unwrap()),
            placement: PlacementSpec::parse("compact").unwrap(),
        };
        let jobs = [job("a"), job("b")];
        let mut workload = Workload::build(&machine, &jobs, 1).unwrap();
        for (first, job) in workload.jobs.iter_mut().enumerate() {
            job.node_of_rank = machine.nodes().skip(first).step_by(2).collect();
        }
        let commodities = Commodities::gather(
            &machine,
            &workload,
            &(0..machine.router_count()),
            false,
            ResourceLimits::default(),
            &mut || true,
        )
        .unwrap()
        .commodities;
        let owners: BTreeSet<u64> = commodities.iter().map(Commodity::owner).collect();
        assert_eq!((commodities.len(), owners.len()), (2 * 4 * 3, 2 * 4 * 3));
    }

    /// Three targets and many messages, so that some are merged early: no message and no byte is lost.
    #[test]
    fn merged_messages_are_all_counted() {
        let machine = Torus { dims: vec![4], nodes_per_router: 1, ..Torus::default() };
        let machine = machine.builder().unwrap().build().unwrap();
        let rounds = MERGE_THRESHOLD as u32;
        let mut pattern = PatternSpec::parse("uniform").unwrap();
        pattern.set("messages", odonata_declare::Value::Integer(i64::from(3 * rounds))).unwrap();
        let job = JobSpec {
            name: "many".into(),
            ranks: 4,
            settings: JobSettings { ranks_per_node: Some(1), ..JobSettings::default() },
            work: odonata_workload::Work::pattern(pattern),
            placement: PlacementSpec::parse("compact").unwrap(),
        };
        let workload = Workload::build(&machine, &[job], 1).unwrap();
        let job = &workload.jobs[0];
        let mut part = RouterPart::default();
        part.gather(&machine, job, &[RankId(0)], &mut Messages::new(&machine, job));
        assert_eq!(part.members.len(), 3);
        assert_eq!(part.members.iter().map(|member| member.messages).sum::<u32>(), 3 * rounds);
        let bytes: u64 = Messages::new(&machine, job).of(RankId(0)).map(|message| message.bytes.0).sum();
        assert_eq!(part.members.iter().map(|member| member.bytes).sum::<u64>(), bytes * u64::from(job.iterations));
    }
}

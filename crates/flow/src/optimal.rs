//! `optimal`: the flow of the bound as a result.
//!
//! The bound knows the flow of each source router on every edge, but not its targets. Any split that conserves the
//! bytes of every target is equally good. This one is neutral: the bytes that enter a router for any target use its
//! incoming edges in the same shares. Traversed from targets to source, the split is linear in the traffic, so it can
//! be done by job. The search may leave cycles, which carry nothing anywhere; they are removed first.

use crate::bound::SourceFlow;
use crate::job_loads::JobLoads;
use crate::link_limits::apply_link_limits;
use crate::progress::Interruption;
use crate::result::JobResult;
use crate::traffic::{Commodity, Member};
use crate::workers;
use odonata_machine::{Bundle, Machine};
use odonata_units::{JobId, LinkId, RouterId};
use odonata_workload::volumes::Volumes;
use std::sync::Mutex;

/// Bytes between different routers on links, by job. Parallel links share by capacity.
pub(crate) fn loads(
    machine: &Machine,
    flows: &[SourceFlow],
    commodities: &[&Commodity],
    jobs: usize,
    capacities: &[f64],
    threads: usize,
    should_continue: &mut dyn FnMut() -> bool,
) -> Result<Vec<JobLoads>, Interruption> {
    let bundles = machine.bundles();
    let acyclic: Vec<AcyclicFlow> = flows.iter().map(|flow| AcyclicFlow::new(machine, flow)).collect();
    let flow_from = |source: RouterId| &acyclic[acyclic.partition_point(|acyclic| acyclic.source < source)];
    let mut of_jobs: Vec<Mutex<(Vec<&Commodity>, JobLoads)>> = Vec::new();
    of_jobs.resize_with(jobs, Mutex::default);
    for commodity in commodities {
        of_jobs[commodity.job.index()].get_mut().expect("not shared yet").0.push(commodity);
    }
    // One job is one item, so its sum always has the same order.
    let mut amounts = vec![vec![0.0; machine.router_count()]; threads];
    workers::for_each(&of_jobs, &mut amounts, should_continue, |_, (commodities, loads), amount| {
        let mut edges = vec![0.0; bundles.len()];
        for of_source in commodities.chunk_by(|a, b| a.source == b.source) {
            flow_from(of_source[0].source).add(of_source, amount, &mut edges);
        }
        let mut dense = vec![0.0; machine.link_count()];
        for (bundle, bytes) in bundles.iter().zip(edges) {
            share(bundle, bytes, capacities, &mut dense);
        }
        *loads = JobLoads::of(dense);
    })?;
    Ok(of_jobs.into_iter().map(|job| job.into_inner().expect("all threads have finished").1).collect())
}

fn share(bundle: &Bundle, bytes: f64, capacities: &[f64], loads: &mut [f64]) {
    let links = bundle.first.index()..bundle.first.index() + bundle.count as usize;
    let all: f64 = capacities[links.clone()].iter().sum();
    links.for_each(|link| loads[link] = bytes * capacities[link] / all);
}

/// Times of jobs with `loads` on links and with the bytes of their messages at NICs of `nic` bytes/s per direction.
/// All messages of a job take the time of its busiest link or port.
pub(crate) fn jobs<'m>(
    volumes: &[Volumes],
    members: impl Iterator<Item = (JobId, &'m Member)>,
    nodes: usize,
    loads: &[JobLoads],
    capacities: &[f64],
    nic: f64,
) -> Vec<JobResult> {
    // Ports are numbered after the links.
    let port = |number: usize| LinkId((capacities.len() + number) as u32);
    let mut resources: Vec<Vec<(LinkId, f64)>> = loads.iter().map(|loads| loads.iter().collect()).collect();
    let mut bytes = vec![0.0; volumes.len()];
    for (job, member) in members {
        bytes[job.index()] += member.bytes as f64;
        let ports = [port(2 * member.source.index()), port(2 * member.target.index() + 1)];
        resources[job.index()].extend(ports.map(|port| (port, member.bytes as f64)));
    }
    let resources: Vec<JobLoads> = resources.into_iter().map(JobLoads::sum_of).collect();
    let capacities = [capacities, &vec![nic; 2 * nodes]].concat();
    let time = |loads: &JobLoads| loads.iter().map(|(of, bytes)| bytes / capacities[of.index()]).fold(0.0, f64::max);
    let mut times: Vec<f64> = resources.iter().map(time).collect();
    apply_link_limits(&mut times, &resources, &capacities);
    let result = |(j, volumes): (usize, &Volumes)| JobResult {
        bandwidth_bytes_per_s: if bytes[j] > 0.0 { bytes[j] / times[j] } else { 0.0 },
        completion_s: Some(times[j]),
        ..JobResult::of(*volumes, &loads[j])
    };
    volumes.iter().enumerate().map(result).collect()
}

/// An edge with flow.
#[derive(Clone, Copy)]
struct Arc {
    edge: u32,
    tail: u32,
    head: u32,
    /// Its bytes at first, then its share in all bytes that enter its head.
    amount: f64,
}

/// Flow from one router to others.
struct AcyclicFlow {
    source: RouterId,
    /// Arcs without cycles. Arcs into a router come after all arcs out of it.
    arcs: Vec<Arc>,
}

impl AcyclicFlow {
    fn new(machine: &Machine, flow: &SourceFlow) -> Self {
        let bundles = machine.bundles();
        let arc = |&(edge, amount): &(u32, f64)| {
            let bundle = &bundles[edge as usize];
            Arc { edge, tail: machine.source(bundle.first).0, head: bundle.target.0, amount }
        };
        let mut arcs: Vec<Arc> = flow.edges.iter().map(arc).collect();
        arcs.sort_by_key(|arc| arc.tail);
        let position = remove_cycles(&mut arcs, flow.source.0, machine.router_count());
        arcs.retain(|arc| arc.amount > 0.0 && position[arc.tail as usize].is_some());
        arcs.sort_by_key(|arc| position[arc.head as usize]);
        for into in arcs.chunk_by_mut(|a, b| a.head == b.head) {
            let all: f64 = into.iter().map(|arc| arc.amount).sum();
            into.iter_mut().for_each(|arc| arc.amount /= all);
        }
        Self { source: flow.source, arcs }
    }

    /// Adds the load of commodities from the source to edges. `amount` is zero for every router, before and after.
    fn add(&self, commodities: &[&Commodity], amount: &mut [f64], edges: &mut [f64]) {
        commodities.iter().for_each(|c| amount[c.target.index()] += c.bytes as f64);
        for into in self.arcs.chunk_by(|a, b| a.head == b.head) {
            let here = std::mem::take(&mut amount[into[0].head as usize]);
            for arc in into {
                edges[arc.edge as usize] += here * arc.amount;
                amount[arc.tail as usize] += here * arc.amount;
            }
        }
        amount[self.source.index()] = 0.0;
    }
}

/// Removes cycles from arcs sorted by tail. An arc with no flow left has amount 0. Returns the position of each
/// reachable router in an order in which every arc leads to an earlier one.
fn remove_cycles(arcs: &mut [Arc], source: u32, routers: usize) -> Vec<Option<u32>> {
    let mut next: Vec<usize> =
        (0..routers).map(|router| arcs.partition_point(|arc| (arc.tail as usize) < router)).collect();
    let mut position = vec![None; routers];
    let mut on_path = vec![false; routers];
    let (mut path, mut done) = (Vec::<usize>::new(), 0);
    on_path[source as usize] = true;
    loop {
        let here = path.last().map_or(source, |&arc| arcs[arc].head) as usize;
        let i = next[here];
        match arcs.get(i).filter(|arc| arc.tail as usize == here) {
            Some(arc) if arc.amount == 0.0 || position[arc.head as usize].is_some() => next[here] += 1,
            Some(arc) if on_path[arc.head as usize] => {
                let from = path.iter().rposition(|&before| arcs[before].head == arc.head).map_or(0, |at| at + 1);
                path.push(i);
                let least = path[from..].iter().map(|&arc| arcs[arc].amount).fold(f64::INFINITY, f64::min);
                path[from..].iter().for_each(|&arc| arcs[arc].amount -= least);
                // Continue at the tail of the first empty arc.
                let emptied = path[from..].iter().position(|&arc| arcs[arc].amount == 0.0).expect("the least of them");
                for arc in path.drain(from + emptied..).rev().skip(1) {
                    on_path[arcs[arc].head as usize] = false;
                }
            }
            Some(arc) => {
                on_path[arc.head as usize] = true;
                path.push(i);
            }
            None => {
                position[here] = Some(done);
                done += 1;
                on_path[here] = false;
                if path.pop().is_none() {
                    return position;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(of: &[(u32, u32, f64)]) -> Vec<Arc> {
        let arc =
            |(edge, &(tail, head, amount)): (usize, &(u32, u32, f64))| Arc { edge: edge as u32, tail, head, amount };
        of.iter().enumerate().map(arc).collect()
    }

    /// 0 sends 5 to 4 over 1 and 2. Two cycles share the arc from 1 to 2, and one cycle is separate.
    #[test]
    fn cycles_are_removed() {
        let mut arcs = arcs(&[
            (0, 1, 5.0),
            (1, 2, 5.0 + 2.0 + 3.0),
            (2, 1, 2.0),
            (2, 3, 3.0),
            (2, 4, 5.0),
            (3, 1, 3.0),
            (5, 6, 1.0),
            (6, 5, 1.0),
        ]);
        let position = remove_cycles(&mut arcs, 0, 7);
        let left: Vec<f64> = arcs.iter().map(|arc| arc.amount).collect();
        assert_eq!(left, [5.0, 5.0, 0.0, 0.0, 5.0, 0.0, 1.0, 1.0]);
        assert!(position[5].is_none() && position[6].is_none());
        let order = [0, 1, 2, 4].map(|router: usize| position[router].unwrap());
        assert!(order.is_sorted_by(|a, b| a > b), "{order:?}");
    }

    /// A cycle through the source.
    #[test]
    fn nothing_returns_to_the_source() {
        let mut arcs = arcs(&[(0, 1, 4.0), (1, 0, 1.0), (1, 2, 3.0)]);
        remove_cycles(&mut arcs, 0, 3);
        assert_eq!(arcs.iter().map(|arc| arc.amount).collect::<Vec<f64>>(), [3.0, 0.0, 3.0]);
    }
}

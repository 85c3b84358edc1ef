//! Shares capacity among flows over drawn paths: pure algebra.
//!
//! *Links* and *ports* have a capacity. Ports are the injection and ejection ports of nodes. A *flow* has *members*
//! of weight w, each with two ports; all members of a flow take the same paths. A path is a set of links. Iteration i
//! does the following:
//!
//! 1. It releases a slice C/S of every capacity into the residual R, while i < S.
//! 2. Every flow draws paths p. A path with a bottleneck residual r_p = min R_l below the cutoff is switched off. The
//!    flow requests its active weight W, split over the other paths: d_p = W r_p / Σ r (or equally, or by
//!    [`Sharing::Ugal`]).
//! 3. D_l is the sum of the requests for link l. Every member is granted g = (w/W) d_p min( min_l R_l/D_l, R_in/D_in,
//!    R_out/D_out ) on path p.
//! 4. The grants are subtracted from the residuals.
//!
//! Step 3 never grants more than a residual, since the shares of all requests for a link sum to 1. The iteration ends
//! when no flow can request anything, or when an iteration grants less than a given share of all grants.
//!
//! Amounts are integers: 1/256 byte per second, and the finest unit of demand in which all weights sum to less than
//! 2^62. So sums do not depend on the order of addition, and the result is equal for any number of threads and
//! processes.

use crate::history::{Candidates, Chunk, GrantHistory, Paths, Solution};
use crate::progress::Interruption;
use crate::workers;
use odonata_processes::{sum, Processes};
use odonata_units::LinkId;
use std::ops::Range;
use std::sync::Mutex;

/// Units of rate per byte per second.
pub(crate) const RATE_UNIT: f64 = 256.0;
/// Flows that one thread claims at a time. Larger chunks balance threads worse. Fits the 16-bit index of a record.
const CHUNK: usize = 1024;

/// Split of a flow's demand over its active paths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Sharing {
    /// In proportion to the bottleneck residuals.
    Residual,
    /// Equally.
    Equal,
    /// Over the first kind of paths unless they are congested, else over the second; by residuals within a kind.
    Ugal { threshold: f64, bias: f64 },
}

/// Weight of a member (a whole number) and its two ports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight {
    pub(crate) weight: f32,
    pub(crate) ports: [u32; 2],
}

/// A system to solve. Capacities and rates are in 1/256 byte per second.
pub(crate) struct System<'a, C> {
    pub(crate) links: &'a [u64],
    pub(crate) ports: &'a [u64],
    /// Members of flow f are `members[first_member[f]..first_member[f + 1]]`.
    pub(crate) first_member: &'a [u32],
    pub(crate) members: &'a [Weight],
    /// Rate of each flow if only its ports limited it; read by [`Sharing::Ugal`] only.
    pub(crate) offered: &'a [f64],
    pub(crate) candidates: &'a C,
    pub(crate) sharing: Sharing,
    pub(crate) slices: u32,
    pub(crate) cutoff: u64,
    pub(crate) max_iterations: u32,
    pub(crate) tolerance: f64,
    pub(crate) threads: usize,
    pub(crate) history: GrantHistory,
    /// Processes with other flows of the system; all have the same links and ports.
    pub(crate) processes: &'a dyn Processes,
}

/// Adds the share of a flow on a path to sums.
pub(crate) type Add<'a> = &'a (dyn Fn(usize, f64, &[LinkId], &mut [u64]) + Sync);

/// Receiver of every grant, with the sum of grants of each flow.
#[derive(Clone, Copy)]
struct GrantSink<'a> {
    totals: &'a [f64],
    add: Add<'a>,
}

/// Sums of one thread in one pass.
#[derive(Clone)]
struct Sums {
    links: Vec<u64>,
    ports: Vec<u64>,
    offered: Vec<u64>,
    /// Sums of the grant sink.
    sink_sums: Vec<u64>,
}

struct State {
    link_residual: Vec<u64>,
    port_residual: Vec<u64>,
    /// Residual per unit of demand; infinite without demand.
    link_ratio: Vec<f64>,
    port_ratio: Vec<f64>,
    /// Mean offered load of every link over its capacity ([`Sharing::Ugal`]).
    load: Vec<f64>,
    /// Units of demand in one unit of weight.
    demand_unit: f64,
}

impl<C: Candidates> System<'_, C> {
    pub(crate) fn solve(&self, tick: &mut dyn FnMut(u32) -> bool) -> Result<Solution, Interruption> {
        self.iterate(None, 0, tick).map(|(solution, _)| solution)
    }

    /// Solves the system that gave the totals again, and calls `add` for every granted path. The shares of one flow
    /// sum to 1. Returns the merged sums, `width` of them.
    pub(crate) fn solve_again(
        &self,
        totals: &[f64],
        width: usize,
        add: Add<'_>,
        tick: &mut dyn FnMut(u32) -> bool,
    ) -> Result<Vec<u64>, Interruption> {
        self.iterate(Some(GrantSink { totals, add }), width, tick).map(|(_, sums)| sums)
    }

    fn iterate(
        &self,
        sink: Option<GrantSink<'_>>,
        width: usize,
        tick: &mut dyn FnMut(u32) -> bool,
    ) -> Result<(Solution, Vec<u64>), Interruption> {
        let mut state = State {
            link_residual: vec![0; self.links.len()],
            port_residual: vec![0; self.ports.len()],
            link_ratio: vec![0.0; self.links.len()],
            port_ratio: vec![0.0; self.ports.len()],
            load: vec![0.0; self.links.len()],
            demand_unit: self.demand_unit(),
        };
        let chunks = self.chunks();
        let ugal = matches!(self.sharing, Sharing::Ugal { .. });
        let sums = Sums {
            links: vec![0; self.links.len()],
            ports: vec![0; self.ports.len()],
            offered: vec![0; if ugal { self.links.len() } else { 0 }],
            sink_sums: vec![0; width],
        };
        let mut sums = vec![sums; self.threads];
        let (mut total, mut last_growth, mut converged, mut iteration) = (0.0f64, 0.0f64, self.is_empty(), 0);
        while !converged && iteration < self.max_iterations {
            self.release(iteration, &mut state);
            let mut should_continue = || tick(iteration);
            workers::for_each(&chunks, &mut sums, &mut should_continue, |_, chunk, sums| {
                self.request(chunk, iteration, &state, sums)
            })?;
            let asked = self.finish_demand(&mut sums, iteration, &mut state);
            workers::for_each(&chunks, &mut sums, &mut should_continue, |_, chunk, sums| {
                self.grant(chunk, &state, sink, sums)
            })?;
            let granted = finish_grants(&mut sums, self.processes, &mut state);
            total += granted;
            last_growth = if total > 0.0 { granted / total } else { 0.0 };
            iteration += 1;
            let released = iteration >= self.slices;
            converged = !asked || (released && last_growth < self.tolerance);
        }
        let mut granted = Vec::with_capacity(self.members.len());
        for chunk in &chunks {
            granted.append(&mut chunk.lock().expect("all threads have finished").granted);
        }
        let mut sink: Vec<Vec<u64>> = sums.into_iter().map(|sums| sums.sink_sums).collect();
        workers::merge(&mut sink);
        sum(self.processes, &mut [&mut sink[0]]);
        Ok((Solution { granted, iterations: iteration, converged, last_growth, chunks }, sink.swap_remove(0)))
    }

    fn is_empty(&self) -> bool {
        let mut members = vec![self.members.len() as u64];
        sum(self.processes, &mut [&mut members]);
        members == [0]
    }

    /// Units of demand per unit of weight: a power of two, so that it scales exactly.
    fn demand_unit(&self) -> f64 {
        // Weights are whole numbers.
        let mut total = vec![self.members.iter().map(|m| m.weight as u64).sum()];
        sum(self.processes, &mut [&mut total]);
        2f64.powi((61 - (total[0].max(1) as f64).log2().ceil() as i32).min(40))
    }

    fn chunks(&self) -> Vec<Mutex<Chunk>> {
        let flows = self.first_member.len() - 1;
        (0..flows)
            .step_by(CHUNK)
            .map(|first_flow| {
                let count = CHUNK.min(flows - first_flow);
                let members = self.first_member[first_flow + count] - self.first_member[first_flow];
                let granted = vec![0; members as usize];
                let totals = vec![0.0; if self.history == GrantHistory::Totals { count } else { 0 }];
                Mutex::new(Chunk { first_flow, flows: count, granted, totals, ..Chunk::default() })
            })
            .collect()
    }

    /// Step 1.
    fn release(&self, iteration: u32, state: &mut State) {
        if iteration >= self.slices {
            return;
        }
        let slice = |capacity| slice(capacity, iteration.into(), self.slices.into());
        for (residual, &capacity) in state.link_residual.iter_mut().zip(self.links) {
            *residual += slice(capacity);
        }
        for (residual, &capacity) in state.port_residual.iter_mut().zip(self.ports) {
            *residual += slice(capacity);
        }
    }

    fn members_of(&self, flow: usize) -> &[Weight] {
        &self.members[self.first_member[flow] as usize..self.first_member[flow + 1] as usize]
    }

    /// Step 2 for the flows of one chunk.
    fn request(&self, chunk: &mut Chunk, iteration: u32, state: &State, sums: &mut Sums) {
        chunk.paths.clear();
        chunk.demand.clear();
        chunk.first_path.clear();
        chunk.active_weight.clear();
        let mut residuals = Vec::with_capacity(64);
        for flow in chunk.first_flow..chunk.first_flow + chunk.flows {
            let first = chunk.demand.len();
            chunk.first_path.push(first as u32);
            let open = |m: &&Weight| m.ports.iter().all(|&g| state.port_residual[g as usize] >= self.cutoff);
            let weight: f64 = self.members_of(flow).iter().filter(open).map(|m| f64::from(m.weight)).sum();
            chunk.active_weight.push(weight);
            if weight == 0.0 {
                continue;
            }
            self.candidates.draw(flow, iteration, &mut chunk.paths);
            self.shares(flow, &chunk.paths, first, state, &mut residuals);
            let all: f64 = residuals.iter().sum();
            if all == 0.0 {
                *chunk.active_weight.last_mut().expect("just pushed") = 0.0;
                truncate(&mut chunk.paths, first);
                continue;
            }
            let mut begin = if first == 0 { 0 } else { chunk.paths.ends[first - 1] as usize };
            for (k, residual) in residuals.iter().enumerate() {
                let share = residual / all;
                // A message that is tiny compared with the others still requests, and gets, the smallest unit.
                let least = u64::from(share > 0.0);
                let demand = ((weight * share * state.demand_unit + 0.5) as u64).max(least);
                chunk.demand.push(demand);
                let end = chunk.paths.ends[first + k] as usize;
                for &link in &chunk.paths.links[begin..end] {
                    sums.links[link.index()] += demand;
                }
                if !sums.offered.is_empty() {
                    let offered = (self.offered[flow] * share + 0.5) as u64;
                    for &link in &chunk.paths.links[begin..end] {
                        sums.offered[link.index()] += offered;
                    }
                }
                begin = end;
            }
            for member in self.members_of(flow).iter().filter(open) {
                for port in member.ports {
                    sums.ports[port as usize] += ((f64::from(member.weight) * state.demand_unit) as u64).max(1);
                }
            }
        }
        chunk.first_path.push(chunk.demand.len() as u32);
    }

    /// Weights by which a flow splits its demand over its paths from `first` on; zero for a path that is switched
    /// off.
    fn shares(&self, flow: usize, paths: &Paths, first: usize, state: &State, shares: &mut Vec<f64>) {
        shares.clear();
        let mut begin = if first == 0 { 0 } else { paths.ends[first - 1] as usize };
        let direct = self.candidates.path_counts(flow)[0];
        let mut queue = [f64::INFINITY; 2];
        for (k, &end) in paths.ends[first..].iter().enumerate() {
            let links = &paths.links[begin..end as usize];
            begin = end as usize;
            // A path without links (within one router) is limited by its ports alone.
            let residual = links.iter().map(|&l| state.link_residual[l.index()]).min().unwrap_or(u64::MAX >> 8);
            shares.push(if residual < self.cutoff { 0.0 } else { residual as f64 });
            if let Sharing::Ugal { .. } = self.sharing {
                let load = links.iter().map(|&l| state.load[l.index()]).fold(0.0, f64::max);
                let kind = usize::from(k >= direct);
                queue[kind] = queue[kind].min((load - 1.0).max(0.0) * links.len() as f64);
            }
        }
        match self.sharing {
            Sharing::Residual => {}
            Sharing::Equal => shares.iter_mut().filter(|s| **s > 0.0).for_each(|s| *s = 1.0),
            Sharing::Ugal { threshold, bias } => {
                let detour = queue[0] > threshold * queue[1] + bias;
                let (minimal, other) = shares.split_at_mut(direct);
                let (chosen, left) = if detour { (other, minimal) } else { (minimal, other) };
                if chosen.iter().any(|&s| s > 0.0) {
                    left.fill(0.0);
                }
            }
        }
    }

    /// Ends step 2: sets the residual per unit of demand of every link and port. Returns whether there was any
    /// demand.
    fn finish_demand(&self, sums: &mut [Sums], iteration: u32, state: &mut State) -> bool {
        merge_sums(sums, self.processes);
        let ratio = |(&residual, &demand): (&u64, &u64)| match demand {
            0 => f64::INFINITY,
            _ => residual as f64 / demand as f64,
        };
        let total = &mut sums[0];
        state.link_ratio = state.link_residual.iter().zip(&total.links).map(ratio).collect();
        state.port_ratio = state.port_residual.iter().zip(&total.ports).map(ratio).collect();
        // Mean of the first ten iterations, then a moving mean of the same length. A shorter mean follows
        // oscillations of the load.
        let step = 1.0 / f64::from(iteration + 1).min(10.0);
        for ((load, offered), capacity) in state.load.iter_mut().zip(&total.offered).zip(self.links) {
            *load += step * (*offered as f64 / *capacity as f64 - *load);
        }
        let asked = total.ports.iter().any(|&d| d > 0);
        total.links.fill(0);
        total.ports.fill(0);
        total.offered.fill(0);
        asked
    }

    /// Step 3 for the flows of one chunk.
    fn grant(&self, chunk: &mut Chunk, state: &State, sink: Option<GrantSink<'_>>, sums: &mut Sums) {
        let base = self.first_member[chunk.first_flow] as usize;
        chunk.record_start.push(chunk.record_flow.len() as u32);
        let mut paths = Vec::with_capacity(64);
        for local in 0..chunk.flows {
            let range = chunk.first_path[local] as usize..chunk.first_path[local + 1] as usize;
            if range.is_empty() {
                continue;
            }
            let flow = chunk.first_flow + local;
            paths.clear();
            let mut begin = if range.start == 0 { 0 } else { chunk.paths.ends[range.start - 1] as usize };
            for (&end, &demand) in chunk.paths.ends[range.clone()].iter().zip(&chunk.demand[range.clone()]) {
                let links = begin..end as usize;
                begin = end as usize;
                let ratio = chunk.paths.links[links.clone()].iter().map(|&l| state.link_ratio[l.index()]);
                let ratio = ratio.fold(f64::INFINITY, f64::min);
                paths.push(GrantedPath { links, unit: demand as f64 / chunk.active_weight[local], ratio, rate: 0 });
            }
            let first_member = self.first_member[flow] as usize - base;
            let granted = &mut chunk.granted[first_member..];
            self.grant_members(self.members_of(flow), &mut paths, state, granted, &mut sums.ports);
            let (mut any, mut all) = (0, 0.0);
            for GrantedPath { links, rate, .. } in &paths {
                let links = &chunk.paths.links[links.clone()];
                for &link in links {
                    sums.links[link.index()] += rate;
                }
                any += rate;
                let record = *rate as f32;
                all += f64::from(record);
                if self.history == GrantHistory::Grants {
                    chunk.record_grant.push(record);
                }
                if let Some(GrantSink { totals, add }) = sink.filter(|_| *rate > 0) {
                    add(flow, f64::from(record) / totals[flow], links, &mut sums.sink_sums);
                }
            }
            if let Some(total) = chunk.totals.get_mut(local) {
                *total += all;
            }
            if self.history == GrantHistory::Grants && any > 0 {
                chunk.record_flow.push(local as u16);
            } else if self.history == GrantHistory::Grants {
                chunk.record_grant.truncate(chunk.record_grant.len() - range.len());
            }
        }
    }

    /// Grants every member its unit of demand per weight on every path, at the ratio of the path or of its ports.
    fn grant_members(
        &self,
        members: &[Weight],
        paths: &mut [GrantedPath],
        state: &State,
        granted: &mut [u64],
        ports: &mut [u64],
    ) {
        for (member, granted) in members.iter().zip(granted) {
            let [out, into] = member.ports.map(|g| g as usize);
            if state.port_residual[out] < self.cutoff || state.port_residual[into] < self.cutoff {
                continue;
            }
            let of_ports = state.port_ratio[out].min(state.port_ratio[into]);
            let mut sum = 0;
            for path in paths.iter_mut().filter(|path| path.unit > 0.0) {
                let rate = ((f64::from(member.weight) * path.unit * path.ratio.min(of_ports)) as u64).max(1);
                path.rate += rate;
                sum += rate;
            }
            *granted += sum;
            ports[out] += sum;
            ports[into] += sum;
        }
    }
}

/// A path of a flow in step 3.
struct GrantedPath {
    links: Range<usize>,
    /// Demand per weight.
    unit: f64,
    /// Least ratio of its links.
    ratio: f64,
    /// Sum of the grants of all members.
    rate: u64,
}

/// Rate of every flow if only its ports limited it. A port is shared in proportion to weight.
pub(crate) fn offered(processes: &dyn Processes, first_member: &[u32], members: &[Weight], ports: &[u64]) -> Vec<f64> {
    let mut weight = vec![0u64; ports.len()];
    for member in members {
        for port in member.ports {
            weight[port as usize] += member.weight as u64;
        }
    }
    sum(processes, &mut [&mut weight]);
    let of = |port: u32| ports[port as usize] as f64 / weight[port as usize] as f64;
    let share = |m: &Weight, port: u32| f64::from(m.weight) * of(port);
    let rate = |m: &Weight| share(m, m.ports[0]).min(share(m, m.ports[1]));
    first_member.windows(2).map(|w| members[w[0] as usize..w[1] as usize].iter().map(rate).sum()).collect()
}

/// Slice `i` of a capacity C: C(i+1)/S - C i/S in whole units, so that all slices sum to C.
fn slice(capacity: u64, i: u64, slices: u64) -> u64 {
    match capacity.checked_mul(i + 1) {
        Some(end) => end / slices - capacity * i / slices,
        // No link of today is so fast. Division in 128 bits takes several times as long, on one thread.
        None => {
            let [capacity, i, slices] = [capacity, i, slices].map(u128::from);
            (capacity * (i + 1) / slices - capacity * i / slices) as u64
        }
    }
}

fn truncate(paths: &mut Paths, first: usize) {
    let end = if first == 0 { 0 } else { paths.ends[first - 1] as usize };
    paths.links.truncate(end);
    paths.ends.truncate(first);
}

/// Sums over all threads of all processes; the first thread of each has the result.
fn merge_sums(sums: &mut [Sums], processes: &dyn Processes) {
    let arrays: [fn(&mut Sums) -> &mut Vec<u64>; 3] =
        [|sums| &mut sums.links, |sums| &mut sums.ports, |sums| &mut sums.offered];
    for array in arrays {
        workers::merge_into_first(sums.iter_mut().map(|sums| array(sums).as_mut_slice()).collect());
    }
    let first = &mut sums[0];
    sum(processes, &mut [&mut first.links, &mut first.ports, &mut first.offered]);
}

/// Step 4. Returns the sum of all grants, each rate counted once.
fn finish_grants(sums: &mut [Sums], processes: &dyn Processes, state: &mut State) -> f64 {
    merge_sums(sums, processes);
    let total = &mut sums[0];
    // Rounding may request one unit more than there is: see the last paragraph of the module's header.
    for (residual, granted) in state.link_residual.iter_mut().zip(&mut total.links) {
        *residual = residual.saturating_sub(std::mem::take(granted));
    }
    let mut all = 0.0;
    for (residual, granted) in state.port_residual.iter_mut().zip(&mut total.ports) {
        all += *granted as f64 / 2.0;
        *residual = residual.saturating_sub(std::mem::take(granted));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::slice;

    #[test]
    fn slices_sum_to_the_capacity() {
        for capacity in [0, 1, 24, 1_000_003, 1 << 61, u64::MAX] {
            for slices in [1, 3, 25] {
                assert_eq!((0..slices).map(|i| slice(capacity, i, slices)).sum::<u64>(), capacity);
            }
        }
    }
}

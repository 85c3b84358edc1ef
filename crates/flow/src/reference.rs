//! The slow twin of the solver for tests: one message at a time, floating point, one thread, all paths stored.
//!
//! It follows the definition step by step and shares only the random numbers with the fast solver.

use crate::history::{Candidates, Paths};
use crate::solver::Weight;
use odonata_processes::SingleProcess;
use odonata_units::LinkId;

/// Flows as lists of members: the input of `solve`.
pub(crate) struct Reference<'a, C> {
    pub(crate) links: &'a [f64],
    pub(crate) ports: &'a [f64],
    pub(crate) flows: &'a [Vec<Weight>],
    pub(crate) candidates: &'a C,
    pub(crate) slices: u32,
    pub(crate) cutoff: f64,
    pub(crate) iterations: u32,
}

/// Rate of every member, and of every flow on every granted path.
pub(crate) struct ReferenceGrants {
    pub(crate) members: Vec<Vec<f64>>,
    pub(crate) paths: Vec<Vec<(f64, Vec<LinkId>)>>,
}

/// A request for one path in one iteration.
struct Request {
    flow: usize,
    links: Vec<LinkId>,
    /// Demand of every member on this path; zero if its ports are switched off.
    demand: Vec<f64>,
}

impl<C: Candidates> Reference<'_, C> {
    pub(crate) fn solve(&self) -> ReferenceGrants {
        let mut links = vec![0.0; self.links.len()];
        let mut ports = vec![0.0; self.ports.len()];
        let mut granted = ReferenceGrants {
            members: self.flows.iter().map(|members| vec![0.0; members.len()]).collect(),
            paths: vec![Vec::new(); self.flows.len()],
        };
        for iteration in 0..self.iterations {
            if iteration < self.slices {
                let slice = |(residual, capacity): (&mut f64, &f64)| *residual += capacity / f64::from(self.slices);
                links.iter_mut().zip(self.links).for_each(slice);
                ports.iter_mut().zip(self.ports).for_each(slice);
            }
            let requests = self.requests(iteration, &links, &ports);
            self.grant(&requests, &mut links, &mut ports, &mut granted);
        }
        granted
    }

    fn requests(&self, iteration: u32, links: &[f64], ports: &[f64]) -> Vec<Request> {
        let mut requests = Vec::new();
        for (flow, members) in self.flows.iter().enumerate() {
            let open = |m: &Weight| m.ports.iter().all(|&g| ports[g as usize] >= self.cutoff);
            let mut paths = Paths::default();
            self.candidates.draw(flow, iteration, &mut paths);
            let starts = std::iter::once(0).chain(paths.ends.iter().copied());
            let each: Vec<&[LinkId]> =
                starts.zip(&paths.ends).map(|(a, &b)| &paths.links[a as usize..b as usize]).collect();
            let residual = |path: &&[LinkId]| {
                let least = path.iter().map(|l| links[l.index()]).fold(f64::INFINITY, f64::min);
                if least < self.cutoff {
                    0.0
                } else {
                    least
                }
            };
            let residuals: Vec<f64> = each.iter().map(residual).collect();
            let sum: f64 = residuals.iter().sum();
            for (path, residual) in each.iter().zip(&residuals).filter(|(_, r)| **r > 0.0) {
                let demand = |m: &Weight| if open(m) { f64::from(m.weight) * residual / sum } else { 0.0 };
                requests.push(Request { flow, links: path.to_vec(), demand: members.iter().map(demand).collect() });
            }
        }
        requests
    }

    fn grant(&self, requests: &[Request], links: &mut [f64], ports: &mut [f64], granted: &mut ReferenceGrants) {
        let mut asked_links = vec![0.0; links.len()];
        let mut asked_ports = vec![0.0; ports.len()];
        for request in requests {
            for (demand, member) in request.demand.iter().zip(&self.flows[request.flow]) {
                request.links.iter().for_each(|l| asked_links[l.index()] += demand);
                member.ports.iter().for_each(|&g| asked_ports[g as usize] += demand);
            }
        }
        let (link_residual, port_residual) = (links.to_vec(), ports.to_vec());
        for request in requests {
            let mut path_rate = 0.0;
            for (m, (demand, member)) in request.demand.iter().zip(&self.flows[request.flow]).enumerate() {
                if *demand == 0.0 {
                    continue;
                }
                let by_links = request.links.iter().map(|l| demand / asked_links[l.index()] * link_residual[l.index()]);
                let by_ports =
                    member.ports.iter().map(|&g| demand / asked_ports[g as usize] * port_residual[g as usize]);
                let rate = by_links.chain(by_ports).fold(f64::INFINITY, f64::min);
                request.links.iter().for_each(|l| links[l.index()] -= rate);
                member.ports.iter().for_each(|&g| ports[g as usize] -= rate);
                granted.members[request.flow][m] += rate;
                path_rate += rate;
            }
            granted.paths[request.flow].push((path_rate, request.links.clone()));
        }
    }
}

mod tests {
    use super::*;
    use crate::history::GrantHistory;
    use crate::solver::{Sharing, System, RATE_UNIT};
    use odonata_units::Stream;

    /// Random paths of one to four of `links` links: two direct and two to four indirect paths.
    struct Dice {
        links: u64,
        seed: u64,
    }

    impl Candidates for Dice {
        fn path_counts(&self, flow: usize) -> [usize; 2] {
            [2, 2 + flow % 3]
        }

        fn draw(&self, flow: usize, iteration: u32, paths: &mut Paths) {
            let mut stream = Stream::new(self.seed, "dice", &[flow as u64, u64::from(iteration)]);
            for _ in 0..self.path_counts(flow).iter().sum() {
                let start = stream.below(self.links);
                let hops = 1 + stream.below(4);
                paths.links.extend((0..hops).map(|i| LinkId(((start + i * 7) % self.links) as u32)));
                paths.ends.push(paths.links.len() as u32);
            }
        }
    }

    /// Both solve a random system of 40 links, 24 ports and 60 flows for a fixed number of iterations. Rates of
    /// members and loads of links agree to the rounding of the integers. The systems are not solved to the end: a
    /// residual near the cutoff may be open in one and switched off in the other.
    #[test]
    fn fast_and_slow_grant_the_same() {
        for seed in 0..5 {
            let mut stream = Stream::new(seed, "system", &[]);
            let mut rate = |scale: u64| (1 + stream.below(scale)) * 1_000_000;
            let links: Vec<f64> = (0..40).map(|_| rate(5000) as f64).collect();
            let ports: Vec<f64> = (0..24).map(|_| rate(9000) as f64).collect();
            let mut member = || Weight {
                weight: (1 + stream.below(5)) as f32,
                ports: [stream.below(12) as u32 * 2, stream.below(12) as u32 * 2 + 1],
            };
            let flows: Vec<Vec<Weight>> = (0..60).map(|f| (0..1 + f % 3).map(|_| member()).collect()).collect();
            let candidates = Dice { links: 40, seed };
            let (slices, iterations, cutoff) = (10, 16, 10_000.0);
            let slow = Reference {
                links: &links,
                ports: &ports,
                flows: &flows,
                candidates: &candidates,
                slices,
                cutoff,
                iterations,
            }
            .solve();
            let units = |rates: &[f64]| -> Vec<u64> { rates.iter().map(|r| (r * RATE_UNIT) as u64).collect() };
            let members: Vec<Weight> = flows.iter().flatten().copied().collect();
            let mut first_member = vec![0];
            flows.iter().for_each(|f| first_member.push(first_member.last().unwrap() + f.len() as u32));
            let fast = System {
                links: &units(&links),
                ports: &units(&ports),
                first_member: &first_member,
                members: &members,
                offered: &vec![0.0; flows.len()],
                candidates: &candidates,
                sharing: Sharing::Residual,
                slices,
                cutoff: (cutoff * RATE_UNIT) as u64,
                max_iterations: iterations,
                tolerance: 0.0,
                threads: 2,
                history: GrantHistory::Grants,
                processes: &SingleProcess,
            }
            .solve(&mut |_| true)
            .unwrap();
            for (fast, slow) in fast.granted.iter().zip(slow.members.iter().flatten()) {
                let fast = *fast as f64 / RATE_UNIT;
                assert!((fast - slow).abs() <= 1e-3 * slow + 1e3, "{fast} {slow}");
            }
            // One byte per flow, split over its paths: the loads of links.
            let unit = 1e12;
            let replayed = fast
                .replay(&candidates, 0..flows.len(), 40, 2, &mut || true, |_, share, path, sums| {
                    path.iter().for_each(|l| sums[l.index()] += (share * unit) as u64);
                })
                .unwrap();
            let mut loads = vec![0.0; 40];
            for paths in &slow.paths {
                let total: f64 = paths.iter().map(|p| p.0).sum();
                paths.iter().for_each(|(rate, path)| path.iter().for_each(|l| loads[l.index()] += rate / total));
            }
            for (fast, slow) in replayed.iter().zip(&loads) {
                let fast = *fast as f64 / unit;
                assert!((fast - slow).abs() <= 2e-3 * slow + 1e-6, "{fast} {slow}");
            }
        }
    }
}

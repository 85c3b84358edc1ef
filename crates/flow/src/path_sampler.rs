//! Paths of commodities for the solver.

use crate::history::{self, Candidates};
use crate::paths::Paths;
use crate::traffic::Commodity;
use odonata_machine::Machine;
use odonata_routing::paths::Draws;

/// Draws the paths of commodities for the solver.
pub(crate) struct PathSampler<'a> {
    pub(crate) paths: &'a Paths<'a>,
    pub(crate) flows: &'a [&'a Commodity],
    /// Whether direct paths are minimal.
    pub(crate) minimal: bool,
    pub(crate) path_counts: [usize; 2],
    /// Maximum number of path sets per commodity, by job.
    pub(crate) sets: Vec<u64>,
    pub(crate) seed: u64,
    /// Number of iterations before the first one, whose paths are not drawn again.
    pub(crate) first_iteration: u32,
}

impl PathSampler<'_> {
    /// Latency of the cables from NIC to NIC for every commodity, seconds: the mean of the first direct paths, or of the
    /// indirect ones if there are no others.
    pub(crate) fn latencies(&self, machine: &Machine) -> Vec<f32> {
        let nics = 2.0 * machine.terminal().latency.as_s_f64();
        let mut paths = history::Paths::default();
        let latency = |flow| {
            paths.clear();
            self.draw(flow, 0, &mut paths);
            let [direct, indirect] = self.path_counts(flow);
            let count = if direct > 0 { direct } else { indirect };
            let links = &paths.links[..paths.ends[count - 1] as usize];
            (nics + links.iter().map(|link| machine.latency(*link).as_s_f64()).sum::<f64>() / count as f64) as f32
        };
        (0..self.flows.len()).map(latency).collect()
    }
}

impl Candidates for PathSampler<'_> {
    fn path_counts(&self, flow: usize) -> [usize; 2] {
        let commodity = self.flows[flow];
        let sets = match self.paths {
            Paths::Drawn(_) => commodity.messages.min(self.sets[commodity.job.index()]) as usize,
            Paths::OnePath(_) => 1,
        };
        self.path_counts.map(|count| count * sets)
    }

    fn draw(&self, flow: usize, iteration: u32, paths: &mut history::Paths) {
        let commodity = self.flows[flow];
        let rule = match self.paths {
            Paths::Drawn(rule) => rule,
            Paths::OnePath(flow_paths) => {
                if commodity.source != commodity.target {
                    flow_paths.path(commodity.ends[0], commodity.ends[1], &mut paths.links);
                }
                return paths.ends.push(paths.links.len() as u32);
            }
        };
        for (kind, count) in self.path_counts(flow).into_iter().enumerate() {
            for k in 0..count {
                if commodity.source != commodity.target {
                    let turn = (self.first_iteration + iteration) * count as u32 + k as u32;
                    let mut draws = Draws::new(self.seed ^ kind as u64, commodity.owner(), turn);
                    if self.minimal {
                        rule.minimal(commodity.source, commodity.target, &mut draws, &mut paths.links);
                    } else if kind == 0 {
                        rule.direct(commodity.source, commodity.target, &mut draws, &mut paths.links);
                    } else {
                        rule.indirect(commodity.source, commodity.target, &mut draws, &mut paths.links);
                    }
                }
                paths.ends.push(paths.links.len() as u32);
            }
        }
    }
}

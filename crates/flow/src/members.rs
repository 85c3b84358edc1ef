//! Members of commodities as the solver sees them, and as they drain.

use crate::drain::Sender;
use crate::solver::Weight;
use crate::traffic::{Commodities, Commodity, Member};
use crate::DemandUnit;

/// Members of commodities: commodity f has `weights[first[f]..first[f + 1]]`.
pub(crate) struct Members {
    pub(crate) first: Vec<u32>,
    pub(crate) weights: Vec<Weight>,
}

impl Default for Members {
    fn default() -> Self {
        Self { first: vec![0], weights: Vec::new() }
    }
}

impl Members {
    /// Adds a commodity.
    pub(crate) fn add<'m>(&mut self, members: impl Iterator<Item = &'m Member>, demand: DemandUnit) {
        self.weights.extend(members.map(|member| {
            let weight = match demand {
                DemandUnit::Bytes => member.bytes as f32,
                DemandUnit::Messages => member.messages as f32,
            };
            Weight { weight, ports: [2 * member.source.0, 2 * member.target.0 + 1] }
        }));
        self.first.push(self.weights.len() as u32);
    }
}

/// Members of `flows` with bytes to send. `latencies` is by flow, seconds.
pub(crate) fn senders(traffic: &Commodities, flows: &[&Commodity], latencies: &[f32]) -> Vec<Sender> {
    let mut senders = Vec::new();
    for (flow, (commodity, &latency_s)) in flows.iter().zip(latencies).enumerate() {
        for (k, member) in traffic.members_of(commodity).iter().enumerate().filter(|(_, m)| m.bytes > 0) {
            senders.push(Sender {
                flow: flow as u32,
                member: commodity.first_member + k as u32,
                job: commodity.job.0,
                latency_s,
                bytes: member.bytes as f64,
                rate: 0,
            });
        }
    }
    senders
}

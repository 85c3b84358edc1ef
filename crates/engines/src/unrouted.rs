//! The outcome of engines without routing: what the jobs send, and nothing on the links.

use crate::engine::{JobVolumes, Outcome};
use crate::scenario::Scenario;
use odonata_model::{HopCounts, ModelError};
use odonata_workload::rails::{Part, RailPaths};
use odonata_workload::volumes::{Locality, Messages, Volumes};
use serde_json::json;

/// Messages of the jobs, and the bytes through each node's NIC. What links carry is not known.
///
/// # Errors
/// Two nodes without a path.
pub(crate) fn outcome(scenario: &Scenario) -> Result<Outcome, ModelError> {
    let machine = &scenario.machine;
    let SentTraffic { jobs, ejected_bytes, injected_bytes } = sent(scenario)?;
    Ok(Outcome {
        // Nothing is routed: what links carry is not known.
        link_bytes: vec![f64::NAN; machine.link_count()],
        link_capacity_bytes_per_s: machine.links().map(|link| machine.bandwidth(link).bytes_per_s_f64()).collect(),
        node_ejected_bytes: ejected_bytes,
        node_injected_bytes: injected_bytes,
        node_capacity_bytes_per_s: vec![machine.terminal().bandwidth.bytes_per_s_f64(); machine.node_count()],
        jobs,
        convergence: json!({}),
        ..Outcome::default()
    })
}

/// Traffic of the jobs by destination, and the bytes through each node's NIC.
struct SentTraffic {
    jobs: Vec<JobVolumes>,
    ejected_bytes: Vec<f64>,
    injected_bytes: Vec<f64>,
}

fn sent(scenario: &Scenario) -> Result<SentTraffic, ModelError> {
    let Scenario { machine, workload, .. } = scenario;
    let mut hops = HopCounts::new(machine);
    let (mut ejected_bytes, mut injected_bytes) = (vec![0.0; machine.node_count()], vec![0.0; machine.node_count()]);
    let mut jobs = Vec::with_capacity(workload.jobs.len());
    for job in &workload.jobs {
        let (mut volumes, mut hop_bytes, rounds) = (Volumes::default(), 0.0, f64::from(job.iterations));
        let mut messages = Messages::new(machine, job);
        let lanes = RailPaths::new(machine, job);
        for rank in job.rank_ids() {
            for (number, message) in messages.of(rank).enumerate() {
                volumes.add(&message);
                if matches!(message.within, Locality::Router | Locality::Network) {
                    let mut missing = None;
                    lanes.parts(&message, number, |Part { source, target, bytes }| {
                        let bytes = rounds * bytes.as_f64();
                        injected_bytes[source.index()] += bytes;
                        ejected_bytes[target.index()] += bytes;
                        match hops.between(source, target) {
                            Ok(count) => hop_bytes += bytes * f64::from(count),
                            Err(error) => missing = Some(error),
                        }
                    });
                    missing.map_or(Ok(()), Err)?;
                }
            }
        }
        jobs.push(JobVolumes::new(volumes.times(job.iterations), hop_bytes));
    }
    Ok(SentTraffic { jobs, ejected_bytes, injected_bytes })
}

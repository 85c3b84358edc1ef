//! Random traffic of sources without subscriptions, and records of it.

use odonata_packet::{
    ClosedJob, Destinations, Injection, JobTraffic, LoadStep, NodeMessage, OpenJob, Recording, SeriesChoice,
};
use odonata_units::{Bytes, NodeId, Stream, Time};
use std::sync::Arc;

/// All records, or a part of them.
pub fn recording(random: &mut Stream) -> Recording {
    let mut on = || random.chance(0.6);
    Recording {
        channels: on(),
        crossbar: on(),
        counted_stall: on(),
        job_waits: on(),
        link_jobs: on(),
        interval_ps: if on() { 700_001 } else { 0 },
        series: SeriesChoice { jobs: on(), ports: on(), channels: on(), port_jobs: on() },
        packets: on(),
        paths: on(),
    }
}

/// Open jobs of every kind and lists of messages, together at the same nodes.
pub fn sources(random: &mut Stream, nodes: &[NodeId]) -> Vec<JobTraffic> {
    let others = nodes.to_vec();
    let destinations: Arc<dyn Destinations> = Arc::new(move |source: NodeId, random: &mut Stream| loop {
        let node = others[random.index(others.len())];
        if node != source {
            return node;
        }
    });
    let mut jobs = Vec::new();
    for _ in 0..1 + random.below(3) {
        if random.chance(0.4) {
            let message = |random: &mut Stream| {
                let (from, to) = (random.index(nodes.len()), 1 + random.index(nodes.len() - 1));
                let (source, destination) = (nodes[from], nodes[(from + to) % nodes.len()]);
                let (bytes, rounds) = (Bytes(1 + random.below(9_000)), 1 + random.below(3) as u32);
                NodeMessage { source, destination, bytes, rounds }
            };
            let messages = (0..random.below(40)).map(|_| message(random)).collect();
            jobs.push(JobTraffic::Closed(ClosedJob {
                messages: Arc::new(messages),
                start: Time(random.below(2_000_000)),
            }));
            continue;
        }
        let injection = [Injection::Bernoulli, Injection::Poisson, Injection::Interval, Injection::Paced];
        let injection = injection[random.index(4)];
        let step = |us: u64, random: &mut Stream| LoadStep { from: Time::from_us(us), load: random.unit() };
        jobs.push(JobTraffic::Open(OpenJob {
            nodes: nodes.into(),
            destinations: Arc::clone(&destinations),
            steps: vec![step(0, random), step(3, random)],
            injection,
            burst: 1 + random.below(3) as u32,
            room: (injection == Injection::Paced).then(|| 1 + random.below(4) as u32),
            packets: random.chance(0.3).then(|| 1 + random.below(50)),
        }));
    }
    jobs
}

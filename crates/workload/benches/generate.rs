//! Time to place a job of 131,072 ranks on Edison and to generate all its messages, per pattern, on one thread. `cargo
//! bench -p odonata-workload -- NAME…` selects patterns.

use odonata_machine::presets;
use odonata_workload::{JobSettings, JobSpec, PatternSpec, PlacementSpec, Workload};
use std::io::Write;
use std::time::Instant;

#[allow(clippy::disallowed_methods, reason = "the time taken is what is reported")]
fn now() -> Instant {
    Instant::now()
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let machine = presets::builder("edison").expect("a preset").build().expect("a machine");
    let mut out = std::io::stdout().lock();
    writeln!(out, "pattern\tmessages\tbuild_ms\tgenerate_ms\tns_per_message").expect("standard output is open");
    // All-to-all among 131,072 ranks is 17 billion messages; `file` has no file here.
    for name in odonata_workload::PATTERNS.iter().map(|p| p.name).filter(|name| !["all-to-all", "file"].contains(name))
    {
        if !wanted.is_empty() && !wanted.iter().any(|other| other == name) {
            continue;
        }
        let job = JobSpec {
            name: "bench".into(),
            ranks: 131_072,
            settings: JobSettings::default(),
            work: odonata_workload::Work::pattern(PatternSpec::parse(name).expect("a known pattern")),
            placement: PlacementSpec::parse("non-uniform").expect("a known placement"),
        };
        let start = now();
        let workload = Workload::build(&machine, &[job], 1).expect("the job fits");
        let built = now();
        let job = &workload.jobs[0];
        let mut messages = 0;
        let mut sends = Vec::new();
        for rank in job.rank_ids() {
            sends.clear();
            job.pattern.sends(rank, &mut sends);
            messages += std::hint::black_box(&sends).len();
        }
        let generate = built.elapsed();
        writeln!(
            out,
            "{name}\t{messages}\t{:.1}\t{:.1}\t{:.1}",
            (built - start).as_secs_f64() * 1e3,
            generate.as_secs_f64() * 1e3,
            generate.as_secs_f64() * 1e9 / messages as f64
        )
        .expect("standard output is open");
    }
}

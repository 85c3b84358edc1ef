//! Time to list, build and measure each preset. `cargo bench -p odonata-machine -- NAME…` selects some of them.

use odonata_machine::{metrics, presets};
use std::io::Write;
use std::time::Instant;

#[allow(clippy::disallowed_methods, reason = "the time taken is reported")]
fn now() -> Instant {
    Instant::now()
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut out = std::io::stdout().lock();
    let header =
        ["preset", "routers", "links", "build_ms", "measure_ms", "diameter", "byte_hops_mean", "bisection_GB_s"];
    writeln!(out, "{}", header.join("\t")).expect("standard output is open");
    for preset in presets::names() {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == preset.name) {
            continue;
        }
        let start = now();
        let machine = presets::builder(preset.name).expect("a preset is valid").build().expect("a preset builds");
        let built = now();
        let found = metrics::measure(&machine);
        let measured = now();
        writeln!(
            out,
            "{}\t{}\t{}\t{}\t{}\t{}\t{:.4}\t{}",
            preset.name,
            machine.router_count(),
            machine.link_count(),
            (built - start).as_millis(),
            (measured - built).as_millis(),
            found.distances.diameter,
            found.distances.router_hops_mean,
            found.bisection.bytes_per_s / 1e9
        )
        .expect("standard output is open");
    }
}

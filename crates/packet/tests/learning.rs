//! Tables that store only rows with updates, against complete tables.

use crate::common;
use crate::sources::{recording, sources};
use crate::twin::cases::Case;
use odonata_packet::{PacketEngine, RunOptions, Traffic};
use odonata_units::{Stream, Time};

/// Random machines, sources and records: tables that start empty, and tables with all initial values stored.
#[test]
fn streamed_rows_equal_retained_rows() {
    let mut learnt = 0;
    for seed in 0..150 {
        let Some(case) = Case::new(seed) else { continue };
        let routing = "q-adaptive".parse().unwrap();
        let Ok(mut engine) = PacketEngine::new(&case.machine, &case.settings, &routing) else {
            continue;
        };
        let random = &mut Stream::new(seed, "learning", &[]);
        let (recording, jobs) = (recording(random), sources(random, &case.behavior.nodes));
        let progress_timeout = Time::from_us(100_000);
        let options = RunOptions { seed, recording, progress_timeout, records_tables: true, ..RunOptions::default() };
        let schedule = common::schedule(random.below(3), 5, 10);
        let idle = common::run(&engine, &Traffic::default(), common::schedule(0, 1, 0), &options);
        let initial: Vec<Vec<f32>> = idle.ports.tables().map(<[f32]>::to_vec).collect();
        let traffic = Traffic { jobs };
        let result = common::run(&engine, &traffic, schedule, &options);
        engine.load_tables(initial).unwrap();
        let whole = common::run(&engine, &traffic, schedule, &options);
        assert!(result == whole, "seed {seed} on {}", case.machine.name());
        learnt += usize::from(result.learning.0 > 100);
    }
    assert!(learnt > 10, "{learnt} runs learnt something");
}

//! Volumes and path lengths of the papers' patterns on Edison, placed as in the papers, compared with the published
//! traffic.
//!
//! The published average of a job times the number of links is its byte-hops. Divided by the bytes of the pattern, it
//! is the mean number of links that a byte crosses. Here this number follows from pattern, placement and wiring,
//! without an engine. Between groups a direct path has a leg to a random gateway router, a global link and another leg.
//! An indirect path passes a random router of a third group. Inside a group a direct path has one or two hops, and an
//! indirect path passes a random router of the group. A leg to a random router of 6 x 16 has 5/6 + 15/16 hops. Adaptive
//! routing sends 55 % of the bytes on indirect paths. This share is between 50 % and 70 % for all patterns. A change by
//! 0.1 moves the results by 6 %, which the tolerance covers.

use odonata_machine::{presets, Machine};
use odonata_units::RouterId;
use odonata_workload::{Job, JobSettings, JobSpec, PatternSpec, PlacementSpec, Workload};

const INDIRECT: f64 = 0.55;
const LEG: f64 = 5.0 / 6.0 + 15.0 / 16.0;
const LINKS: f64 = 48_240.0;
const MIB: f64 = 1_048_576.0;

/// Expected number of links that a byte crosses from one router to another.
fn expected_hops(machine: &Machine, source: RouterId, target: RouterId) -> f64 {
    if source == target {
        return 0.0;
    }
    let (a, b) = (machine.coordinates().of(source), machine.coordinates().of(target));
    let (direct, indirect) = if a[0] == b[0] {
        (f64::from(u8::from(a[1] != b[1]) + u8::from(a[2] != b[2])), 2.0 * LEG)
    } else {
        (2.0 * LEG + 1.0, 4.0 * LEG + 2.0)
    };
    (1.0 - INDIRECT) * direct + INDIRECT * indirect
}

/// Bytes sent, and bytes times links crossed.
fn byte_hops(machine: &Machine, job: &Job) -> (f64, f64) {
    let (mut bytes, mut hops) = (0.0, 0.0);
    let mut sends = Vec::new();
    for rank in job.rank_ids() {
        sends.clear();
        job.pattern.sends(rank, &mut sends);
        for send in &sends {
            let [from, to] = [rank, send.target].map(|rank| machine.router_of(job.node_of(rank)));
            bytes += send.bytes.as_f64();
            hops += send.bytes.as_f64() * expected_hops(machine, from, to);
        }
    }
    (bytes, hops)
}

fn job(name: &str) -> JobSpec {
    JobSpec {
        name: name.into(),
        ranks: 32_768,
        settings: JobSettings::default(),
        work: odonata_workload::Work::pattern(PatternSpec::parse(name).expect("a pattern")),
        placement: PlacementSpec::parse("non-uniform").expect("a placement"),
    }
}

/// Workloads WD1 and WD3 of Bhatele et al. (2016): pattern, published average MiB over all 48,240 links, and the bytes
/// of the pattern in MiB:
/// * spread and umesh: 32,768 ranks x 16.5 neighbours on average x 0.5 MiB = 270,336;
/// * 2D: 32,768 x 4 / 16 less 2 (128 + 256) / 16 at the borders = 8,144; 4D: 32,768 x 8 x 4 less 2 (3 x 2048 + 4096) x
///   4 = 966,656;
/// * many-to-many: 32,768 x 31 / 32 = 31,744.
const PUBLISHED: [[(&str, f64, f64); 4]; 2] = [
    [
        ("spread", 35.027, 270_336.0),
        ("stencil-2d", 0.249, 8_144.0),
        ("stencil-4d", 50.940, 966_656.0),
        ("many-to-many", 1.753, 31_744.0),
    ],
    [
        ("umesh", 12.984, 270_336.0),
        ("spread", 35.375, 270_336.0),
        ("many-to-many", 1.716, 31_744.0),
        ("stencil-2d", 0.254, 8_144.0),
    ],
];

#[test]
fn volumes_and_path_lengths_are_the_published_ones() {
    let machine = presets::builder("edison").expect("a preset").build().expect("a machine");
    assert_eq!(machine.link_count() as f64, LINKS);
    for workload in PUBLISHED {
        let jobs: Vec<JobSpec> = workload.iter().map(|(name, ..)| job(name)).collect();
        // Only the kind of the published placement is known: this is the median of five.
        let mut averages = vec![Vec::new(); jobs.len()];
        for seed in 1..=5 {
            let placed = Workload::build(&machine, &jobs, seed).expect("four jobs fit");
            for (index, job) in placed.jobs.iter().enumerate() {
                let (bytes, hops) = byte_hops(&machine, job);
                let expected = workload[index].2 * MIB;
                assert!((bytes / expected - 1.0).abs() < 0.01, "{} sends {bytes} bytes, expected {expected}", job.name);
                averages[index].push(hops / MIB / LINKS);
            }
        }
        for ((name, published, _), mut found) in workload.into_iter().zip(averages) {
            found.sort_by(f64::total_cmp);
            let ratio = found[2] / published;
            assert!((0.85..1.15).contains(&ratio), "{name}: {:.3} MiB per link, published {published}", found[2]);
        }
    }
}

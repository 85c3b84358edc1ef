//! Parallel cables of unequal bandwidth: what draws them evenly draws by bandwidth, what hashes says that it does not.

use odonata_experiment::{Experiment, RunResult, Values};
use std::path::PathBuf;

/// A folder with `cables.csv`: two switches of 4 nodes with a cable of 100 and one of 25 Gb/s.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("odonata-unequal-cables-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let rows = ["src,dst,class,bandwidth,latency", "0,1,fast,100Gb/s,1us", "0,1,slow,25Gb/s,1us"];
        std::fs::write(folder.join("cables.csv"), rows.join("\n")).unwrap();
        Self(folder)
    }

    fn experiment(&self, job: &str, engine: &str) -> Experiment {
        let text = format!(
            "[machine]\nfile = 'cables.csv'\nnodes_per_router = 4\nclass.terminal.bandwidth = '100 Gb/s'\n\
             [[job]]\nname = 'a'\nranks = 8\nranks_per_node = 1\nplacement = 'compact'\n{job}\n[engine]\n{engine}\n"
        );
        Experiment::new(text, self.0.join("run.toml").to_str().unwrap())
    }

    fn run(&self, job: &str, engine: &str) -> RunResult {
        let done = self.experiment(job, engine).run(1, &mut |_, _| true);
        done.unwrap_or_else(|error| panic!("{engine}: {error:?}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn reals(result: &RunResult, table: &str, column: &str) -> Vec<f64> {
    match result.tables.get(table).and_then(|table| table.get(column)) {
        Some(Values::F64(values)) => values.clone(),
        other => panic!("{table}.{column}: {other:?}"),
    }
}

const SHIFT: &str = "pattern = { name = 'shift', offset = 4, bytes = '64 KiB' }";

/// 4 x 28 = 112 Gb/s are offered to 125 Gb/s: all of it arrives. Drawn evenly, 50 Gb/s would, twice the slow cable.
#[test]
fn unequal_cables_together_carry_what_they_have() {
    let folder = Folder::new("load");
    let job = "pattern = { name = 'shift', offset = 4 }\ntraffic = { name = 'open', load = 0.28 }";
    let settings =
        "packet = '1 KiB'\ninput_buffer = '64 KiB'\noutput_buffer = '64 KiB'\nwarm_up = '50 us'\nmeasure = '100 us'";
    for routing in ["min", "up-down"] {
        let found = folder.run(job, &format!("kind = 'packet'\nrouting = '{routing}'\n{settings}"));
        let accepted = reals(&found, "jobs", "accepted_load")[0];
        assert!((accepted - 0.28).abs() < 0.02 * 0.28, "{routing}: {accepted}");
    }
}

/// Of B bytes, 4/5 take the cable of 100 and 1/5 the one of 25 Gb/s, in both directions: exactly in the flow engine, in
/// the packet engine by five deviations of 4 x 64 packets of 1 KiB. All of it takes B / (125 Gb/s) = 16.8 us;
/// drawn evenly it would take 41.9 us.
#[test]
fn unequal_cables_share_bytes_by_bandwidth() {
    let folder = Folder::new("share");
    let all = 4.0 * 65_536.0;
    for routing in ["min", "up-down", "static-direct"] {
        let found = folder.run(SHIFT, &format!("kind = 'flow'\nrouting = '{routing}'"));
        let bytes = reals(&found, "links", "bytes");
        let expected = [0.8 * all, 0.2 * all, 0.8 * all, 0.2 * all];
        let off = bytes.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1.0, "{routing}: {bytes:?}");
        let time = reals(&found, "jobs", "completion_time_s")[0] * 1e6;
        // 200 drawn paths have 3 % of noise in their shares.
        assert!((16.7..18.5).contains(&time), "{routing}: {time} us");
    }
    for routing in ["min", "up-down"] {
        let found = folder.run(SHIFT, &format!("kind = 'packet'\nrouting = '{routing}'\npacket = '1 KiB'"));
        let fast = reals(&found, "links", "bytes")[0] / all;
        assert!((fast - 0.8).abs() < 5.0 * (0.16f64 / 256.0).sqrt(), "{routing}: {fast}");
    }
    // One capacity for all links: the cables are equal.
    let found = folder.run(SHIFT, "kind = 'flow'\nrouting = 'min'\nlink_capacity = '10 GB/s'");
    assert!((reals(&found, "links", "bytes")[0] - 0.5 * all).abs() < 1.0);
}

/// A hash gives each cable as many flows: a warning says it before the run, in both engines, and only there.
#[test]
fn hashed_flows_on_unequal_cables_are_a_warning() {
    let folder = Folder::new("hash");
    for kind in ["flow", "packet"] {
        for routing in ["ecmp", "min-hop", "up-down-static"] {
            let engine = format!("kind = '{kind}'\nrouting = '{routing}'");
            let warned = folder.experiment(SHIFT, &engine).check().unwrap().warnings;
            let [warning] = &warned[..] else { panic!("{engine}: {warned:?}") };
            let said = ["r0 to r1: 12.5 GB/s, 3.125 GB/s", "the slowest sets the pace", routing];
            assert!(said.iter().all(|words| warning.contains(words)), "{engine}: {warning}");
            let summary = folder.run(SHIFT, &engine).summary;
            assert!(summary["warnings"].to_string().contains("the slowest sets the pace"), "{engine}");
        }
        let quiet = folder.experiment(SHIFT, &format!("kind = '{kind}'\nrouting = 'min'")).check().unwrap();
        assert_eq!(quiet.warnings, [""; 0]);
    }
}

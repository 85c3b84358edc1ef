//! Warm-ups that are run once, and runs that begin with them.

use odonata_experiment::{Experiment, RunResult};
use std::path::PathBuf;

/// 72 nodes: 9 groups of 4 routers with 2 nodes each.
fn text(traffic: &str, engine: &str) -> String {
    format!(
        "format = 3\n[machine]\ntopology = 'dragonfly'\np = 2\na = 4\nh = 2\ng = 9\n\
         [[job]]\nname = 'a'\nranks = 72\npattern = 'uniform'\ntraffic = {{ name = 'open', {traffic} }}\n\
         [engine]\nkind = 'packet'\n{engine}\n"
    )
}

fn attempt(text: &str, threads: usize) -> Result<RunResult, String> {
    Experiment::new(text, "run.toml").run(threads, &mut |_, _| true).map_err(|error| format!("{error:?}"))
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("odonata-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn key(&self) -> String {
        format!("start_from = '{}'", self.0.display())
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Everything in the summary but what is another thing in each run, and the key itself.
fn facts(result: &RunResult) -> Vec<(String, String)> {
    let differ = [
        "wall_s",
        "cpu_s",
        "peak_rss_bytes",
        "memory_estimate_bytes",
        "experiment_sha256",
        "resolved_sha256",
        "created",
        "threads",
    ];
    let summary = result.summary.as_object().unwrap();
    let kept = summary.iter().filter(|(key, _)| !differ.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.to_string())).collect()
}

#[test]
fn loads_share_a_warm_up_and_no_result_changes() {
    let folder = Folder::new("shared-warm-up");
    let records = "record_channels = true\nrecord_packets = true\nrecord_q_tables = true\ninterval = '5 us'\n";
    let engine = |seed: u32, measure: u32| {
        format!("routing = 'q-adaptive'\nseed = {seed}\nwarm_up = '20 us'\nmeasure = '{measure} us'\n{records}")
    };
    let loads = [
        "load = 0.3",
        "load = 0.3, step_times = ['20 us'], step_loads = [0.7]",
        "load = 0.3, step_times = ['19 us', '26 us'], step_loads = [0.0, 0.5]",
    ];
    for (seed, states) in [(1, 1), (2, 2)] {
        for (n, load) in loads.iter().enumerate() {
            let engine = engine(seed, 10 + n as u32);
            let alone = attempt(&text(load, &engine), 1).unwrap();
            let shared = attempt(&text(load, &format!("{engine}\n{}", folder.key())), 1 + n).unwrap();
            // As texts, in which what is no number is like itself.
            assert!(format!("{:?}", alone.tables) == format!("{:?}", shared.tables), "{load}");
            assert_eq!(facts(&alone), facts(&shared), "{load}");
            assert_eq!(folder.files().len(), states, "{:?}", folder.files());
        }
    }
    // What happened before is another thing, so they do not share.
    let other = text("load = 0.3, step_times = ['5 us'], step_loads = [0.2]", &engine(1, 10));
    attempt(&format!("{other}\n{}", folder.key()), 1).unwrap();
    assert_eq!(folder.files().len(), 3);
    assert!(folder.files().iter().all(|file| file.extension().is_some_and(|of| of == "state")), "{:?}", folder.files());
}

/// A file that is there is what the run begins with: cut or changed, it is refused.
#[test]
fn what_is_there_is_read() {
    let folder = Folder::new("read-warm-up");
    let run = text("load = 0.2", &format!("warm_up = '20 us'\nmeasure = '5 us'\n{}", folder.key()));
    attempt(&run, 1).unwrap();
    let file = folder.files().pop().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let message = attempt(&run, 1).unwrap_err();
    assert!(message.contains("is damaged") && message.contains("remove it"), "{message}");
    std::fs::remove_file(&file).unwrap();
    attempt(&run, 1).unwrap();
}

#[test]
fn what_has_no_warm_up_is_refused() {
    let folder = Folder::new("no-warm-up");
    let refused = |text: String, expected: &str| {
        let message = attempt(&text, 1).unwrap_err();
        assert!(message.contains("'start_from'") && message.contains(expected), "{message}");
        assert!(!folder.0.exists());
    };
    refused(text("load = 0.2", &format!("warm_up = '0 us'\n{}", folder.key())), "is of no use: a 'warm_up' of 0 ps");
    let series = "interval = '1 us'\nseries = ['links']";
    refused(text("load = 0.2", &format!("{series}\n{}", folder.key())), "time series of links");
    let closed = text("load = 0.2", &folder.key()).replace("traffic = { name = 'open', load = 0.2 }", "");
    // It is known before the run.
    let checked = Experiment::new(&closed, "run.toml").check().unwrap_err().to_string();
    assert!(checked.contains("only where all traffic is open"), "{checked}");
    refused(closed, "only where all traffic is open");
}

#[test]
fn where_nothing_can_be_written_it_says_so() {
    let folder = Folder::new("file-as-warm-up");
    std::fs::write(&folder.0, "a file").unwrap();
    let message = attempt(&text("load = 0.2", &folder.key()), 1).unwrap_err();
    std::fs::remove_file(&folder.0).unwrap();
    assert!(message.contains("'start_from'") && message.contains("can't be written"), "{message}");
}

/// The first rank of each pair sends to the second; another file sends other messages, so its warm-up is another.
#[test]
fn a_changed_input_file_makes_another_warm_up() {
    let folder = Folder::new("input-of-warm-up");
    let input = std::env::temp_dir().join(format!("odonata-warm-up-{}.csv", std::process::id()));
    let engine = format!("warm_up = '20 us'\nmeasure = '5 us'\n{}", folder.key());
    let pattern = format!("pattern = {{ name = 'file', path = '{}' }}", input.display());
    let run = text("load = 0.2", &engine).replace("pattern = 'uniform'", &pattern);
    let made = |graph: &str| {
        std::fs::write(&input, graph).unwrap();
        attempt(&run, 1).unwrap();
        folder.files().len()
    };
    let neighbours = "src,dst,bytes\n0,1,1000\n2,3,1000\n";
    assert_eq!((made(neighbours), made(neighbours)), (1, 1), "the same file is shared");
    assert_eq!(made("src,dst,bytes\n0,70,1000\n2,71,1000\n"), 2);
    std::fs::remove_file(input).unwrap();
}

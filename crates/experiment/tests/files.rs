//! Machines, communication graphs and placements from files, by content and by format.

use odonata_experiment::{CheckReport, Experiment, Files, MachineReport, Problems, Values};
use std::io::Write;
use std::path::PathBuf;

/// A directory that goes away with its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("odonata-files-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    fn experiment(&self, text: &str) -> Experiment {
        Experiment::new(text, "run.toml").with_files(Files::next_to(&self.0.join("run.toml")))
    }

    fn machine(&self, keys: &str) -> Result<MachineReport, Problems> {
        self.experiment(&format!("[machine]\n{keys}\n")).machine(1)
    }

    fn check(&self, text: &str) -> Result<CheckReport, Problems> {
        self.experiment(text).check()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn int32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Two groups of one row and two columns: a green cable in each group, a blue one from router 0 to router 2.
fn write_binaries(directory: &Directory) {
    directory.write("intra.bin", &int32(&[0, 1, 0, 1, 0, 0]));
    directory.write("inter.bin", &int32(&[0, 2, 2, 0]));
    directory.write("network.conf", b"4\n2 1 2 3 8\nintra.bin\ninter.bin\n----\n");
}

/// Links of each class, in the order of the classes.
fn links(report: &MachineReport) -> Vec<(String, u64)> {
    let classes = report.metrics["classes"].as_array().unwrap();
    classes
        .iter()
        .map(|class| (class["class"].as_str().unwrap().to_owned(), class["links"].as_u64().unwrap()))
        .collect()
}

#[test]
fn a_damselfly_configuration_is_recognised() {
    let directory = Directory::new("damselfly");
    write_binaries(&directory);
    let report = directory.machine("file = 'network.conf'").unwrap();
    assert_eq!(links(&report), [("green".into(), 4), ("blue".into(), 2)]);
    assert_eq!(report.metrics["nodes"], 12);
    assert_eq!(report.metrics["cores_per_node"], 8);
    assert!(report.resolved.contains("format = \"damselfly\""), "{}", report.resolved);
}

#[test]
fn files_of_a_configuration_are_in_its_directory() {
    let directory = Directory::new("configuration");
    std::fs::create_dir_all(directory.0.join("in")).unwrap();
    let inner = Directory(directory.0.join("in"));
    write_binaries(&inner);
    assert!(directory.machine("file = 'in/network.conf'").is_ok());
    std::fs::remove_file(inner.0.join("inter.bin")).unwrap();
    let problems = directory.machine("file = 'in/network.conf'").unwrap_err().to_string();
    assert!(problems.contains("inter.bin: there is no such file") && problems.contains("run.toml:2:8"), "{problems}");
}

#[test]
fn codes_files_need_their_sizes() {
    let directory = Directory::new("codes");
    write_binaries(&directory);
    let keys = "file = 'intra.bin'\ninter_file = 'inter.bin'\nformat = 'codes'\ngroups = 2\nrows = 1\ncolumns = 2\n\
                nodes_per_router = 5";
    let report = directory.machine(keys).unwrap();
    assert_eq!((links(&report)[1].1, report.metrics["nodes"].as_u64()), (2, Some(20)));
    let again = Experiment::new(&report.resolved, "resolved.toml").machine(1).unwrap();
    assert!(again.tables == report.tables, "resolved files are found from anywhere");
    let problems = directory.machine(&keys.replace("groups = 2", "groups = 1")).unwrap_err().to_string();
    assert!(problems.contains("inter.bin:byte"), "{problems}");
}

#[test]
fn an_edge_list_has_defaults_for_what_it_lacks() {
    let directory = Directory::new("edges");
    directory.write("cables.csv", b"src,dst,count\n0,1,2\n1,2,1\n");
    let keys =
        "file = 'cables.csv'\nformat = 'edge-list'\nbandwidth = '8 Gb/s'\nlatency = '7 ns'\nnodes_per_router = 3";
    let report = directory.machine(keys).unwrap();
    let table = report.tables.get("links").unwrap();
    assert_eq!(table.get("capacity_bytes_per_s"), Some(&Values::F64(vec![1e9; 6])));
    assert_eq!(table.get("latency_ps"), Some(&Values::U64(vec![7_000; 6])));
    assert_eq!(report.metrics["nodes"], 9);
    // Without the format its keys are not known, and with another one they are not its own.
    let problems = directory.machine("file = 'cables.csv'\nlatency = '7 ns'").unwrap_err().to_string();
    assert!(
        problems.contains("'latency' belongs to format 'ibnetdiscover', 'sst-macro', 'slurm', 'graph' or 'edge-list'"),
        "{problems}"
    );
}

/// The line about a file names the rails, and whether anybody gave the bandwidth of the nodes' links.
#[test]
fn the_line_about_a_file_names_rails_and_assumed_nics() {
    let directory = Directory::new("rails");
    directory.write("a.csv", b"src,dst,bandwidth\nr0,r1,100 Gb/s\nr1,r2,100 Gb/s\nr2,r0,100 Gb/s\n");
    let last = |keys: &str| {
        let found = directory.machine(&format!("file = 'a.csv'\n{keys}")).unwrap().metrics;
        found["machine"]["reading"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned()
    };
    // Routers with one node are nodes: two cables of 12.5 GB/s each.
    assert_eq!(last(""), "1 rail, bandwidth of the nodes' links 25 GB/s (assumed)");
    let given = "class.terminal.bandwidth = '50 GB/s'";
    assert_eq!(last(&format!("rails = 4\n{given}")), "4 rails, bandwidth of the nodes' links 50 GB/s (given)");
    let edit = "planes = 2\nedit = ['terminal.bandwidth=10 GB/s']";
    assert_eq!(last(edit), "2 planes with 1 rail each, bandwidth of the nodes' links 10 GB/s (given)");
    let family = Experiment::new("[machine]\ntopology = 'torus'\nrails = 2\n", "m.toml").machine(1).unwrap().metrics;
    assert_eq!(family["machine"]["reading"].as_array().unwrap().len(), 0);
    assert_eq!(family["machine"]["rails"], 2);
}

#[test]
fn a_mistake_in_a_file_has_its_line() {
    let directory = Directory::new("mistake");
    directory.write("cables.csv", b"src,dst,bandwidth\n0,1,25 GB/s\n1,2,25 GB\n");
    let problems = directory.machine("file = 'cables.csv'").unwrap_err();
    let problem = &problems.0[0];
    assert_eq!(problem.kind.name(), "file");
    assert!(problem.message.starts_with("cables.csv:line 3:"), "{problem}");
}

/// Every axis name that a file may choose, also names of other columns.
#[test]
fn axes_may_be_called_like_columns() {
    let directory = Directory::new("axes");
    for axis in ["router", "name", "up", "group"] {
        let header = format!("src,dst,src_{axis},dst_{axis}\n0,1,0,1\n");
        directory.write("cables.csv", header.as_bytes());
        let report = directory.machine("file = 'cables.csv'").unwrap_or_else(|problems| panic!("{axis}: {problems}"));
        assert!(report.tables.get("links").unwrap().get(&format!("target_{axis}")).is_some(), "{axis}");
    }
}

const JOB: &str = "machine.topology = 'torus'\nmachine.dims = [4]\n[[job]]\nranks = 3\nranks_per_node = 1\n";

#[test]
fn communication_graphs_are_csv_or_binary() {
    let directory = Directory::new("graphs");
    directory.write("graph.csv", b"bytes,src,dst\n10,0,1\n20,2,0\n");
    let mut binary = Vec::new();
    for (source, target, bytes) in [(0i32, 1i32, 10f64), (2, 0, 20.0)] {
        binary.write_all(&int32(&[source, target])).unwrap();
        binary.write_all(&bytes.to_le_bytes()).unwrap();
    }
    directory.write("graph.bin", &binary);
    for file in ["graph.csv", "graph.bin"] {
        let checked = directory.check(&format!("{JOB}pattern = {{ name = 'file', path = '{file}' }}\n")).unwrap();
        let job = &checked.summary["jobs"][0];
        assert_eq!((job["messages"].as_u64(), job["bytes"].as_f64()), (Some(2), Some(30.0)), "{file}");
    }
    directory.write("graph.csv", b"src,dst,bytes\n0,3,10\n");
    let problems = directory.check(&format!("{JOB}pattern = 'file'\npath = 'graph.csv'\n")).unwrap_err().to_string();
    assert!(problems.contains("graph.csv:line 2:") && problems.contains("run.toml:7:8"), "{problems}");
    // As binary records it would be a graph without messages.
    directory.write("graph.csv", b"");
    let problems = directory.check(&format!("{JOB}pattern = 'file'\npath = 'graph.csv'\n")).unwrap_err().to_string();
    assert!(problems.contains("graph.csv is empty") && problems.contains("run.toml:7:8"), "{problems}");
}

#[test]
fn placements_are_csv_or_binary() {
    let directory = Directory::new("placements");
    directory.write("map.csv", b"rank,node\n0,3\n1,x1n0\n2,0\n");
    // Group, row, column, node, core, job; a torus has none of these, so the machine is a Cascade here.
    let ranks = [[0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]];
    directory.write("map.bin", &int32(&ranks.concat()));
    let csv = format!("{JOB}pattern = 'uniform'\nplacement = {{ name = 'file', path = 'map.csv' }}\n");
    assert_eq!(directory.check(&csv).unwrap().summary["jobs"][0]["nodes"], 3);
    let binary = "machine = { topology = 'cascade', groups = 2, rows = 2, columns = 2 }\n[[job]]\nranks = 3\n\
                  pattern = 'uniform'\nplacement = 'file'\npath = 'map.bin'\n";
    let checked = directory.check(binary).unwrap();
    assert_eq!(checked.summary["jobs"][0]["routers"], 3);
    let again = Experiment::new(&checked.resolved, "/resolved.toml").check().unwrap();
    assert_eq!(again.resolved, checked.resolved);
}

/// The real cable list of Edison, compressed; it is no part of this repository.
#[test]
fn the_real_edison_is_read_as_it_is() {
    let default = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(default, PathBuf::from);
    let list = shared.join("data/edison-links.txt.gz");
    if !list.exists() {
        writeln!(std::io::stderr(), "SKIPPED: {} is not there", list.display()).expect("standard error is open");
        return;
    }
    let directory = Directory::new("edison");
    let report = directory.machine(&format!("file = '{}'", list.display())).unwrap();
    let expected = [("green".into(), 21_600), ("black".into(), 21_600), ("blue".into(), 5_040)];
    assert_eq!(links(&report), expected);
    assert!(report.resolved.contains("format = \"cray-links\""));
}

#[test]
fn what_comes_with_the_package_is_found_by_its_name_before_any_file() {
    let directory = Directory::new("library");
    directory.write("second", b"");
    let library = |kind: &str| match kind {
        "machines" => vec![("first".to_owned(), PathBuf::from("/1")), ("second".to_owned(), PathBuf::from("/2"))],
        _ => Vec::new(),
    };
    let files = Files::next_to(&directory.0.join("run.toml")).with_library(&library);
    assert_eq!(files.locate("machines", "first"), Ok("/1".into()));
    assert_eq!(files.locate("machines", "second"), Ok("/2".into()));
    assert_eq!(files.locate("hierarchies", "second"), Ok(directory.0.join("second")));
    let unknown = files.locate("machines", "thord").unwrap_err();
    assert!(
        unknown.contains("none of the machines that come with the package") && unknown.contains("first"),
        "{unknown}"
    );
}

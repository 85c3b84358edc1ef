//! `resolved.toml` is an experiment file that gives the same machine, the same jobs, the same engine and itself.

use odonata_experiment::schema::Section;
use odonata_experiment::{Experiment, Plan};
use odonata_routing::algorithm::{Algorithm, Machines, ALGORITHMS};
use odonata_routing::defaults::DEFAULTS;
use proptest::prelude::*;

fn plan(text: &str) -> Plan {
    Experiment::new(text, "x.toml").plan().unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

/// The debug text of an engine without the line of the table that gave its routing: what was a default is now given.
fn without_origin(engine: String) -> String {
    DEFAULTS.iter().fold(engine, |engine, default| engine.replace(&format!("Some({default:?})"), "None"))
}

/// Plans `text`, plans what it resolves to, and compares.
fn check(text: &str) {
    let first = plan(text);
    let second = plan(&first.resolved);
    assert_eq!(second.resolved, first.resolved, "of\n{text}");
    let (a, b) = (&first.scenario, &second.scenario);
    assert!(a.machine == b.machine, "the machine of\n{text}");
    assert_eq!(a.seed, b.seed);
    assert_eq!(a.output, b.output);
    // What is not given has one default, in the engine as in `resolved.toml`.
    let (first_engine, second_engine) = (format!("{:?}", first.engine), format!("{:?}", second.engine));
    assert_eq!(without_origin(first_engine), without_origin(second_engine), "the engine of\n{text}");
    assert_eq!(a.workload.jobs.len(), b.workload.jobs.len());
    for (a, b) in a.workload.jobs.iter().zip(&b.workload.jobs) {
        assert_eq!((&a.name, &a.color, a.iterations), (&b.name, &b.color, b.iterations));
        assert_eq!(a.node_of_rank, b.node_of_rank, "the nodes of {} in\n{text}", a.name);
        for rank in a.rank_ids() {
            let (mut sends, mut sends_again) = (Vec::new(), Vec::new());
            a.pattern.sends(rank, &mut sends);
            b.pattern.sends(rank, &mut sends_again);
            assert_eq!(sends, sends_again, "messages of {} in\n{text}", a.name);
        }
    }
}

/// Machines of 24 to 72 nodes, each with changes.
fn machines() -> impl Strategy<Value = String> {
    let origin = prop_oneof![
        (1u32..4, 0usize..5, any::<bool>()).prop_map(|(p, arrangement, fill)| {
            let names = ["absolute", "relative", "circulant", "palm-tree", "random"];
            let cables = if fill { "\"fill\"" } else { "1" };
            format!(
                "topology = \"dragonfly\"\np = {p}\na = 4\nh = 2\ng = 6\narrangement = \"{}\"\nglobal_cables = {cables}\n",
                names[arrangement]
            )
        }),
        (2u32..5, 1u32..4, prop_oneof![Just("\"all\""), Just("20")]).prop_map(|(groups, black, usable)| format!(
            "topology = \"cascade\"\ngroups = {groups}\nrows = 2\ncolumns = 4\nblack = {black}\nusable_nodes = {usable}\n\
             class.black.ports_per_router = 12\n"
        )),
        (2u32..5, any::<bool>(), 1u32..3).prop_map(|(size, wrap, nodes)| format!(
            "topology = \"torus\"\ndims = [{size}, 3, 4]\nwrap = {wrap}\nnodes_per_router = {nodes}\n"
        )),
        Just("topology = \"fat-tree\"\nk = 6\n".to_owned()),
        Just("topology = \"xgft\"\nchildren = [4, 3, 4]\nparents = [1, 2, 2]\nparallel = [2, 1]\n".to_owned()),
        Just("preset = \"bgp-midplane\"\n".to_owned()),
        Just("preset = \"bgp-rack\"\npartition = { shape = [8, 8, 4], mesh = \"Z\" }\n".to_owned()),
    ];
    let changes = prop_oneof![
        Just(""),
        Just("cores_per_node = 3\n"),
        Just("class.terminal.bandwidth = \"9.75 Gb/s\"\n"),
        Just("edit = \"fail 10% routers\"\ncores_per_node = 2\n"),
        Just("edit = [{ fail_router = \"1\" }, \"terminal.latency*=3\"]\n"),
    ];
    (origin, changes).prop_map(|(origin, changes)| format!("[machine]\n{origin}{changes}"))
}

fn jobs() -> impl Strategy<Value = String> {
    let pattern = prop_oneof![
        Just("'stencil-3d'\nperiodic = true"),
        Just("'stencil-2d'\ndims = [2, 4]\norder = 'column-major'"),
        Just("'many-to-many'\ngroup = 4\nstride = 2"),
        Just("'spread'\nneighbors_min = 1\nneighbors_max = 3\nsymmetric = true"),
        Just("{ name = 'umesh', neighbors_min = 1, neighbors_max = 2, max_distance = 4 }"),
        Just("'uniform'\nmessages = 3\nbytes = '1_000 kB'"),
        Just("'adversarial'\noffset = -1\ngroup_ranks = 2"),
        Just("{ name = 'hotspot', hot_ranks = 2, share = 0.3 }\niterations = 2"),
        Just("'all-to-all'\nbytes = '12345 B'"),
        Just("'tornado'"),
        Just("'transpose'"),
        Just("'bit-complement'"),
        Just("'bit-reverse'"),
        Just("'random-permutation'"),
    ];
    let placement = prop_oneof![
        Just("'compact'"),
        Just("'round-robin-nodes'"),
        Just("'round-robin-routers'"),
        Just("'random-nodes'\nsorted = true"),
        Just("{ name = 'random-routers' }"),
        Just("'non-uniform'\nspread = 0.7\ndistribution = 'binomial'"),
    ];
    let traffic = prop_oneof![
        Just(""),
        Just("traffic = 'open'\n"),
        Just("traffic = { name = 'open', load = 0.25, start = '3 us', step_times = ['5 us'], step_loads = [0.0], burst = 4 }\n"),
        Just("traffic = { name = 'closed' }\n"),
    ];
    let job = (pattern, placement, 0u32..2);
    (proptest::collection::vec(job, 1..3), traffic).prop_map(|(jobs, traffic)| {
        let section = |(i, (pattern, placement, dense)): (usize, (&str, &str, u32))| {
            let name = if i == 0 { String::new() } else { format!("name = \"job \\\"{i}\\\"\"\n") };
            let per_node = if dense == 1 { "ranks_per_node = 1\n" } else { "" };
            format!("[[job]]\n{name}ranks = 8\n{per_node}pattern = {pattern}\nplacement = {placement}\n{traffic}")
        };
        jobs.into_iter().enumerate().map(section).collect()
    })
}

fn engines() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (0u64..1 << 62).prop_map(|seed| format!("[engine]\nseed = {seed}\nrouting = {{ name = 'ugal', hop_threshold = 1.25, bias_load_hops = 3 }}\n")),
        Just("[engine]\npreset = 'damselfly'\nslices = 7\nnic_capacity = 'machine'\nbound_gap = 0.125\n".to_owned()),
        Just("[engine]\nkind = 'packet'\n".to_owned()),
        Just("[engine]\nkind = 'packet'\ninjection = { preset = 'all', fifo_packets = 2, map = [1, 3] }\npreset = 'bgp'\n".to_owned()),
        Just("[engine]\nkind = 'packet'\nrouting = { name = 'par', bias = '2 KiB' }\npreset = 'ideal-cycle'\nestimate = 'output'\n".to_owned()),
        Just("[engine]\nkind = 'flow'\ncutoff = '1 b/s'\nlink_capacity = '5120 MiB/s'\nalone = true\n[output]\nplacement = false\n".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn resolving_again_changes_nothing(machine in machines(), jobs in jobs(), engine in engines()) {
        check(&format!("{machine}{jobs}{engine}"));
    }
}

#[test]
fn every_preset_resolves_to_itself() {
    let small = odonata_machine::presets::names().iter().filter(|preset| preset.declared.nodes < 10_000);
    for preset in small {
        check(&format!("machine.preset = '{}'\n[[job]]\nranks = 64\npattern = 'uniform'\n", preset.name));
    }
}

/// Every routing of both engines with its defaults only, on the first of these machines that it takes.
#[test]
fn every_routing_resolves_to_itself() {
    let machines = [
        "topology = 'dragonfly', p = 1, a = 4, h = 1, g = 5",
        "topology = 'torus', dims = [4, 3]",
        "topology = 'fat-tree', k = 4",
    ];
    let engines = |algorithm: &'static Algorithm| {
        let takes = [("flow", algorithm.has_paths()), ("packet", algorithm.has_hops())];
        takes.into_iter().filter(|(_, takes)| *takes).map(|(engine, _)| (engine, algorithm.name))
    };
    // Tables of a file have no default: one_path_in_both_engines.rs.
    let with_defaults = ALGORITHMS.iter().filter(|algorithm| algorithm.machines != Machines::Listed);
    for (engine, routing) in with_defaults.flat_map(engines) {
        let text = |machine: &&str| {
            format!(
                "machine = {{ {machine} }}\n[[job]]\nranks = 8\npattern = 'tornado'\n\
                 [engine]\nkind = '{engine}'\nrouting = '{routing}'\n"
            )
        };
        let takes = |text: &String| Experiment::new(text, "x.toml").plan().is_ok();
        check(&machines.iter().map(text).find(takes).unwrap_or_else(|| panic!("no machine for {routing}")));
    }
}

/// Every key of the table stands in `resolved.toml`, but for those that belong to what was not chosen. What several runs are made of
/// is not said by one of them.
#[test]
fn every_key_is_there() {
    let of =
        |work: &str| format!("machine.preset = 'edison'\n[[job]]\nranks = 4\n{work}\n[engine]\nrouting = 'ugal'\n");
    let classes = ["traffic_class", "large_class", "large_from"];
    let of_programs = ["mpi", "program", "start", "repeat", "background"];
    every_key_but(&of("pattern = 'uniform'"), &[&of_programs[..], &classes].concat());
    every_key_but(&of("program = 'halo-3d'"), &[&["pattern", "traffic"][..], &classes].concat());
}

/// Sections and keys of `others` belong to what was not chosen.
fn every_key_but(text: &str, others: &[&str]) {
    let resolved: toml::Table = toml::from_str(&plan(text).resolved).unwrap();
    let of_one_run = |section: &&&Section| {
        !["interference", "optimize", "cluster"].contains(&section.name) && !others.contains(&section.name)
    };
    for section in odonata_experiment::schema::sections().iter().filter(of_one_run) {
        let table = match &resolved[section.name] {
            toml::Value::Array(jobs) => jobs[0].as_table().unwrap(),
            other => other.as_table().unwrap(),
        };
        let chosen = section.choosers.iter().filter_map(|chooser| {
            let value = table.get(chooser.key)?;
            let (name, of) = match value {
                toml::Value::Table(inner) => (inner["name"].as_str()?, inner),
                other => (other.as_str()?, table),
            };
            Some((chooser.variants().iter().find(|variant| variant.name == name)?, of))
        });
        let own = section.keys.iter().map(|key| (key.name, table));
        let all = own.chain(chosen.flat_map(|(variant, of)| variant.keys.iter().map(move |key| (key.name, of))));
        for (key, of) in all.filter(|(key, _)| {
            !["topology", "partition", "file", "format", "node_counts", "node_names", "nodes_file"].contains(key)
                && !others.contains(key)
        }) {
            assert!(of.contains_key(key), "{key} of {}", section.name);
        }
    }
}

//! Every kind of mistake, with the exact place where it is reported.

use odonata_experiment::{Experiment, Problem, ProblemKind};

const GOOD: &str = r#"[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[[job]]
name = "fft"
pattern = "many-to-many"
ranks = 32
placement = "random-nodes"

[[job]]
name = "halo"
pattern = { name = "stencil-2d", periodic = false }
ranks = 16

[engine]
routing = "adaptive-hybrid"
"#;

fn problems(text: &str, overrides: &[&str]) -> Vec<Problem> {
    match Experiment::new(text, "x.toml").with_overrides(overrides.iter().copied()).check() {
        Ok(_) => Vec::new(),
        Err(problems) => problems.0,
    }
}

/// Replaces `from`, which must be there once, and returns the only problem of the changed file.
#[track_caller]
fn with(from: &str, to: &str) -> SingleProblem {
    assert_eq!(GOOD.matches(from).count(), 1, "'{from}' is there once");
    only(problems(&GOOD.replace(from, to), &[]))
}

#[track_caller]
fn with_override(change: &str) -> SingleProblem {
    let found = only(problems(GOOD, &[change]));
    assert_eq!(found.0.file, "--set");
    found
}

#[track_caller]
fn only(mut problems: Vec<Problem>) -> SingleProblem {
    assert_eq!(problems.len(), 1, "{problems:#?}");
    SingleProblem(problems.remove(0))
}

struct SingleProblem(Problem);

impl SingleProblem {
    /// The kind, the place and the stretch that is marked.
    #[track_caller]
    fn at(self, kind: ProblemKind, line: usize, column: usize, span: &str) -> Self {
        let location = self.0.location.as_ref().expect("a place");
        let found = (self.0.kind, location.line, location.column, location.span.as_str());
        assert_eq!(found, (kind, line, column, span), "\n{}", self.0);
        self
    }

    #[track_caller]
    fn says(self, message: &str) -> Self {
        assert!(self.0.message.contains(message), "\n{}", self.0);
        self
    }

    #[track_caller]
    fn helps(self, help: &str) {
        assert!(self.0.help.as_ref().is_some_and(|given| given.contains(help)), "\n{}", self.0);
    }
}

use ProblemKind::*;

#[test]
fn the_file_itself_is_fine() {
    assert_eq!(problems(GOOD, &[]), []);
}

#[test]
fn syntax() {
    with("p = 2", "p = 2 2").at(Syntax, 3, 5, "2 2");
    with("routing = \"adaptive-hybrid\"", "cutoff = 5 GB/s").says("this is not TOML");
    with("a = 4", "a = 4\np = 3").at(Syntax, 5, 1, "p").says("duplicate");
}

#[test]
fn unknown_keys() {
    with("placement =", "placment =").at(UnknownKey, 12, 1, "placment").helps("did you mean 'placement'?");
    with("g = 9", "dims = [2]")
        .at(UnknownKey, 6, 1, "dims")
        .says("unknown key 'dims' in [machine] of topology 'dragonfly'")
        .helps("'dims' belongs to topology 'torus'");
    with("periodic = false", "perodic = false").at(UnknownKey, 16, 34, "perodic").helps("did you mean 'periodic'?");
    with("routing =", "rooting =").at(UnknownKey, 20, 1, "rooting").helps("did you mean 'routing'?");
    with("[engine]\n", "[engine]\nslises = 4\n").at(UnknownKey, 20, 1, "slises").helps("did you mean 'slices'?");
    with("[engine]\n", "[engin]\n").at(UnknownKey, 19, 2, "engin").helps("did you mean 'engine'?");
    with("[machine]\n", "seed = 1\n[machine]\n").at(UnknownKey, 1, 1, "seed").helps("'seed' stands in [engine]");
    with("ranks = 16", "ranks = 16\nmax_distance = 3")
        .at(UnknownKey, 18, 1, "max_distance")
        .says("[[job]] 'halo'")
        .helps("'max_distance' belongs to pattern 'umesh'");
    let program = |key: &str| format!("program = \"halo-3d\"\n{key}");
    with("pattern = \"many-to-many\"", &program("iterations = 4"))
        .at(UnknownKey, 11, 1, "iterations")
        .helps("`program = { name = \"halo-3d\", iterations = … }`");
    with("pattern = \"many-to-many\"", "program = [\"lu\", \"halo-3d\"]\nbytes = \"4 KiB\"")
        .at(UnknownKey, 11, 1, "bytes")
        .helps("in the table of the program");
    with("pattern = \"many-to-many\"", &program("offset = 4"))
        .at(UnknownKey, 11, 1, "offset")
        .helps("'offset' belongs to pattern");
    with("g = 9", "zzz = 9").at(UnknownKey, 6, 1, "zzz").helps("known keys: preset, topology, file");
}

#[test]
fn missing_keys() {
    with("ranks = 16", "").at(MissingKey, 14, 1, "[[job]]").says("lacks the key 'ranks'").helps("add `ranks = 4`");
    let found = problems(&GOOD.replace("pattern = \"many-to-many\"", "patern = \"many-to-many\""), &[]);
    let found: Vec<_> = found.iter().map(|p| (p.kind, p.location.as_ref().unwrap().line, p.help.as_deref())).collect();
    let add = "add `pattern = \"stencil-2d\"`; expected one of the known names or a table";
    assert_eq!(found, [(MissingKey, 8, Some(add)), (UnknownKey, 10, Some("did you mean 'pattern'?"))]);
    with("pattern = \"many-to-many\"\n", "").at(MissingKey, 8, 1, "[[job]]").helps("add `pattern = \"stencil-2d\"`");
    with("pattern = \"many-to-many\"", "pattern = 'file'")
        .at(MissingKey, 10, 11, "'file'")
        .says("pattern 'file' needs the key 'path'")
        .helps("add `path = \"file.csv\"`");
    with("{ name = \"stencil-2d\", periodic = false }", "{ periodic = false }")
        .at(MissingKey, 16, 11, "{ periodic = false }")
        .says("lacks the key 'name'");
    with("topology = \"dragonfly\"\np = 2\na = 4\nh = 2\ng = 9\n", "")
        .at(MissingKey, 1, 2, "machine")
        .helps("preset = \"edison\"");
    let general = only(problems("[[job]]\npattern = 'uniform'\nranks = 2\n", &[]));
    assert_eq!((general.0.kind, &general.0.location), (MissingKey, &None));
    general.says("no [machine]");
    only(problems("machine.preset = 'edison'", &[])).says("no [[job]]");
}

#[test]
fn wrong_types() {
    with("ranks = 16", "ranks = \"16\"")
        .at(Name, 17, 9, "\"16\"")
        .says("unknown ranks '16'")
        .helps("expected \"trace\" or a whole number from 1 up");
    with("ranks = 16", "ranks = 1.5").at(Type, 17, 9, "1.5");
    with("periodic = false", "periodic = 0").at(Type, 16, 45, "0").says("true or false");
    with("[[job]]\nname = \"fft\"\n", "[job]\nname = \"fft\"\n").at(Syntax, 14, 3, "job");
    with("name = \"fft\"", "name = ['fft']").at(Type, 9, 8, "['fft']");
    with("pattern = \"many-to-many\"", "pattern = 4").at(Type, 10, 11, "4");
    with("g = 9", "g = 9\nclass.local = 5").at(Type, 7, 15, "5").helps("[machine.class.blue]");
    with("g = 9", "g = 9\nclass.bandwidth = '5 GB/s'").at(Type, 7, 7, "bandwidth").says("no class is named");
    with("g = 9", "g = 9\nedit = 5").at(Type, 7, 8, "5");
    let single = "[machine]\npreset = 'edison'\n[job]\nranks = 1\npattern = 'uniform'\n";
    only(problems(single, &[])).at(Type, 3, 2, "job").helps("[[job]]");
}

#[test]
fn wrong_units() {
    let bytes = |value: &str| with("name = \"fft\"", &format!("name = \"fft\"\nbytes = {value}"));
    bytes("64").at(Unit, 10, 9, "64").says("a number without a unit").helps("bytes = \"64 B\"");
    bytes("\"64 kib\"").at(Unit, 10, 9, "\"64 kib\"").helps("did you mean 'KiB' or 'Kib'?");
    bytes("\"64 Kb/s\"").at(Unit, 10, 9, "\"64 Kb/s\"").says("is a data rate").helps("b is a bit and B a byte");
    bytes("\"3 b\"").at(Unit, 10, 9, "\"3 b\"").says("not a whole number of bytes");
    bytes("\"5 ns\"").at(Unit, 10, 9, "\"5 ns\"").says("is a duration");
    with("g = 9", "g = 9\nclass.local.bandwidth = \"5 GB\"")
        .at(Unit, 7, 25, "\"5 GB\"")
        .says("is an amount of data; expected a data rate");
    with("g = 9", "g = 9\nclass.local.latency = 30").at(Unit, 7, 23, "30").helps("latency = \"30 ns\"");
}

#[test]
fn wrong_values() {
    with("ranks = 16", "ranks = 0").at(Value, 17, 9, "0").says("a whole number from 1 up");
    with("ranks = 16", "ranks = 5_000_000_000").at(Value, 17, 9, "5_000_000_000").says("at most 4294967295");
    with("g = 9", "g = 10").at(Machine, 6, 5, "10").says("a h + 1 = 4 x 2 + 1 = 9");
    with("g = 9", "g = 9\nedit = [\"-2 local\"]").at(Machine, 7, 9, "\"-2 local\"").says("have 1");
    with("g = 9", "g = 9\nedit = [\"+1 local\", \"?\"]").at(Value, 7, 21, "\"?\"").says("expected cables");
    with("g = 9", "g = 9\nedit = [{ class = 'local', ad = 1 }]").at(UnknownKey, 7, 28, "ad").helps("'add'");
    with("g = 9", "g = 9\nedit = [{ add = 1 }]").at(Value, 7, 9, "{ add = 1 }").says("no edit");
    with("[engine]\n", "[engine]\nslices = 300\n").at(Value, 19, 2, "engine").says("'max_iterations' must exceed");
    with("[engine]\n", "[engine]\nbound_gap = 1.5\n").at(Value, 20, 13, "1.5").helps("\"off\" or a number");
    with("name = \"fft\"", "name = \"fft\"\ncolor = \"red\"").at(Value, 10, 9, "\"red\"").says("#0072b2");
    with("name = \"fft\"", "name = \"\"").at(Value, 9, 8, "\"\"").says("an empty text");
}

#[test]
fn unknown_names() {
    with("\"dragonfly\"", "\"dragonfyl\"").at(Name, 2, 12, "\"dragonfyl\"").helps("did you mean 'dragonfly'?");
    with("\"many-to-many\"", "\"many-2-many\"")
        .at(Name, 10, 11, "\"many-2-many\"")
        .helps("did you mean 'many-to-many'?");
    with("\"random-nodes\"", "\"scattered\"").at(Name, 12, 13, "\"scattered\"").helps("known: compact");
    with("\"stencil-2d\"", "\"stencil-9d\"").at(Name, 16, 20, "\"stencil-9d\"").helps("did you mean 'stencil-2d'?");
    with("\"adaptive-hybrid\"", "\"adaptive-hibrid\"")
        .at(Name, 20, 11, "\"adaptive-hibrid\"")
        .helps("'adaptive-hybrid'");
    with("[engine]\n", "[engine]\nkind = \"floe\"\n").at(Name, 20, 8, "\"floe\"").helps("\"flow\"".trim_matches('"'));
    with("g = 9", "g = 9\nclass.lokal.price = 1").at(Name, 7, 7, "lokal").helps("did you mean 'local'?");
    with("g = 9", "g = 9\nedit = '-1 lokal'").at(Machine, 7, 8, "'-1 lokal'").says("did you mean 'local'?");
}

#[test]
fn conflicts() {
    with("p = 2", "preset = \"edison\"\np = 2").at(Conflict, 3, 1, "preset").says("one origin");
    with_override("machine.preset=edison").at(Conflict, 1, 9, "preset").helps("machine={ preset");
    with("\"halo\"", "\"fft\"").at(Conflict, 15, 8, "\"fft\"").says("two jobs are called 'fft'");
    with("ranks = 16", "ranks = 16\nperiodic = true").at(Conflict, 18, 1, "periodic").says("given twice");
    with("g = 9", "g = 9\narrangement_seed = 3").at(Conflict, 7, 20, "3").says("needs arrangement = \"random\"");
    with("[engine]\n", "[engine]\nbias = 1\n")
        .at(UnknownKey, 20, 1, "bias")
        .helps("`routing = { name = …, bias = … }`");
    with("[engine]\n", "[engine]\nload = 1\n")
        .at(UnknownKey, 20, 1, "load")
        .helps("traffic = { name = \"open\", load = … }");
    with("[engine]\n", "[engine]\ntraffic = \"open\"\n").helps("odonata check --upgrade");
    let shared = "pattern = 'file'\npath = 'graph.csv'\nplacement = 'file'\nranks = 16";
    let found = problems(
        &GOOD.replace("ranks = 16", "").replace("pattern = { name = \"stencil-2d\", periodic = false }", shared),
        &[],
    );
    assert!(found.iter().all(|problem| problem.kind == Conflict), "{found:#?}");
    assert_eq!(found[0].location.as_ref().unwrap().line, 17);
}

/// A capacity of the flow engine replaces the bandwidths of the machine, so a change of them would do nothing.
#[test]
fn bandwidths_that_the_engine_replaces() {
    let damselfly = "engine.preset=\"damselfly\"";
    let found = |changes: &[&str]| problems(GOOD, changes).into_iter().map(|one| one.message).collect::<Vec<_>>();
    for change in ["machine.edit=[\"global.bandwidth*=0.5\"]", "machine.class.global.bandwidth=\"5 GB/s\""] {
        let expected = "[engine] 'link_capacity' replaces the bandwidth of class 'global', so this changes nothing; \
                        leave it out, or set link_capacity = \"machine\"";
        assert_eq!(found(&[damselfly, change]), [expected], "{change}");
        assert_eq!(found(&["engine.link_capacity=\"5 GB/s\"", change]), [expected], "{change}");
        assert_eq!(found(&[damselfly, "engine.link_capacity=\"machine\"", change]), [""; 0], "{change}");
    }
    let nics = "machine.edit=[\"terminal.bandwidth=1 GB/s\"]";
    assert!(found(&[damselfly, nics])[0].starts_with("[engine] 'nic_capacity' replaces the bandwidth"));
    assert!(found(&["engine.link_capacity=\"5 GB/s\"", nics]).is_empty());
    // The machine's own figures, as a resolved file has them, and other edits.
    let same = "machine.class.global.bandwidth=\"25 GB/s\"";
    assert!(found(&[damselfly, same, "machine.edit=[\"fail 5% global\"]"]).is_empty());
}

#[test]
fn files() {
    with("topology = \"dragonfly\"\np = 2\na = 4\nh = 2\ng = 9\n", "file = \"none.csv\"\n")
        .at(File, 2, 8, "\"none.csv\"")
        .says("there is no such file");
    with("pattern = \"many-to-many\"", "pattern = \"file\"\npath = \"none.bin\"")
        .at(File, 11, 8, "\"none.bin\"")
        .says("there is no such file");
    with(
        "topology = \"dragonfly\"\np = 2\na = 4\nh = 2\ng = 9\n",
        "file = \"a\"\nformat = \"codes\"\ngroups = 2\nrows = 1\ncolumns = 2",
    )
    .at(MissingKey, 1, 2, "machine")
    .says("lacks the key 'inter_file'");
}

#[test]
fn workloads() {
    with("ranks = 32", "ranks = 73")
        .at(Workload, 11, 9, "73")
        .says("needs 73 nodes (73 ranks, 1 on each), but only 72 of the 72 usable nodes");
    with("ranks = 16", "ranks = 16\nranks_per_node = 2").at(Workload, 18, 18, "2").says("1 cores");
    with("name = \"fft\"", "name = \"fft\"\nstride = 0").at(Value, 10, 10, "0");
    with("\"random-nodes\"", "\"random-chassis\"").at(Workload, 12, 13, "\"random-chassis\"");
    with("\"random-nodes\"", "{ name = \"list\", nodes = [0, 1] }")
        .at(Workload, 12, 38, "[0, 1]")
        .says("2 nodes listed, but the job needs 32");
    with("periodic = false", "dims = [3, 5]").at(Workload, 16, 41, "[3, 5]");
}

#[test]
fn overrides() {
    with_override("engine.routing=adaptive-hibrid").at(Name, 1, 16, "adaptive-hibrid").helps("'adaptive-hybrid'");
    // Of another engine: which one takes it, and what this one takes.
    with("routing = \"adaptive-hybrid\"", "routing = \"ugal-g\"")
        .at(Name, 20, 11, "\"ugal-g\"")
        .says("the flow engine does not take routing 'ugal-g'")
        .helps("`kind = \"packet\"` takes it; the flow engine takes min, static-direct, ");
    with("routing = \"adaptive-hybrid\"", "kind = \"packet\"\nrouting = { name = \"ugal\", hop_threshold = 2 }")
        .at(Name, 21, 20, "\"ugal\"")
        .says("the packet engine does not take routing 'ugal'")
        .helps("`kind = \"flow\"` takes it; the packet engine takes min, valiant-g, ");
    // What counts hops is called apart from what does not.
    with("routing = \"adaptive-hybrid\"", "routing = { name = \"ugal\", threshold = 2 }")
        .at(UnknownKey, 20, 28, "threshold")
        .helps("known keys: name, hop_threshold, bias_load_hops");
    with_override("engine.rooting=ugal").at(UnknownKey, 1, 8, "rooting").helps("did you mean 'routing'?");
    with_override("job.halo.dims=[3,5]").at(Workload, 1, 15, "[3,5]");
    with_override("job.halo.pattern.dims=[3,5]").at(Workload, 1, 23, "[3,5]");
    // A name that is no variant's stands for no table.
    with_override("job.halo.name.short=true").at(Override, 1, 15, "short");
    with_override("job.ftt.ranks=4").at(Override, 1, 5, "ftt").helps("did you mean 'fft'?");
    with_override("engine.seed").at(Override, 1, 1, "engine.seed").says("no '='");
    with_override("job.halo.dims=[3 5]").at(Override, 1, 16, "3 5").says("this is no TOML value");
    with_override("job.0.ranks=73").at(Workload, 1, 13, "73");
    with_override("engin.seed=1").at(UnknownKey, 1, 1, "engin").helps("did you mean 'engine'?");
    // What the file says of a parameter yields to an override of it, wherever the two stand.
    assert_eq!(problems(GOOD, &["job.halo.periodic=true"]), []);
    assert_eq!(problems(GOOD, &["job.halo.pattern.periodic=true"]), []);
}

#[test]
fn an_override_replaces_an_axis_however_its_key_is_written() {
    for (in_file, given) in [("'engine.seed'", "engine.seed"), ("engine.seed", "'engine.seed'")] {
        let text = format!("{GOOD}[sweep]\n{in_file} = [1, 2]\n");
        let axes = Experiment::new(&text, "x.toml").with_overrides([format!("sweep.{given}=[3]")]).sweep().unwrap();
        assert_eq!(axes.len(), 1, "{in_file} and {given}");
        assert_eq!(axes[0].overrides, [["engine.seed=3"]]);
    }
}

/// What only the whole of a point shows is said where its value stands. Of two choices that set the same, the place is
/// that of the choice taken.
#[test]
fn problems_of_a_point_stand_at_its_value() {
    let machine = "[sweep.network]\nsmall = { \"job.halo.ranks\" = 73 }\nlarge = { \"job.halo.ranks\" = 73, \"engine.seed\" = 2 }\n";
    for (sweep, line, column, span) in
        [("[sweep]\n'job.halo.ranks' = [4, 73]\n", 2, 24, "73"), (machine, 3, 1, "large")]
    {
        let experiment = Experiment::new(format!("{GOOD}{sweep}"), "x.toml");
        let first = GOOD.lines().count();
        let axis = &experiment.sweep().unwrap()[0];
        let points = axis.overrides.clone();
        let checked = experiment.check_points(points);
        let problem = checked[1].as_ref().unwrap_err().0[0].clone();
        let location = problem.location.as_ref().unwrap();
        assert_eq!((location.line, location.column), (first + line, column), "{problem}");
        assert!(location.span == span && problem.file == "x.toml", "{problem}");
        assert!(problem.message.starts_with("with job.halo.ranks=73: "), "{problem}");
    }
    // What the user sets stays with `--set`.
    let experiment = Experiment::new(GOOD, "x.toml").with_overrides(["job.halo.ranks=73".to_owned()]);
    assert_eq!(experiment.check_points(vec![vec![]])[0].as_ref().unwrap_err().0[0].file, "--set");
}

#[test]
fn sweeps() {
    let sweep = |text: &str| problems(&format!("{GOOD}[sweep]\n{text}\n"), &[]);
    assert_eq!(
        sweep("'engine.seed' = [1, 2]\nmachine.edit = [[], '-1 local', ['+1 local']]\n'job.*.ranks' = [4, 8]"),
        []
    );
    only(sweep("'engine.seed' = 1")).at(Type, 22, 17, "1").says("must be a list");
    only(sweep("'engine.seed' = [1]\nengine.seed = [2]")).at(Conflict, 23, 15, "[2]").says("twice");
    only(sweep("'engine.seed' = []")).at(Value, 22, 17, "[]");
    only(sweep("'engine.seed' = [1, -2]")).at(Value, 22, 21, "-2").says("with engine.seed=-2");
    only(sweep("'engine.routing' = ['min', 'mim']")).at(Name, 22, 28, "'mim'").helps("did you mean 'min'?");
    // What is wrong with the key is said once, at the key.
    only(sweep("'job.x.ranks' = [1, 2, 3]")).at(Override, 22, 1, "'job.x.ranks'").says("there is no job 'x'");
    only(sweep("engine.sed = [1, 2]")).at(UnknownKey, 22, 8, "sed").helps("did you mean 'seed'?");
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let text = GOOD.replace("p = 2", "pp = 2").replace("ranks = 32", "ranks = -1").replace("routing =", "rooting =");
    let found = problems(&text, &[]);
    let places: Vec<(usize, ProblemKind)> = found.iter().map(|p| (p.location.as_ref().unwrap().line, p.kind)).collect();
    assert_eq!(places, [(3, UnknownKey), (11, Value), (20, UnknownKey)]);
    let found = problems(&GOOD.replace("g = 9", "g = 9\nclass.lokal.price = 1\nclass.glubal.price = 2"), &[]);
    assert_eq!(found.len(), 2, "{found:#?}");
}

/// Without paths between most nodes there is no run. The edit is named, not the engine.
#[test]
fn a_machine_in_pieces() {
    let text = GOOD.replace("g = 9", "g = 9\nedit = [\"-1 global\"]");
    for engine in ["flow", "packet"] {
        let kind = format!("engine.kind={engine}");
        let routing = format!("engine.routing={}", if engine == "flow" { "min" } else { "ugal-n" });
        let found = problems(&text, &[&kind, &routing]);
        assert_eq!(found.len(), 1, "{engine}: {found:#?}");
        let expected = "failed or missing cables cut the machine into 9 parts, of which the largest has 8 of 72 nodes";
        assert_eq!(found[0].message, expected);
        assert!(found[0].location.as_ref().unwrap().source.starts_with("edit ="), "{found:?}");
    }
}

/// A block that does not fit is reported where it stands, one of no Blue Gene too.
#[test]
fn a_block_that_does_not_fit() {
    let said = |machine: &str| {
        let job = "[[job]]\nranks = 4\npattern = 'uniform'\n";
        let found = problems(&format!("[machine]\n{machine}\n{job}"), &[]);
        let line = found.first().and_then(|problem| problem.location.as_ref()).map(|location| location.line);
        (line, found.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; "))
    };
    let (line, message) = said("preset = 'bgp-rack'\npartition = { shape = [8, 16, 8] }");
    assert_eq!(line, Some(3));
    assert!(message.contains("16 nodes along Y; the machine has 1 to 8"), "{message}");
    let (line, message) = said("preset = 'edison'\npartition = { shape = [8, 8, 8] }");
    assert!(line == Some(3) && message.contains("has no blocks"), "{message}");
    assert!(said("topology = 'torus'\npartition = { shape = [8] }").1.contains("a block of a preset"));
    assert!(said("preset = 'bgp-rack'\npartition = { mesh = 'Z' }").1.contains("lacks the key 'shape'"));
    assert_eq!(said("preset = 'bgp-rack'\npartition = { shape = [8, 8, 8], mesh = 'Z' }"), (None, String::new()));
}

/// Keys of older formats are called by their new names: in a file, an override, a sweep, and a line of a list.
#[test]
fn an_old_key_is_answered_by_its_new_name() {
    let help = |text: &str, changes: &[&str]| -> Vec<String> {
        problems(text, changes).into_iter().map(|problem| problem.help.unwrap_or_default()).collect()
    };
    let expects = |found: Vec<String>, new: &str| {
        assert!(found.iter().any(|help| help.contains(&format!("'{new}'")) && help.contains("--upgrade")), "{found:?}");
    };
    expects(help(GOOD, &["mpi.get=\"3 B\""]), "get_request");
    expects(help(GOOD, &["engine.kind=packet", "engine.routing=min", "engine.patience=\"1 ms\""]), "progress_timeout");
    expects(help(&format!("{GOOD}\n[mpi]\nannouncement = \"3 B\"\n"), &[]), "rendezvous_header");
    expects(help(GOOD, &["job.0.pattern={ name = 'umesh', reach = 3 }"]), "max_distance");
    expects(
        help(GOOD, &["engine.kind=packet", "engine.routing=min", "sweep.engine.patience=[\"1 ms\"]"]),
        "progress_timeout",
    );
    let optimize = "[optimize]\nobjectives = ['price']\nconstraints = [{ of = 'price', max = 1 }]\n";
    expects(help(&format!("{GOOD}\n{optimize}"), &[]), "quantity");
    let old = help(&format!("format = 2\n{GOOD}"), &[]);
    assert!(old.iter().any(|help| help.contains("--upgrade")), "{old:?}");
}

//! `[[job]]`: the jobs.

use odonata_declare::{Choice, Family, Key, Kind, ParameterStruct, Value, Variant, VariantInfo};
use odonata_document::{
    variant::{self, belongs_to, VariantChoice},
    Chooser, Entry, Fields, Node, Place, ProblemKind, Raw, Report, Section, Table,
};
use odonata_programs::{ProgramRule, ProgramSpec, PROGRAMS};
use odonata_workload::{
    self as workload, Execution, JobSettings, PatternRule, PatternSpec, PlacementSpec, PATTERNS, PLACEMENTS,
};
use std::collections::HashSet;
use std::sync::LazyLock;

/// The patterns of all crates.
pub(crate) fn patterns() -> impl Iterator<Item = &'static Variant<dyn PatternRule>> {
    PATTERNS.iter().chain(odonata_amg::PATTERNS)
}

/// The programs of all crates.
pub(crate) fn programs() -> impl Iterator<Item = &'static Variant<dyn ProgramRule>> {
    PROGRAMS.iter().chain(odonata_amg::PROGRAMS)
}

pub(crate) static PATTERN: Family = Family::new("pattern", || patterns().map(PatternSpec::named).collect());
pub(crate) static PLACEMENT: Family =
    Family::new("placement", || PLACEMENTS.iter().map(PlacementSpec::named).collect());
pub(crate) static PROGRAM: Family = Family::new("program", || programs().map(ProgramSpec::named).collect());
pub(crate) static TRAFFIC: Family = Family::new("traffic", || workload::TRAFFIC.iter().map(VariantInfo::of).collect());
/// A program, or several.
static PROGRAMS_IN_TURN: [Kind; 2] = [Kind::Variant(&PROGRAM), Kind::List(&Kind::Variant(&PROGRAM))];

/// As many ranks as the files of the program.
const TRACE: &Choice = &Choice { name: "trace", doc: "as many as the trace of the job's program has" };
static RANKS: Kind = Kind::count(1);

/// The keys of `[[job]]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let mut keys = vec![
        Key::optional(
            "name",
            Kind::Text,
            "`job` and the number of the job",
            "Unique name. The random choices of a job depend on its name, not on its position in the file.",
        ),
        Key::required(
            "ranks",
            Kind::WordOr(TRACE, &RANKS),
            "Number of ranks. `trace` takes it from the trace that the job replays.",
        ),
    ];
    keys.extend(JobSettings::default().keys());
    keys.extend([
        Key::optional(
            "pattern",
            Kind::Variant(&PATTERN),
            "the job has a `program`",
            "Communication pattern. Its parameters are keys of the job, or of a table: `pattern = { name = \"spread\", … }`.",
        ),
        Key::optional(
            "program",
            Kind::Any(&PROGRAMS_IN_TURN),
            "the job has a `pattern`",
            "Computation and calls of each rank, as in an MPI program; replaces `pattern` and `traffic`. Its parameters are keys of a table: `program = { name = \"halo-3d\", … }`. The programs of a list run one after the other on the same ranks. The flow engine uses only its messages.",
        ),
    ]);
    keys.extend(Execution::default().keys());
    keys.extend([
        Key::with_default(
            "placement",
            Kind::Variant(&PLACEMENT),
            Value::text("compact"),
            "Placement of the job on nodes. Jobs are placed in the order of the file. Its parameters are keys of the job, or \
             of a table.",
        )
        .deciding(),
        Key::with_default(
            "traffic",
            Kind::Variant(&TRAFFIC),
            Value::text("closed"),
            "Traffic that the job offers to the network over time, for the packet engine. Its parameters are keys of a table: \
             `traffic = { name = \"open\", load = 0.5 }`.",
        )
        .deciding(),
    ]);
    Section {
        name: "job",
        repeated: true,
        doc: "A job. The section is repeated for each job. Jobs never share a core.",
        keys,
        choosers: vec![Chooser { key: "pattern", family: &PATTERN }, Chooser { key: "placement", family: &PLACEMENT }],
    }
});

/// A job as given in the file.
#[derive(Debug)]
pub(crate) struct JobEntry {
    pub(crate) name: String,
    pub(crate) fields: Fields,
    pub(crate) settings: JobSettings,
    pub(crate) work: WorkEntry,
    pub(crate) placement: VariantChoice,
}

/// The activity of its ranks.
#[derive(Debug)]
pub(crate) enum WorkEntry {
    Pattern {
        pattern: VariantChoice,
        traffic: VariantChoice,
    },
    /// Programs one after the other, at least one.
    Program {
        programs: Vec<VariantChoice>,
        execution: Execution,
    },
}

impl WorkEntry {
    /// The pattern or the first program.
    pub(crate) fn chosen(&self) -> &VariantChoice {
        match self {
            Self::Pattern { pattern, .. } => pattern,
            Self::Program { programs, .. } => &programs[0],
        }
    }

    /// The pattern or the first program that an error names as its owner.
    pub(crate) fn chosen_by(&self, owner: &str) -> &VariantChoice {
        let Self::Program { programs, .. } = self else { return self.chosen() };
        let named = |program: &&VariantChoice| owner.ends_with(&format!("program '{}'", program.name.value));
        programs.iter().find(named).unwrap_or(&programs[0])
    }

    /// Whether the job ends without other jobs.
    fn ends(&self) -> bool {
        match self {
            Self::Pattern { traffic, .. } => traffic.name.value != "open",
            Self::Program { execution, .. } => !execution.background,
        }
    }

    /// Whether the job runs until the other jobs end.
    pub(crate) const fn is_background(&self) -> bool {
        matches!(self, Self::Program { execution, .. } if execution.background)
    }

    /// Place of a parameter of the traffic.
    pub(crate) fn traffic_place_of(&self, parameter: &str) -> Place {
        match self {
            Self::Pattern { traffic, .. } => traffic.place_of(parameter),
            Self::Program { programs, .. } => programs[0].name.place,
        }
    }
}

impl JobEntry {
    /// Place of a key or parameter of the job, otherwise of the job.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        let given = |chosen: &VariantChoice| chosen.parameters.iter().any(|(name, _)| *name == key);
        match key {
            "pattern" | "program" => self.work.chosen().name.place,
            "placement" => self.placement.name.place,
            _ if given(self.work.chosen()) => self.work.chosen().place_of(key),
            _ if given(&self.placement) => self.placement.place_of(key),
            _ => self.fields.given(key).map_or(self.fields.place, |located| located.place),
        }
    }
}

/// Reads all jobs.
pub(crate) fn read_all(jobs: Option<&Entry>, report: &mut Report<'_>) -> Vec<JobEntry> {
    let Some(entry) = jobs else {
        let help = "add a section [[job]] with `ranks` and `pattern` or `program`".to_owned();
        report.add_general(ProblemKind::MissingKey, "the experiment has no [[job]]", Some(help));
        return Vec::new();
    };
    let Raw::List(items) = &entry.node.raw else {
        let message = format!("'job' must be a list of tables, found {}", entry.node.raw.noun());
        report.add(ProblemKind::Type, entry.place, message, Some("write [[job]] with two brackets".into()));
        return Vec::new();
    };
    if items.is_empty() {
        report.add(ProblemKind::MissingKey, entry.place, "the experiment has no job", None);
    }
    let mut read: Vec<JobEntry> = Vec::new();
    let mut names = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let Raw::Table(table) = &item.raw else {
            let message = format!("a job must be a table, found {}", item.raw.noun());
            report.add(ProblemKind::Type, item.place, message, None);
            continue;
        };
        let Some(job) = read_job(table, item.place, index, report) else { continue };
        if !names.insert(job.name.clone()) {
            let message = format!("two jobs are called '{}'; names are unique", job.name);
            report.add(ProblemKind::Conflict, job.fields.place_of("name"), message, None);
        }
        read.push(job);
    }
    read
}

/// The jobs that are not left out.
pub(super) fn present(mut jobs: Vec<JobEntry>, report: &mut Report<'_>) -> Vec<JobEntry> {
    if let (Some(first), true) = (jobs.first(), jobs.iter().all(|job| job.settings.absent)) {
        report.add(ProblemKind::Conflict, first.fields.place_of("absent"), "every job is absent", None);
    }
    jobs.retain(|job| !job.settings.absent);
    somebody_ends(jobs.iter(), report);
    jobs
}

/// Reports a background job if there is no foreground job.
pub(crate) fn somebody_ends<'a>(jobs: impl Iterator<Item = &'a JobEntry> + Clone, report: &mut Report<'_>) {
    let mut busy = jobs.filter(|job| !job.settings.idle);
    let Some(job) = busy.clone().find(|job| job.work.is_background()) else { return };
    if busy.any(|job| job.work.ends()) {
        return;
    }
    let message = format!("job '{}' runs until the other jobs have ended, but there is none that ends", job.name);
    let help = "add a job with a program or closed traffic that is neither idle nor in the background".to_owned();
    report.add(ProblemKind::Conflict, job.fields.place_of("background"), message, Some(help));
}

fn read_job(table: &Table, place: Place, index: usize, report: &mut Report<'_>) -> Option<JobEntry> {
    let fields = Fields::read("[[job]]", place, table, &SECTION.keys, report);
    let name = fields.text("name").map_or_else(|| format!("job{index}"), str::to_owned);
    let (patterns, placements) = (SECTION.chooser("pattern"), SECTION.chooser("placement"));
    let pattern = table.get("pattern").and_then(|entry| variant::choice(&PATTERN, entry, None, report));
    let default = variant::text_entry("placement", "compact", place);
    let placement = variant::choice(&PLACEMENT, table.get("placement").unwrap_or(&default), Some("compact"), report);
    let keys_of = |family: &'static Family, choice: &Option<variant::Choice<'_>>| -> Vec<&'static str> {
        // Without a choice any parameter may be right.
        let variants = family.variants().iter().filter(|v| choice.is_none_or(|choice| choice.variant.name == v.name));
        variants.flat_map(|variant| variant.keys.iter().map(|key| key.name)).collect()
    };
    // A program replaces the pattern, and its parameters stand in its table.
    let has_pattern = pattern.is_some() || table.get("program").is_none();
    let of_pattern = if has_pattern { keys_of(&PATTERN, &pattern) } else { Vec::new() };
    let of_placement = keys_of(&PLACEMENT, &placement);
    let own = SECTION.keys.iter().map(|key| key.name);
    let known: Vec<&'static str> = own.chain(of_pattern.iter().chain(&of_placement).copied()).collect();
    let elsewhere = |key: &str| {
        let of_program = table.get("program").and_then(|entry| program_parameter(entry, key));
        of_program.or_else(|| belongs_to(&PATTERN, key)).or_else(|| belongs_to(&PLACEMENT, key))
    };
    report.unknown_keys(&format!("[[job]] '{name}'"), table, &known, elsewhere);
    let shared: Vec<&str> = of_pattern.iter().copied().filter(|key| of_placement.contains(key)).collect();
    let pattern = pattern.map(|choice| variant::parameters(patterns, choice, table, &shared, report));
    let placement = placement.map(|choice| variant::parameters(placements, choice, table, &shared, report));
    let work = match table.get("program") {
        None => {
            let traffic = SECTION.keys.iter().find(|key| key.name == "traffic").expect("a key of jobs");
            let traffic = variant::read_key(traffic, place, table, report);
            needs_pattern(&name, table, &fields, report);
            pattern.zip(traffic).map(|(pattern, traffic)| WorkEntry::Pattern { pattern, traffic })
        }
        Some(entry) => read_programs(&name, entry, table, &fields, report),
    };
    let mut settings = JobSettings::default();
    fields.set(&mut settings);
    Some(JobEntry { name, fields, settings, work: work?, placement: placement? })
}

/// Where to write `key`, if it is a parameter of a program at `entry`: of one, or of one in a list.
fn program_parameter(entry: &Entry, key: &str) -> Option<String> {
    if let Raw::List(items) = &entry.node.raw {
        return items.iter().find_map(|node| program_parameter(&entry_of(node), key));
    }
    let (name, _) = variant::name_at(entry)?;
    let program = PROGRAM.variant(name).filter(|program| program.keys.iter().any(|own| own.name == key))?;
    Some(format!("write it in the table of the program: `program = {{ name = \"{}\", {key} = … }}`", program.name))
}

/// A program of a list as if it stood alone.
fn entry_of(node: &Node) -> Entry {
    Entry { key: "program".into(), place: node.place, node: node.clone() }
}

/// Reads the programs of a job: one, or several in a list.
fn read_programs(
    name: &str,
    entry: &Entry,
    table: &Table,
    fields: &Fields,
    report: &mut Report<'_>,
) -> Option<WorkEntry> {
    for key in ["pattern", "traffic"] {
        if let Some(other) = table.get(key) {
            let message = format!("job '{name}' has a program, so '{key}' means nothing");
            report.add(ProblemKind::Conflict, other.place, message, Some(format!("remove `{key}` or `program`")));
        }
    }
    let chooser = Chooser { key: "program", family: &PROGRAM };
    let mut read = |entry: &Entry| {
        let choice = variant::choice(&PROGRAM, entry, None, report)?;
        Some(variant::parameters(&chooser, choice, &Table::default(), &[], report))
    };
    let programs = match &entry.node.raw {
        Raw::List(items) if items.is_empty() => {
            let help = "write `program = \"halo-3d\"`, or several of them in the list".to_owned();
            report.add(ProblemKind::Value, entry.node.place, "'program' is an empty list", Some(help));
            None
        }
        Raw::List(items) => {
            // All of them, so that every mistake is reported.
            items.iter().map(|node| read(&entry_of(node))).collect::<Vec<_>>().into_iter().collect()
        }
        _ => read(entry).map(|program| vec![program]),
    };
    let mut execution = Execution::default();
    fields.set(&mut execution);
    if let Some(given) = fields.given("repeat").filter(|_| execution.background && execution.repeat > 1) {
        let message = format!("job '{name}' runs in the background, over and over, so 'repeat' means nothing");
        report.add(ProblemKind::Conflict, given.place, message, Some("remove `repeat` or `background`".into()));
    }
    programs.map(|programs| WorkEntry::Program { programs, execution })
}

/// Reports a job without a pattern and a program, and a job with keys that only programs have.
fn needs_pattern(name: &str, table: &Table, fields: &Fields, report: &mut Report<'_>) {
    if table.get("pattern").is_none() {
        let message = format!("job '{name}' lacks the key 'pattern': who sends what to whom; or 'program'");
        let kind = Kind::Variant(&PATTERN);
        let help = format!("add `pattern = {}`; expected {}", kind.example(), kind.expected());
        report.add(ProblemKind::MissingKey, fields.place, message, Some(help));
    }
    for Key { name: key, .. } in Execution::default().keys() {
        let Some(given) = fields.given(key) else { continue };
        let message = format!("job '{name}' has no program, so '{key}' means nothing");
        let help = match key {
            "start" => "write `traffic = { name = \"closed\", start = … }`".to_owned(),
            _ => format!("remove `{key}`, or write `program = …`"),
        };
        report.add(ProblemKind::Conflict, given.place, message, Some(help));
    }
}

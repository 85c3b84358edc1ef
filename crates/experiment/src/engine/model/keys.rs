//! The keys of the model engine.

use super::settings::Form;
use crate::amg::MACHINES;
use odonata_declare::{Choice, Key, Kind, Value};
use odonata_model::amg::Scenario;

/// The word for all scenarios.
const ALL: &Choice = &Choice { name: "all", doc: "all six" };
/// The word for threads that follow from the placement.
pub(super) const AUTO: &Choice = &Choice { name: "auto", doc: "the cores of a node shared by the ranks on it" };

/// What each scenario adds to the one before.
const SCENARIOS: &[Choice] = &[
    Choice { name: Scenario::AlphaBeta.name(), doc: "start-up and bandwidth" },
    Choice {
        name: Scenario::AlphaBetaGamma.name(),
        doc: "and every message over the network's diameter: the best fit of Eos",
    },
    Choice { name: Scenario::BetaPenalty.name(), doc: "and bandwidth limited by the hardware and by shared links" },
    Choice { name: Scenario::AlphaBetaPenalties.name(), doc: "and the tasks of a node contend for the start-up" },
    Choice {
        name: Scenario::BetaGammaPenalties.name(),
        doc: "as `beta-penalty`, and the tasks of a node contend at every hop",
    },
    Choice { name: Scenario::AlphaBetaGammaPenalties.name(), doc: "all of them" },
];

const THREADS: &Kind = &Kind::Any(&[Kind::COUNT, Kind::List(&Kind::COUNT)]);

pub(super) fn keys() -> Vec<Key> {
    let time = |name, default, doc| Key::optional(name, Kind::Time, default, doc);
    let rate = |name, default, doc| Key::optional(name, Kind::Rate, default, doc);
    vec![
        Key::with_default(
            "form",
            Form::KIND,
            Value::text(Form::MaxRate.word()),
            "Which closed form prices the jobs.",
        ),
        Key::with_default(
            "parameters",
            Kind::KnownOrPath(MACHINES),
            Value::text("eos"),
            "The machine's measured constants: the name of a set that comes with the package, or a TOML file as `odonata amg \
             calibrate` writes it.",
        ),
        Key::with_default(
            "scenarios",
            Kind::WordOr(ALL, &Kind::List(&Kind::Choice(SCENARIOS))),
            Value::List(vec![Value::text(Scenario::AlphaBetaGamma.name())]),
            "`amg`: which phenomena are charged; one cycle is priced for each. `jobs.time_s` is that of the first.",
        ),
        Key::with_default(
            "threads",
            Kind::WordOr(AUTO, THREADS),
            Value::text(AUTO.name),
            "`amg`: OpenMP threads of each rank, for all jobs or one for each job. Tasks per node are `ranks_per_node`.",
        ),
        time("alpha", "that of `parameters`", "`postal`, `max-rate`: start-up of a message."),
        rate("rate", "that of `parameters`", "Bandwidth of one rank; 1 / G of `loggp`."),
        rate("node_rate", "that of `parameters`", "`max-rate`: bandwidth that the ranks of a node share."),
        time("latency", "the start-up of `parameters`", "`loggp`: L."),
        time("overhead", "0 s", "`loggp`: o, processor time of a send or a receive."),
        time("gap", "0 s", "`loggp`: g, least time between two sends."),
        time("hop", "gamma of `parameters`", "Time per router-to-router hop of a message, on a shortest path."),
        time("matching", "0 s", "Time per squared number of messages that a rank receives: the search in its queue."),
        time("on_node_alpha", "the start-up of `parameters`", "Start-up of a message between ranks of a node."),
        rate(
            "on_node_rate",
            "the bandwidth per thread with all threads busy",
            "Bandwidth of messages between ranks of a node.",
        ),
    ]
}

/// The keys that mean something for some forms only.
pub(super) const SPECIAL: [(&str, &[Form]); 14] = [
    ("scenarios", &[Form::Amg]),
    ("threads", &[Form::Amg]),
    ("alpha", &[Form::Postal, Form::MaxRate]),
    ("rate", &[Form::Postal, Form::LogGp, Form::MaxRate]),
    ("node_rate", &[Form::MaxRate]),
    ("latency", &[Form::LogGp]),
    ("overhead", &[Form::LogGp]),
    ("gap", &[Form::LogGp]),
    ("hop", &[Form::Postal, Form::LogGp, Form::MaxRate]),
    ("matching", &[Form::Postal, Form::LogGp, Form::MaxRate]),
    ("on_node_alpha", &[Form::Postal, Form::LogGp, Form::MaxRate]),
    ("on_node_rate", &[Form::Postal, Form::LogGp, Form::MaxRate]),
    ("form", &Form::EVERY),
    ("parameters", &Form::EVERY),
];

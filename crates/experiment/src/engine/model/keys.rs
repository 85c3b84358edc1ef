//! The keys of the model engine.

use super::settings::Form;
use crate::key::{Key, Kind};
use odonata_declare::Value;
use odonata_model::amg::Scenario;

/// The word for all scenarios.
pub(super) const ALL: &str = "all";
/// The word for threads that follow from the placement.
pub(super) const AUTO: &str = "auto";

/// What each scenario adds to the one before.
const SCENARIOS: [(Scenario, &str); 6] = [
    (Scenario::AlphaBeta, "start-up and bandwidth"),
    (Scenario::AlphaBetaGamma, "and every message over the network's diameter: the best fit of Eos"),
    (Scenario::BetaPenalty, "and bandwidth limited by the hardware and by shared links"),
    (Scenario::AlphaBetaPenalties, "and the tasks of a node contend for the start-up"),
    (Scenario::BetaGammaPenalties, "as `beta-penalty`, and the tasks of a node contend at every hop"),
    (Scenario::AlphaBetaGammaPenalties, "all of them"),
];

pub(super) fn keys() -> Vec<Key> {
    let scenarios: Vec<(&'static str, &'static str)> = SCENARIOS.iter().map(|(s, doc)| (s.name(), *doc)).collect();
    let scenarios = Kind::List(Box::new(Kind::choice(&scenarios)));
    let threads = Kind::Any(vec![Kind::count(1), Kind::List(Box::new(Kind::count(1)))]);
    let time = |name, default, doc| Key::optional(name, Kind::Time, default, doc);
    let rate = |name, default, doc| Key::optional(name, Kind::Rate, default, doc);
    vec![
        Key::with_default(
            "form",
            Kind::choice(&Form::ALL.map(|form| (form.name(), form.doc()))),
            Value::text(Form::MaxRate.name()),
            "Which closed form prices the jobs.",
        ),
        Key::with_default(
            "parameters",
            Kind::Path,
            Value::text("eos"),
            "The machine's measured constants: the name of a set that comes with the package, or a TOML file as `odonata amg \
             calibrate` writes it.",
        ),
        Key::with_default(
            "scenarios",
            Kind::word_or(ALL, "all six", scenarios),
            Value::List(vec![Value::text(Scenario::AlphaBetaGamma.name())]),
            "`amg`: which phenomena are charged; one cycle is priced for each. `jobs.time_s` is that of the first.",
        ),
        Key::with_default(
            "threads",
            Kind::word_or(AUTO, "the cores of a node shared by the ranks on it", threads),
            Value::text(AUTO),
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
    ("form", &Form::ALL),
    ("parameters", &Form::ALL),
];

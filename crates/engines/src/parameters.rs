//! Parameter sets of closed forms, constants measured on a machine: TOML files with the unit in each key.
//!
//! They are not experiment files: constants that were measured, fractions of a nanosecond, without texts to parse.

use odonata_amg::Charges;
use odonata_declare::{Key, Kind, Value, Word};
use odonata_document::{expect_table, suggestion, Document, Entry, Fields, ProblemKind, Problems, Raw, Report};
use odonata_model::{Constants, DragonflyFigures, FatTreeFigures, NetworkFigures, TorusFigures};

/// The kind under which parameter sets that come with the package are known.
pub const MACHINES: &str = "machines";

/// What messages and work cost at the ends, found from whole cycles that were measured: `odonata amg fit`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ends {
    /// Measured over counted work: what products of whole cycles take more than those that `flop_ns` was measured on.
    pub compute_factor: f64,
    /// o: the processor's time for sending a message and receiving one, half of it each.
    pub overhead_s: f64,
    /// g: the least time between two messages of a NIC.
    pub gap_s: f64,
    /// Time for each entry of a queue that is compared with a message.
    pub matching_s: f64,
}

/// A parameter set.
#[derive(Clone, PartialEq, Debug)]
pub struct ParameterSet {
    /// What it calls itself.
    pub name: Option<String>,
    /// Which phenomena fit what was measured there best.
    pub scenario: Charges,
    /// The constants.
    pub constants: Constants,
    /// Costs at the ends, if they are known.
    pub ends: Option<Ends>,
}

const BANDWIDTHS: &str = "thread_bandwidth_mb_per_s";
const NETWORK: &str = "network";
const ENDS: &str = "ends";
const KINDS: [&str; 3] = ["dragonfly", "fat-tree", "torus"];

const POSITIVE: Kind = Kind::Number { min: f64::MIN_POSITIVE, max: f64::INFINITY };
const NOT_NEGATIVE: Kind = Kind::Number { min: 0.0, max: f64::INFINITY };

fn keys() -> Vec<Key> {
    vec![
        Key::optional("name", Kind::Text, "the file's name", "What it is called."),
        Key::optional(
            "scenario",
            Charges::KIND,
            "\"alpha-beta-gamma\"",
            "Which phenomena fit cycles best that were measured there: `odonata amg fit` finds it.",
        ),
        Key::required("alpha_us", NOT_NEGATIVE, "Time to start a message to the nearest node."),
        Key::required("beta_ns_per_value", POSITIVE, "Time per 8-byte value."),
        Key::required("gamma_us", NOT_NEGATIVE, "Time per further hop."),
        Key::required("flop_ns", Kind::List(&NOT_NEGATIVE), "Time per operation on levels 0, 1, ..."),
        Key::required("node_bandwidth_gb_per_s", POSITIVE, "What the hardware moves between two nodes."),
        Key::required("cores_per_node", Kind::count(1), "Cores of a node."),
        Key::required("cache_mb_per_node", NOT_NEGATIVE, "Cache that the processes of a node share."),
    ]
}

fn end_keys() -> [Key; 4] {
    // Finite, since nothing checks them again.
    const NOT_NEGATIVE: Kind = Kind::Number { min: 0.0, max: 1e9 };
    [
        Key::required(
            "compute_factor",
            Kind::Number { min: f64::MIN_POSITIVE, max: 1e9 },
            "Measured over counted work.",
        ),
        Key::required("overhead_us", NOT_NEGATIVE, "o: processor time of sending a message and receiving one."),
        Key::required("gap_ns", NOT_NEGATIVE, "g: least time between two messages of a NIC."),
        Key::required("matching_ns", NOT_NEGATIVE, "Time for each entry of a queue that is compared."),
    ]
}

fn network_keys(kind: &str) -> Vec<Key> {
    // No network is larger, and products of these fit in 32 bits.
    let count = |name, max| Key::required(name, Kind::Integer { min: 1, max }, "A count.");
    match kind {
        "dragonfly" => vec![
            count("groups", 1_000_000),
            count("rows", 1024),
            count("columns", 1024),
            count("nodes_per_router", 1024),
            count("links_between_groups", 1_000_000),
        ],
        "fat-tree" => vec![count("levels", 32), count("down", 65_536), count("up", 65_536)],
        _ => vec![
            Key::required(
                "shape",
                Kind::List(&(Kind::Integer { min: 1, max: 1_000_000 })),
                "Nodes along each dimension.",
            ),
            Key::required("wraps", Kind::Flag, "Whether the ends of each dimension are joined."),
        ],
    }
}

/// Reads a parameter set; `file` names it in problems.
///
/// # Errors
/// All mistakes, each with its place.
pub fn read(text: &str, file: &str) -> Result<ParameterSet, Problems> {
    let document = Document::parse(text, file)?;
    let mut report = Report::new(&document);
    let root = &document.root;
    let keys = keys();
    let known: Vec<&'static str> = keys.iter().map(|key| key.name).chain([BANDWIDTHS, NETWORK, ENDS]).collect();
    report.unknown_keys("the parameter set", root, &known, |_| None);
    let fields = Fields::read("the parameter set", document.whole(0), root, &keys, &mut report);
    let mut table = |name: &'static str| match root.get(name) {
        Some(entry) => Some((entry, expect_table(entry, &format!("[{name}]"), &mut report)?)),
        None => {
            report.add_general(ProblemKind::MissingKey, format!("there is no [{name}]"), None);
            None
        }
    };
    let (bandwidths, network) = (table(BANDWIDTHS), table(NETWORK));
    let thread_bandwidth = bandwidths.map_or_else(Vec::new, |(_, table)| read_bandwidths(&table.entries, &mut report));
    let network = network.and_then(|(entry, table)| read_network(entry, table, &mut report));
    let ends = root.get(ENDS).and_then(|entry| read_ends(entry, &mut report));
    let network = report.finish(network)?.expect("a part that is missing is a problem");
    let number = |key: &str| fields.number(key).expect("what is missing is a problem");
    let flops = fields.list("flop_ns").expect("what is missing is a problem").iter();
    let constants = Constants {
        alpha_s: number("alpha_us") * 1e-6,
        beta_s_per_value: number("beta_ns_per_value") * 1e-9,
        gamma_s: number("gamma_us") * 1e-6,
        flop_s: flops.map(|value| if let Value::Number(ns) = value { ns * 1e-9 } else { f64::NAN }).collect(),
        thread_bandwidth,
        node_bandwidth: number("node_bandwidth_gb_per_s") * 1e9,
        cores_per_node: fields.count("cores_per_node").expect("what is missing is a problem"),
        cache_bytes_per_node: number("cache_mb_per_node") * 1e6,
        network,
    };
    constants
        .check()
        .map_err(|error| Problems(vec![document.problem(ProblemKind::Value, None, error.to_string(), None)]))?;
    let scenario = fields.text("scenario").and_then(Charges::from_word).unwrap_or(Charges::AlphaBetaGamma);
    Ok(ParameterSet { name: fields.text("name").map(str::to_owned), scenario, constants, ends })
}

/// Bandwidths by number of threads, ascending.
fn read_bandwidths(entries: &[Entry], report: &mut Report<'_>) -> Vec<(u32, f64)> {
    let mut pairs = Vec::new();
    for entry in entries {
        let Some(threads) = entry.key.parse::<u32>().ok().filter(|threads| *threads > 0) else {
            let message = format!("[{BANDWIDTHS}] has the key '{}'; expected a number of threads from 1 up", entry.key);
            report.add(ProblemKind::UnknownKey, entry.place, message, None);
            continue;
        };
        match odonata_document::read(&POSITIVE, &entry.key, &entry.node) {
            Ok(Value::Number(bandwidth)) => pairs.push((threads, bandwidth * 1e6)),
            Ok(_) => {}
            Err(mismatch) => mismatch.report(report),
        }
    }
    pairs.sort_by_key(|(threads, _)| *threads);
    pairs
}

fn read_ends(entry: &Entry, report: &mut Report<'_>) -> Option<Ends> {
    let heading = format!("[{ENDS}]");
    let table = expect_table(entry, &heading, report)?;
    let fields = Fields::read_all(&heading, entry.place, table, &end_keys(), report);
    Some(Ends {
        compute_factor: fields.number("compute_factor")?,
        overhead_s: fields.number("overhead_us")? * 1e-6,
        gap_s: fields.number("gap_ns")? * 1e-9,
        matching_s: fields.number("matching_ns")? * 1e-9,
    })
}

fn read_network(entry: &Entry, table: &odonata_document::Table, report: &mut Report<'_>) -> Option<NetworkFigures> {
    let Some(kind) = table.get("kind") else {
        report.add(ProblemKind::MissingKey, entry.place, "[network] lacks the key 'kind'", None);
        return None;
    };
    let name = match &kind.node.raw {
        Raw::Text(name) if KINDS.contains(&name.as_str()) => name.as_str(),
        Raw::Text(name) => {
            let message = format!("unknown network.kind '{name}'");
            report.add(ProblemKind::Name, kind.node.place, message, Some(suggestion(name, KINDS)));
            return None;
        }
        other => {
            let message = format!("'network.kind' must be a text, found {}", other.noun());
            report.add(ProblemKind::Type, kind.node.place, message, None);
            return None;
        }
    };
    let keys = network_keys(name);
    let heading = format!("[network] of kind '{name}'");
    let known: Vec<&'static str> = std::iter::once("kind").chain(keys.iter().map(|key| key.name)).collect();
    report.unknown_keys(&heading, table, &known, |_| None);
    let fields = Fields::read(&heading, entry.place, table, &keys, report);
    Some(match name {
        "dragonfly" => NetworkFigures::Dragonfly(DragonflyFigures {
            groups: fields.count("groups")?,
            rows: fields.count("rows")?,
            columns: fields.count("columns")?,
            nodes_per_router: fields.count("nodes_per_router")?,
            links_between_groups: fields.count("links_between_groups")?,
        }),
        "fat-tree" => NetworkFigures::FatTree(FatTreeFigures {
            levels: fields.count("levels")?,
            down: fields.count("down")?,
            up: fields.count("up")?,
        }),
        _ => {
            let shape = fields.counts("shape")?;
            if shape.is_empty() || shape.len() > 16 {
                let message = format!("'shape' has {} dimensions; expected 1 to 16", shape.len());
                report.add(ProblemKind::Value, fields.place_of("shape"), message, None);
                return None;
            }
            NetworkFigures::Torus(TorusFigures { shape, wraps: fields.flag("wraps")? })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eos() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/odonata/amg/data/machines/eos.toml");
        std::fs::read_to_string(path).unwrap()
    }

    fn mistake(from: &str, to: &str) -> String {
        assert!(eos().contains(from), "{from}");
        read(&eos().replace(from, to), "mine.toml").unwrap_err().to_string()
    }

    /// Tables 1 and 2 of the paper.
    #[test]
    fn eos_is_the_papers() {
        let read = read(&eos(), "eos.toml").unwrap();
        assert_eq!((read.name.as_deref(), read.scenario), (Some("eos"), Charges::AlphaBetaGamma));
        let constants = read.constants;
        // At the diameter: 0.238 + 5 * 0.416 = 2.318 us.
        let farthest_s = constants.alpha_s + constants.extra_hops() * constants.gamma_s;
        assert!((farthest_s - 2.318e-6).abs() < 1e-15);
        assert!((constants.beta_s_per_value - 0.858e-9).abs() < 1e-20);
        assert_eq!((constants.flop_s.len(), constants.cores_per_node), (3, 16));
        assert_eq!(constants.thread_bandwidth[4], (16, 678.56e6));
        assert_eq!(constants.network, NetworkFigures::Dragonfly(DragonflyFigures::aries(2)));
    }

    #[test]
    fn the_scenario_may_be_left_out() {
        let of =
            |text: &str| read(&eos().replace("scenario = \"alpha-beta-gamma\"", text), "eos.toml").unwrap().scenario;
        assert_eq!(of(""), Charges::AlphaBetaGamma);
        assert_eq!(of("scenario = \"beta-penalty\""), Charges::BetaPenalty);
    }

    #[test]
    fn mistakes_have_a_place_and_a_nearest_name() {
        let message = mistake("alpha_us", "alpah_us");
        assert!(message.contains("did you mean 'alpha_us'?") && message.contains("mine.toml:"), "{message}");
        assert!(mistake("alpha_us = 0.238", "alpha_us = '0.238 us'").contains("must be a number"));
        assert!(mistake("flop_ns = [1.59, 0.806, 0.545]", "flop_ns = []").contains("time per flop"));
        assert!(mistake("\"dragonfly\"", "\"dragonfy\"").contains("did you mean 'dragonfly'?"));
        assert!(mistake("groups = 2", "rings = 2").contains("lacks the key 'groups'"));
        assert!(mistake("groups = 2", "groups = 0").contains("from 1 to 1000000"));
        assert!(mistake("1 = 11106.0", "0 = 11106.0").contains("number of threads"));
        let scenario = "scenario = \"alpha-beta-gamma\"";
        assert!(mistake(scenario, "scenario = \"alpha-beta-gama\"").contains("did you mean 'alpha-beta-gamma'?"));
        assert!(mistake("[network]", "[networks]").contains("there is no [network]"));
    }
}

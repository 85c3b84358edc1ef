//! The parameters of patterns and placements, as keys.
//!
//! Names and defaults come from the workload crate; type and meaning stand here. A parameter that this table lacks
//! fails a test.

use crate::key::{Chooser, Default, Key, Kind, Variant};
use odonata_declare::Value;
use odonata_units::Quantity;
use odonata_workload::{PatternSpec, PlacementSpec};
use serde_json::Value as Json;

/// The word that stands for a default that is worked out.
const AUTO: &str = "auto";

/// Type and meaning of a parameter; `owner` is empty if it is the same wherever it occurs.
struct Parameter {
    owner: &'static str,
    name: &'static str,
    kind: fn() -> Kind,
    doc: &'static str,
}

const fn parameter(owner: &'static str, name: &'static str, kind: fn() -> Kind, doc: &'static str) -> Parameter {
    Parameter { owner, name, kind, doc }
}

fn counts() -> Kind {
    Kind::List(Box::new(Kind::count(1)))
}

fn count() -> Kind {
    Kind::count(1)
}

/// At most 2^24, since those of one rank are listed at a time; more are more iterations.
fn messages() -> Kind {
    Kind::Integer { min: 1, max: 1 << 24 }
}

fn share() -> Kind {
    Kind::Number { min: 0.0, max: 1.0 }
}

fn grid_order() -> Kind {
    Kind::choice(&[
        ("row-major", "the last one, as `MPI_Cart_create` numbers them"),
        ("column-major", "the first one, as lattice codes number them (x fastest)"),
    ])
}

fn amg_phase() -> Kind {
    Kind::choice(&[
        ("smooth", "one product with the level's matrix; a cycle has three on each level"),
        ("restrict", "to the next coarser level"),
        ("interpolate", "to the next finer level"),
        ("coarsen", "choosing coarse points and interpolation, in the set-up; needs a hierarchy made with `--record`"),
        ("galerkin", "the triple matrix product, in the set-up; needs a hierarchy made with `--record`"),
    ])
}

fn group_target() -> Kind {
    Kind::choice(&[
        ("random", "a uniformly random one, drawn for every message"),
        ("matching", "the one with the same index within its group, modulo the size of that group"),
    ])
}

fn distribution() -> Kind {
    Kind::choice(&[
        ("geometric", "two-sided geometric: the chance falls by the same factor from each router to the next"),
        ("binomial", "binomial with p = 1/2, in its normal limit"),
    ])
}

const PARAMETERS: &[Parameter] = &[
    parameter("", "bytes", || Kind::Bytes, "Size of each message."),
    parameter("", "messages", messages, "Messages of each rank in one iteration."),
    parameter("", "dims", counts, "Sizes of the process grid; near-cubic, the largest first, if not given."),
    parameter("tornado", "dims", counts, "Sizes of a process grid, row-major, whose dimensions are the rings; the machine's own if not given."),
    parameter("", "order", grid_order, "Which dimension is the fastest in the numbering of the ranks."),
    parameter("", "periodic", || Kind::Flag, "Whether every dimension of the process grid wraps around."),
    parameter("", "group", count, "Ranks in a group; if not given, 16 below 32,768 ranks, 32 below 65,536, else 64."),
    parameter(
        "",
        "stride",
        count,
        "Distance in ranks between the members of a group; half the size of the group if not given. 1 gives contiguous groups, ranks / \
         group the most scattered ones.",
    ),
    parameter("", "neighbors_min", || Kind::count(0), "Fewest neighbours of a rank."),
    parameter("", "neighbors_max", || Kind::count(0), "Most neighbours of a rank; the number is uniform between the two."),
    parameter("", "symmetric", || Kind::Flag, "Whether a neighbour always sends back."),
    parameter("", "reach", count, "Greatest distance of a neighbour, in ranks."),
    parameter("", "offset", || Kind::ANY_INTEGER, "How many groups further; may be negative."),
    parameter("", "target", group_target, "Which rank of that group."),
    parameter(
        "",
        "group_ranks",
        count,
        "Cuts the ranks into groups of this many; if not given, by the machine groups that they run on.",
    ),
    parameter("", "hot_ranks", count, "Number of hot ranks."),
    parameter("", "share", share, "Share of the messages that go to the hot ranks."),
    parameter(
        "amg",
        "hierarchy",
        || Kind::Path,
        "A directory of `odonata amg hierarchy`, a table of levels (JSON, CSV, Parquet) or of messages (CSV, Parquet), or the name \
         of a hierarchy that comes with the package. Tables of levels have no messages: only the model engine can use them.",
    ),
    parameter("amg", "level", || Kind::count(0), "The level, the finest being 0."),
    parameter("amg", "phase", amg_phase, "What is sent."),
    parameter(
        "amg",
        "regrouped",
        || Kind::Flag,
        "Whether to take the levels that follow the redistribution with which the directory was made.",
    ),
    parameter("file", "path", || Kind::Path, "The file: CSV, Parquet or the binary of Damselfly."),
    parameter("", "iterations", count, "How often every rank sends its messages."),
    parameter("", "job", || Kind::count(0), "Number of the job in the file; if not given, the only one, or that of this job."),
    parameter(
        "",
        "sorted",
        || Kind::Flag,
        "Whether the ranks fill the drawn nodes in the order of the machine instead of the order of the draw.",
    ),
    parameter("", "distribution", distribution, "How the chance of a router falls off with its distance from the centre."),
    parameter(
        "",
        "spread",
        || Kind::Number { min: 0.0, max: f64::INFINITY },
        "Width of the distribution in routers, as a share of the routers that the job fills: the mean distance of the geometric, the \
         standard deviation of the binomial distribution.",
    ),
    parameter("", "scattered", share, "Share of the nodes that are drawn uniformly from all free ones."),
    parameter(
        "",
        "nodes",
        || Kind::List(Box::new(Kind::Any(vec![Kind::count(0), Kind::Text]))),
        "The nodes in the order in which the ranks fill them, by number or name; exactly as many as the job needs.",
    ),
];

/// The patterns as what the key `pattern` chooses.
pub(crate) fn patterns() -> Chooser {
    let variant = |&name: &&'static str| Variant {
        name,
        doc: PatternSpec::summary(name).expect("a known pattern"),
        keys: keys(name, &PatternSpec::parse(name).expect("a known pattern").parameters()),
    };
    Chooser { key: "pattern", noun: "pattern", variants: PatternSpec::names().iter().map(variant).collect() }
}

/// The placements as what the key `placement` chooses.
pub(crate) fn placements() -> Chooser {
    let variant = |&name: &&'static str| Variant {
        name,
        doc: PlacementSpec::summary(name).expect("a known placement"),
        keys: keys(name, &PlacementSpec::parse(name).expect("a known placement").parameters()),
    };
    Chooser { key: "placement", noun: "placement", variants: PlacementSpec::names().iter().map(variant).collect() }
}

/// The keys of the parameters `defaults`, in the order of the table.
fn keys(owner: &str, defaults: &serde_json::Map<String, Json>) -> Vec<Key> {
    let mut keys: Vec<(usize, Key)> = defaults.iter().map(|(name, default)| key(owner, name, default)).collect();
    keys.sort_by_key(|(position, _)| *position);
    keys.into_iter().map(|(_, key)| key).collect()
}

fn key(owner: &str, name: &str, default: &Json) -> (usize, Key) {
    let listed = |of: &str| PARAMETERS.iter().position(|p| p.owner == of && p.name == name);
    let Some(position) = listed(owner).or_else(|| listed("")) else {
        panic!("parameter '{name}' of '{owner}' has no type and meaning in the table of parameters");
    };
    let parameter = &PARAMETERS[position];
    let kind = (parameter.kind)();
    let (kind, default) = match default {
        Json::Null => (Kind::word_or(AUTO, "worked out", kind), Default::Value(Value::text(AUTO))),
        given => {
            let value = from_json(&kind, given);
            (kind, value.map_or(Default::Required, Default::Value))
        }
    };
    (position, Key { name: parameter.name, kind, default, doc: parameter.doc })
}

/// A parameter's value as the workload crate takes it.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Text(text) if text == AUTO => Json::Null,
        other => other.to_json(),
    }
}

/// A parameter's value as it stands in a file; `None` for an empty text or list, which stands for what must be given.
pub(crate) fn from_json(kind: &Kind, json: &Json) -> Option<Value> {
    Some(match (kind, json) {
        (_, Json::Null) => Value::text(AUTO),
        (Kind::Any(kinds), _) => kinds.iter().rev().find_map(|kind| from_json(kind, json))?,
        (Kind::Bytes, Json::String(text)) => Value::Bytes(Quantity::bytes(text).ok()?),
        (Kind::Time, Json::String(text)) => Value::Time(Quantity::time(text).ok()?),
        (Kind::Rate, Json::String(text)) => Value::Rate(Quantity::rate(text).ok()?),
        (_, Json::String(text)) if text.is_empty() => return None,
        (_, Json::String(text)) => Value::text(text),
        (_, Json::Bool(flag)) => Value::Flag(*flag),
        (Kind::Number { .. }, Json::Number(n)) => Value::Number(n.as_f64()?),
        (_, Json::Number(n)) => Value::Integer(n.as_i64()?),
        (_, Json::Array(items)) if items.is_empty() => return None,
        (Kind::List(of), Json::Array(items)) => {
            Value::List(items.iter().map(|item| from_json(of, item)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

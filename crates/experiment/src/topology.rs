//! Families of machines: their keys in `[machine]`, and how a builder comes of them.

use crate::fields::{Fields, Report};
use crate::key::{Key, Kind, Variant};
use crate::problem::ProblemKind;
use odonata_declare::Value;
use odonata_machine::topology::{Arrangement, Cascade, Dragonfly, FatTree, GlobalCables, Torus, Xgft};
use odonata_machine::{MachineBuilder, MachineError};

/// A family: one line of the table [`TOPOLOGIES`].
pub(crate) struct Topology {
    name: &'static str,
    doc: &'static str,
    keys: fn() -> Vec<Key>,
    build: fn(&Fields, &Context<'_>) -> Result<MachineBuilder, MachineError>,
}

/// What a family needs besides its own keys.
pub(crate) struct Context<'a> {
    /// Seed of the run.
    pub(crate) seed: u64,
    /// Port budget that `[machine.class.NAME]` gives for a class.
    pub(crate) ports: &'a dyn Fn(&str) -> Option<u32>,
}

const TOPOLOGIES: &[Topology] = &[
    Topology {
        name: "dragonfly",
        doc: "Groups of routers that are all joined to each other; every two groups are joined by global cables.",
        keys: dragonfly_keys,
        build: dragonfly,
    },
    Topology {
        name: "cascade",
        doc: "Cray Cascade (XC) with Aries routers: groups of rows and columns.",
        keys: cascade_keys,
        build: cascade,
    },
    Topology { name: "torus", doc: "Torus, or mesh where a dimension does not wrap.", keys: torus_keys, build: torus },
    Topology { name: "fat-tree", doc: "Fat tree of routers with k ports.", keys: fat_tree_keys, build: fat_tree },
    Topology { name: "xgft", doc: "Extended generalised fat tree.", keys: xgft_keys, build: xgft },
];

/// All families, as what the key `topology` chooses.
pub(crate) fn variants() -> Vec<Variant> {
    TOPOLOGIES.iter().map(|t| Variant { name: t.name, doc: t.doc, keys: (t.keys)() }).collect()
}

/// Builds a machine of the family `name`.
pub(crate) fn build(name: &str, fields: &Fields, context: &Context<'_>) -> Result<MachineBuilder, MachineError> {
    let topology = TOPOLOGIES.iter().find(|topology| topology.name == name).expect("a known family");
    (topology.build)(fields, context)
}

/// Every key of a family with its value.
pub(crate) fn resolved(fields: &Fields, seed: u64) -> Vec<(&'static str, Value)> {
    let drawn = |key| key == SEED && fields.text(ARRANGEMENT) == Some(RANDOM);
    let of_run = || Value::Integer(i64::try_from(seed).expect("a seed is read from a signed number"));
    let value = |key| fields.value(key).cloned().or_else(|| drawn(key).then(of_run));
    fields.keys().filter_map(|key| Some((key, value(key)?))).collect()
}

/// Reports a seed that nothing is drawn with.
pub(crate) fn check(fields: &Fields, report: &mut Report<'_>) {
    match fields.given(SEED) {
        Some(seed) if fields.text(ARRANGEMENT) != Some(RANDOM) => {
            let message = format!("'{SEED}' means something only with {ARRANGEMENT} = \"{RANDOM}\"");
            report.add(ProblemKind::Conflict, seed.place, message, None);
        }
        _ => {}
    }
}

/// The name of the key that a family's parameter has in the file, where the two differ.
pub(crate) fn key_of(parameter: &str) -> &str {
    match parameter {
        "cables_per_group_pair" => "global_cables",
        other => other,
    }
}

fn count(name: &'static str, min: u32, default: u32, doc: &'static str) -> Key {
    Key::with_default(name, Kind::count(min), Value::Integer(default.into()), doc)
}

fn counts(name: &'static str, default: &[u32], doc: &'static str) -> Key {
    let values = default.iter().map(|&n| Value::Integer(n.into())).collect();
    Key::with_default(name, Kind::List(Box::new(Kind::count(1))), Value::List(values), doc)
}

const ARRANGEMENT: &str = "arrangement";
const SEED: &str = "arrangement_seed";
const RANDOM: &str = "random";
const NODES_PER_ROUTER: &str = "Nodes of each router.";

fn dragonfly_keys() -> Vec<Key> {
    let d = Dragonfly::default();
    vec![
        count("p", 1, d.p, "Nodes of each router."),
        count("a", 1, d.a, "Routers of each group."),
        count("h", 0, d.h, "Global ports of each router."),
        count("g", 1, d.g, "Groups; at most a h + 1."),
        Key::with_default(
            ARRANGEMENT,
            Kind::choice(&[
                ("absolute", "port q of a group leads to group q, or q + 1 from the group's own number on"),
                ("relative", "port q of group G leads to group G + 1 + q"),
                ("circulant", "ports lead by turns to the groups after and before"),
                ("palm-tree", "port q of group G leads to group G - 1 - q"),
                (
                    RANDOM,
                    "every group's ports lead to the others in an order of their own, drawn with `arrangement_seed`",
                ),
            ]),
            Value::text("absolute"),
            "Which global port leads to which group.",
        ),
        Key::optional(
            SEED,
            Kind::Integer { min: 0, max: i64::MAX },
            "the seed of the run",
            "Seed of the random arrangement.",
        ),
        Key::with_default(
            "global_cables",
            Kind::word_or("fill", "as many as the ports allow, the same for all pairs", Kind::count(1)),
            Value::text("fill"),
            "Cables between every two groups.",
        ),
        count("local_cables", 1, d.local_cables, "Parallel cables between every two routers of a group."),
    ]
}

fn dragonfly(fields: &Fields, context: &Context<'_>) -> Result<MachineBuilder, MachineError> {
    let d = Dragonfly::default();
    let count = |key: &str, default: u32| fields.count(key).unwrap_or(default);
    let seed = fields.integer(SEED).map_or(context.seed, i64::unsigned_abs);
    let arrangement = match fields.text(ARRANGEMENT) {
        Some("relative") => Arrangement::Relative,
        Some("circulant") => Arrangement::Circulant,
        Some("palm-tree") => Arrangement::PalmTree,
        Some(RANDOM) => Arrangement::Random { seed },
        _ => Arrangement::Absolute,
    };
    let global_cables = match fields.value("global_cables") {
        Some(Value::Integer(_)) => Some(count("global_cables", 1)),
        _ => None,
    };
    Dragonfly {
        p: count("p", d.p),
        a: count("a", d.a),
        h: count("h", d.h),
        g: count("g", d.g),
        local_cables: count("local_cables", d.local_cables),
        arrangement,
        global_cables,
        ..d
    }
    .builder()
}

fn cascade_keys() -> Vec<Key> {
    let c = Cascade::default();
    vec![
        count("groups", 1, c.groups, "Groups (pairs of cabinets)."),
        count("rows", 1, c.rows, "Rows (chassis) of a group."),
        count("columns", 1, c.columns, "Columns (slots of a chassis)."),
        count("nodes_per_router", 1, c.nodes_per_router, NODES_PER_ROUTER),
        Key::with_default(
            "usable_nodes",
            Kind::word_or("all", "no service nodes", Kind::count(1)),
            Value::text("all"),
            "Nodes that jobs can use; the others are service nodes at routers spread evenly.",
        ),
        count("green", 0, c.green, "Parallel green cables between two routers of a row."),
        count("black", 0, c.black, "Parallel black cables between two routers of a column."),
        count("blue", 0, c.blue, "Parallel blue cables between two joined routers of different groups."),
        count(
            "gateway_columns",
            1,
            c.gateway_columns,
            "Gateway columns, of two router columns each, to every other group.",
        ),
    ]
}

fn cascade(fields: &Fields, context: &Context<'_>) -> Result<MachineBuilder, MachineError> {
    let c = Cascade::default();
    let count = |key: &str, default: u32| fields.count(key).unwrap_or(default);
    // The blue ports decide on how many rows two groups are joined, so they must be known before the cabling.
    let ports = |class: &str, default: u32| (context.ports)(class).unwrap_or(default);
    Cascade {
        groups: count("groups", c.groups),
        rows: count("rows", c.rows),
        columns: count("columns", c.columns),
        nodes_per_router: count("nodes_per_router", c.nodes_per_router),
        usable_nodes: match fields.value("usable_nodes") {
            Some(Value::Integer(_)) => fields.count("usable_nodes"),
            _ => None,
        },
        green: count("green", c.green),
        black: count("black", c.black),
        blue: count("blue", c.blue),
        gateway_columns: count("gateway_columns", c.gateway_columns),
        green_ports: ports("green", c.green_ports),
        black_ports: ports("black", c.black_ports),
        blue_ports: ports("blue", c.blue_ports),
        ..c
    }
    .builder()
}

fn torus_keys() -> Vec<Key> {
    let t = Torus::default();
    vec![
        counts("dims", &t.dims, "Size of each dimension."),
        Key::with_default(
            "wrap",
            Kind::Any(vec![Kind::Flag, Kind::List(Box::new(Kind::Flag))]),
            Value::Flag(true),
            "Whether the dimensions wrap around: one answer for all, or a list with one for each.",
        ),
        count("nodes_per_router", 1, t.nodes_per_router, NODES_PER_ROUTER),
        count("links_per_direction", 1, t.links_per_direction, "Parallel cables in each direction."),
    ]
}

fn torus(fields: &Fields, _: &Context<'_>) -> Result<MachineBuilder, MachineError> {
    let t = Torus::default();
    let dims = fields.counts("dims").unwrap_or(t.dims);
    let wrap = match fields.value("wrap") {
        Some(Value::List(flags)) => flags.iter().map(|flag| *flag == Value::Flag(true)).collect(),
        Some(Value::Flag(flag)) => vec![*flag; dims.len()],
        _ => vec![true; dims.len()],
    };
    let count = |key: &str, default: u32| fields.count(key).unwrap_or(default);
    Torus {
        wrap,
        nodes_per_router: count("nodes_per_router", t.nodes_per_router),
        links_per_direction: count("links_per_direction", t.links_per_direction),
        dims,
        ..Torus::default()
    }
    .builder()
}

fn fat_tree_keys() -> Vec<Key> {
    let f = FatTree::default();
    vec![
        count("k", 2, f.k, "Ports of each router; even."),
        count("levels", 2, f.levels, "Levels of routers."),
        count(
            "oversubscription",
            1,
            f.oversubscription,
            "Down ports for each up port of an edge router; this number plus 1 divides k.",
        ),
    ]
}

fn fat_tree(fields: &Fields, _: &Context<'_>) -> Result<MachineBuilder, MachineError> {
    let f = FatTree::default();
    FatTree {
        k: fields.count("k").unwrap_or(f.k),
        levels: fields.count("levels").unwrap_or(f.levels),
        oversubscription: fields.count("oversubscription").unwrap_or(f.oversubscription),
        ..f
    }
    .builder()
}

fn xgft_keys() -> Vec<Key> {
    vec![
        counts("children", &[8, 8, 16], "Nodes of an edge router, then children of a router of each higher level."),
        counts(
            "parents",
            &[1, 8, 8],
            "Routers of a node, always 1, then parents of a router of each level but the top.",
        ),
        Key::with_default(
            "parallel",
            Kind::Any(vec![Kind::count(1), Kind::List(Box::new(Kind::count(1)))]),
            Value::Integer(1),
            "Parallel cables from a level of routers to the next: one number for all, or a list with one for each.",
        ),
    ]
}

fn xgft(fields: &Fields, _: &Context<'_>) -> Result<MachineBuilder, MachineError> {
    let f = FatTree::default();
    let children = fields.counts("children").unwrap_or_default();
    let parallel = match fields.value("parallel") {
        Some(Value::List(_)) => fields.counts("parallel").unwrap_or_default(),
        _ => vec![fields.count("parallel").unwrap_or(1); children.len().saturating_sub(1)],
    };
    let parents = fields.counts("parents").unwrap_or_default();
    Xgft {
        children,
        parents,
        parallel,
        local: f.local,
        global: f.global,
        terminal: f.terminal,
        cores_per_node: f.cores_per_node,
    }
    .builder()
}

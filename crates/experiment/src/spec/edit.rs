//! `edit`: changes of the cabling, as short texts or as tables.

use odonata_declare::{Key, Kind};
use odonata_document::{Entry, Fields, Node, PlacedValue, ProblemKind, Raw, Report, Table};
use odonata_machine::edit::{Amount, CableChange, Edit};

const NONE: &str = "none";

const CABLES: Kind = Kind::Integer { min: 1, max: 65_535 };

/// The keys of an edit that is a table.
pub(crate) const KEYS: &[Key] = &[
    Key::optional("class", Kind::Text, NONE, "Link class of `add`, `remove` or `fail_fraction`."),
    Key::optional("add", CABLES, NONE, "Additional cables between each two routers with cables of the class."),
    Key::optional("remove", CABLES, NONE, "Cables to remove between each two routers with cables of the class."),
    Key::optional(
        "add_per_group_pair",
        CABLES,
        NONE,
        "Additional cables of the class between each two groups with such cables, spread evenly.",
    ),
    Key::optional(
        "remove_per_group_pair",
        CABLES,
        NONE,
        "Cables of the class to remove between each two groups with such cables, spread evenly.",
    ),
    Key::optional("add_share", Kind::SHARE, NONE, "Additional cables of the class as a share of all, spread evenly."),
    Key::optional("remove_share", Kind::SHARE, NONE, "Cables of the class to remove as a share of all, spread evenly."),
    Key::optional("fail_fraction", Kind::SHARE, NONE, "Random fraction of the cables of the class that fail."),
    Key::optional("fail_routers", Kind::SHARE, NONE, "Random fraction of the routers that fail."),
    Key::optional("fail_router", Kind::Text, NONE, "Name or number of a router that fails."),
    Key::optional("fail_node", Kind::Text, NONE, "Name or number of a node that jobs cannot use."),
    Key::optional("fail_link", Kind::Text, NONE, "Name or number of a link whose cable fails."),
];

/// Reads the edits; a single one need not be in a list.
pub(crate) fn read_all(entry: Option<&Entry>, report: &mut Report<'_>) -> Vec<PlacedValue<Edit>> {
    let Some(entry) = entry else { return Vec::new() };
    entry.node.one_or_more().iter().filter_map(|node| read(node, report)).collect()
}

fn read(node: &Node, report: &mut Report<'_>) -> Option<PlacedValue<Edit>> {
    let edit = match &node.raw {
        Raw::Text(text) => match Edit::parse(text) {
            Ok(edit) => Some(edit),
            Err(error) => {
                report.add(ProblemKind::Value, node.place, error.to_string(), None);
                None
            }
        },
        Raw::Table(table) => read_table(node, table, report),
        other => {
            let message = format!("an edit must be a text or a table, found {}", other.noun());
            report.add(ProblemKind::Type, node.place, message, Some("write `edit = [\"-K\"]`".into()));
            None
        }
    };
    edit.map(|value| PlacedValue { value, place: node.place })
}

fn read_table(node: &Node, table: &Table, report: &mut Report<'_>) -> Option<Edit> {
    let fields = Fields::read_all("an edit", node.place, table, KEYS, report);
    let cables = |per_pair: i64| -> Option<Edit> {
        let class = fields.text("class")?.to_owned();
        Some(Edit::Cables(vec![CableChange { class, per_pair: i32::try_from(per_pair).expect("a count in range") }]))
    };
    let pairs = |count: i64| Amount::PerGroupPair(i32::try_from(count).expect("a count in range"));
    let spread = |amount| Some(Edit::Spread { class: fields.text("class")?.to_owned(), amount });
    let given: Vec<&'static str> = fields.all_given().map(|(key, _)| key).collect();
    let edit = match given[..] {
        ["class", "add"] => cables(fields.integer("add")?),
        ["class", "remove"] => cables(-fields.integer("remove")?),
        ["class", "add_per_group_pair"] => spread(pairs(fields.integer("add_per_group_pair")?)),
        ["class", "remove_per_group_pair"] => spread(pairs(-fields.integer("remove_per_group_pair")?)),
        ["class", "add_share"] => spread(Amount::Share(fields.number("add_share")?)),
        ["class", "remove_share"] => spread(Amount::Share(-fields.number("remove_share")?)),
        ["class", "fail_fraction"] => {
            Some(Edit::FailCables { class: fields.text("class")?.into(), fraction: fields.number("fail_fraction")? })
        }
        ["fail_routers"] => Some(Edit::FailRouters { fraction: fields.number("fail_routers")? }),
        ["fail_router"] => Some(Edit::FailRouter(fields.text("fail_router")?.into())),
        ["fail_node"] => Some(Edit::FailNode(fields.text("fail_node")?.into())),
        ["fail_link"] => Some(Edit::FailLink(fields.text("fail_link")?.into())),
        _ => None,
    };
    // Where a value was wrong, that has been said.
    if edit.is_none() && given.len() == table.entries.len() {
        let help =
            "write { class, add }, { class, remove }, { class, remove_per_group_pair }, { class, remove_share } (or add_), { class, fail_fraction }, { fail_routers }, { fail_router }, \
                    { fail_node } or { fail_link }";
        report.add(ProblemKind::Value, node.place, "this table is no edit", Some(help.into()));
    }
    edit
}

//! Machines in pieces, and edits that take more than most people mean.

use super::failures::{listed, plural};
use odonata_machine::metrics::Connectivity;
use odonata_machine::{Machine, MachineBuilder};

/// What to do about a machine in pieces.
pub(super) const NO_PATHS: &str =
    "undo an edit, or give the machine further paths: a tree with one switch at its top can't lose that switch";

/// The machine whose cut-off routers fail, and which these are.
pub(super) fn without(machine: Machine, cut: &Connectivity) -> (Machine, String) {
    let names: Vec<String> = cut.cut_off.iter().map(|&router| machine.router_name(router)).collect();
    let fails = if names.len() == 1 { "it counts" } else { "they count" };
    let words = format!(
        "failed or missing cables cut off {} with {}, so {fails} as failed",
        listed(&names),
        plural(cut.nodes_cut_off, "node")
    );
    let mut builder = MachineBuilder::from(machine);
    cut.cut_off.iter().for_each(|router| builder.router_up[router.index()] = false);
    (builder.build().expect("a machine with fewer working routers is one"), words)
}

/// The classes with the number of their cables.
pub(super) fn cables_by_class(builder: &MachineBuilder) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = builder.classes.iter().map(|class| (class.name.clone(), 0)).collect();
    builder.cables.iter().for_each(|cable| found[cable.class.index()].1 += 1);
    found
}

/// Edits that take away more than most people mean: a whole class.
pub(super) fn edit_warnings(before: &[(String, usize)], after: &[(String, usize)]) -> Vec<String> {
    let gone = before.iter().zip(after).filter(|(before, after)| before.1 > 0 && after.1 == 0);
    let gone = gone.map(|((name, count), _)| {
        format!(
            "the edits remove all {count} {name} cables: '-1 {name}' is one for each pair of joined routers; '-1 {name} per \
             group pair' and '-50% {name}' take some"
        )
    });
    gone.collect()
}

/// Cables that the machine lacks to be in one piece.
pub(super) fn cut_warning(found: &Connectivity) -> Option<String> {
    (found.components > 1).then(|| {
        format!(
            "the edits cut the machine into {} parts; {} working routers with {} nodes are outside of the largest",
            found.components,
            found.cut_off.len(),
            found.nodes_cut_off
        )
    })
}

//! Jobs that lose nodes to failures. A job whose placement lists its nodes can't move to others, so it ends with them.

use odonata_machine::{Machine, MachineBuilder};
use odonata_units::NodeId;
use odonata_workload::JobSpec;
use serde_json::{json, Value};
use std::collections::BTreeSet;

/// Names in a list; further ones are counted.
const NAMED_MAX: usize = 4;

/// The nodes that jobs could use before the edits of the machine, and no more.
#[derive(Debug, Default)]
pub(super) struct FailedNodes {
    /// The nodes, ascending.
    nodes: Vec<NodeId>,
    /// What failed with each of them: routers, or the node itself.
    causes: Vec<Vec<String>>,
}

/// Whether jobs can use each NIC.
pub(super) fn usable_nics(builder: &MachineBuilder) -> Vec<bool> {
    let works = |(router, &up): (&odonata_units::RouterId, &bool)| up && builder.router_up[router.index()];
    builder.node_router.iter().zip(&builder.node_up).map(works).collect()
}

impl FailedNodes {
    /// The nodes of `machine` of which a NIC was usable `before`, and none is now.
    pub(super) fn of(machine: &Machine, before: &[bool]) -> Self {
        let ends = |host: NodeId| (0..machine.rails().of_node()).map(move |rail| machine.end(host, rail));
        let has_failed =
            |&host: &NodeId| ends(host).any(|end| before[end.index()]) && !ends(host).any(|end| machine.node_up(end));
        let nodes: Vec<NodeId> = (0..machine.host_count()).map(NodeId::from_index).filter(has_failed).collect();
        let causes = nodes.iter().map(|&host| {
            let routers = ends(host).map(|end| machine.router_of(end)).filter(|&router| !machine.router_up(router));
            let names: BTreeSet<String> = routers.map(|router| machine.router_name(router)).collect();
            if names.is_empty() {
                vec![machine.node_name(host)]
            } else {
                names.into_iter().collect()
            }
        });
        Self { causes: causes.collect(), nodes }
    }

    /// What failed and how many nodes with it, for a job that finds too few; `None` if no node failed.
    pub(super) fn describe(&self) -> Option<String> {
        let count = self.nodes.len();
        let causes = listed(&distinct(self.causes.iter().flatten()));
        (count > 0).then(|| format!("{} can't be used, because of failures: {causes}", plural(count, "node")))
    }

    /// The jobs that lose nodes.
    pub(super) fn jobs(&self, specs: &[JobSpec], hosts: &Machine) -> Vec<AbsentJob> {
        if self.nodes.is_empty() {
            return Vec::new();
        }
        let lost = |(number, spec): (usize, &JobSpec)| {
            let given = spec.given_nodes(number, hosts);
            let lost = given.iter().filter_map(|node| self.nodes.binary_search(node).ok()).collect::<Vec<_>>();
            (!lost.is_empty()).then(|| AbsentJob {
                number,
                name: spec.name.clone(),
                ranks: spec.ranks,
                nodes: given.len(),
                lost_nodes: lost.iter().map(|&at| hosts.node_name(self.nodes[at])).collect(),
                failed: distinct(lost.iter().flat_map(|&at| &self.causes[at])),
            })
        };
        specs.iter().enumerate().filter_map(lost).collect()
    }
}

/// A job that is left out, since nodes of it failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AbsentJob {
    /// Its position in the experiment.
    pub(super) number: usize,
    name: String,
    ranks: u32,
    /// Number of its nodes, the lost ones included.
    nodes: usize,
    lost_nodes: Vec<String>,
    /// Routers and nodes whose failure takes them.
    failed: Vec<String>,
}

impl AbsentJob {
    pub(crate) fn json(&self) -> Value {
        let Self { name, ranks, nodes, lost_nodes, failed, .. } = self;
        json!({ "name": name, "ranks": ranks, "nodes": nodes, "lost_nodes": lost_nodes, "failed": failed })
    }
}

/// Which jobs end with which failures: `leaf03 fails: llm and wrf lose 12 and 4 nodes`. `None` without such jobs.
pub(super) fn describe(jobs: &[AbsentJob]) -> Option<String> {
    let failed = distinct(jobs.iter().flat_map(|job| &job.failed));
    let fails = if failed.len() == 1 { "fails" } else { "fail" };
    let failed = listed(&failed);
    match jobs {
        [] => None,
        [AbsentJob { name, nodes, lost_nodes, .. }] => {
            let of = if lost_nodes.len() == *nodes { String::new() } else { format!(" of {nodes}") };
            let lost = if of.is_empty() { plural(*nodes, "node") } else { format!("{}{of} nodes", lost_nodes.len()) };
            Some(format!("{failed} {fails}: {name} loses {lost}"))
        }
        _ => {
            let names: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
            let counts: Vec<String> = jobs.iter().map(|job| job.lost_nodes.len().to_string()).collect();
            Some(format!("{failed} {fails}: {} lose {} nodes", listed(&names), listed(&counts)))
        }
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names.collect::<BTreeSet<_>>().into_iter().cloned().collect()
}

pub(super) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`; further names are counted.
pub(super) fn listed(names: &[String]) -> String {
    let named = &names[..if names.len() > NAMED_MAX + 1 { NAMED_MAX } else { names.len() }];
    match (named, names.len() - named.len()) {
        ([], _) => String::new(),
        ([first @ .., last], 0) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        (all, 0) => all.join(", "),
        (all, more) => format!("{} and {more} more", all.join(", ")),
    }
}

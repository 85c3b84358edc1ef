//! Placement tables from files: the node of every rank.

use crate::WorkloadError;
use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_units::NodeId;

/// Nodes of the ranks of one or more jobs. The readers of [`crate::import`] create it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacementTable {
    label: String,
    /// Unit of `Entry::at`: `line`, `byte` or `row`.
    unit: &'static str,
    entries: Vec<Entry>,
}

/// One rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) job: u32,
    pub(crate) rank: u32,
    pub(crate) place: Place,
    /// Core on its node, if the file gives it.
    pub(crate) core: Option<u32>,
    /// Position in the file.
    pub(crate) at: u64,
}

/// A node in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// By its number.
    Id(u32),
    /// By its name, or its number as text.
    Name(String),
    /// By the number of a core. TraceR numbers the servers of a router so that its nodes get them in turn.
    Server(u32),
    /// By group, row, column and index at the router.
    Coordinates([u32; 4]),
}

impl PlacementTable {
    pub(crate) fn new(label: &str, unit: &'static str, entries: Vec<Entry>) -> Self {
        Self { label: label.into(), unit, entries }
    }

    /// Numbers of the jobs in the table, ascending.
    pub fn jobs(&self) -> Vec<u32> {
        let mut jobs: Vec<u32> = self.entries.iter().map(|entry| entry.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// Number of ranks of job `job`.
    pub fn ranks(&self, job: u32) -> usize {
        self.entries.iter().filter(|entry| entry.job == job).count()
    }

    /// The entries of a job by rank, every rank from 0 exactly once.
    pub(crate) fn of_job(&self, job: u32, ranks: u32) -> Result<Vec<&Entry>, WorkloadError> {
        let mut entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.job == job).collect();
        entries.sort_by_key(|entry| entry.rank);
        for (expected, entry) in entries.iter().enumerate() {
            if entry.rank as usize != expected {
                return Err(self.error(
                    entry,
                    if (entry.rank as usize) < expected {
                        format!("rank {} of job {job} appears a second time", entry.rank)
                    } else {
                        format!("job {job} has rank {}, but no rank {expected}", entry.rank)
                    },
                ));
            }
        }
        if entries.len() != ranks as usize {
            let reason = format!("{} ranks of job {job}, but the job has {ranks}", entries.len());
            return Err(WorkloadError::file(&self.label, format!("job {job}"), reason));
        }
        Ok(entries)
    }

    /// An error at `entry`.
    pub(crate) fn error(&self, entry: &Entry, reason: impl Into<String>) -> WorkloadError {
        WorkloadError::file(&self.label, format!("{} {}", self.unit, entry.at), reason)
    }

    /// The node that `entry` names.
    pub(crate) fn node(&self, machine: &Machine, entry: &Entry) -> Result<NodeId, WorkloadError> {
        let named = |name: &str| machine.node_named(name).map_err(|error| self.error(entry, error.to_string()));
        match &entry.place {
            Place::Id(id) => named(&id.to_string()),
            Place::Name(name) => named(name),
            Place::Server(server) => server_at(machine, *server).map_err(|reason| self.error(entry, reason)),
            Place::Coordinates(coordinates) => {
                node_at(machine, *coordinates).map_err(|reason| self.error(entry, reason))
            }
        }
    }
}

/// The node of a server of TraceR.
fn server_at(machine: &Machine, server: u32) -> Result<NodeId, String> {
    let cores = machine.cores_per_node();
    let node = NodeId(server / cores);
    if node.index() >= machine.node_count() {
        let most = machine.node_count() as u64 * u64::from(cores) - 1;
        return Err(format!("server {server}, but {} has servers 0 to {most}, {cores} on a node", machine.name()));
    }
    let nodes = machine.nodes_of(machine.router_of(node));
    let own = server - nodes[0].0 * cores;
    Ok(nodes[own as usize % nodes.len()])
}

/// The node at (group, row, column, index at the router) of a machine with groups. Groups that are not grids have one
/// row.
fn node_at(machine: &Machine, [group, row, column, index]: [u32; 4]) -> Result<NodeId, String> {
    let Shape::Grouped { groups, routers_per_group, interior } = *machine.shape() else {
        return Err(format!(
            "a node by group, row and column, but {} has no groups; give a CSV file with rank,node",
            machine.name()
        ));
    };
    let (rows, columns) = match interior {
        GroupInterior::Grid { rows, columns } => (rows, columns),
        GroupInterior::AllToAll | GroupInterior::Other => (1, routers_per_group),
    };
    for (name, value, count) in [("group", group, groups), ("row", row, rows), ("column", column, columns)] {
        if value >= count {
            return Err(format!("{name} {value}, but {} has {name}s 0 to {}", machine.name(), count - 1));
        }
    }
    // Routers are numbered group by group. If groups differ in size, smaller ones have fewer columns.
    let members: Vec<odonata_units::RouterId> = machine.routers().filter(|&r| machine.group_of(r).0 == group).collect();
    let Some(&router) = members.get((row * columns + column) as usize) else {
        return Err(format!(
            "column {column}, but group {group} of {} has columns 0 to {}",
            machine.name(),
            members.len() - 1
        ));
    };
    let nodes = machine.nodes_of(router);
    nodes.get(index as usize).copied().ok_or_else(|| {
        format!("node {index} of router {}, which has {} nodes", machine.router_name(router), nodes.len())
    })
}

//! Placement from a file: the node of every rank.

use super::free::FreeNodes;
use super::rule::{NodeAssignment, PendingPlacement, PlacementRequest, PlacementRule};
use crate::WorkloadError;
use odonata_declare::{parameters, Kind, ParameterMistake, Reader, AUTO};
use odonata_import::{Place, PlacementFormat, PlacementTable};
use odonata_machine::{GroupInterior, Machine, Shape};
use odonata_units::NodeId;
use std::sync::Arc;

parameters! {
    /// Parameters of `file`.
    #[derive(PartialEq, Eq)]
    pub struct FilePlacementParameters {
        /// Path of the placement file: CSV, Parquet, the map of Damselfly or TraceR, or the allocation of CODES.
        pub path: String, Kind::Path;
        /// File format. If not given, it is detected from the content.
        pub format: Option<PlacementFormat> = None, Kind::WordOr(AUTO, &PlacementFormat::KIND);
        /// Number of the job in the file. If not given, the only job, or the job with this job's number in the
        /// experiment.
        pub job: Option<u32> = None, Kind::WordOr(AUTO, &Kind::count(0));
        /// Content of the file, after it was read.
        pub table: Option<Arc<PlacementTable>> = None, no key;
    }
}

impl PlacementRule for FilePlacementParameters {
    fn read(&mut self, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let bytes = files.read_filled(&self.path).map_err(|reason| ("path", reason))?;
        let detected =
            || PlacementFormat::detect(&bytes).map_err(|reason| ("path", format!("{}: {reason}", self.path)));
        let format = self.format.map_or_else(detected, Ok)?;
        let table = format.read(&self.path, &bytes).map_err(|error| ("path", error.to_string()))?;
        self.table = Some(Arc::new(table));
        Ok(())
    }

    fn given_nodes(&self, request: &PlacementRequest<'_>, machine: &Machine) -> Vec<NodeId> {
        let Some(table) = &self.table else { return Vec::new() };
        let entries = job_in(self, table, request).map(|job| table.of_job(job, request.ranks));
        let Ok(Ok(entries)) = entries else { return Vec::new() };
        entries.iter().map(|entry| node(machine, &entry.place)).collect::<Result<_, _>>().unwrap_or_default()
    }

    fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        free.next_job(request.job);
        place(self, request, free).map(PendingPlacement::from)
    }
}

/// Puts every rank on the node given by the file. Jobs from files may share nodes but not cores.
fn place(
    parameters: &FilePlacementParameters,
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
) -> Result<NodeAssignment, WorkloadError> {
    let machine = free.machine();
    let Some(table) = &parameters.table else {
        return Err(request.error(
            "path",
            match parameters.path.as_str() {
                "" => "missing; write the path of a placement file".to_owned(),
                path => format!("no placement was read from '{path}'"),
            },
        ));
    };
    let job = job_in(parameters, table, request)?;
    let mut ranks_on = vec![0u32; machine.node_count()];
    let mut node_of_rank = Vec::with_capacity(request.ranks as usize);
    for entry in table.of_job(job, request.ranks)? {
        let node = node(machine, &entry.place).map_err(|reason| table.error(entry, reason))?;
        free.claim_core(node, entry.core).map_err(|reason| table.error(entry, reason))?;
        let ranks = &mut ranks_on[node.index()];
        *ranks += 1;
        if let Some(most) = request.ranks_per_node.filter(|most| *ranks > *most) {
            let name = machine.node_name(node);
            let reason = format!("node {name} has more than ranks_per_node = {most} ranks");
            return Err(table.error(entry, reason).into());
        }
        node_of_rank.push(node);
    }
    Ok(NodeAssignment { node_of_rank, ranks_per_node: ranks_on.into_iter().max().unwrap_or(0) })
}

/// Number of the job in the table.
fn job_in(
    parameters: &FilePlacementParameters,
    table: &PlacementTable,
    request: &PlacementRequest<'_>,
) -> Result<u32, WorkloadError> {
    let jobs = table.jobs();
    let job = match (parameters.job, &jobs[..]) {
        (Some(job), _) => job,
        (None, [only]) => *only,
        (None, _) => request.index as u32,
    };
    if jobs.contains(&job) {
        return Ok(job);
    }
    let shown: Vec<String> = jobs.iter().map(u32::to_string).collect();
    let reason = format!("{job}, but '{}' has jobs {}", parameters.path, shown.join(", "));
    Err(request.error("job", reason))
}

/// The node of a place in a file.
fn node(machine: &Machine, place: &Place) -> Result<NodeId, String> {
    let named = |name: &str| machine.node_named(name).map_err(|error| error.to_string());
    match place {
        Place::Id(id) => named(&id.to_string()),
        Place::Name(name) => named(name),
        Place::Server(server) => server_at(machine, *server),
        Place::Coordinates(coordinates) => node_at(machine, *coordinates),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_machines::{cascade, groups, torus};
    use crate::{JobSettings, JobSpec, PatternSpec, PlacementSpec, Workload};
    use odonata_import::Entry;

    /// Jobs with these ranks, all placed by one table.
    fn placed(
        machine: &Machine,
        table: PlacementTable,
        ranks: &[u32],
        ranks_per_node: Option<u32>,
    ) -> Result<Workload, WorkloadError> {
        let mut placement = PlacementSpec::parse("file").unwrap();
        let parameters = placement.rule_mut().as_any_mut().downcast_mut().unwrap();
        let (path, table) = ("map".into(), Some(Arc::new(table)));
        *parameters = FilePlacementParameters { path, table, ..FilePlacementParameters::default() };
        let job = |(i, &ranks): (usize, &u32)| JobSpec {
            name: format!("job{i}"),
            ranks,
            settings: JobSettings { ranks_per_node, ..JobSettings::default() },
            work: crate::Work::pattern(PatternSpec::parse("all-to-all").unwrap()),
            placement: placement.clone(),
        };
        let jobs: Vec<JobSpec> = ranks.iter().enumerate().map(job).collect();
        Workload::build(machine, &jobs, 1)
    }

    /// The same for a table of (job, rank, node, core).
    fn build(
        ranks: &[u32],
        ranks_per_node: Option<u32>,
        entries: &[(u32, u32, u32, Option<u32>)],
    ) -> Result<Workload, WorkloadError> {
        let entries = (0..).zip(entries).map(|(at, &(job, rank, node, core))| {
            let place = Place::Id(node);
            Entry { job, rank, place, core, at }
        });
        let table = PlacementTable::new("map", "row", entries.collect());
        placed(&cascade(1, 2, 2, 2, 3), table, ranks, ranks_per_node)
    }

    /// The nodes of the ranks of a job.
    fn nodes(workload: &Workload, job: usize) -> Vec<u32> {
        workload.jobs[job].node_of_rank.iter().map(|node| node.0).collect()
    }

    #[test]
    fn ranks_follow_the_file_and_may_share_a_node() {
        let entries = [(0, 1, 5, None), (0, 0, 2, None), (1, 0, 5, None), (1, 1, 5, None)];
        let workload = build(&[2, 2], None, &entries).unwrap();
        assert_eq!((nodes(&workload, 0), nodes(&workload, 1)), (vec![2, 5], vec![5, 5]));
        assert_eq!((workload.jobs[0].ranks_per_node, workload.jobs[1].ranks_per_node), (1, 2));
    }

    #[test]
    fn mistakes_have_a_place() {
        let message = |ranks: &[u32], most, entries: &[(u32, u32, u32, Option<u32>)]| {
            build(ranks, most, entries).unwrap_err().to_string()
        };
        let four: Vec<_> = (0..4).map(|rank| (0, rank, 1, None)).collect();
        assert_eq!(message(&[4], None, &four), "map:row 3: node g0r0c0n1 has 3 cores, and all are taken");
        assert_eq!(message(&[4], Some(2), &four), "map:row 2: node g0r0c0n1 has more than ranks_per_node = 2 ranks");
        assert_eq!(message(&[3], None, &four), "map:job 0: 4 ranks of job 0, but the job has 3");
        assert_eq!(message(&[1], None, &[(0, 1, 1, None)]), "map:row 0: job 0 has rank 1, but no rank 0");
        assert_eq!(
            message(&[2], None, &[(0, 0, 1, None), (0, 0, 2, None)]),
            "map:row 1: rank 0 of job 0 appears a second time"
        );
        let cores = [(0, 0, 1, Some(2)), (1, 0, 1, Some(2))];
        assert_eq!(message(&[1, 1], None, &cores), "map:row 1: core 2 of node g0r0c0n1 is already taken");
        assert_eq!(message(&[1], None, &[(0, 0, 1, Some(3))]), "map:row 0: core 3, but a node has cores 0 to 2");
        assert!(message(&[1], None, &[(0, 0, 9, None)]).starts_with("map:row 0: unknown node '9'; ids are 0 to 7"));
        let other = message(&[1, 1], None, &[(0, 0, 1, None), (4, 0, 1, None)]);
        assert_eq!(other, "job 'job1': placement 'file': job: 1, but 'map' has jobs 0, 4");
    }
    /// The table of a map of Damselfly: group, row, column, index at the router, core, job.
    fn map(records: &[[i32; 6]]) -> PlacementTable {
        let bytes: Vec<u8> = records.as_flattened().iter().flat_map(|field| field.to_le_bytes()).collect();
        odonata_import::damselfly::placement("a.map", &bytes).unwrap()
    }

    /// 3 groups x 2 rows x 4 columns x 2 nodes: router (2, 1, 3) is 2 * 8 + 1 * 4 + 3 = 23, its node 1 is node 47.
    #[test]
    fn a_map_places_all_jobs() {
        let table = map(&[[2, 1, 3, 1, 0, 0], [0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 3, 0], [0, 0, 0, 0, 2, 1]]);
        let workload = placed(&cascade(3, 2, 4, 2, 4), table, &[2, 2], None).unwrap();
        assert_eq!((nodes(&workload, 0), nodes(&workload, 1)), (vec![47, 2], vec![0, 0]));
    }

    #[test]
    fn a_map_that_does_not_fit() {
        let message = |machine, record| placed(&machine, map(&[record]), &[1], None).unwrap_err().to_string();
        let aries = || cascade(3, 2, 4, 2, 4);
        assert_eq!(message(aries(), [3, 0, 0, 0, 0, 0]), "a.map:byte 0: group 3, but test has groups 0 to 2");
        assert_eq!(message(aries(), [0, 2, 0, 0, 0, 0]), "a.map:byte 0: row 2, but test has rows 0 to 1");
        assert_eq!(message(aries(), [0, 0, 0, 2, 0, 0]), "a.map:byte 0: node 2 of router g0r0c0, which has 2 nodes");
        assert_eq!(message(aries(), [0, 0, 0, 0, 4, 0]), "a.map:byte 0: core 4, but a node has cores 0 to 3");
        assert!(message(groups(2, 3, 1), [0, 1, 0, 0, 0, 0]).contains("row 1, but test has rows 0 to 0"));
        assert!(message(torus(&[3, 3], 1), [0, 0, 0, 0, 0, 0]).contains("give a CSV file with rank,node"));
    }
}

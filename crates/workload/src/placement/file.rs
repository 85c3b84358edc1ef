//! Placement from a file: the node of every rank.

use super::spec::{PendingPlacement, PlacementRule};
use super::{FreeNodes, NodeAssignment, PlacementRequest};
use crate::import::{self, PlacementFormat};
use crate::{PlacementTable, WorkloadError};
use odonata_declare::{parameter, Kind, Parameter, Parameters, Reader, AUTO};
use std::sync::Arc;

/// Parameters of `file`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilePlacementParameters {
    /// Path given by the user.
    pub path: String,
    /// File format. If not given, it is detected.
    pub format: Option<PlacementFormat>,
    /// Number of the job in the file. If not given: the only job, or the job with this job's number in the workload,
    /// counted from 0.
    pub job: Option<u32>,
    /// Content of the file, after it was read.
    pub table: Option<Arc<PlacementTable>>,
}

impl Parameters for FilePlacementParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            path,
            Kind::Path,
            "Path of the placement file: CSV, Parquet, the map of Damselfly or TraceR, or the allocation of CODES.",
            required
        ),
        parameter!(
            format,
            Kind::WordOr(AUTO, &PlacementFormat::KIND),
            "File format. If not given, it is detected from the content."
        ),
        parameter!(
            job,
            Kind::WordOr(AUTO, &Kind::count(0)),
            "Number of the job in the file. If not given, the only job, or the job with this job's number in the \
            experiment."
        ),
    ];
}

impl PlacementRule for FilePlacementParameters {
    fn read(&mut self, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let bytes = import::open(&self.path, files).map_err(|reason| ("path", reason))?;
        let detected =
            || PlacementFormat::detect(&bytes).map_err(|reason| ("path", format!("{}: {reason}", self.path)));
        let format = self.format.map_or_else(detected, Ok)?;
        let table = format.read(&self.path, &bytes).map_err(|error| ("path", error.to_string()))?;
        self.table = Some(Arc::new(table));
        Ok(())
    }

    fn begin(
        &self,
        owner: &str,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        free.next_job(request.job);
        place(owner, self, request, free).map(PendingPlacement::from)
    }
}

/// Puts every rank on the node given by the file. Jobs from files may share nodes but not cores.
pub(super) fn place(
    owner: &str,
    parameters: &FilePlacementParameters,
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
) -> Result<NodeAssignment, WorkloadError> {
    let machine = free.machine();
    let Some(table) = &parameters.table else {
        return Err(WorkloadError::parameter(
            owner,
            "path",
            match parameters.path.as_str() {
                "" => "missing; write the path of a placement file".into(),
                path => format!("no placement was read from '{path}'"),
            },
        ));
    };
    let job = job_in(owner, parameters, table, request)?;
    let mut ranks_on = vec![0u32; machine.node_count()];
    let mut node_of_rank = Vec::with_capacity(request.ranks as usize);
    for entry in table.of_job(job, request.ranks)? {
        let node = table.node(machine, entry)?;
        free.claim_core(node, entry.core).map_err(|reason| table.error(entry, reason))?;
        let ranks = &mut ranks_on[node.index()];
        *ranks += 1;
        if let Some(most) = request.ranks_per_node.filter(|most| *ranks > *most) {
            let name = machine.node_name(node);
            return Err(table.error(entry, format!("node {name} has more than ranks_per_node = {most} ranks")));
        }
        node_of_rank.push(node);
    }
    Ok(NodeAssignment { node_of_rank, ranks_per_node: ranks_on.into_iter().max().unwrap_or(0) })
}

/// Number of the job in the table.
fn job_in(
    owner: &str,
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
    Err(WorkloadError::parameter(owner, "job", reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement_table::{Entry, Place};
    use crate::test_machines::cascade;
    use crate::{JobSpec, PatternSpec, PlacementSpec, Workload};

    /// Jobs with these ranks, all placed by one table of (job, rank, node, core).
    fn build(
        ranks: &[u32],
        ranks_per_node: Option<u32>,
        entries: &[(u32, u32, u32, Option<u32>)],
    ) -> Result<Workload, WorkloadError> {
        let entry = |(i, &(job, rank, node, core)): (usize, &(u32, u32, u32, Option<u32>))| Entry {
            job,
            rank,
            place: Place::Id(node),
            core,
            at: i as u64,
        };
        let table = Arc::new(PlacementTable::new("map", "row", entries.iter().enumerate().map(entry).collect()));
        let mut placement = PlacementSpec::parse("file").unwrap();
        let parameters = placement.rule_mut().as_any_mut().downcast_mut().unwrap();
        *parameters =
            FilePlacementParameters { path: "map".into(), table: Some(table), ..FilePlacementParameters::default() };
        let job = |(i, &ranks): (usize, &u32)| JobSpec {
            name: format!("job{i}"),
            ranks,
            ranks_per_node,
            work: crate::Work::pattern(PatternSpec::parse("all-to-all").unwrap()),
            placement: placement.clone(),
            idle: false,
            color: None,
        };
        let jobs: Vec<JobSpec> = ranks.iter().enumerate().map(job).collect();
        Workload::build(&cascade(1, 2, 2, 2, 3), &jobs, 1)
    }

    #[test]
    fn ranks_follow_the_file_and_may_share_a_node() {
        let entries = [(0, 1, 5, None), (0, 0, 2, None), (1, 0, 5, None), (1, 1, 5, None)];
        let workload = build(&[2, 2], None, &entries).unwrap();
        let nodes = |job: usize| workload.jobs[job].node_of_rank.iter().map(|node| node.0).collect::<Vec<_>>();
        assert_eq!((nodes(0), nodes(1)), (vec![2, 5], vec![5, 5]));
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
}

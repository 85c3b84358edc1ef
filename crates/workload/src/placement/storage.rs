//! Whole jobs on storage nodes.

use super::free::{DrawnNodes, FreeNodes, NodePool};
use super::rule::{fill_from, PendingPlacement, PlacementRequest, PlacementRule};
use crate::WorkloadError;
use odonata_declare::{Parameter, Parameters};

/// All ranks on the first free storage nodes, router by router.
#[derive(Clone, Debug)]
pub(super) struct StoragePlacement;

impl Parameters for StoragePlacement {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl PlacementRule for StoragePlacement {
    fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        let machine = free.machine();
        if machine.storage_nodes().is_empty() {
            let reason =
                format!("{} has no storage nodes; `node_counts = \"ROUTER: 1 storage\"` makes some", machine.name());
            return Err(request.error("name", reason));
        }
        fill_from(NodePool::Storage, request, free, |count, free, _| {
            Ok(DrawnNodes::of_order(free.storage().collect(), count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{place_in, placed};
    use super::super::tests::DRAWN;
    use super::super::{FreeNodes, IoRanks, PlacementRequest, PlacementSpec};
    use crate::test_machines::{cascade, groups};
    use odonata_machine::{Machine, MachineBuilder};
    use odonata_units::NodeId;
    use proptest::prelude::*;

    fn with_storage(machine: Machine, storage: &[u32]) -> Machine {
        let mut builder = MachineBuilder::from(machine);
        builder.storage = storage.iter().copied().map(NodeId).collect();
        builder.build().unwrap()
    }

    fn request<'a>(job: &'a str, placement: &'a str, ranks: u32, servers: u32) -> PlacementRequest<'a> {
        let io_ranks = IoRanks { program: "checkpoint", count: servers };
        PlacementRequest { job, placement, index: 0, ranks, ranks_per_node: Some(2), seed: 1, io_ranks }
    }

    fn numbers(nodes: &[NodeId]) -> Vec<u32> {
        nodes.iter().map(|node| node.0).collect()
    }

    /// 2 groups x 2 routers x 2 nodes of 4 cores; nodes 1, 3 and 6 are storage nodes. The 4 clients fill nodes 0 and 2.
    #[test]
    fn io_ranks_by_hand() {
        let machine = with_storage(groups(2, 2, 2), &[1, 3, 6]);
        let compact = PlacementSpec::parse("compact").unwrap();
        let mut free = FreeNodes::new(&machine);
        let mut place = |request| place_in(&compact, &request, &mut free).map(|placed| numbers(&placed.node_of_rank));
        assert_eq!(place(request("a", "compact", 6, 2)).unwrap(), [0, 0, 2, 2, 1, 3]);
        // The node without ranks comes first, then the first one with one.
        assert_eq!(place(request("b", "compact", 4, 2)).unwrap(), [4, 4, 1, 6]);
        assert_eq!(place(request("only servers", "compact", 3, 3)).unwrap(), [1, 3, 6]);
        assert_eq!(
            place(request("c", "compact", 5, 4)).unwrap_err().to_string(),
            "job 'c': program 'checkpoint': servers: 4, each on a storage node of its own, but only 3 of the 3 storage \
             nodes of test are free: 1 too few"
        );
    }

    #[test]
    fn cores_of_storage_nodes_run_out() {
        let machine = with_storage(cascade(1, 1, 2, 4, 2), &[7]);
        let compact = PlacementSpec::parse("compact").unwrap();
        let mut free = FreeNodes::new(&machine);
        let mut place = |job| place_in(&compact, &request(job, "compact", 2, 1), &mut free);
        assert!(place("a").is_ok() && place("b").is_ok());
        let error = place("c").unwrap_err().to_string();
        assert!(error.ends_with("but only 0 of the 1 storage nodes of test are free: 1 too few"), "{error}");
    }

    #[test]
    fn a_job_on_storage_nodes() {
        let machine = with_storage(groups(2, 2, 2), &[1, 3, 6]);
        let storage = |ranks| placed(&machine, "storage", &[], ranks, 1);
        assert_eq!(numbers(&storage(2).unwrap()), [1, 3]);
        assert_eq!(
            storage(5).unwrap_err().to_string(),
            "job 'test' needs 5 nodes (5 ranks, 1 on each), but only 3 of the 3 storage nodes of test are free: 2 too few"
        );
        assert!(placed(&groups(2, 2, 2), "storage", &[], 1, 1).unwrap_err().to_string().contains("no storage nodes"));
        let full = placed(&machine, "compact", &[], 6, 1).unwrap_err().to_string();
        assert!(full.contains("only 5 of the 5 usable nodes of test are free: 1 too few"), "{full}");
    }

    /// Without storage nodes nothing changes; a list puts each rank where it says.
    #[test]
    fn io_ranks_without_storage_nodes_and_in_lists() {
        let machine = groups(2, 2, 2);
        let compact = PlacementSpec::parse("compact").unwrap();
        let placed = place_in(&compact, &request("a", "compact", 4, 2), &mut FreeNodes::new(&machine)).unwrap();
        assert_eq!(numbers(&placed.node_of_rank), [0, 0, 1, 1]);
        let machine = with_storage(machine, &[1, 3]);
        let mut list = PlacementSpec::parse("list").unwrap();
        list.set("nodes", serde_json::json!([3, 0])).unwrap();
        let mut free = FreeNodes::new(&machine);
        let placed = place_in(&list, &request("a", "list", 4, 1), &mut free).unwrap();
        assert_eq!(numbers(&placed.node_of_rank), [3, 3, 0, 0]);
        let next = place_in(&compact, &request("b", "compact", 3, 1), &mut free).unwrap();
        assert_eq!(numbers(&next.node_of_rank), [2, 2, 1]);
    }

    proptest! {
        /// Clients never run on storage nodes, I/O ranks only there, each of a job on another one.
        #[test]
        fn clients_keep_off_storage_nodes(
            storage in proptest::collection::btree_set(0u32..48, 1..24),
            jobs in proptest::collection::vec((0usize..9, 1u32..30, 0u32..6), 1..8),
            seed in any::<u64>(),
        ) {
            let storage: Vec<u32> = storage.into_iter().collect();
            let machine = with_storage(cascade(4, 2, 3, 2, 3), &storage);
            let mut free = FreeNodes::new(&machine);
            for (index, &(placement, clients, servers)) in jobs.iter().enumerate() {
                let (name, placement) = (format!("job{index}"), DRAWN[placement]);
                let request = PlacementRequest { seed, index, ..request(&name, placement, clients + servers, servers) };
                let spec = PlacementSpec::parse(placement).unwrap();
                let Ok(placed) = place_in(&spec, &request, &mut free) else { continue };
                let (of_clients, of_servers) = placed.node_of_rank.split_at(clients as usize);
                prop_assert_eq!(of_servers.len(), servers as usize);
                prop_assert!(of_clients.iter().all(|&node| machine.is_compute(node)));
                prop_assert!(of_servers.iter().all(|&node| machine.is_storage(node)));
                prop_assert!(of_servers.is_sorted_by(|a, b| a < b));
            }
        }
    }
}

//! Places one job, one rank per node, on an empty machine.

use super::free::FreeNodes;
use super::io_ranks::IoRanks;
use super::rule::{NodeAssignment, PlacementRequest, PlacementSpec};
use crate::WorkloadError;
use odonata_machine::Machine;
use odonata_units::NodeId;
use serde_json::Value;

pub(super) fn placed(
    machine: &Machine,
    name: &str,
    parameters: &[(&str, Value)],
    ranks: u32,
    seed: u64,
) -> Result<Vec<NodeId>, WorkloadError> {
    let mut spec = PlacementSpec::parse(name).unwrap();
    for (parameter, value) in parameters {
        spec.set(parameter, value.clone())?;
    }
    let io_ranks = IoRanks::default();
    let request =
        PlacementRequest { job: "test", placement: name, index: 0, ranks, ranks_per_node: Some(1), seed, io_ranks };
    place_in(&spec, &request, &mut FreeNodes::new(machine)).map(|placed| placed.node_of_rank)
}

/// One job at a time.
pub(super) fn place_in(
    spec: &PlacementSpec,
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
) -> Result<NodeAssignment, WorkloadError> {
    spec.rule().begin(request, free)?.finish(request, free)
}

pub(super) fn place(machine: &Machine, name: &str, parameters: &[(&str, Value)], ranks: u32, seed: u64) -> Vec<NodeId> {
    placed(machine, name, parameters, ranks, seed).unwrap()
}

//! I/O ranks of a job and their nodes.

use super::free::FreeNodes;
use crate::WorkloadError;
use odonata_units::NodeId;

/// I/O ranks of a job: its last ones. A machine with storage nodes has them there.
#[derive(Clone, Copy, Debug, Default)]
pub struct IoRanks<'a> {
    /// Name of the program that has them.
    pub program: &'a str,
    /// Their number, at most the ranks of the job.
    pub count: u32,
}

impl IoRanks<'_> {
    /// Claims a core for each rank on a storage node of its own: on those with the fewest ranks, in the order of the
    /// routers. None if the machine has no storage nodes; then I/O ranks are placed like others.
    pub(super) fn claim_nodes(self, job: &str, free: &mut FreeNodes<'_>) -> Result<Vec<NodeId>, WorkloadError> {
        let (machine, count) = (free.machine(), self.count as usize);
        let storage = machine.storage_nodes().len();
        if count == 0 || storage == 0 {
            return Ok(Vec::new());
        }
        let mut nodes: Vec<NodeId> = free.storage_with_cores().collect();
        let left = nodes.len();
        if left < count {
            let owner = format!("job '{job}': program '{}'", self.program);
            let reason = format!(
                "{count}, each on a storage node of its own, but only {left} of the {storage} storage nodes of {} are \
                 free: {} too few",
                machine.name(),
                count - left
            );
            return Err(WorkloadError::parameter(owner, "servers", reason));
        }
        nodes.sort_by_key(|&node| free.ranks_on(node));
        nodes.truncate(count);
        nodes.sort_unstable();
        for &node in &nodes {
            free.claim_core(node, None).expect("a core of the node is free");
        }
        Ok(nodes)
    }
}

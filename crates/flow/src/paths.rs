//! The paths of messages: drawn by the rule of the machine, or one per pair of nodes.

use crate::job_loads::JobLoads;
use crate::traffic::Commodity;
use crate::{FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_routing::algorithm::PathChoice;
use odonata_routing::flow_paths::FlowPaths;
use odonata_routing::paths::{by_bandwidth, path_rule_of, PathRule};
use odonata_units::LinkId;
use std::collections::HashMap;

/// The paths of a routing on a machine.
pub(crate) enum Paths<'a> {
    /// Commodities draw paths.
    Drawn(Box<dyn PathRule + 'a>),
    /// A commodity has one pair of nodes, and one path.
    OnePath(FlowPaths),
}

impl<'a> Paths<'a> {
    /// The paths of the settings' routing, and notices for the user.
    pub(crate) fn new(machine: &'a Machine, settings: &FlowSettings) -> Result<(Self, Vec<String>), FlowError> {
        if let PathChoice::OnePath(rule) = &settings.routing {
            return Ok((Self::OnePath(FlowPaths::new(machine, rule)?), Vec::new()));
        }
        let (rule, notices) = path_rule_of(machine, settings.allowed_paths, settings.intermediate)?;
        let rule = if settings.link_capacity.is_none() { by_bandwidth(machine, rule) } else { rule };
        Ok((Self::Drawn(rule), notices.into_iter().map(|notice| notice.0).collect()))
    }
}

/// Bytes of every job on the links of its only paths.
pub(crate) fn loads(paths: &FlowPaths, commodities: &[&Commodity], jobs: usize) -> Vec<JobLoads> {
    let mut parts = vec![HashMap::<LinkId, u64>::new(); jobs];
    let mut path: Vec<LinkId> = Vec::new();
    for commodity in commodities.iter().filter(|c| c.source != c.target) {
        let [source, target] = commodity.ends;
        path.clear();
        paths.path(source, target, &mut path);
        path.iter().for_each(|link| *parts[commodity.job.index()].entry(*link).or_default() += commodity.bytes);
    }
    let loads = |parts: HashMap<LinkId, u64>| parts.into_iter().map(|(link, bytes)| (link, bytes as f64)).collect();
    parts.into_iter().map(|parts| JobLoads::sum_of(loads(parts))).collect()
}

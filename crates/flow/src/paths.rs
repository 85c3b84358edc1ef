//! The paths of messages: drawn by the rule of the machine, or one per pair of nodes.

use crate::traffic::Commodity;
use crate::{FlowError, FlowSettings};
use odonata_machine::Machine;
use odonata_routing::algorithm::PathChoice;
use odonata_routing::flow_paths::FlowPaths;
use odonata_routing::paths::{by_bandwidth, path_rule_of, PathRule};
use odonata_units::LinkId;

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

/// Bytes of every job on every link of its only paths: `[job][link]`.
pub(crate) fn loads(paths: &FlowPaths, commodities: &[&Commodity], jobs: usize, links: usize) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0u64; links]; jobs];
    let mut path: Vec<LinkId> = Vec::new();
    for commodity in commodities.iter().filter(|c| c.source != c.target) {
        let [source, target] = commodity.ends;
        path.clear();
        paths.path(source, target, &mut path);
        path.iter().for_each(|link| sums[commodity.job.index()][link.index()] += commodity.bytes);
    }
    sums.into_iter().map(|job| job.into_iter().map(|bytes| bytes as f64).collect()).collect()
}

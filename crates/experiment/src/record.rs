//! From machine, workload and outcome to the tables and the summary of a run directory.

mod communication;
mod hardware;
mod metrics;
mod summary;
mod traffic;
mod workload;

pub(crate) use hardware::machine_json;
pub use hardware::machine_tables;
pub(crate) use metrics::metrics_json;
pub(crate) use summary::{jobs_json, summary, RunFacts};

use crate::engine::Outcome;
use crate::plan::Scenario;
use crate::tables::Tables;

/// All tables of a run, in the order of the reference. Takes the columns out of the outcome, but for those of the links,
/// which the summary needs too.
pub(crate) fn tables(scenario: &Scenario, outcome: &mut Outcome) -> Tables {
    let Scenario { machine, workload, output, .. } = scenario;
    let mut tables = Tables::new();
    tables.push("routers", hardware::routers(machine));
    let mut links = hardware::links(machine, outcome.link_capacity_bytes_per_s.clone());
    traffic::add_to_links(&mut links, outcome);
    tables.push("links", links);
    tables.push("link_jobs", traffic::link_jobs(outcome, output.link_jobs));
    let mut nodes = hardware::nodes(machine);
    traffic::add_to_nodes(&mut nodes, scenario, outcome);
    tables.push("nodes", nodes);
    tables.push("jobs", workload::jobs(machine, workload, outcome));
    tables.push("placement", workload::placement(workload, output.placement));
    tables.push("communication", communication::communication(machine, workload, output.communication));
    for (name, table) in std::mem::take(&mut outcome.tables) {
        tables.push(name, table);
    }
    tables
}

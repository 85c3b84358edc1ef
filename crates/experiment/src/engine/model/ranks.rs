//! The general forms: every rank of every job, priced by what it sends and receives.

use super::hops::HopCounts;
use super::settings::Model;
use super::{all_ranks, Priced};
use crate::engine::{EngineError, Watcher};
use crate::plan::Scenario;
use crate::tables::{Column, Table};
use odonata_model::message::{rank_costs, Message, RankCost};
use odonata_workload::volumes::Messages;
use serde_json::json;

/// Prices all jobs in one step, so that ranks of different jobs on a node share its rate.
pub(super) fn price(
    engine: &Model,
    scenario: &Scenario,
    hops: &mut HopCounts<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Priced, EngineError> {
    let jobs = &scenario.workload.jobs;
    let (nodes, first) = all_ranks(scenario);
    let mut messages = Vec::new();
    for (job, &start) in jobs.iter().zip(&first) {
        let mut sent = Messages::new(&scenario.machine, job);
        for rank in job.rank_ids() {
            messages.extend(sent.of(rank).map(|message| Message {
                source: start as u32 + message.source.0,
                destination: start as u32 + message.target.0,
                bytes: message.bytes.0,
            }));
        }
    }
    if !watcher.progress("pricing", 0.5) {
        return Err(EngineError::Interrupted);
    }
    let numbers: Vec<u32> = nodes.iter().map(|node| node.0).collect();
    let mut missing = None;
    let extra = |a: u32, b: u32| {
        let found = hops.between(odonata_units::NodeId(a), odonata_units::NodeId(b));
        found.unwrap_or_else(|error| {
            missing.get_or_insert(error);
            0
        })
    };
    let costs = rank_costs(&messages, &numbers, extra, &engine.pricing());
    let costs = costs.map_err(|error| EngineError::Refused { key: None, reason: error.to_string() })?;
    if let Some(error) = missing {
        return Err(error);
    }
    let of_job = |j: usize| &costs[first[j]..first[j + 1]];
    let rounds = |j: usize| f64::from(jobs[j].iterations);
    let slowest: Vec<RankCost> = (0..jobs.len()).map(|j| slowest(of_job(j))).collect();
    let mean = |j: usize| of_job(j).iter().map(RankCost::total_s).sum::<f64>() / of_job(j).len().max(1) as f64;
    let of_slowest =
        |get: fn(&RankCost) -> f64| Column::F64((0..jobs.len()).map(|j| rounds(j) * get(&slowest[j])).collect());
    let job_columns = vec![
        ("time_s", of_slowest(RankCost::total_s)),
        ("time_mean_s", Column::F64((0..jobs.len()).map(|j| rounds(j) * mean(j)).collect())),
        ("startup_s", of_slowest(|c| c.startup_s)),
        ("hops_s", of_slowest(|c| c.hops_s)),
        ("bandwidth_s", of_slowest(|c| c.bandwidth_s)),
        ("matching_s", of_slowest(|c| c.matching_s)),
    ];
    let rows: Vec<(usize, usize)> =
        (0..jobs.len()).flat_map(|j| (first[j]..first[j + 1]).map(move |r| (j, r))).collect();
    let whole = |get: &dyn Fn(&RankCost) -> u64| {
        Column::U64(rows.iter().map(|&(j, r)| u64::from(jobs[j].iterations) * get(&costs[r])).collect())
    };
    let real = |get: fn(&RankCost) -> f64| Column::F64(rows.iter().map(|&(j, r)| rounds(j) * get(&costs[r])).collect());
    let mut table = Table::new();
    table.push("job", Column::U32(rows.iter().map(|&(j, _)| j as u32).collect()));
    table.push("rank", Column::U32(rows.iter().map(|&(j, r)| (r - first[j]) as u32).collect()));
    table.push("node", Column::U32(numbers));
    table.push("sends", whole(&|c| c.sends.into()));
    table.push("receives", whole(&|c| c.receives.into()));
    table.push("bytes", whole(&|c| c.bytes));
    table.push("startup_s", real(|c| c.startup_s));
    table.push("hops_s", real(|c| c.hops_s));
    table.push("bandwidth_s", real(|c| c.bandwidth_s));
    table.push("matching_s", real(|c| c.matching_s));
    table.push("time_s", real(RankCost::total_s));
    Ok(Priced { table: ("ranks", table), job_columns, summary: json!({ "form": engine.form.word() }) })
}

/// The costs of the rank that takes longest, the first of several.
fn slowest(ranks: &[RankCost]) -> RankCost {
    let mut worst = RankCost::default();
    for cost in ranks {
        if cost.total_s() > worst.total_s() {
            worst = *cost;
        }
    }
    worst
}

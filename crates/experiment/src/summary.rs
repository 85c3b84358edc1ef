//! `summary.json`.

use crate::directory::{FORMAT, FORMAT_VERSION};
use crate::plan::Plan;
use odonata_document::{sha256, InputFile};
use odonata_engines::{
    record::{machine_json, places},
    Outcome, Scenario,
};
use odonata_machine::Machine;
use odonata_units::LinkId;
use odonata_workload::volumes::Volumes;
use odonata_workload::Workload;
use serde_json::{json, Map, Value};

/// The percentiles of the statistics.
const PERCENTILES: [usize; 3] = [50, 90, 99];

/// What only the one who runs an experiment knows.
#[derive(Clone, Debug)]
pub(crate) struct RunFacts<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) threads: usize,
    pub(crate) wall_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) peak_rss_bytes: u64,
    pub(crate) memory_estimate_bytes: u64,
}

/// The whole summary.
pub(crate) fn summary(plan: &Plan, outcome: &mut Outcome, facts: &RunFacts<'_>) -> Value {
    let Scenario { machine, workload, seed, .. } = &plan.scenario;
    let statistics = Statistics::new(machine, &outcome.link_capacity_bytes_per_s);
    let mut warnings = plan.warnings.clone();
    warnings.append(&mut outcome.warnings);
    let mut summary = json!({
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "odonata_version": env!("CARGO_PKG_VERSION"),
        "engine": plan.engine.kind(),
        "routing": plan.engine.routing(),
        "complete": !outcome.partial,
        "seed": seed,
        "experiment_sha256": sha256(facts.experiment.as_bytes()),
        "resolved_sha256": sha256(plan.resolved.as_bytes()),
        "inputs": plan.inputs.iter().map(input_json).collect::<Value>(),
        "wall_s": facts.wall_s,
        "cpu_s": facts.cpu_s,
        "peak_rss_bytes": facts.peak_rss_bytes,
        "memory_estimate_bytes": facts.memory_estimate_bytes,
        "threads": facts.threads,
        "machine": machine_json(machine),
        "convergence": outcome.convergence.take(),
        "classes": statistics.of_all(machine, &outcome.link_bytes),
        "jobs": job_statistics(&statistics, machine, workload, outcome),
        "warnings": warnings,
    });
    for (key, value) in std::mem::take(&mut outcome.summary) {
        summary[key] = value;
    }
    summary
}

fn input_json(file: &InputFile) -> Value {
    json!({ "path": file.path.to_string_lossy(), "bytes": file.size_bytes, "sha256": file.sha256 })
}

/// What `check` says of the jobs.
pub(crate) fn jobs_json(machine: &Machine, workload: &Workload) -> Value {
    let jobs = workload.jobs.iter().enumerate().map(|(index, job)| {
        let (nodes, routers) = places(machine, job);
        let (messages, bytes) = match &job.examined.sent {
            // Counted already when the job was built.
            Some(sent) => {
                let times = u64::from(job.iterations);
                (sent.messages().saturating_mul(times), sent.bytes().saturating_mul(times.into()))
            }
            None => {
                let volumes = Volumes::of(machine, job);
                (volumes.messages, volumes.bytes())
            }
        };
        json!({
            "job": index,
            "name": job.name,
            "color": job.color,
            "pattern": job.pattern_name,
            "placement": job.placement_name,
            "ranks": job.ranks,
            "ranks_per_node": job.ranks_per_node,
            "nodes": nodes,
            "routers": routers,
            "messages": messages,
            "bytes": bytes as f64,
        })
    });
    jobs.collect()
}

fn job_statistics(statistics: &Statistics, machine: &Machine, workload: &Workload, outcome: &Outcome) -> Value {
    let (links, jobs, bytes) = &outcome.link_jobs;
    let mut of_job: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); machine.classes().len()]; workload.jobs.len()];
    for ((&link, &job), &bytes) in links.iter().zip(jobs).zip(bytes) {
        of_job[job as usize][machine.class(LinkId(link)).index()].push(bytes);
    }
    let rows = workload.jobs.iter().zip(of_job).enumerate().map(|(index, (job, values))| {
        json!({
            "job": index,
            "name": job.name,
            "color": job.color,
            "classes": statistics.of_classes(machine, values, false),
        })
    });
    rows.collect()
}

/// Statistics over the links of each class, links without traffic included.
struct Statistics {
    links: Vec<usize>,
    /// Capacity of each class as used, the mean where it differs among the links.
    capacity_bytes_per_s: Vec<f64>,
}

impl Statistics {
    fn new(machine: &Machine, capacities: &[f64]) -> Self {
        let mut of_class = vec![Vec::new(); machine.classes().len()];
        for link in machine.links() {
            of_class[machine.class(link).index()].push(capacities[link.index()]);
        }
        // Where all links of a class have one capacity, rounding must not hide it.
        let typical = |capacities: &Vec<f64>| match capacities.first() {
            Some(first) if capacities.iter().all(|c| c == first) => *first,
            Some(_) => capacities.iter().sum::<f64>() / capacities.len() as f64,
            None => 0.0,
        };
        Self {
            links: of_class.iter().map(Vec::len).collect(),
            capacity_bytes_per_s: of_class.iter().map(typical).collect(),
        }
    }

    /// Of bytes on every link.
    fn of_all(&self, machine: &Machine, link_bytes: &[f64]) -> Value {
        let mut values = vec![Vec::new(); self.links.len()];
        for link in machine.links() {
            values[machine.class(link).index()].push(link_bytes[link.index()]);
        }
        self.of_classes(machine, values, true)
    }

    /// `all` and then each class; `values` holds the bytes of each class, where links without traffic may be left out.
    fn of_classes(&self, machine: &Machine, mut values: Vec<Vec<f64>>, with_links: bool) -> Value {
        for of_class in &mut values {
            of_class.retain(|&bytes| bytes != 0.0);
            of_class.sort_unstable_by(f64::total_cmp);
        }
        let mut all: Vec<f64> = values.concat();
        all.sort_unstable_by(f64::total_cmp);
        let mut rows = vec![row("all", self.links.iter().sum(), &all)];
        if with_links {
            rows[0].insert("links".into(), self.links.iter().sum::<usize>().into());
        }
        for (i, class) in machine.classes().iter().enumerate() {
            let mut row = row(&class.name, self.links[i], &values[i]);
            if with_links {
                row.insert("links".into(), self.links[i].into());
                row.insert("capacity_bytes_per_s".into(), self.capacity_bytes_per_s[i].into());
            }
            rows.push(row);
        }
        rows.into_iter().map(Value::Object).collect()
    }
}

/// Statistics of `links` values of which only those above zero are given, ascending.
fn row(class: &str, links: usize, nonzero: &[f64]) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("class".into(), class.into());
    // The sum of nothing is -0.0, which would be shown.
    let mean = if links == 0 { 0.0 } else { (nonzero.iter().sum::<f64>() + 0.0) / links as f64 };
    row.insert("bytes_mean".into(), mean.into());
    row.insert("bytes_max".into(), nonzero.last().copied().unwrap_or(0.0).into());
    for p in PERCENTILES {
        row.insert(format!("bytes_p{p}"), percentile(p, links, nonzero).into());
    }
    row.insert("loaded_links".into(), nonzero.len().into());
    row
}

/// The value at rank ceil(p/100 n) of n values of which the ones above zero are given, ascending.
fn percentile(p: usize, n: usize, nonzero: &[f64]) -> f64 {
    let rank = (p * n).div_ceil(100).max(1);
    let zeros = n - nonzero.len();
    if n == 0 || rank <= zeros {
        0.0
    } else {
        nonzero[rank - zeros - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten values 0 0 0 0 1 2 3 4 5 6: ranks 5, 9 and 10 hold 1, 5 and 6.
    #[test]
    fn zeros_count() {
        let nonzero = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let row = row("blue", 10, &nonzero);
        let of = |key: &str| row[key].as_f64().unwrap();
        assert_eq!((of("bytes_p50"), of("bytes_p90"), of("bytes_p99")), (1.0, 5.0, 6.0));
        assert_eq!((of("bytes_mean"), of("bytes_max"), of("loaded_links")), (2.1, 6.0, 6.0));
    }

    #[test]
    fn a_class_without_links_or_traffic_is_all_zero() {
        for links in [0, 7] {
            let row = row("blue", links, &[]);
            let zero = |value: &Value| value.as_f64().is_some_and(|v| v == 0.0 && v.is_sign_positive());
            assert!(row.iter().all(|(key, value)| key == "class" || zero(value)), "{row:?}");
        }
    }
}

//! `kind = "packet"`: discrete events, packet by packet.

mod columns;
mod keys;
mod outcome;
mod q_tables;
mod rows;
mod settings;
mod tables;

use super::{messages_known, Engine, EngineError, EngineKind, Foreseen, Outcome, Watcher};
use crate::input::Files;
use crate::scenario::Scenario;
use odonata_declare::Value;
use odonata_packet::{
    memory_estimate, ClosedTraffic, JobTraffic, PacketEngine, PacketError, RunOptions, Schedule, Traffic,
};
use odonata_units::{Bytes, Time};
use settings::Packet;
use std::collections::BTreeSet;

/// The engine's line in the table of engines.
pub(super) const KIND: EngineKind = EngineKind {
    name: "packet",
    doc: "Discrete events: every packet moves through routers, links, buffers and credits; latency, stalls, routing.",
    keys: settings::keys,
    read: |fields, report| Box::new(settings::read(fields, report)),
    reference: include_str!("packet/reference.md"),
    adds: columns::added,
    tables: || [tables::tables(), rows::tables(), vec![q_tables::Q_TABLES.declared()]].concat(),
};

/// Virtual channels that the memory estimate assumes; the routing algorithm says how many it really needs.
const ASSUMED_CHANNELS: u8 = 5;

impl Engine for Packet {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn routing(&self) -> &'static str {
        self.chosen.algorithm.name
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        self.values()
    }

    fn check(&self, scenario: &Scenario) -> Result<Foreseen, EngineError> {
        messages_known(scenario)?;
        let (jobs, recording) = (scenario.workload.jobs.len(), self.records.recording());
        self.check_memory(memory_estimate(&scenario.machine, ASSUMED_CHANNELS, jobs, recording))?;
        let engine = self.engine(scenario)?;
        self.check_memory(engine.memory_estimate(jobs, recording))?;
        Ok(Foreseen {
            summary: vec![("virtual_channels", engine.virtual_channels().into())],
            warnings: self.price_in_channels(&engine).into_iter().collect(),
        })
    }

    fn read_files(&mut self, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
        let Some(name) = self.routing.q.q_tables.clone() else { return Ok(()) };
        let wrong = |reason| ("q_tables", reason);
        let bytes = files.read(&name).map_err(wrong)?;
        self.q_entries = q_tables::read(&name, &bytes).map_err(wrong)?;
        // A run's own directory is another one, so it has the whole path.
        self.q_tables_at(&files.path_of(&name).display().to_string());
        Ok(())
    }

    fn run(&self, scenario: &Scenario, threads: usize, watcher: &mut dyn Watcher) -> Result<Outcome, EngineError> {
        messages_known(scenario)?;
        let jobs = scenario.workload.jobs.len();
        let mut recording = self.records.recording();
        recording.link_jobs = scenario.output.link_jobs;
        self.check_memory(memory_estimate(&scenario.machine, ASSUMED_CHANNELS, jobs, recording))?;
        let engine = self.engine(scenario)?;
        let needed = engine.memory_estimate(jobs, recording);
        self.check_memory(needed)?;
        let closed = self.closed_traffic(scenario, needed)?;
        let traffic = Traffic::of(&scenario.workload, &closed);
        let steady = traffic.has_open() && !traffic.is_mixed();
        let schedule = self.schedule(steady);
        let options = RunOptions {
            seed: scenario.seed,
            threads,
            recording,
            patience: self.times.patience,
            keep_tables: self.records.q_tables,
            ..RunOptions::default()
        };
        let mut passed = rows::Passed::new(watcher, &engine.link_ports(), recording);
        let result = engine.run_watched(&traffic, schedule, &options, &mut passed);
        let mut outcome = outcome::outcome(&columns::Measured {
            engine: self,
            scenario,
            result: &result,
            closed: &closed,
            senders: &senders(&traffic),
            steady,
            measured: outcome::measured(&traffic, &result),
        });
        outcome.warnings.extend(self.price_in_channels(&engine));
        outcome.tables.extend(passed.into_kept());
        if result.ports.tables().next().is_some() {
            let entries = q_tables::entries(&scenario.machine, result.ports.tables());
            outcome.tables.push(q_tables::Q_TABLES.of(&entries));
        }
        Ok(outcome)
    }
}

impl Packet {
    /// The machine as the engine sees it, with the tables to start from.
    fn engine(&self, scenario: &Scenario) -> Result<PacketEngine, EngineError> {
        let mut engine = PacketEngine::new(&scenario.machine, &self.settings, Engine::routing(self), &self.routing)
            .map_err(|error| refused(&error))?;
        if self.routing.q.q_tables.is_some() {
            let refuse = |reason| EngineError::Refused { key: Some("q_tables"), reason };
            let tables =
                q_tables::arrange(&scenario.machine, &engine.table_sizes(), &self.q_entries).map_err(refuse)?;
            engine.start_from(tables).map_err(|error| refuse(error.reason))?;
        }
        Ok(engine)
    }

    /// What it costs that the plainest order of channels does not do on the machine.
    fn price_in_channels(&self, engine: &PacketEngine) -> Option<String> {
        let (name, channels, plain) = (Engine::routing(self), engine.virtual_channels(), engine.plain_channels()?);
        Some(if plain < channels {
            format!(
                "'{name}' has {channels} virtual channels at every port of this machine, each with its buffers: with {plain}, as \
                 where every two groups are joined and all groups are whole, packets could wait for each other for ever"
            )
        } else {
            format!(
                "'{name}' counts the turns of a way, with {channels} virtual channels: one for every hop would be {plain}, more \
                 than there may be"
            )
        })
    }

    /// The messages of closed traffic, if there is memory for them beside the `others` bytes that the network needs.
    fn closed_traffic(&self, scenario: &Scenario, others: u64) -> Result<ClosedTraffic, EngineError> {
        let limit = self.memory_bytes();
        let left = limit.map_or(u64::MAX, |limit| limit.0.saturating_sub(others));
        ClosedTraffic::within(&scenario.machine, &scenario.workload, left).map_err(|needed| EngineError::Refused {
            key: Some("memory_limit"),
            reason: format!(
                "the messages of the jobs need more than {} beside {} for the network, but {} are allowed or available; \
                 use fewer ranks or messages (`iterations` cost nothing), open traffic or the flow engine, or raise the limit",
                Bytes(needed),
                Bytes(others),
                limit.unwrap_or(Bytes(u64::MAX)),
            ),
        })
    }

    /// The memory that a run may take, if that is known.
    fn memory_bytes(&self) -> Option<Bytes> {
        self.records.memory_limit.or_else(available_memory)
    }

    fn check_memory(&self, needed: u64) -> Result<(), EngineError> {
        match self.memory_bytes() {
            Some(limit) if needed > limit.0 => Err(EngineError::Refused {
                key: Some("memory_limit"),
                reason: format!(
                    "the run needs about {} but {limit} are allowed or available; use a smaller machine or raise the limit",
                    Bytes(needed)
                ),
            }),
            _ => Ok(()),
        }
    }

    /// What is measured: of a steady state a window, else everything.
    fn schedule(&self, steady: bool) -> Schedule {
        if steady {
            self.times.schedule
        } else {
            Schedule { warm_up: Time::ZERO, measure: self.times.time_limit, drain: Time::ZERO }
        }
    }
}

/// How many nodes of each job send.
fn senders(traffic: &Traffic) -> Vec<usize> {
    let senders = |job: &JobTraffic| match job {
        JobTraffic::Open(job) => job.nodes.len(),
        JobTraffic::Closed(job) => job.messages.iter().map(|m| m.source).collect::<BTreeSet<_>>().len(),
        JobTraffic::Program(_) => unreachable!("experiments have no programs"),
    };
    traffic.jobs.iter().map(senders).collect()
}

fn refused(error: &PacketError) -> EngineError {
    let (key, reason) = match error {
        PacketError::Settings(e) => (Some(e.setting.as_str()), e.reason.clone()),
        PacketError::Routing(odonata_routing::algorithm::RoutingError::Setting { setting, reason }) => {
            (Some(setting.as_str()), reason.clone())
        }
        PacketError::Routing(e) => (Some("routing"), e.to_string()),
        PacketError::Deadlock { .. } => (Some("routing"), error.to_string()),
        PacketError::Unreachable(e) => (None, e.to_string()),
        PacketError::NoTime { pipeline, .. } => (Some(*pipeline), error.to_string()),
    };
    let name = key.map(|k| k.rsplit('.').next().unwrap_or(k));
    let key = name.and_then(settings::known);
    EngineError::Refused { key, reason }
}

/// Memory that the system has left, where it says so.
fn available_memory() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(Bytes::kib(kib))
}

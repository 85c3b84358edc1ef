//! `kind = "packet"`: discrete events, packet by packet.

mod calls;
mod closed_size;
mod columns;
mod fast_forward;
mod keeper;
mod keys;
mod messages;
mod outcome;
mod overload;
mod program_records;
mod programs;
mod q_tables;
mod rank_memory;
mod refusal;
mod rows;
pub(crate) mod settings;
mod skip_rule;
mod tables;
mod warm_up;
mod wildcards;

use crate::checkpoint::{Checkpoints, Origin};
use crate::engine::{check_messages, Engine, EngineError, EngineKind, Outcome, RunEstimate, Watcher};
use crate::routing;
use crate::routing::EngineRouting;
use crate::scenario::Scenario;
use closed_size::{closed_traffic, ClosedSize};
use keeper::Keeper;
use odonata_declare::{Assumption, Value};
use odonata_document::Files;
use odonata_machine::Machine;
use odonata_memory::{Guard, Need};
use odonata_packet::{
    memory_estimate, table_estimate, CheckpointAccess, CheckpointParts, ClosedTraffic, JobTraffic, MemoryDemand,
    PacketEngine, PacketPreset, PacketSettings, Recording, RunOptions, Schedule, Traffic, TrafficClass,
};
use odonata_processes::SingleProcess;
use odonata_routing::algorithm::PathChoice;
use odonata_routing::defaults::default_routing;
use odonata_units::{Bytes, Rate, Time};
use odonata_workload::rails::RailPaths;
use odonata_workload::{Job, TrafficKind};
use program_records::ProgramRecords;
use programs::Programs;
use refusal::{refused, too_much};
use settings::Packet;
use skip_rule::SkipRule;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use warm_up::WarmUp;
use wildcards::refuse_wildcard_sends;

/// The engine's line in the table of engines.
pub(crate) const KIND: EngineKind = EngineKind {
    name: "packet",
    doc: "Discrete events: every packet moves through routers, links, buffers and credits; latency, stalls, routing.",
    keys: settings::keys,
    read: |fields, report| Box::new(settings::read(fields, report)),
    reference: include_str!("packet/reference.md"),
    adds: columns::added,
    tables: || [tables::tables(), programs::tables(), rows::tables(), vec![q_tables::Q_TABLES.declaration()]].concat(),
};

/// An engine with its traffic and its estimated memory.
struct PreparedRun {
    engine: PacketEngine,
    closed: ClosedTraffic,
    programs: Option<Programs>,
    /// About how many are sent.
    packets: u64,
    memory: Need,
}

/// Default limit if endless traffic runs with jobs that end, which may starve. Far above the time of any job that was
/// simulated so far; a smaller limit cuts long jobs, a larger one takes longer to report starvation.
const LIMIT_WITH_ENDLESS: Time = Time::from_us(1_000_000);
/// Assumed load of sending nodes of a program at the maximum of packets in flight.
const PROGRAM_LOAD: f64 = 0.3;
/// Virtual channels that the memory estimate assumes; the routing algorithm says how many it really needs.
const ASSUMED_CHANNELS: u8 = 5;

impl Engine for Packet {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn fit(&mut self, machine: &Machine) {
        self.routing.get_or_insert_with(|| {
            let default = default_routing(machine);
            EngineRouting::of(default, default.hops)
        });
    }

    fn fit_jobs(&mut self, jobs: &[Job]) {
        let ends = |job: &Job| match &job.traffic {
            TrafficKind::Open(_) => false,
            TrafficKind::Closed(_) => true,
            TrafficKind::Program(_) => !job.is_background(),
        };
        let steady = jobs.iter().all(|job| matches!(job.traffic, TrafficKind::Open(_)));
        if !steady && !jobs.iter().all(ends) {
            self.times.time_limit.get_or_insert(LIMIT_WITH_ENDLESS);
        }
    }

    fn routing(&self) -> Option<&EngineRouting> {
        self.routing.as_ref()
    }

    fn assumptions(&self, _: &Scenario) -> Vec<Assumption> {
        self.routing.iter().filter_map(EngineRouting::assumption).collect()
    }

    fn mechanism(&self) -> String {
        self.routing.as_ref().map_or_else(String::new, |routing| routing.choice.algorithm.doc.to_owned())
    }

    fn traffic_classes(&self) -> Vec<TrafficClass> {
        match self.settings.preset == PacketPreset::Slingshot {
            true => TrafficClass::presets(),
            false => Vec::new(),
        }
    }

    fn resolved(&self) -> Vec<(&'static str, Value)> {
        self.values()
    }

    fn ignored_keys(&self, scenario: &Scenario) -> Vec<String> {
        let jobs = scenario.workload.jobs.iter().enumerate();
        let open: Vec<usize> =
            jobs.filter(|(_, job)| matches!(job.traffic, TrafficKind::Open(_))).map(|(index, _)| index).collect();
        if open.is_empty() {
            return ["warm_up", "measure", "drain"].map(|key| format!("engine.{key}")).to_vec();
        }
        // An open job sends packets at its load: the pattern says to whom, not how much.
        let amounts = ["bytes", "messages", "iterations"];
        open.iter().flat_map(|job| amounts.map(|key| format!("job.{job}.pattern.{key}"))).collect()
    }

    /// Open traffic has its load on every NIC, so dead NICs take their part of it along.
    fn warnings(&self, Scenario { machine, workload, .. }: &Scenario) -> Vec<String> {
        let open = workload.jobs.iter().filter(|job| matches!(job.traffic, TrafficKind::Open(_)) && !job.idle);
        let fewer = open.filter(|_| machine.has_rails()).filter_map(|job| {
            let (sending, all) = RailPaths::new(machine, job).open_senders(job);
            (sending < all).then(|| {
                format!(
                    "job '{}' sends from at most {sending} of {all} NICs, the others are dead: its load is a share of a \
                     NIC's bandwidth, so it offers at least {:.1} % less",
                    job.name,
                    100.0 * f64::from(all - sending) / f64::from(all)
                )
            })
        });
        fewer.chain(routing::unequal_cables_warning(self.choice(), machine)).collect()
    }

    fn check(&self, scenario: &Scenario, guard: &Guard) -> Result<RunEstimate, EngineError> {
        check_messages(scenario)?;
        let expected = ClosedSize::expected(scenario, self.settings.payload(), guard)?;
        let PreparedRun { engine, memory, packets, .. } = self.built(scenario, guard, false, expected)?;
        let channels = engine.virtual_channels();
        Ok(RunEstimate {
            memory,
            summary: [("virtual_channels", channels.into()), ("packets", packets.into())]
                .into_iter()
                // Each packet is acknowledged. The notices of congested ports are not known before the run.
                .chain(self.network(scenario).has_control_packets().then(|| ("control_packets", packets.into())))
                .chain(fast_forward::announced(self))
                .collect(),
            warnings: self.price_in_channels(&scenario.machine, &engine).into_iter().collect(),
        })
    }

    fn runs_among_processes(&self) -> bool {
        true
    }

    fn has_checkpoints(&self) -> bool {
        true
    }

    fn memory_limit(&self) -> Option<Bytes> {
        self.records.memory_limit
    }

    fn read_files(&mut self, files: &mut Files<'_>) -> Result<(), (&'static str, String)> {
        if let Some(name) = &mut self.times.start_from {
            *name = files.path_of(name).display().to_string();
        }
        let Some(name) = self.q_tables() else {
            return self.routing.as_mut().map_or(Ok(()), |routing| routing::read_files(&mut routing.choice, files));
        };
        let wrong = |reason| (settings::Q_TABLES, reason);
        let bytes = files.read(&name).map_err(wrong)?;
        self.q_entries = q_tables::read(&name, &bytes).map_err(wrong)?;
        // A run's own directory is another one, so it has the whole path.
        self.q_tables_at(&files.path_of(&name).display().to_string());
        Ok(())
    }

    fn run(
        &self,
        scenario: &Scenario,
        threads: usize,
        guard: &Guard,
        watcher: &mut dyn Watcher,
        checkpoints: Checkpoints,
    ) -> Result<Outcome, EngineError> {
        check_messages(scenario)?;
        let PreparedRun { engine, closed, programs, memory, .. } =
            self.built(scenario, guard, !watcher.takes_rows(), None)?;
        let recording = self.recording(scenario);
        let program = programs.as_ref().map(Programs::program);
        let traffic = Traffic::of(&scenario.machine, &scenario.workload, &closed, program.as_ref());
        let steady = traffic.is_steady();
        let schedule = self.schedule(steady);
        let options = RunOptions {
            seed: scenario.seed,
            threads,
            recording,
            progress_timeout: self.times.progress_timeout,
            records_tables: self.records.q_tables,
            fast_forward: self.times.fast_forward.map(SkipRule::of_engine),
            ..RunOptions::default()
        };
        if options.fast_forward.is_some() && watcher.processes() > 1 {
            return Err(fast_forward::refused("it works in one process; use threads instead".into()));
        }
        let processes =
            if watcher.processes() > 1 { Some(watcher.join().ok_or(EngineError::Elsewhere)?) } else { None };
        let Checkpoints { mut from, origin } = checkpoints;
        let keeper = Keeper::default();
        let warm_up = self.warm_up(&engine, &traffic, schedule, &options, &origin)?;
        let every = self.times.checkpoint.map(|every| Duration::from_secs_f64(every.as_s_f64()));
        let mut passed = rows::RowForwarder::new(watcher, &engine.link_ports(), recording, &keeper, every, origin);
        let mut warm = match warm_up.filter(|_| from.is_none()) {
            Some(warm_up) => warm_up.state(&mut passed, &keeper, processes.as_deref())?,
            None => None,
        };
        let mut of_checkpoint = from.as_mut().map(|from| |number| from.part(number));
        let mut of_warm_up = warm.as_mut().map(|warm| |number| warm.part(number));
        let from = match (&mut of_checkpoint, &mut of_warm_up) {
            (Some(part), _) => Some(part as CheckpointParts<'_>),
            (None, Some(part)) => Some(part as CheckpointParts<'_>),
            (None, None) => None,
        };
        let keeping = CheckpointAccess { sink: Some(&keeper), parts: from };
        let processes = processes.as_deref().unwrap_or(&SingleProcess);
        let result = engine.run_distributed(&traffic, schedule, &options, &mut passed, keeping, processes);
        let result =
            result.map_err(|error| EngineError::Checkpoint(error.to_string()))?.ok_or(EngineError::Elsewhere)?;
        let ran = programs.as_ref().map(|programs| &*programs.ranks);
        let ran = ProgramRecords::new(ran, scenario, result.end, self.settings.injection.is_some());
        let mut outcome = outcome::outcome(&columns::FinishedRun {
            engine: self,
            scenario,
            result: &result,
            closed: &closed,
            ran: &ran,
            senders: &senders(scenario, &traffic),
            steady,
            measured: outcome::measured(&traffic, &result),
            unfinished: &outcome::unfinished_endpoints(&result, &scenario.workload.jobs),
            memory,
        });
        outcome.warnings.extend(self.price_in_channels(&scenario.machine, &engine));
        outcome.tables.extend(passed.into_kept());
        if result.ports.tables().next().is_some() {
            let entries = q_tables::entries(&scenario.machine, result.ports.tables());
            outcome.tables.push(q_tables::Q_TABLES.of(&entries));
        }
        Ok(outcome)
    }
}

impl Packet {
    /// Routers and NICs with the traffic classes of a scenario.
    fn network(&self, scenario: &Scenario) -> PacketSettings {
        PacketSettings { classes: scenario.classes.clone(), ..self.settings.clone() }
    }

    /// The machine as the engine sees it, with the tables to start from.
    fn engine(&self, scenario: &Scenario) -> Result<PacketEngine, EngineError> {
        let engine = PacketEngine::new(&scenario.machine, &self.network(scenario), self.choice());
        let mut engine = engine.map_err(|error| refused(&error))?;
        if self.q_tables().is_some() {
            let refuse = |reason| EngineError::Refused { key: Some(settings::Q_TABLES), reason };
            let tables =
                q_tables::arrange(&scenario.machine, &engine.table_sizes(), &self.q_entries).map_err(refuse)?;
            engine.load_tables(tables).map_err(|error| refuse(error.reason))?;
        }
        Ok(engine)
    }

    /// What the run begins with, if it is to.
    fn warm_up<'a>(
        &'a self,
        engine: &'a PacketEngine,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        origin: &Origin,
    ) -> Result<Option<WarmUp<'a>>, EngineError> {
        let Some(directory) = &self.times.start_from else { return Ok(None) };
        WarmUp::new(Path::new(directory), engine, traffic, schedule, options, origin).map(Some)
    }

    /// Note on virtual channels beyond the simplest VC ordering.
    fn price_in_channels(&self, machine: &Machine, engine: &PacketEngine) -> Option<String> {
        let (name, channels, plain) =
            (self.choice().algorithm.name, engine.virtual_channels(), engine.plain_channels()?);
        // The legs of a path between groups. Paths of one flow each have no legs, whatever the groups.
        let has_legs = machine.group_count() > 1 && !matches!(self.choice().paths(), Some(PathChoice::OnePath(_)));
        let why = match has_legs {
            true => "enough if all groups are complete and directly connected, a deadlock would be possible",
            false => "its paths could wait for each other in a cycle: a deadlock would be possible",
        };
        Some(if plain < channels {
            format!(
                "'{name}' needs {channels} virtual channels at every port of this machine, each with its buffers. With {plain}, {why}"
            )
        } else {
            format!(
                "'{name}' counts the turns of a path, with {channels} virtual channels. One for every hop would need {plain}, above the maximum"
            )
        })
    }

    fn recording(&self, scenario: &Scenario) -> Recording {
        Recording { link_jobs: scenario.output.link_jobs, ..self.records.recording() }
    }

    /// Everything that a run needs, if there is memory for it. Before each step it is estimated whether there is.
    /// If the size of closed traffic is `expected`, it is not gathered.
    fn built(
        &self,
        scenario: &Scenario,
        guard: &Guard,
        retains_rows: bool,
        expected: Option<ClosedSize>,
    ) -> Result<PreparedRun, EngineError> {
        let machine = &scenario.machine;
        refuse_wildcard_sends(scenario)?;
        self.refuse_fifos_on_rails(scenario)?;
        fast_forward::check(self, scenario)?;
        if self.times.start_from.is_some() {
            warm_up::possible(&scenario.workload.jobs, self.recording(scenario))?;
        }
        let mut demand = self.demand(scenario, retains_rows);
        // Packets are counted when messages are known. Messages of closed traffic are not known yet.
        let least = MemoryDemand { packets: 0, recorded: 0, ..demand };
        guard
            .admit(memory_estimate(machine, &self.settings, self.choice(), assumed_channels(scenario), &least))
            .map_err(too_much)?;
        let payload = self.settings.payload();
        let (closed, size) = match expected {
            Some(size) => (ClosedTraffic::default(), size),
            None => {
                let closed = closed_traffic(scenario, guard)?;
                let size = ClosedSize::of(&closed, payload);
                (closed, size)
            }
        };
        let programs = Programs::of(scenario, &self.settings, &self.records);
        let programs = match (self.times.fast_forward, programs) {
            (Some(_), Some(programs)) => Some(programs.with_loops().map_err(fast_forward::refused)?),
            (_, programs) => programs,
        };
        let (of_programs, sent) = programs.as_ref().map_or((0, 0), |programs| (programs.packets, programs.bytes));
        let packets = size.packets.saturating_add(of_programs);
        let bytes = size.bytes.saturating_add(sent);
        let of_ranks = programs.as_ref().map_or(0, |programs| programs.memory_bytes);
        let messages = size.memory_bytes.saturating_add(of_ranks);
        demand = demand.with_messages(packets, bytes);
        demand.intervals = demand.intervals.max(self.intervals_of(machine, bytes));
        let of_run = memory_estimate(machine, &self.settings, self.choice(), assumed_channels(scenario), &demand);
        guard.admit(of_run.saturating_add(messages)).map_err(too_much)?;
        let engine = self.engine(scenario)?;
        // How many channels there are is known by now.
        let tables = table_estimate(machine, self.choice());
        let running = |demand: &MemoryDemand| {
            [tables, engine.memory_estimate(demand), messages].into_iter().fold(0, u64::saturating_add)
        };
        // Open traffic goes on while what was measured arrives, but seldom for as long as it may.
        let in_flight = Some(self.expected_in_flight(scenario, &engine, &demand));
        let expected = MemoryDemand { in_flight, packets: demand.recorded, ..demand };
        let kept = engine.retained_estimate(&demand).saturating_add(messages);
        let memory = Need { expected: running(&expected), at_most: running(&demand), kept };
        guard.admit(memory).map_err(too_much)?;
        Ok(PreparedRun { engine, closed, programs, packets: demand.packets, memory })
    }

    /// Packets that are in the network at a time, about: of open traffic by its load; closed traffic keeps the network full; of programs few nodes
    /// send at the same time.
    fn expected_in_flight(&self, scenario: &Scenario, engine: &PacketEngine, demand: &MemoryDemand) -> u64 {
        let steady = scenario.workload.jobs.iter().all(|job| matches!(job.traffic, TrafficKind::Open(_)));
        let Schedule { warm_up, measure, drain } = self.schedule(steady);
        let until = (warm_up + measure + drain).max(Time(1));
        let sender = |job: &Job| {
            let nodes = u64::from(job.ranks.div_ceil(job.ranks_per_node.max(1)));
            match &job.traffic {
                TrafficKind::Open(open) => (nodes, open.max_load(until)),
                TrafficKind::Closed(_) => (nodes, 1.0),
                TrafficKind::Program(_) => (nodes, PROGRAM_LOAD),
            }
        };
        engine.expected_in_flight(scenario.workload.jobs.iter().map(sender)).min(demand.packets)
    }

    /// The NIC of a program chooses among rails or among memory FIFOs, not both.
    fn refuse_fifos_on_rails(&self, Scenario { machine, workload, .. }: &Scenario) -> Result<(), EngineError> {
        let program = workload.jobs.iter().find(|job| job.program.is_some() || job.graph.is_some());
        let Some(job) = program.filter(|_| machine.has_rails() && self.settings.injection.is_some()) else {
            return Ok(());
        };
        let reason = format!(
            "job '{}' runs a program on nodes with {} NICs and injection FIFOs; expected only one of the two",
            job.name,
            machine.rails().of_node()
        );
        Err(EngineError::Refused { key: None, reason })
    }

    /// Intervals that pass while so many bytes are sent, if the slowest cable sets the pace for all nodes.
    fn intervals_of(&self, machine: &Machine, bytes: u64) -> u64 {
        let Some(interval) = self.records.interval else { return 0 };
        let all = machine.links().map(|link| machine.bandwidth(link)).chain([machine.terminal().bandwidth]);
        let slowest = all.map(Rate::bytes_per_s_f64).fold(f64::INFINITY, f64::min);
        let seconds = bytes as f64 / machine.node_count().max(1) as f64 / slowest;
        let limit = self.times.time_limit.map_or(f64::INFINITY, Time::as_s_f64);
        (seconds.min(limit) / interval.as_s_f64()) as u64
    }

    /// What the run is to do, but for the packets of closed traffic.
    fn demand(&self, scenario: &Scenario, retains_rows: bool) -> MemoryDemand {
        let jobs = &scenario.workload.jobs;
        let terminal = scenario.machine.terminal().bandwidth.bytes_per_s_f64();
        // Open traffic with closed jobs continues until these end. Their end is unknown.
        let open = jobs.iter().filter(|job| matches!(job.traffic, TrafficKind::Open(_))).count();
        let Schedule { warm_up, measure, drain } = self.schedule(open == jobs.len());
        let made = |job: &Job, until: Time| match &job.traffic {
            TrafficKind::Closed(_) | TrafficKind::Program(_) => 0.0,
            TrafficKind::Open(open) => {
                let load = open.mean_load(Time::ZERO, until.max(Time(1)));
                let packets =
                    load * until.as_s_f64() * terminal / (self.settings.packet + self.settings.wire_overhead).as_f64();
                f64::from(job.ranks) * (1.2 * packets + f64::from(open.burst) + 10.0)
            }
        };
        let all = |until: Time| jobs.iter().map(|job| made(job, until)).sum::<f64>() as u64;
        let end = warm_up + measure + drain;
        let interval = self.records.interval.map_or(0, Time::ps);
        MemoryDemand {
            jobs: jobs.len(),
            recording: self.recording(scenario),
            packets: all(end),
            in_flight: None,
            packet_bytes: None,
            recorded: all(warm_up + measure),
            intervals: if open == jobs.len() { end.ps().checked_div(interval).unwrap_or(0) } else { 0 },
            retains_rows,
        }
    }

    /// What is measured: of a steady state a window, else everything.
    fn schedule(&self, steady: bool) -> Schedule {
        if steady {
            self.times.schedule
        } else {
            Schedule::until_jobs_end(self.times.time_limit)
        }
    }
}

/// Virtual channels that the memory estimate assumes.
fn assumed_channels(scenario: &Scenario) -> u8 {
    ASSUMED_CHANNELS * scenario.classes.count() as u8
}

/// How many nodes of each job send.
fn senders(scenario: &Scenario, traffic: &Traffic) -> Vec<usize> {
    let senders = |(job, placed): (&JobTraffic, &Job)| match job {
        JobTraffic::Open(job) => job.nodes.len(),
        JobTraffic::Closed(job) => job.messages.iter().map(|m| m.source).collect::<BTreeSet<_>>().len(),
        JobTraffic::Program(_) => placed.node_of_rank.iter().collect::<BTreeSet<_>>().len(),
    };
    traffic.jobs.iter().zip(&scenario.workload.jobs).map(senders).collect()
}

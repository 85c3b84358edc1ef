//! The engine: a machine, a routing algorithm and settings, ready to run traffic.

use crate::control::PathLatencies;
use crate::division::Division;
use crate::endpoint::Nics;
use crate::fabric::{Fabric, CHANNELS_MAX};
use crate::memory::{self, MemoryDemand, Size};
use crate::partition::{EndpointSet, Partition, Section};
use crate::record::{PacketRecord, RecordPlan, Recorder, Rows};
use crate::result::PacketResult;
use crate::run::{
    self, CheckpointSink, Ending, Observer, ProcessLayout, Progress, RunCheckpoints, RunLimits, RunPlan, RunState,
    Watch, RUN_PART,
};
use crate::run_options::RunOptions;
use crate::schedule::Schedule;
use crate::settings::PacketSettings;
use crate::settings_error::SettingsError;
use crate::source::Traffic;
use odonata_checkpoint::{DecodeError, Reader, State};
use odonata_machine::Machine;
use odonata_processes::{all_gather, gather, Processes, SingleProcess};
use odonata_routing::algorithm::planes::PlaneRouting;
use odonata_routing::algorithm::{Needs, Routing, RoutingChoice, RoutingError, ALGORITHMS};
use odonata_routing::deadlock::{self, Cycle, ProofError, ProvenRouting};
use odonata_routing::next_hop::{UnreachableError, VcOrder};
use odonata_units::Time;
use std::ops::Range;
use std::sync::Arc;

/// Mean number of links from node to node: two at its ends and about two between routers. The factor applies to
/// routings that may take detours: none at low load, twice the hops with the study's settings. Both are rough; they
/// scale estimates only.
const HOPS_MEAN: f64 = 4.0;
const DETOUR_FACTOR: f64 = 1.25;
/// Maximum number of virtual channels of a routing algorithm, if there are enough for all traffic classes.
const CLASS_CHANNELS_MAX: u8 = 16;

/// Returns the parts of a saved state by number.
pub type CheckpointParts<'a> = &'a mut dyn FnMut(u32) -> Result<Vec<u8>, DecodeError>;

/// Access to checkpoints of a run.
#[derive(Default)]
pub struct CheckpointAccess<'a> {
    /// Receives the state whenever the watcher requests a checkpoint.
    pub sink: Option<&'a dyn CheckpointSink>,
    /// State to resume from.
    pub parts: Option<CheckpointParts<'a>>,
}

/// Reason why a run cannot start.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// A setting of routers or packets.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The routing algorithm or its settings.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// The virtual channels do not prevent deadlocks on this machine.
    #[error("routing '{algorithm}' could deadlock on this machine: {cycle}")]
    Deadlock {
        /// The algorithm.
        algorithm: String,
        /// Channels that could wait for each other.
        cycle: Cycle,
    },
    /// The machine is not connected.
    #[error(transparent)]
    Unreachable(#[from] UnreachableError),
    /// A hop of zero latency: a packet would be in two places at one instant.
    #[error(
        "a packet takes no time {path}: the cable and the router's pipelines have no latency; set a latency for links \
         of class '{class}', or '{pipeline}' (1 ps is enough)"
    )]
    ZeroLatency {
        /// Ends of the hop.
        path: String,
        /// Link class of the cable.
        class: String,
        /// Pipeline whose latency would suffice.
        pipeline: &'static str,
    },
}

/// A machine with a routing algorithm, built and checked.
pub struct PacketEngine {
    fabric: Arc<Fabric>,
    latencies: Arc<PathLatencies>,
    routing: Arc<dyn Routing>,
    needs: Needs,
    /// See [`PacketEngine::plain_channels`].
    plain_channels: Option<u8>,
    /// Initial estimates of routers, by router; empty if there are none.
    tables: Vec<Vec<f32>>,
}

impl PacketEngine {
    /// Builds the tables of `machine` and checks settings and algorithm.
    ///
    /// # Errors
    /// Settings out of range, an unsuitable algorithm, or routers without a path between them.
    pub fn new(machine: &Machine, settings: &PacketSettings, routing: &RoutingChoice) -> Result<Self, PacketError> {
        settings.check()?;
        check_latencies(machine, settings)?;
        // One proof holds for each class: a packet never leaves the channels of its class.
        let classes = settings.classes.count();
        let proven = prove(machine, routing, CLASS_CHANNELS_MAX.min(CHANNELS_MAX / classes as u8))?;
        let needed = usize::from(proven.routing.virtual_channels()) * classes;
        if needed > CHANNELS_MAX.into() {
            return Err(too_many_channels(routing, classes, needed).into());
        }
        settings.check_rings(&*proven.routing)?;
        settings.classes.check_ordered(routing, &*proven.routing)?;
        let mut engine = Self::unchecked(machine, settings, Arc::from(proven.routing), routing.algorithm.needs);
        engine.plain_channels = (proven.vc_order != VcOrder::PerLeg).then_some(proven.plain_channels);
        Ok(engine)
    }

    /// Creates an engine without checks: the algorithm was checked before, or a test wants it to deadlock.
    pub(crate) fn unchecked(
        machine: &Machine,
        settings: &PacketSettings,
        routing: Arc<dyn Routing>,
        needs: Needs,
    ) -> Self {
        let fabric = Arc::new(Fabric::new(machine, settings));
        let latencies = Arc::new(PathLatencies::new(&fabric));
        Self { fabric, latencies, routing, needs, plain_channels: None, tables: Vec::new() }
    }

    /// Virtual channels of every port: the algorithm's channels, for each traffic class.
    pub fn virtual_channels(&self) -> u8 {
        self.routing.virtual_channels() * self.fabric.settings.classes.count() as u8
    }

    /// Virtual channels of the algorithm's plainest order, if that order does not suffice on this machine: it has a
    /// cycle, or too many channels.
    pub fn plain_channels(&self) -> Option<u8> {
        self.plain_channels
    }

    /// Rows and columns of each router's estimates; zero without learning.
    pub fn table_sizes(&self) -> Vec<(usize, usize)> {
        let routers = self.fabric.routers() as u32;
        (0..routers).map(|r| self.routing.memory(odonata_units::RouterId(r)).size()).collect()
    }

    /// Sets the initial estimates of every run, from the `tables` of another run's result.
    ///
    /// # Errors
    /// The algorithm does not learn, or the tables belong to another machine.
    pub fn load_tables(&mut self, tables: Vec<Vec<f32>>) -> Result<(), SettingsError> {
        let wrong = |reason: String| Err(SettingsError { setting: "engine.q_tables".into(), reason });
        if !self.needs.estimates {
            let learning: Vec<&str> = ALGORITHMS.iter().filter(|other| other.needs.estimates).map(|a| a.name).collect();
            return wrong(format!("the routing algorithm does not learn; use '{}'", learning.join("' or '")));
        }
        let sizes = self.table_sizes();
        if sizes.len() != tables.len() {
            return wrong(format!("tables of {} routers, but the machine has {}", tables.len(), sizes.len()));
        }
        for (router, (values, (rows, columns))) in tables.iter().zip(&sizes).enumerate() {
            if values.len() != rows * columns {
                let (found, expected) = (values.len(), rows * columns);
                return wrong(format!("router {router} has {found} values; expected {expected}"));
            }
            if let Some(value) = values.iter().find(|value| !(value.is_finite() && **value >= 0.0)) {
                return wrong(format!("router {router}: {value} is not a time in ns"));
            }
        }
        self.tables = tables;
        Ok(())
    }

    /// Approximate memory of a run in addition to the built tables: ports, packets, records and estimates.
    pub fn memory_estimate(&self, demand: &MemoryDemand) -> u64 {
        let learnt = if self.needs.reports { self.learning_bytes(demand) } else { 0 };
        memory::run_bytes(&self.size(), &self.fabric.settings, demand) + learnt
    }

    /// Part of it that the result retains after the run.
    pub fn retained_estimate(&self, demand: &MemoryDemand) -> u64 {
        memory::retained_bytes(&self.size(), demand)
    }

    fn size(&self) -> Size {
        let (ports, nodes) = (self.fabric.ports() as u64, self.fabric.nics() as u64);
        Size { ports, nodes, channels: self.virtual_channels().into() }
    }

    /// Memory of estimates. Each hop touches one row of a router's table; in the worst case all rows are touched.
    fn learning_bytes(&self, demand: &MemoryDemand) -> u64 {
        let routers = self.fabric.routers().max(1) as f64;
        let touches = HOPS_MEAN * demand.packets as f64 / routers;
        let of_router = |(rows, columns): (usize, usize)| {
            let rows_touched = match demand.in_flight {
                None => rows as f64,
                Some(_) => rows as f64 * (1.0 - (-touches / rows.max(1) as f64).exp()),
            };
            4.0 * rows as f64 + 4.0 * columns as f64 * rows_touched
        };
        let routers = (0..self.fabric.routers() as u32).map(|r| self.routing.memory(odonata_units::RouterId(r)));
        routers.map(|memory| of_router(memory.size()) + 8.0 * memory.notes.len() as f64).sum::<f64>() as u64
    }

    /// Approximate number of packets in flight below saturation, for numbers of nodes with their loads.
    pub fn expected_in_flight(&self, senders: impl IntoIterator<Item = (u64, f64)>) -> u64 {
        let fabric = &self.fabric;
        let nics = fabric.nics().max(1) as f64;
        let of_nic = fabric.nic_port.iter().map(|&port| 1e12 / fabric.full_time[port as usize] as f64);
        let rate_per_s = of_nic.sum::<f64>() / nics;
        let pipelines = (fabric.settings.input_latency + fabric.settings.output_latency).ps();
        let of_port = fabric.full_time.iter().zip(&fabric.cable).map(|(full, cable)| (full + cable + pipelines) as f64);
        let hop_s = of_port.sum::<f64>() / fabric.ports().max(1) as f64 / 1e12;
        let hops = if self.needs.reports || self.needs.load { HOPS_MEAN * DETOUR_FACTOR } else { HOPS_MEAN };
        let of_job =
            |(nodes, load): (u64, f64)| nodes as f64 * memory::expected_packets(load, rate_per_s, hops * hop_s);
        senders.into_iter().map(of_job).sum::<f64>() as u64
    }

    /// Time for a checkpoint of a shared warm-up: the last full microsecond without a record of a measurement after
    /// `warm_up` (deliveries are recorded on the last cable), or an earlier change of the load.
    pub fn shared_warm_up_end(&self, traffic: &Traffic, warm_up: Time) -> Time {
        let of_port = self.fabric.full_time.iter().zip(&self.fabric.cable).map(|(full, cable)| full + cable);
        let settings = &self.fabric.settings;
        let longest = of_port.max().unwrap_or(0) + (settings.output_latency + settings.input_latency).ps();
        let us = Time::from_us(1).ps();
        let unmeasured = Time(warm_up.ps().saturating_sub(longest) / us * us);
        traffic.last_step_before(unmeasured).map_or(unmeasured, |step| Time(step.ps() / us * us))
    }

    /// Open traffic before `time`, as far as the state at that time depends on it; `None` if not all traffic is open.
    /// Runs with equal traffic before `time` can resume from this state and give the same results as without it.
    ///
    /// To get a state that later traffic has not changed, end a window at `time` ([`RunOptions::window_end`]).
    pub fn traffic_before(&self, traffic: &Traffic, time: Time) -> Option<Traffic> {
        let before = traffic.before(time)?;
        // Memory FIFOs are filled in advance.
        Some(if self.fabric.settings.injection.is_some() { traffic.clone() } else { before })
    }

    /// NICs of all nodes, as a program gets them in an undivided run.
    pub fn nics(&self, seed: u64) -> Nics<'_> {
        Nics::new(&self.fabric, &(0..self.fabric.nics() as u32), seed)
    }

    /// Ports that lead to other routers, by link.
    pub fn link_ports(&self) -> Vec<u32> {
        self.fabric.link_port.iter().map(|&port| self.fabric.number(port)).collect()
    }

    /// Runs `traffic` and returns all records, including packets.
    pub fn run(
        &self,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        observer: Observer<'_>,
    ) -> PacketResult {
        let mut collector = PacketCollector { observer, packets: Vec::new() };
        let mut result = self.run_watched(traffic, schedule, options, &mut collector);
        result.packets = collector.packets;
        result
    }

    /// Runs `traffic` and returns its records. Packets and time series of ports go to `watch` during the run instead.
    pub fn run_watched(
        &self,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        watch: &mut dyn Watch,
    ) -> PacketResult {
        let checkpoints = CheckpointAccess::default();
        let result = self.run_distributed(traffic, schedule, options, watch, checkpoints, &SingleProcess);
        result.expect("no state is loaded").expect("the only process gets the result")
    }

    /// Like [`Self::run_watched`], with checkpoints, as one of several processes. A resumed run equals the
    /// uninterrupted run, on any number of threads and processes. Each process calls this with the same arguments,
    /// except for `threads`, `watch` and the sink. The first process gets all rows, checkpoints and the result, as a
    /// single process does. The other processes get `None`. Each process asks its own watcher whether to continue.
    ///
    /// # Errors
    /// The checkpoint belongs to another run. The first process that detects this returns the error, the
    /// others `None`.
    pub fn run_distributed(
        &self,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        watch: &mut dyn Watch,
        CheckpointAccess { sink, parts }: CheckpointAccess<'_>,
        processes: &dyn Processes,
    ) -> Result<Option<PacketResult>, DecodeError> {
        let plan = plan_run(traffic, schedule, options);
        let division = Division::new(&self.fabric, options.partitions);
        let layout = ProcessLayout { processes, partitions: division.split(processes.count(), &self.fabric) };
        let own = layout.own();
        let first = own.start as u32;
        let mut partitions = self.partitions(traffic, plan.records, options, &division, own);
        let resumed = parts.map(|parts| restore(&mut partitions, first, parts)).transpose();
        let unable = all_gather(processes, &resumed.is_ok()).iter().position(|able| !able);
        let resumed = match (resumed, unable) {
            (resumed, None) => resumed?,
            (Err(why), Some(unable)) if unable == processes.number() => return Err(why),
            (_, Some(_)) => return Ok(None),
        };
        let (checkpoints, several) = (RunCheckpoints { sink, resumed }, processes.count() > 1);
        let layout = several.then_some(&layout);
        let outcome = run::run(partitions, &division, &plan, options.threads, watch, checkpoints, layout);
        for (program, _) in traffic.programs().into_iter().filter(|_| several) {
            let own = if processes.number() == 0 { Vec::new() } else { program.export_records() };
            for handed in gather(processes, &own) {
                program.import_records(&handed).expect("the same program exported the records");
            }
        }
        let result = || PacketResult::new(&self.fabric, outcome, &plan, &*self.routing);
        Ok((processes.number() == 0).then(result))
    }

    fn partitions(
        &self,
        traffic: &Traffic,
        plan: RecordPlan,
        options: &RunOptions,
        division: &Division,
        own: Range<usize>,
    ) -> Vec<Partition> {
        let partition = |routers: Range<u32>| {
            let nics = self.fabric.nics_of(&routers);
            let numbers = self.fabric.ports_of(&routers).map(|port| self.fabric.number(port));
            let channels = usize::from(self.virtual_channels());
            let full = self.fabric.settings.packet.0 as u32;
            let mut recorder = Recorder::new(plan, numbers, nics.len(), channels, full);
            if self.fabric.selector.is_some() {
                recorder.record_fifos();
            }
            let endpoints = traffic.endpoints(&Nics::new(&self.fabric, &nics, options.seed));
            let endpoints = EndpointSet { endpoints, has_programs: traffic.has_programs() };
            let section = Section::new(
                Arc::clone(&self.fabric),
                Arc::clone(&self.latencies),
                routers,
                self.routing.virtual_channels(),
            );
            let routing = Arc::clone(&self.routing);
            let mut partition =
                Partition::new(section, division, routing, self.needs, endpoints, recorder, options.seed);
            if !self.tables.is_empty() {
                partition.load_tables(&self.tables);
            }
            partition
        };
        division.ranges().skip(own.start).take(own.len()).map(partition).collect()
    }
}

/// Restores partitions, starting at number `first`, and returns the state of the run.
fn restore(partitions: &mut [Partition], first: u32, part: CheckpointParts<'_>) -> Result<RunState, DecodeError> {
    for (number, partition) in (first..).zip(partitions) {
        let bytes = part(number)?;
        let mut state = Reader::new(&bytes);
        partition.load(&mut state)?;
        state.end()?;
        partition.apply_load_steps();
    }
    RunState::load(&part(RUN_PART)?)
}

/// Derives what the workers know about a run.
fn plan_run(traffic: &Traffic, schedule: Schedule, options: &RunOptions) -> RunPlan {
    let (start, measured_until) = (schedule.warm_up.ps(), (schedule.warm_up + schedule.measure).ps());
    let limits = RunLimits {
        measured_until,
        ends_with_jobs: traffic.is_mixed(),
        end: measured_until + schedule.drain.ps(),
        ending_at_end: if traffic.is_steady() { Ending::DrainLimit } else { Ending::TimeLimit },
        progress_timeout: options.progress_timeout.ps(),
        records_tables: options.records_tables,
        window_end: options.window_end.map_or(u64::MAX, Time::ps),
    };
    let records = RecordPlan { recording: options.recording, start, end: measured_until, jobs: traffic.jobs.len() };
    RunPlan { limits, records, awaited: traffic.awaited(), fast_forward: options.fast_forward }
}

/// Builds the routing of a machine and proves it free of deadlock, separately for each plane.
fn prove(machine: &Machine, routing: &RoutingChoice, channels_max: u8) -> Result<ProvenRouting, PacketError> {
    let algorithm = routing.algorithm.name;
    if !machine.planes().is_empty() {
        let in_plane = |number: usize, error: PacketError| match error {
            PacketError::Routing(error) => PacketError::Routing(error.in_plane(number)),
            PacketError::Unreachable(error) => PacketError::Unreachable(error.in_plane(machine, number)),
            other => other,
        };
        let planes = machine.planes().iter().enumerate();
        let planes =
            planes.map(|(number, plane)| prove(plane, routing, channels_max).map_err(|error| in_plane(number, error)));
        let mut planes = planes.collect::<Result<Vec<ProvenRouting>, _>>()?;
        let highest = planes.iter().map(|plane| plane.vc_order).max().expect("several planes");
        let plain_channels = planes.iter().map(|plane| plane.plain_channels).max().expect("several planes");
        let planes =
            PlaneRouting::new(machine, planes.drain(..).map(|plane| plane.routing).collect()).map_err(|reason| {
                PacketError::Routing(RoutingError::Machine { algorithm: algorithm.to_owned(), reason })
            })?;
        return Ok(ProvenRouting { routing: Box::new(planes), vc_order: highest, plain_channels });
    }
    deadlock::prove(routing, routing.next_hops(machine)?, channels_max).map_err(|error| match error {
        ProofError::Routing(error) => PacketError::Routing(error),
        ProofError::Cycle(cycle) => PacketError::Deadlock { algorithm: algorithm.to_owned(), cycle },
        ProofError::Channels { .. } => PacketError::Settings(SettingsError {
            setting: "routing.algorithm".into(),
            reason: format!("'{algorithm}' {error}; 'up-down' needs one"),
        }),
    })
}

fn too_many_channels(routing: &RoutingChoice, classes: usize, needed: usize) -> SettingsError {
    let reason = format!(
        "'{}' needs {} virtual channels in each of {classes} traffic classes, {needed} together; expected at most \
         {CHANNELS_MAX}",
        routing.algorithm.name,
        needed / classes
    );
    SettingsError { setting: "routing.algorithm".into(), reason }
}

/// Checks that no hop has zero latency: the order of events at one instant relies on it. Credits take at least 1 ps
/// (`Fabric::credit_latency`).
fn check_latencies(machine: &Machine, settings: &PacketSettings) -> Result<(), PacketError> {
    let (input, output, terminal) = (settings.input_latency, settings.output_latency, machine.terminal());
    let zero_latency =
        |path: String, class: &str, pipeline| Err(PacketError::ZeroLatency { path, class: class.to_owned(), pipeline });
    if machine.node_count() > 0 && terminal.latency + input == Time::ZERO {
        return zero_latency("from a node to its router".into(), &terminal.name, "input_latency");
    }
    if machine.node_count() > 0 && terminal.latency + output == Time::ZERO {
        return zero_latency("from a router to its node".into(), &terminal.name, "output_latency");
    }
    match machine.links().find(|&link| machine.latency(link) + input + output == Time::ZERO) {
        None => Ok(()),
        Some(link) => {
            let [from, to] = [machine.source(link), machine.target(link)].map(|router| machine.router_name(router));
            let class = &machine.classes()[machine.class(link).index()].name;
            zero_latency(format!("from router {from} to router {to}"), class, "input_latency")
        }
    }
}

/// Collects packet records.
struct PacketCollector<'a> {
    observer: Observer<'a>,
    packets: Vec<PacketRecord>,
}

impl Watch for PacketCollector<'_> {
    fn progress(&mut self, progress: Progress) -> bool {
        (self.observer)(progress)
    }

    fn rows(&mut self, rows: Rows) {
        if let Rows::Packets(packets) = rows {
            self.packets.extend(packets.into_iter().map(|packet| packet.record));
        }
    }
}

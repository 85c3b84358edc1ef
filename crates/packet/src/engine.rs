//! The engine: a machine, a routing algorithm and settings, ready to run traffic.

use crate::division::Division;
use crate::endpoint::Nics;
use crate::fabric::Fabric;
use crate::memory::{self, MemoryDemand, Size};
use crate::partition::{EndpointSet, Partition};
use crate::record::{PacketRecord, RecordPlan, Recorder, Recording, Rows};
use crate::result::PacketResult;
use crate::run::{self, CheckpointSink, Observer, ProcessLayout, Progress, RunLimits, RunState, Watch, RUN_PART};
use crate::settings::PacketSettings;
use crate::settings_error::SettingsError;
use crate::source::Traffic;
use odonata_checkpoint::{DecodeError, Reader, State};
use odonata_machine::Machine;
use odonata_processes::{all_gather, gather, Processes};
use odonata_routing::algorithm::planes::PlaneRouting;
use odonata_routing::algorithm::{Algorithm, Routing, RoutingError, RoutingSettings};
use odonata_routing::deadlock::{self, Cycle, ProofError, ProvenRouting};
use odonata_routing::next_hop::{UnreachableError, VcOrder};
use odonata_units::Time;
use std::ops::Range;
use std::sync::Arc;

/// Links of a path from node to node, about: those at its ends and some two from router to router; and how many times that where packets may
/// go around.
const HOPS_MEAN: f64 = 4.0;
const DETOUR_FACTOR: f64 = 1.5;
/// Most virtual channels of a port.
const CHANNELS_MAX: u8 = 16;

/// The times of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Traffic before it is not measured.
    pub warm_up: Time,
    /// Length of the measurement window.
    pub measure: Time,
    /// Longest time after the window that the run waits for the packets born in it.
    pub drain: Time,
}

/// How to run, as opposed to what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunOptions {
    /// Seed of all random streams.
    pub seed: u64,
    /// Threads to use; results do not depend on it.
    pub threads: usize,
    /// CheckpointParts to divide the machine into; 0 chooses, by the machine alone. Results do not depend on it.
    pub partitions: usize,
    /// What to record.
    pub recording: Recording,
    /// Simulated time after which the run is given up if packets are under path but none arrives and none sets out.
    pub progress_timeout: Time,
    /// Whether the result has what the routers learnt.
    pub records_tables: bool,
    /// A time at which a window ends, so that a state can be resumed that nothing from then on has changed.
    pub window_end: Option<Time>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            threads: 1,
            partitions: 0,
            recording: Recording::default(),
            progress_timeout: Time::from_us(1_000),
            records_tables: false,
            window_end: None,
        }
    }
}

/// Hands out the parts of a state that was resumed, by number.
pub type CheckpointParts<'a> = &'a mut dyn FnMut(u32) -> Result<Vec<u8>, DecodeError>;

/// The state of a run: where it goes, and where it comes from.
#[derive(Default)]
pub struct CheckpointAccess<'a> {
    /// Takes the state whenever the watcher wants it resumed.
    pub sink: Option<&'a dyn CheckpointSink>,
    /// The state that the run goes on from.
    pub parts: Option<CheckpointParts<'a>>,
}

/// Why a run can't start.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// A setting of routers or packets.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The routing algorithm or its settings.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// The virtual channels do not keep this machine free of deadlock.
    #[error("routing '{algorithm}' could deadlock on this machine: {cycle}")]
    Deadlock {
        /// The algorithm.
        algorithm: String,
        /// Channels that could wait for each other.
        cycle: Cycle,
    },
    /// The machine is cut in parts.
    #[error(transparent)]
    Unreachable(#[from] UnreachableError),
    /// A packet would be at two places at one instant.
    #[error(
        "a packet takes no time {path}: neither the cable nor the router's pipelines have any latency; give links of class \
         '{class}' a latency, or '{pipeline}' a time (1 ps is enough)"
    )]
    ZeroLatency {
        /// From where to where.
        path: String,
        /// Link class of the cable.
        class: String,
        /// The pipeline whose latency would do.
        pipeline: &'static str,
    },
}

/// A machine under a routing algorithm, built and checked.
pub struct PacketEngine {
    fabric: Arc<Fabric>,
    routing: Arc<dyn Routing>,
    /// See [`PacketEngine::plain_channels`].
    plain_channels: Option<u8>,
    /// What routers know at the start, by router; empty if they know nothing.
    tables: Vec<Vec<f32>>,
}

impl PacketEngine {
    /// Builds the tables of `machine` and checks settings and algorithm.
    ///
    /// # Errors
    /// Settings out of range, an unknown algorithm or one that does not fit the machine, routers that can't reach
    /// each other.
    pub fn new(
        machine: &Machine,
        settings: &PacketSettings,
        algorithm: &str,
        routing: &RoutingSettings,
    ) -> Result<Self, PacketError> {
        settings.check()?;
        check_latencies(machine, settings)?;
        let proven = prove(machine, algorithm, routing)?;
        if proven.routing.rings().is_some() && settings.output_buffer.0 < 2 * settings.packet.0 {
            let (buffer, packet) = (settings.output_buffer, settings.packet);
            let reason = format!(
                "{buffer} does not hold two packets of {packet}; with bubbles a packet enters a ring only where two have room"
            );
            return Err(SettingsError { setting: "engine.output_buffer".into(), reason }.into());
        }
        let mut engine = Self::unchecked(machine, settings, Arc::from(proven.routing));
        engine.plain_channels = (proven.vc_order != VcOrder::PerLeg).then_some(proven.plain_channels);
        Ok(engine)
    }

    /// Of a routing algorithm that was checked, or of one that is meant to deadlock.
    pub(crate) fn unchecked(machine: &Machine, settings: &PacketSettings, routing: Arc<dyn Routing>) -> Self {
        let fabric = Arc::new(Fabric::new(machine, settings));
        Self { fabric, routing, plain_channels: None, tables: Vec::new() }
    }

    /// Virtual channels of every port.
    pub fn virtual_channels(&self) -> u8 {
        self.routing.virtual_channels()
    }

    /// Virtual channels of the algorithm's plainest order, where that would not do on this machine: it is not free of
    /// deadlock there, or has more channels than there may be.
    pub fn plain_channels(&self) -> Option<u8> {
        self.plain_channels
    }

    /// Rows and columns of each router's table of estimates; zero where the algorithm learns nothing.
    pub fn table_sizes(&self) -> Vec<(usize, usize)> {
        let routers = self.fabric.routers() as u32;
        (0..routers).map(|r| self.routing.memory(odonata_units::RouterId(r)).size()).collect()
    }

    /// Lets every run start with what routers learnt in another run, the `tables` of its result.
    ///
    /// # Errors
    /// The algorithm learns nothing, or the tables are of another machine.
    pub fn load_tables(&mut self, tables: Vec<Vec<f32>>) -> Result<(), SettingsError> {
        let wrong = |reason: String| Err(SettingsError { setting: "engine.q_tables".into(), reason });
        if !self.routing.has_feedback() {
            return wrong("the routing algorithm learns nothing; use 'q-adaptive'".into());
        }
        let sizes = self.table_sizes();
        if sizes.len() != tables.len() {
            return wrong(format!("tables of {} routers for a machine of {}", tables.len(), sizes.len()));
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

    /// About how many bytes a run takes beyond the tables that were built: state of ports, packets, records, and what routers learn.
    pub fn memory_estimate(&self, demand: &MemoryDemand) -> u64 {
        let learnt = if self.routing.has_feedback() { self.learning_bytes(demand) } else { 0 };
        memory::run_bytes(&self.size(), &self.fabric.settings, demand) + learnt
    }

    /// What of it stays when the run is over, for its result.
    pub fn retained_estimate(&self, demand: &MemoryDemand) -> u64 {
        memory::retained_bytes(&self.size(), demand)
    }

    fn size(&self) -> Size {
        let (ports, nodes) = (self.fabric.ports() as u64, self.fabric.nics() as u64);
        Size { ports, nodes, channels: self.virtual_channels().into() }
    }

    /// What routers learn. At each router that a packet passes a row is touched, over and over until all are; all are, if it goes badly.
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

    /// About how many packets are in the network at a time that nodes send at a load, of so many nodes each, if it is not saturated.
    pub fn expected_in_flight(&self, senders: impl IntoIterator<Item = (u64, f64)>) -> u64 {
        let fabric = &self.fabric;
        let nics = fabric.nics().max(1) as f64;
        let of_nic = fabric.nic_port.iter().map(|&port| 1e12 / fabric.full_time[port as usize] as f64);
        let rate_per_s = of_nic.sum::<f64>() / nics;
        let pipelines = (fabric.settings.input_latency + fabric.settings.output_latency).ps();
        let of_port = fabric.full_time.iter().zip(&fabric.cable).map(|(full, cable)| (full + cable + pipelines) as f64);
        let hop_s = of_port.sum::<f64>() / fabric.ports().max(1) as f64 / 1e12;
        let hops = if self.routing.has_feedback() || self.routing.reads_any_load() {
            HOPS_MEAN * DETOUR_FACTOR
        } else {
            HOPS_MEAN
        };
        let of_job =
            |(nodes, load): (u64, f64)| nodes as f64 * memory::expected_packets(load, rate_per_s, hops * hop_s);
        senders.into_iter().map(of_job).sum::<f64>() as u64
    }

    /// When to keep the state of a warm-up for others: at the last full microsecond at which nothing has been written down of a measurement that
    /// begins after `warm_up` (an arrival is when its packet is on the last cable), or at which a load changes if one does before.
    pub fn shared_warm_up_end(&self, traffic: &Traffic, warm_up: Time) -> Time {
        let of_port = self.fabric.full_time.iter().zip(&self.fabric.cable).map(|(full, cable)| full + cable);
        let settings = &self.fabric.settings;
        let longest = of_port.max().unwrap_or(0) + (settings.output_latency + settings.input_latency).ps();
        let us = Time::from_us(1).ps();
        let unmeasured = Time(warm_up.ps().saturating_sub(longest) / us * us);
        traffic.last_step_before(unmeasured).map_or(unmeasured, |step| Time(step.ps() / us * us))
    }

    /// What is known of open traffic before a time: as much of it as is needed to come to the state that it has then. Every run of traffic that
    /// has the same before that time goes on from this state, whatever its loads are from then on: its result is the one that it has alone.
    /// `None` if any of it is not open.
    ///
    /// A state that nothing from `time` on has changed is one that is resumed there, with a window that ends there ([`RunOptions::window_end`]).
    pub fn traffic_before(&self, traffic: &Traffic, time: Time) -> Option<Traffic> {
        let before = traffic.before(time)?;
        // Memory FIFOs are filled ahead of time.
        Some(if self.fabric.settings.injection.is_some() { traffic.clone() } else { before })
    }

    /// The interfaces of all nodes, as a program would get them in a run that is not divided.
    pub fn nics(&self, seed: u64) -> Nics<'_> {
        Nics::new(&self.fabric, &(0..self.fabric.nics() as u32), seed)
    }

    /// Ports that lead to other routers, by link.
    pub fn link_ports(&self) -> Vec<u32> {
        self.fabric.link_port.iter().map(|&port| self.fabric.number(port)).collect()
    }

    /// Runs `traffic` and returns what was recorded, packets included.
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

    /// Runs `traffic` and returns what was recorded; records of packets and time series of ports go to `watch` while the
    /// run goes and are not in the result.
    pub fn run_watched(
        &self,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        watch: &mut dyn Watch,
    ) -> PacketResult {
        self.run_checkpointed(traffic, schedule, options, watch, CheckpointAccess::default())
            .expect("nothing was to be read")
    }

    /// [`Self::run_watched`], whose state may be resumed now and then, and that may go on from a state that was resumed: from there on
    /// all is as in the run that was not interrupted, on any number of threads.
    ///
    /// # Errors
    /// What was resumed is not of such a run.
    pub fn run_checkpointed(
        &self,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        watch: &mut dyn Watch,
        CheckpointAccess { sink, parts }: CheckpointAccess<'_>,
    ) -> Result<PacketResult, DecodeError> {
        let (plan, limits) = plan_run(traffic, schedule, options);
        let division = Division::new(&self.fabric, options.partitions);
        let all = 0..division.ranges().count();
        let mut partitions = self.partitions(traffic, plan, options, &division, all);
        let resumed = parts.map(|parts| restore(&mut partitions, 0, parts)).transpose()?;
        let outcome = run::run(partitions, &division, limits, plan, options.threads, watch, (sink, resumed, None));
        Ok(PacketResult::new(&self.fabric, outcome, &plan, &*self.routing))
    }

    /// [`Self::run_checkpointed`] as one of several processes, each of which calls this with the same arguments, but for `threads`, `watch` and the
    /// sink. The first gets all rows, the state and the result, which are those of a run in one process; the others get `None`. Each asks
    /// its own watcher whether to go on.
    ///
    /// # Errors
    /// What was resumed is not of such a run; the first process that finds this says so, and the others get `None`.
    pub fn run_distributed(
        &self,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        watch: &mut dyn Watch,
        CheckpointAccess { sink, parts }: CheckpointAccess<'_>,
        processes: &dyn Processes,
    ) -> Result<Option<PacketResult>, DecodeError> {
        let (plan, limits) = plan_run(traffic, schedule, options);
        let division = Division::new(&self.fabric, options.partitions);
        let among = ProcessLayout { processes, partitions: division.split(processes.count(), &self.fabric) };
        let own = among.own();
        let first = own.start;
        let mut partitions = self.partitions(traffic, plan, options, &division, own);
        let resumed = parts.map(|parts| restore(&mut partitions, first as u32, parts)).transpose();
        let unable = all_gather(processes, &resumed.is_ok()).iter().position(|able| !able);
        let resumed = match (resumed, unable) {
            (resumed, None) => resumed?,
            (Err(why), Some(unable)) if unable == processes.number() => return Err(why),
            (_, Some(_)) => return Ok(None),
        };
        let state = (sink, resumed, Some(&among));
        let outcome = run::run(partitions, &division, limits, plan, options.threads, watch, state);
        for program in traffic.programs() {
            let own = if processes.number() == 0 { Vec::new() } else { program.export_records() };
            for handed in gather(processes, &own) {
                program.import_records(&handed).expect("the same program handed it over");
            }
        }
        let first = processes.number() == 0;
        Ok(first.then(|| PacketResult::new(&self.fabric, outcome, &plan, &*self.routing)))
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
            let channels = usize::from(self.routing.virtual_channels());
            let full = self.fabric.settings.packet.0 as u32;
            let mut recorder = Recorder::new(plan, numbers, nics.len(), (channels, full));
            if self.fabric.selector.is_some() {
                recorder.record_fifos();
            }
            let endpoints = traffic.endpoints(&Nics::new(&self.fabric, &nics, options.seed));
            let endpoints = EndpointSet { endpoints, has_programs: traffic.has_programs(), awaited: traffic.awaited() };
            let (fabric, routing) = (Arc::clone(&self.fabric), Arc::clone(&self.routing));
            let mut partition = Partition::new(fabric, routing, endpoints, recorder, routers, division, options.seed);
            if !self.tables.is_empty() {
                partition.load_tables(&self.tables);
            }
            partition
        };
        division.ranges().skip(own.start).take(own.len()).map(partition).collect()
    }
}

/// Gives partitions, the first of which has number `first`, the state that they had; what the run itself had.
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

/// What is recorded when, and when a run ends.
fn plan_run(traffic: &Traffic, schedule: Schedule, options: &RunOptions) -> (RecordPlan, RunLimits) {
    let (start, measured_until) = (schedule.warm_up.ps(), (schedule.warm_up + schedule.measure).ps());
    let plan = RecordPlan { recording: options.recording, start, end: measured_until, jobs: traffic.jobs.len() };
    let limits = RunLimits {
        measured_until,
        ends_with_jobs: traffic.is_mixed(),
        end: measured_until + schedule.drain.ps(),
        progress_timeout: options.progress_timeout.ps(),
        records_tables: options.records_tables,
        window_end: options.window_end.map_or(u64::MAX, Time::ps),
    };
    (plan, limits)
}

/// What routes on a machine, prove free of deadlock: on each of its planes by itself, where there are several.
fn prove(machine: &Machine, algorithm: &str, routing: &RoutingSettings) -> Result<ProvenRouting, PacketError> {
    if !machine.planes().is_empty() {
        let planes = machine.planes().iter().map(|plane| prove(plane, algorithm, routing));
        let mut planes = planes.collect::<Result<Vec<ProvenRouting>, _>>()?;
        let highest = planes.iter().map(|plane| plane.vc_order).max().expect("several planes");
        let plain_channels = planes.iter().map(|plane| plane.plain_channels).max().expect("several planes");
        let planes =
            PlaneRouting::new(machine, planes.drain(..).map(|plane| plane.routing).collect()).map_err(|reason| {
                PacketError::Routing(RoutingError::Machine { algorithm: algorithm.to_owned(), reason })
            })?;
        return Ok(ProvenRouting { routing: Box::new(planes), vc_order: highest, plain_channels });
    }
    deadlock::prove(algorithm, Algorithm::next_hops(algorithm, machine)?, routing, CHANNELS_MAX).map_err(|error| {
        match error {
            ProofError::Routing(error) => PacketError::Routing(error),
            ProofError::Cycle(cycle) => PacketError::Deadlock { algorithm: algorithm.to_owned(), cycle },
            ProofError::Channels { .. } => PacketError::Settings(SettingsError {
                setting: "routing.algorithm".into(),
                reason: format!("'{algorithm}' {error}; 'up-down' needs one"),
            }),
        }
    })
}

/// Events at one instant are ordered on the understanding that none of them has an effect elsewhere at that instant; credits take
/// at least 1 ps (`Fabric::credit_latency`).
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

/// Keeps the records of packets.
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

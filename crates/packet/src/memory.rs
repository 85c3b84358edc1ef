//! Memory estimate of a run, before it starts.
//!
//! | per | bytes |
//! |---|---|
//! | port | 410 with its credits, events and mail; 32 per virtual channel; 4 per port of its router (arbitration); 8 per job if there are several |
//! | recorded port | 40 per channel; crossbar: 8, and 8 per channel; counted stall: 16; waits: 16, and 300 per channel, 24 per job in it; series: twice 72, 48 per channel, 8 per job, for the interval and its rows |
//! | node | 200 |
//! | packet in flight | 74, and 100 for a recorded path; 128 for one that a congestion control holds; 160 for its acknowledgement, if that is a packet |
//! | pair of NICs | with a congestion control 256, at most [`PAIRS`] per node and traffic class |
//! | job | 8,192 for its histograms in each of [`PARTITIONS`], and 40 per interval of its series there |
//! | packet records | 1,100 in a batch of them, at most 64 MB, 76 MB with paths |
//! | rows without a watcher | 64 per packet, 160 with its path; 64 per port, channel and job on a port in each interval |
//!
//! The number of packets in flight is at most the number of created packets, and at most what fills all buffers. A
//! saturated network has [`IN_FLIGHT`] packets per node, or more if its buffers are larger than in the study. Below
//! saturation, Little's law gives the number: packets created during one packet's transit. It grows as the load approaches
//! the injection rate ([`PacketEngine::expected_in_flight`](crate::PacketEngine::expected_in_flight)).

use crate::record::Recording;
use crate::settings::PacketSettings;
use odonata_machine::Machine;
use odonata_routing::algorithm::{PathChoice, RoutingChoice};

/// Packets in flight per node of a saturated network with the study's buffers: 30 packets at each input and output.
/// Dragonflies of 72 to 16,512 nodes had up to 46 with `min`, and 135 with `valiant-n` under adversarial traffic.
/// Pools may have space for half as many more.
const IN_FLIGHT: u64 = 200;
/// Packets in the two buffers of a channel in the study.
const STUDY_BUFFERS: u64 = 60;
/// Pairs of a NIC that a congestion control keeps.
const PAIRS: u64 = 64;
/// Approximate number of partitions.
const PARTITIONS: u64 = 32;

/// Properties of a run that its memory depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryDemand {
    /// Number of jobs.
    pub jobs: usize,
    /// Selected records.
    pub recording: Recording,
    /// Maximum number of created packets.
    pub packets: u64,
    /// Expected packets in flight, if fewer than the maximum.
    pub in_flight: Option<u64>,
    /// Mean size of a packet, if packets are not full. Smaller packets fill a buffer with more of them.
    pub packet_bytes: Option<u64>,
    /// Maximum number of recorded packets.
    pub recorded: u64,
    /// Maximum number of intervals in the series.
    pub intervals: u64,
    /// Whether rows stay in memory until the end of the run, because no watcher takes them.
    pub retains_rows: bool,
}

impl Default for MemoryDemand {
    /// One endless job without records.
    fn default() -> Self {
        let recording = Recording::default();
        Self {
            jobs: 1,
            recording,
            packets: u64::MAX,
            in_flight: None,
            packet_bytes: None,
            recorded: 0,
            intervals: 0,
            retains_rows: false,
        }
    }
}

impl MemoryDemand {
    /// Adds known messages, with their total numbers of packets and bytes.
    #[must_use]
    pub fn with_messages(mut self, packets: u64, bytes: u64) -> Self {
        self.packets = self.packets.saturating_add(packets);
        self.recorded = self.recorded.saturating_add(packets);
        self.packet_bytes = (packets > 0).then(|| bytes / packets);
        self
    }
}

/// Size of a network.
pub(crate) struct Size {
    pub(crate) ports: u64,
    pub(crate) nodes: u64,
    pub(crate) channels: u64,
}

/// Approximate memory of a run with `routing` on `machine`, before anything is built; see
/// [`crate::PacketEngine::memory_estimate`]. Estimates of learning algorithms are not included.
pub fn memory_estimate(
    machine: &Machine,
    settings: &PacketSettings,
    routing: &RoutingChoice,
    channels: u8,
    demand: &MemoryDemand,
) -> u64 {
    let nodes = machine.node_count() as u64;
    let ports = nodes + machine.link_count() as u64;
    let size = Size { ports, nodes, channels: channels.into() };
    table_estimate(machine, routing) + run_bytes(&size, settings, demand)
}

/// Tables of next hops, if an algorithm needs them: 7 B per router and group, and per router and member of its group.
/// With one path per flow, the tables of the rule.
pub fn table_estimate(machine: &Machine, routing: &RoutingChoice) -> u64 {
    let (routers, groups) = (machine.router_count() as u64, machine.group_count() as u64);
    if let Some(PathChoice::OnePath(rule)) = routing.paths() {
        rule.memory_bytes(machine)
    } else if routing.algorithm.needs.tables {
        7 * routers * (groups + routers.div_ceil(groups.max(1)))
    } else {
        0
    }
}

/// State and records of a run.
pub(crate) fn run_bytes(size: &Size, settings: &PacketSettings, demand: &MemoryDemand) -> u64 {
    let Size { ports, nodes, channels } = *size;
    let MemoryDemand { recording, intervals, .. } = *demand;
    let jobs = demand.jobs as u64;
    let on = |wanted: bool, bytes: u64| if wanted { bytes } else { 0 };
    let series = recording.interval_ps > 0;
    let per_port = 410
        + 32 * channels
        + on(recording.link_jobs && jobs > 1, 8 * jobs)
        + on(recording.channels, 40 * channels)
        + on(recording.crossbar, 8 * channels + 8)
        + on(recording.counted_stall, 16)
        + on(recording.job_waits, 16 + channels * (300 + 24 * jobs))
        + on(series && recording.series.ports, 2 * 72)
        + on(series && recording.series.channels, 2 * 48 * channels)
        + on(series && recording.series.port_jobs, 2 * 8 * jobs.max(1));
    let paths = recording.packets && recording.paths;
    // As many packets wait at NICs as are in flight: what a held destination gets of saturating traffic.
    let has_control = settings.has_control();
    let pairs = nodes * PAIRS.min(nodes) * settings.classes.count() as u64;
    let per_packet = 74 + on(paths, 100) + on(has_control, 128) + on(settings.has_control_packets(), 160);
    let batch = if paths { 76_000_000 } else { 64_000_000 };
    let batches = on(recording.packets, batch.min(demand.recorded.saturating_mul(1_100)));
    let per_job = PARTITIONS * (8_192 + on(series && recording.series.jobs, intervals.saturating_mul(40)));
    [
        ports * per_port,
        nodes * 200,
        on(has_control, pairs * 256),
        in_flight(size, settings, demand).saturating_mul(per_packet),
        batches,
        jobs.saturating_mul(per_job),
        on(demand.retains_rows, retained_row_bytes(size, demand)),
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}

/// Maximum number of packets in flight. Packets that wait in their sources do not exist yet.
fn in_flight(size: &Size, settings: &PacketSettings, demand: &MemoryDemand) -> u64 {
    let packet = demand.packet_bytes.unwrap_or(settings.packet.0).max(1);
    let buffers = settings.input_buffer.0.saturating_add(settings.output_buffer.0) / packet;
    let most = (size.ports * size.channels).saturating_mul(buffers);
    let saturated = (size.nodes * IN_FLIGHT).saturating_mul(buffers.max(STUDY_BUFFERS)) / STUDY_BUFFERS;
    saturated.min(most).min(demand.packets).min(demand.in_flight.unwrap_or(u64::MAX))
}

/// Memory that remains while tables are built: records of ports, and rows without a watcher.
pub(crate) fn retained_bytes(size: &Size, demand: &MemoryDemand) -> u64 {
    let records = 64 + if demand.recording.channels { 40 * size.channels } else { 0 };
    size.ports * records + if demand.retains_rows { retained_row_bytes(size, demand) } else { 0 }
}

/// Packets in flight per node at `load`. A packet is in flight for `transit_s`, and the node creates `rate_per_s` at
/// load 1. The exponent is a fit: uniform traffic on dragonflies had 7.7 packets per node at load 0.3 (`cascade-241`)
/// and 33 at 0.9 (1,056 and 5,256 nodes).
pub(crate) fn expected_packets(load: f64, rate_per_s: f64, transit_s: f64) -> f64 {
    load * rate_per_s * transit_s / (1.0 - load).max(0.01).powf(0.15)
}

/// Memory of rows that stay until the end of the run.
fn retained_row_bytes(size: &Size, demand: &MemoryDemand) -> u64 {
    let Recording { series, packets, paths, .. } = demand.recording;
    let on = |wanted: bool, count: u64| if wanted { count } else { 0 };
    let rows = on(series.ports, 1) + on(series.channels, size.channels) + on(series.port_jobs, demand.jobs as u64);
    let packets = on(packets, demand.recorded).saturating_mul(if paths { 160 } else { 64 });
    (size.ports * rows * 64).saturating_mul(demand.intervals).saturating_add(packets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SeriesChoice;
    use odonata_units::Bytes;

    const SIZE: Size = Size { ports: 3960, nodes: 1056, channels: 2 };

    fn estimate(change: impl Fn(&mut PacketSettings, &mut MemoryDemand)) -> u64 {
        let (mut settings, mut demand) = (PacketSettings::study(), MemoryDemand::default());
        change(&mut settings, &mut demand);
        run_bytes(&SIZE, &settings, &demand)
    }

    #[test]
    fn messages_set_the_packet_count_and_size() {
        let demand = MemoryDemand { packets: 10, recorded: 5, ..MemoryDemand::default() };
        let with = demand.with_messages(4, 1_000);
        assert_eq!((with.packets, with.recorded, with.packet_bytes), (14, 9, Some(250)));
        let none = demand.with_messages(0, 0);
        assert_eq!((none.packets, none.recorded, none.packet_bytes), (10, 5, None));
    }

    /// The formula gives 3,960 (410 + 64) + 1,056 * 200 + 1,056 * 200 * 74 + 32 * 8,192.
    #[test]
    fn the_estimate_is_the_sum_of_its_parts() {
        assert_eq!(estimate(|_, _| ()), 3960 * 474 + 1056 * 200 + 1056 * 200 * 74 + 32 * 8_192);
        let five = |link_jobs| estimate(|_, demand| (demand.recording.link_jobs, demand.jobs) = (link_jobs, 5));
        assert_eq!(five(true) - five(false), 3960 * 8 * 5);
    }

    /// 64 pairs of each node, and a held packet for each one in flight.
    #[test]
    fn a_control_keeps_pairs_and_packets() {
        use crate::control::{ControlName, ControlSettings};
        let control = ControlSettings { name: ControlName::Pair, ..ControlSettings::default() };
        let with = estimate(|settings, _| settings.control = control.clone());
        assert_eq!(with - estimate(|_, _| ()), 1056 * 64 * 256 + 1056 * 200 * 128);
        let packets = ControlSettings { control_bytes: Some(Bytes(64)), ..control };
        assert_eq!(estimate(|settings, _| settings.control = packets.clone()) - with, 1056 * 200 * 160);
    }

    #[test]
    fn packets_in_flight_are_limited_by_buffers_and_traffic() {
        let all = estimate(|_, _| ());
        assert_eq!(all - estimate(|_, demand| demand.packets = 1000), (1056 * 200 - 1000) * 74);
        // One packet in each buffer: 3,960 ports with two channels and two buffers each.
        let small = estimate(|settings, _| (settings.input_buffer, settings.output_buffer) = (Bytes(512), Bytes(512)));
        assert_eq!(all - small, (1056 * 200 - 3960 * 4) * 74);
        let large = estimate(|settings, _| settings.input_buffer = Bytes(1 << 40));
        assert!(large > all * 1000);
        let half_full = estimate(|_, demand| demand.packet_bytes = Some(256));
        assert_eq!(half_full - all, 1056 * 200 * 74);
        let made = |settings: &mut PacketSettings, demand: &mut MemoryDemand| {
            (settings.input_buffer, demand.packets) = (Bytes(1 << 40), 1000);
        };
        assert!(estimate(made) < all);
    }

    /// 264 routers of 33 groups of 8: 7 B per group and per router of the own group.
    #[test]
    fn next_hop_tables_are_estimated_before_they_are_built() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let demand = MemoryDemand { packets: 10, ..MemoryDemand::default() };
        let all = |name: &str| {
            memory_estimate(&machine, &PacketSettings::study(), &name.parse::<RoutingChoice>().unwrap(), 2, &demand)
        };
        let run = run_bytes(&SIZE, &PacketSettings::study(), &demand);
        assert_eq!((all("min") - run, all("torus-dynamic") - run), (7 * 264 * (33 + 8), 0));
    }

    #[test]
    fn rows_that_no_watcher_takes_are_retained() {
        let series = |demand: &mut MemoryDemand| {
            demand.recording.interval_ps = 1_000_000;
            demand.recording.series = SeriesChoice { ports: true, ..SeriesChoice::default() };
            demand.intervals = 100;
        };
        let taken = estimate(|_, demand| series(demand));
        let kept = estimate(|_, demand| {
            series(demand);
            demand.retains_rows = true;
        });
        assert_eq!(kept - taken, 3960 * 64 * 100);
    }
}

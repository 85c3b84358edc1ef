//! How much memory a run takes, told before it starts.
//!
//! | for each | bytes |
//! |---|---|
//! | port | 410, with its credits, events and messages; 32 for each virtual channel; 4 for each port of its router (arbitration); 8 for each job if there are several |
//! | port, recorded | 40 for each channel; crossbar: 8, and 8 for each channel; counted stall: 16; waits: 16, and 300 for each channel, 24 for each job in it; series: twice 72, 48 for each channel, 8 for each job, of the interval that runs and its rows |
//! | node | 200 |
//! | packet in flight | 74, and 100 for its way if that is recorded |
//! | job | 8,192 for its histograms in each of [`PARTITIONS`], and 40 for each interval of its series there |
//! | records of packets | 64 MB for a batch, 96 MB with ways |
//! | rows that nobody takes while the run goes | 64 for each packet, 160 with its way; 64 for each port, channel and job on a port in each interval |
//!
//! In flight are at most as many packets as are made, or as fill all buffers; or else [`IN_FLIGHT`] for each node, more where buffers
//! hold more packets than those of the study. As many as that are in a network that is saturated; if it is not, by Little's law as many as are made
//! while one is on its way, and more the nearer the load is to what a node can send ([`PacketEngine::expected_in_flight`](crate::PacketEngine::expected_in_flight)).

use crate::record::Recording;
use crate::settings::PacketSettings;
use odonata_machine::Machine;
use odonata_routing::algorithm::Algorithm;

/// Packets in flight for each node of a saturated network with the study's buffers, 30 packets at each input and output. Dragonflies
/// of 72 to 16,512 nodes held up to 46 with `min`, 135 with `valiant-n` under adversarial traffic, in pools that may have room for half as many more.
const IN_FLIGHT: u64 = 200;
/// Packets in the two buffers of a channel there.
const STUDY_BUFFERS: u64 = 60;
/// Parts that a machine is divided into, about.
const PARTITIONS: u64 = 32;

/// What a run is to do, as far as its memory depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryDemand {
    /// Jobs.
    pub jobs: usize,
    /// What is recorded.
    pub recording: Recording,
    /// Packets that are made at most.
    pub packets: u64,
    /// Packets that are expected to be in the network at a time, if that is not the most that may be.
    pub in_flight: Option<u64>,
    /// Mean size of a packet, if they are not full: the smaller, the more fit into a buffer.
    pub packet_bytes: Option<u64>,
    /// Packets that are recorded, if they are, at most.
    pub recorded: u64,
    /// Intervals of the series at most.
    pub intervals: u64,
    /// Whether rows are kept until the run is over, since nobody takes them.
    pub retains_rows: bool,
}

impl Default for MemoryDemand {
    /// One job without an end of which nothing is recorded.
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
    /// With messages that are known, of so many packets and bytes in all.
    #[must_use]
    pub fn with_messages(mut self, packets: u64, bytes: u64) -> Self {
        self.packets = self.packets.saturating_add(packets);
        self.recorded = self.recorded.saturating_add(packets);
        self.packet_bytes = (packets > 0).then(|| bytes / packets);
        self
    }
}

/// How large a network is.
pub(crate) struct Size {
    pub(crate) ports: u64,
    pub(crate) nodes: u64,
    pub(crate) channels: u64,
}

/// About how many bytes a run of the routing `algorithm` on `machine` takes, before anything is built; see
/// [`crate::PacketEngine::memory_estimate`]. What an algorithm learns is not in it.
pub fn memory_estimate(
    machine: &Machine,
    settings: &PacketSettings,
    (algorithm, channels): (&str, u8),
    demand: &MemoryDemand,
) -> u64 {
    let nodes = machine.node_count() as u64;
    let ports = nodes + machine.link_count() as u64;
    let size = Size { ports, nodes, channels: channels.into() };
    table_estimate(machine, algorithm) + run_bytes(&size, settings, demand)
}

/// Tables of next hops, where an algorithm has any: 7 B for each router and group and for each router and member of its group.
pub fn table_estimate(machine: &Machine, algorithm: &str) -> u64 {
    let (routers, groups) = (machine.router_count() as u64, machine.group_count() as u64);
    let all = 7 * routers * (groups + routers.div_ceil(groups.max(1)));
    if Algorithm::needs_tables(algorithm) {
        all
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
    let per_packet = 74 + on(paths, 100);
    let batches = on(recording.packets, if paths { 96_000_000 } else { 64_000_000 });
    let per_job = PARTITIONS * (8_192 + on(series && recording.series.jobs, intervals.saturating_mul(40)));
    [
        ports * per_port,
        nodes * 200,
        in_flight(size, settings, demand).saturating_mul(per_packet),
        batches,
        jobs.saturating_mul(per_job),
        on(demand.retains_rows, retained_row_bytes(size, demand)),
    ]
    .into_iter()
    .fold(0, u64::saturating_add)
}

/// Packets that are in the network at a time at most; those that wait in their sources are not made yet.
fn in_flight(size: &Size, settings: &PacketSettings, demand: &MemoryDemand) -> u64 {
    let packet = demand.packet_bytes.unwrap_or(settings.packet.0).max(1);
    let buffers = settings.input_buffer.0.saturating_add(settings.output_buffer.0) / packet;
    let most = (size.ports * size.channels).saturating_mul(buffers);
    let saturated = (size.nodes * IN_FLIGHT).saturating_mul(buffers.max(STUDY_BUFFERS)) / STUDY_BUFFERS;
    saturated.min(most).min(demand.packets).min(demand.in_flight.unwrap_or(u64::MAX))
}

/// What is left of it while tables are made: records of ports, rows that nobody took.
pub(crate) fn retained_bytes(size: &Size, demand: &MemoryDemand) -> u64 {
    let records = 64 + if demand.recording.channels { 40 * size.channels } else { 0 };
    size.ports * records + if demand.retains_rows { retained_row_bytes(size, demand) } else { 0 }
}

/// Packets of a node that sends at `load` while a packet is on its way for `transit_s`, of which it makes `rate_per_s` at load 1. Uniform traffic on
/// dragonflies held 7.7 a node at 0.3 (`cascade-241`), 33 at 0.9 (1,056 and 5,256 nodes).
pub(crate) fn expected_packets(load: f64, rate_per_s: f64, transit_s: f64) -> f64 {
    load * rate_per_s * transit_s / (1.0 - load).max(0.01).powf(0.15)
}

/// Rows that stay in memory until the run is over.
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

    /// Of the formula: 3,960 (410 + 64) + 1,056 * 200 + 1,056 * 200 * 74 + 32 * 8,192.
    #[test]
    fn the_estimate_is_the_sum_of_its_parts() {
        assert_eq!(estimate(|_, _| ()), 3960 * 474 + 1056 * 200 + 1056 * 200 * 74 + 32 * 8_192);
        let five = |link_jobs| estimate(|_, demand| (demand.recording.link_jobs, demand.jobs) = (link_jobs, 5));
        assert_eq!(five(true) - five(false), 3960 * 8 * 5);
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

    /// 264 routers of 33 groups of 8: 7 B for each group and for each router of the own group.
    #[test]
    fn next_hop_tables_are_estimated_before_they_are_built() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let demand = MemoryDemand { packets: 10, ..MemoryDemand::default() };
        let all = |algorithm| memory_estimate(&machine, &PacketSettings::study(), (algorithm, 2), &demand);
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

//! The records of one partition, while it runs.

use super::backlog::BacklogCounter;
use super::choice::{RecordPlan, Recording};
use super::part::{Part, Sums};
use super::queues::InputQueues;
use super::rows::{
    ChannelRecord, FifoRecord, IntervalRecord, JobRecord, LearningInterval, PacketRecord, PortRecord, TracedPacket,
    BATCHES,
};
use super::series::{Intervals, PortSeries};
use super::waits::JobWaits;
use crate::control::ControlPacketCount;
use crate::packet::{Packet, PathHop};

/// The records of one partition.
pub(crate) struct Recorder {
    plan: RecordPlan,
    /// Length of the measurement window.
    length: u64,
    channels_per_port: usize,
    /// Only sums of ports are recorded, nothing about single packets on links.
    plain: bool,
    /// Size of a full packet, and the number of full packets that each port sent but `ports` does not contain yet.
    full: u32,
    pub(super) full_packets: Vec<u64>,
    pub(crate) jobs: Vec<JobRecord>,
    pub(super) ports: Vec<PortRecord>,
    channels: Vec<ChannelRecord>,
    /// Bytes of job j on port p at `p * jobs + j`.
    port_jobs: Vec<u64>,
    pub(super) nic_bytes: Vec<u64>,
    pub(super) nic_stall_ps: Vec<u64>,
    /// Of the ejection port, by NIC.
    backlogs: Vec<BacklogCounter>,
    /// By NIC; empty unless NICs are torus FIFOs.
    fifos: Vec<FifoRecord>,
    /// Interval i of job j at `series[j][i]`.
    series: Vec<Vec<IntervalRecord>>,
    /// Feedback that arrived in interval i.
    learning: Vec<LearningInterval>,
    packets: Vec<TracedPacket>,
    /// Bit vc: channel vc carried a packet.
    channels_used: u64,
    pub(super) control_packets: ControlPacketCount,
    /// Total wait for each crossbar output, and start of the wait of each input channel's head; empty unless
    /// recorded.
    crossbar_stall_ps: Vec<u64>,
    head_since: Vec<u64>,
    /// Counted stall time, and start of the stall that may still count; empty unless recorded.
    counted_stall_ps: Vec<u64>,
    counted_from: Vec<u64>,
    /// Start of the wait of each channel in a stalled port; `u64::MAX` if it does not wait.
    channel_stalled: Vec<u64>,
    port_series: Option<Box<PortSeries>>,
    /// Waits by blocking job, if recorded.
    pub(crate) waits: Option<Box<JobWaits>>,
    /// Packets in input queues, if channels are recorded.
    pub(crate) queues: Option<Box<InputQueues>>,
    /// Port numbers in results; empty if no port appears in rows.
    numbers: Vec<u32>,
}

odonata_checkpoint::state!(Recorder {
    value: learning, packets, channels_used, control_packets;
    same_length: full_packets, jobs, ports, channels, port_jobs, nic_bytes, nic_stall_ps, backlogs, fifos, series, crossbar_stall_ps, head_since,
        counted_stall_ps, counted_from, channel_stalled;
    nested: port_series, waits, queues;
    rebuilt: plan, length, channels_per_port, plain, full, numbers
});

impl Recorder {
    /// Creates the recorder of a partition, with port `numbers` for results and full packets of `full` bytes.
    pub(crate) fn new(
        plan: RecordPlan,
        numbers: impl ExactSizeIterator<Item = u32>,
        nics: usize,
        channels_per_port: usize,
        full: u32,
    ) -> Self {
        let Recording { channels, crossbar, counted_stall, interval_ps, series, job_waits, .. } = plan.recording;
        let on = |wanted: bool, count: usize| if wanted { count } else { 0 };
        let of_jobs = plan.recording.link_jobs && plan.jobs > 1;
        let ports = numbers.len();
        let hands_out = plan.records_paths() || plan.has_port_series();
        Self {
            plan,
            length: plan.end - plan.start,
            channels_per_port,
            plain: !(channels || of_jobs || plan.has_port_series()),
            full,
            full_packets: vec![0; ports],
            jobs: vec![JobRecord::default(); plan.jobs],
            ports: vec![PortRecord::default(); ports],
            channels: vec![ChannelRecord::default(); on(channels, ports * channels_per_port)],
            port_jobs: vec![0; on(of_jobs, ports * plan.jobs)],
            nic_bytes: vec![0; nics],
            nic_stall_ps: vec![0; nics],
            backlogs: vec![BacklogCounter::default(); nics],
            fifos: Vec::new(),
            series: vec![Vec::new(); on(interval_ps > 0 && series.jobs, plan.jobs)],
            learning: Vec::new(),
            packets: Vec::new(),
            channels_used: 0,
            control_packets: ControlPacketCount::default(),
            crossbar_stall_ps: vec![0; on(crossbar, ports)],
            head_since: vec![0; on(crossbar, ports * channels_per_port)],
            counted_stall_ps: vec![0; on(counted_stall, ports)],
            counted_from: vec![u64::MAX; on(counted_stall, ports)],
            channel_stalled: vec![
                u64::MAX;
                on(channels || interval_ps > 0 && series.channels, ports * channels_per_port)
            ],
            port_series: (interval_ps > 0 && series.any_port())
                .then(|| Box::new(PortSeries::new(interval_ps, series, plan.jobs, ports, channels_per_port))),
            waits: job_waits.then(|| Box::new(JobWaits::new(&plan, ports, channels_per_port))),
            queues: channels.then(|| Box::new(InputQueues::new(&plan, ports * channels_per_port))),
            numbers: if hands_out { numbers.collect() } else { Vec::new() },
        }
    }

    /// Adds records of torus FIFOs.
    pub(crate) fn record_fifos(&mut self) {
        self.fifos = vec![FifoRecord::default(); self.nic_bytes.len()];
    }

    /// Records that a torus FIFO took a packet, which occupies it for `busy` ps.
    #[inline]
    pub(crate) fn record_fifo_entry(&mut self, nic: usize, packet: &Packet, busy: u64) {
        if self.measured(packet.injected) {
            let rest = self.plan.end - packet.injected;
            if let Some(fifo) = self.fifos.get_mut(nic) {
                fifo.bytes += u64::from(packet.size());
                fifo.packets += 1;
                fifo.busy_ps += busy.min(rest);
                fifo.memory_fifo_ps += packet.injected - packet.created;
            }
        }
    }

    /// Records that a packet from a torus FIFO, which arrived at `arrived`, left its queue at the router. The next
    /// packet, if any, arrived at `next` and is the head from now on.
    pub(crate) fn record_fifo_exit(&mut self, nic: usize, arrived: u64, next: Option<u64>, now: u64) {
        if self.fifos.is_empty() {
            return;
        }
        let (all, behind) = (self.overlap(arrived, now), next.map_or(0, |next| self.overlap(next, now)));
        let fifo = &mut self.fifos[nic];
        // The next packet was blocked by this one so far. As the head it waits for the rest.
        fifo.head_stall_ps = (fifo.head_stall_ps + all).wrapping_sub(behind);
        fifo.hol_blocked_ps += behind;
    }

    /// Port number in results, if ports appear in rows.
    pub(crate) fn number(&self, port: usize) -> u32 {
        self.numbers.get(port).copied().unwrap_or(0)
    }

    /// Whether paths are recorded.
    pub(crate) fn records_paths(&self) -> bool {
        self.plan.records_paths()
    }

    #[inline]
    pub(super) fn measured(&self, time: u64) -> bool {
        time.wrapping_sub(self.plan.start) < self.length
    }

    /// Records that a packet entered an output queue, which now has `channel_bytes`; its port has `port_bytes`.
    #[inline]
    pub(crate) fn record_enqueue(&mut self, port: usize, vc: u8, channel_bytes: u32, port_bytes: u32, now: u64) {
        if self.plain {
            return;
        }
        if !self.channels.is_empty() && self.measured(now) {
            let channel = &mut self.channels[port * self.channels_per_port + usize::from(vc)];
            channel.peak_bytes = channel.peak_bytes.max(u64::from(channel_bytes));
            let port = &mut self.ports[port];
            port.peak_bytes = port.peak_bytes.max(u64::from(port_bytes));
        }
        if let Some(series) = &mut self.port_series {
            series.record_enqueue(port, vc, channel_bytes, port_bytes);
        }
    }

    /// Records that a packet is the head of input channel `channel` and may cross from `from` on.
    #[inline]
    pub(crate) fn record_head(&mut self, channel: usize, from: u64) {
        if let Some(since) = self.head_since.get_mut(channel) {
            *since = from;
        }
    }

    /// Records that the head of input channel `channel` crosses to output port `port`, or waits for it at the end of
    /// the run.
    #[inline]
    pub(crate) fn record_crossing(&mut self, channel: usize, port: usize, now: u64) {
        if !self.crossbar_stall_ps.is_empty() {
            self.crossbar_stall_ps[port] += self.overlap(self.head_since[channel], now);
        }
    }

    /// Counts the stall of a port when a credit arrives that does not end it.
    #[inline]
    pub(crate) fn count_stall(&mut self, port: usize, now: u64) {
        if let Some(&from) = self.counted_from.get(port) {
            self.counted_stall_ps[port] += self.overlap(from, now);
            self.counted_from[port] = now;
        }
    }

    /// Restarts the counted stall of a port: a packet joined the waiting ones.
    #[inline]
    pub(crate) fn restart_stall(&mut self, port: usize, now: u64) {
        if let Some(from) = self.counted_from.get_mut(port) {
            *from = now;
        }
    }

    /// Ends the stall of a port.
    #[inline]
    pub(crate) fn end_stall(&mut self, port: usize, now: u64) {
        self.count_stall(port, now);
        if let Some(from) = self.counted_from.get_mut(port) {
            *from = u64::MAX;
        }
    }

    /// Records that a port stalls: the channels of `occupied` have packets but no credit.
    #[inline]
    pub(crate) fn record_stall_start(&mut self, port: usize, occupied: u64, now: u64) {
        if self.channel_stalled.is_empty() {
            return;
        }
        let first = port * self.channels_per_port;
        for (vc, since) in self.channel_stalled[first..first + self.channels_per_port].iter_mut().enumerate() {
            if occupied >> vc & 1 == 1 && *since == u64::MAX {
                *since = now;
            }
        }
    }

    /// Records that a port started to send a packet, which occupies its link for `busy` ps.
    #[inline(always)]
    pub(crate) fn record_send(&mut self, port: usize, vc: u8, packet: &Packet, now: u64, busy: u64) {
        // The common case: one counter per port, from which all sums follow at the end.
        if self.plain && packet.size() == self.full && self.measured(now) && now + busy <= self.plan.end {
            self.full_packets[port] += 1;
            self.channels_used |= 1 << vc;
            return;
        }
        self.record_full_send(port, vc, packet, now, busy);
    }

    #[inline(never)]
    fn record_full_send(&mut self, port: usize, vc: u8, packet: &Packet, now: u64, busy: u64) {
        if let Some(series) = &mut self.port_series {
            series.record_send(port, vc, packet, now, busy);
        }
        if !self.measured(now) {
            return;
        }
        let size = u64::from(packet.size());
        let record = &mut self.ports[port];
        record.bytes += size;
        record.packets += 1;
        record.busy_ps += busy.min(self.plan.end - now);
        self.channels_used |= 1 << vc;
        if let Some(channel) = self.channels.get_mut(port * self.channels_per_port + usize::from(vc)) {
            channel.bytes += size;
            channel.packets += 1;
        }
        if let Some(bytes) = self.port_jobs.get_mut(port * self.plan.jobs + usize::from(packet.job)) {
            *bytes += size;
        }
    }

    /// Adds the full packets to the records of ports. Each took the `full_time` of its port.
    /// Bytes of each port so far.
    pub(crate) fn port_bytes(&self) -> impl Iterator<Item = u64> + '_ {
        let full = u64::from(self.full);
        self.ports.iter().zip(&self.full_packets).map(move |(port, packets)| port.bytes + packets * full)
    }

    fn settle(&mut self, full_time: impl Fn(usize) -> u64) {
        for (port, packets) in self.full_packets.iter_mut().map(std::mem::take).enumerate() {
            let record = &mut self.ports[port];
            record.bytes += packets * u64::from(self.full);
            record.packets += packets;
            record.busy_ps += packets * full_time(port);
        }
    }

    /// Records feedback that arrived at `at` and showed an error of `error_ns` in an estimate.
    #[inline]
    pub(crate) fn record_learning(&mut self, at: u64, error_ns: f32) {
        if self.plan.recording.interval_ps == 0 {
            return;
        }
        let i = (at / self.plan.recording.interval_ps) as usize;
        if self.learning.len() <= i {
            self.learning.resize(i + 1, LearningInterval::default());
        }
        self.learning[i].updates += 1;
        self.learning[i].error_ps += (f64::from(error_ns) * 1e3).round() as u64;
    }

    /// Records a stall of a port.
    pub(crate) fn record_stall(&mut self, port: usize, since: u64, now: u64) {
        self.ports[port].stall_ps += self.overlap(since, now);
        if let Some(series) = &mut self.port_series {
            series.record_stall(port, since, now);
        }
        if self.channel_stalled.is_empty() {
            return;
        }
        let first = port * self.channels_per_port;
        for vc in 0..self.channels_per_port {
            let since = std::mem::replace(&mut self.channel_stalled[first + vc], u64::MAX);
            if since == u64::MAX {
                continue;
            }
            if !self.channels.is_empty() {
                self.channels[first + vc].stall_ps += self.overlap(since, now);
            }
            if let Some(series) = &mut self.port_series {
                series.record_channel_stall(first + vc, since, now);
            }
        }
    }

    /// Records that the ejection port of NIC `nic` sends a packet from `now` to `until`. Its head arrived at the router
    /// at `arrived`.
    #[inline]
    pub(crate) fn record_ejection(&mut self, nic: usize, arrived: u64, now: u64, until: u64) {
        self.backlogs[nic].count(arrived, now, until);
    }

    /// Interval of the series; 0 without one.
    pub(crate) fn interval_ps(&self) -> u64 {
        self.plan.recording.interval_ps
    }

    /// Records a stall of a NIC.
    pub(crate) fn record_nic_stall(&mut self, nic: usize, since: u64, now: u64) {
        self.nic_stall_ps[nic] += self.overlap(since, now);
    }

    fn overlap(&self, since: u64, now: u64) -> u64 {
        now.min(self.plan.end).saturating_sub(since.max(self.plan.start))
    }

    /// Records that a packet left its source, whose stall had delayed the packet by `delay_ps`.
    #[inline]
    pub(crate) fn record_injection(&mut self, nic: usize, packet: &Packet, delay_ps: u64) {
        if self.measured(packet.injected) {
            self.nic_bytes[nic] += u64::from(packet.size());
        }
        if self.measured(packet.created) {
            let job = &mut self.jobs[usize::from(packet.job)];
            job.injected_packets += 1;
            job.injected_bytes += u64::from(packet.payload());
            job.delay_ps += delay_ps;
        }
    }

    /// Records that the last byte of a packet reaches its destination at `at`.
    pub(crate) fn record_delivery(&mut self, packet: &Packet, at: u64) {
        let size = u64::from(packet.payload());
        let latency = at - packet.created;
        let (in_window, measured) = (self.measured(at), self.measured(packet.created));
        let batch = if in_window { self.batch(at) } else { 0 };
        let job = &mut self.jobs[usize::from(packet.job)];
        job.all_packets += 1;
        job.last_arrival_ps = job.last_arrival_ps.max(at);
        if in_window {
            job.delivered_bytes += size;
            job.delivered_by_batch[batch] += size;
            job.latency_by_batch[batch].0 += latency;
            job.latency_by_batch[batch].1 += 1;
        }
        if measured {
            job.packets += 1;
            job.bytes += size;
            job.latency.add(latency);
            job.network_latency.add(at - packet.injected);
            job.source_wait_ps += packet.injected - packet.created;
            let hops = u64::from(packet.header.state.hops);
            job.hops += hops;
            job.byte_hops += hops * size;
            job.on_router_bytes += if hops == 0 { size } else { 0 };
            job.non_minimal += u64::from(packet.header.state.path_kind.is_non_minimal());
            job.via_intermediate_group += u64::from(packet.header.state.path_kind.is_via_intermediate_group());
        }
        if !self.series.is_empty() {
            self.record_interval(packet, at, latency);
        }
        if self.plan.recording.packets && measured {
            self.record_packet(packet, at);
        }
    }

    fn batch(&self, at: u64) -> usize {
        let length = (self.plan.end - self.plan.start).max(1);
        let into = at.saturating_sub(self.plan.start);
        // The product saturates for a window of a week.
        (into.saturating_mul(BATCHES as u64) / length).min(BATCHES as u64 - 1) as usize
    }

    fn record_interval(&mut self, packet: &Packet, at: u64, latency: u64) {
        let series = &mut self.series[usize::from(packet.job)];
        let i = (at / self.plan.recording.interval_ps) as usize;
        if series.len() <= i {
            series.resize(i + 1, IntervalRecord::default());
        }
        series[i].bytes += u64::from(packet.payload());
        series[i].packets += 1;
        series[i].latency_ps += latency;
        series[i].latency_max_ps = series[i].latency_max_ps.max(latency);
        series[i].non_minimal += u64::from(packet.header.state.path_kind.is_non_minimal());
        series[i].via_intermediate_group += u64::from(packet.header.state.path_kind.is_via_intermediate_group());
    }

    fn record_packet(&mut self, packet: &Packet, at: u64) {
        let record = PacketRecord {
            delivered_ps: at,
            source: packet.header.source.0,
            destination: packet.header.destination.0,
            created_ps: packet.created,
            injected_ps: packet.injected,
            job: packet.job,
            size: packet.size(),
            hops: packet.header.state.hops,
            non_minimal: packet.header.state.path_kind.is_non_minimal(),
            via_intermediate_group: packet.header.state.path_kind.is_via_intermediate_group(),
        };
        self.packets.push(TracedPacket { record, path: Vec::new() });
    }

    /// Records the path of the last delivered packet.
    pub(crate) fn record_path(&mut self, packet: &Packet, path: Vec<PathHop>) {
        if self.plan.recording.packets && self.measured(packet.created) {
            self.packets.last_mut().expect("it has a record").path = path;
        }
    }

    /// Moves the records of packets that arrived before `until` to `out`. Later ones remain.
    pub(crate) fn take_packets(&mut self, until: u64, out: &mut Vec<TracedPacket>) {
        let mut i = 0;
        while i < self.packets.len() {
            if self.packets[i].record.delivered_ps < until {
                out.push(self.packets.swap_remove(i));
            } else {
                i += 1;
            }
        }
    }

    /// Moves the rows of ports in the interval that ends at `end` to `out`. Lasting stalls were recorded before.
    pub(crate) fn take_intervals(&mut self, end: u64, out: &mut Intervals) {
        if let Some(series) = &mut self.port_series {
            series.take(end, &self.numbers, out);
        }
    }

    /// Takes the records that belong to no port.
    pub(crate) fn take_sums(&mut self) -> Sums {
        Sums {
            jobs: std::mem::take(&mut self.jobs),
            series: std::mem::take(&mut self.series),
            learning: std::mem::take(&mut self.learning),
            channels_used: self.channels_used,
            control_packets: self.control_packets,
        }
    }

    /// Returns the records of ports and NICs at the end of the run. Each full packet took the `full_time` of its port.
    pub(crate) fn into_part(mut self, end: u64, full_time: impl Fn(usize) -> u64) -> Part {
        self.settle(full_time);
        Part {
            ports: self.ports,
            half_width_bytes: Vec::new(),
            latencies: Vec::new(),
            cells: Vec::new(),
            channels: self.channels,
            queues: self.queues.map_or_else(Vec::new, |queues| queues.into_records()),
            port_jobs: self.port_jobs,
            crossbar_stall_ps: self.crossbar_stall_ps,
            counted_stall_ps: self.counted_stall_ps,
            fifos: self.fifos,
            backlogs: self.backlogs.into_iter().map(|counter| counter.longest(end)).collect(),
            nics: self.nic_bytes.into_iter().zip(self.nic_stall_ps).collect(),
            tables: Vec::new(),
            control: Vec::new(),
            control_series: Vec::new(),
            waits: self.waits.map_or_else(Vec::new, |waits| waits.into_waits()),
        }
    }
}

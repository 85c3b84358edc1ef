//! Time series of ports: sums and peaks of the current interval, passed on and cleared at its end.
//!
//! Only one interval is in memory. The end of an interval cuts what lasts longer: busy time of a link is carried
//! over, and the partition records stalls up to the end before the rows are taken.

use super::SeriesChoice;
use crate::packet::Packet;
use serde::{Deserialize, Serialize};

/// One port in one interval. Ports without events have no row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct PortInterval {
    /// Start of the interval.
    pub start_ps: u64,
    /// Global number of the port.
    pub port: u32,
    /// Bytes of packets that started to leave.
    pub bytes: u64,
    /// Their number.
    pub packets: u64,
    /// Time in which the link sent.
    pub busy_ps: u64,
    /// Time in which packets waited for a free link, but none had a credit.
    pub stall_ps: u64,
    /// Peak bytes in the output buffers.
    pub peak_bytes: u64,
}

/// One virtual channel of a port in one interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct ChannelInterval {
    /// Start of the interval.
    pub start_ps: u64,
    /// Global number of the port.
    pub port: u32,
    /// Virtual channel.
    pub vc: u8,
    /// Bytes of packets that started to leave.
    pub bytes: u64,
    /// Their number.
    pub packets: u64,
    /// Time in which the port was stalled and packets of this channel waited.
    pub stall_ps: u64,
    /// Peak bytes in the output buffer.
    pub peak_bytes: u64,
}

/// One job on one port in one interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct JobPortInterval {
    /// Start of the interval.
    pub start_ps: u64,
    /// Global number of the port.
    pub port: u32,
    /// Job.
    pub job: u16,
    /// Bytes of packets that started to leave.
    pub bytes: u64,
}

/// Rows of one interval.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Intervals {
    pub(crate) ports: Vec<PortInterval>,
    pub(crate) channels: Vec<ChannelInterval>,
    pub(crate) port_jobs: Vec<JobPortInterval>,
}

/// Sums of the current interval.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct PortNow {
    bytes: u64,
    packets: u64,
    /// Busy time of the link including the part after the interval, and the end of the busy time.
    busy_ps: u64,
    busy_until: u64,
    stall_ps: u64,
    peak_bytes: u32,
    /// Bytes in the output buffers.
    held_bytes: u32,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct ChannelNow {
    bytes: u64,
    packets: u64,
    stall_ps: u64,
    peak_bytes: u32,
    held_bytes: u32,
}

pub(super) struct PortSeries {
    interval_ps: u64,
    jobs: usize,
    channels_per_port: usize,
    /// Start of the current interval.
    start: u64,
    ports: Vec<PortNow>,
    channels: Vec<ChannelNow>,
    /// Bytes of job j on port p at `p * jobs + j`.
    port_jobs: Vec<u64>,
}

odonata_checkpoint::state!(PortSeries {
    value: start;
    same_length: ports, channels, port_jobs;
    rebuilt: interval_ps, jobs, channels_per_port
});

impl PortSeries {
    pub(super) fn new(
        interval_ps: u64,
        choice: SeriesChoice,
        jobs: usize,
        ports: usize,
        channels_per_port: usize,
    ) -> Self {
        let on = |wanted: bool, count: usize| if wanted { count } else { 0 };
        Self {
            interval_ps,
            jobs,
            channels_per_port,
            start: 0,
            ports: vec![PortNow::default(); on(choice.ports, ports)],
            channels: vec![ChannelNow::default(); on(choice.channels, ports * channels_per_port)],
            port_jobs: vec![0; on(choice.port_jobs, ports * jobs)],
        }
    }

    #[inline]
    pub(super) fn record_enqueue(&mut self, port: usize, vc: u8, channel_bytes: u32, port_bytes: u32) {
        if let Some(now) = self.ports.get_mut(port) {
            now.held_bytes = port_bytes;
            now.peak_bytes = now.peak_bytes.max(port_bytes);
        }
        if let Some(now) = self.channels.get_mut(port * self.channels_per_port + usize::from(vc)) {
            now.held_bytes = channel_bytes;
            now.peak_bytes = now.peak_bytes.max(channel_bytes);
        }
    }

    #[inline]
    pub(super) fn record_send(&mut self, port: usize, vc: u8, packet: &Packet, now: u64, busy: u64) {
        debug_assert!(now >= self.start && now < self.start + self.interval_ps);
        let size = packet.size();
        if let Some(sums) = self.ports.get_mut(port) {
            sums.bytes += u64::from(size);
            sums.packets += 1;
            sums.busy_ps += busy;
            sums.busy_until = now + busy;
            sums.held_bytes -= size;
        }
        if let Some(sums) = self.channels.get_mut(port * self.channels_per_port + usize::from(vc)) {
            sums.bytes += u64::from(size);
            sums.packets += 1;
            sums.held_bytes -= size;
        }
        if let Some(bytes) = self.port_jobs.get_mut(port * self.jobs + usize::from(packet.job)) {
            *bytes += u64::from(size);
        }
    }

    pub(super) fn record_stall(&mut self, port: usize, since: u64, now: u64) {
        let stall = now - since.max(self.start).min(now);
        if let Some(sums) = self.ports.get_mut(port) {
            sums.stall_ps += stall;
        }
    }

    pub(super) fn record_channel_stall(&mut self, channel: usize, since: u64, now: u64) {
        let stall = now - since.max(self.start).min(now);
        if let Some(sums) = self.channels.get_mut(channel) {
            sums.stall_ps += stall;
        }
    }

    /// Moves the rows of the interval that ends at `end` to `out`. The end of the run may cut the interval short.
    pub(super) fn take(&mut self, end: u64, numbers: &[u32], out: &mut Intervals) {
        let start_ps = self.start;
        if end == start_ps {
            return;
        }
        for (&port, sums) in numbers.iter().zip(&mut self.ports) {
            let over = sums.busy_until.saturating_sub(end);
            let PortNow { bytes, packets, stall_ps, peak_bytes, held_bytes, busy_ps, busy_until } = *sums;
            let row = PortInterval {
                start_ps,
                port,
                bytes,
                packets,
                busy_ps: busy_ps - over,
                stall_ps,
                peak_bytes: peak_bytes.into(),
            };
            if (row.busy_ps, row.stall_ps, row.peak_bytes) != (0, 0, 0) {
                out.ports.push(row);
            }
            *sums = PortNow { held_bytes, peak_bytes: held_bytes, busy_ps: over, busy_until, ..PortNow::default() };
        }
        let channels_per_port = self.channels_per_port;
        for (c, sums) in self.channels.iter_mut().enumerate() {
            let ChannelNow { bytes, packets, stall_ps, peak_bytes, held_bytes } = *sums;
            if (packets, stall_ps, peak_bytes) != (0, 0, 0) {
                let port = numbers[c / channels_per_port];
                let vc = (c % channels_per_port) as u8;
                let peak_bytes = peak_bytes.into();
                out.channels.push(ChannelInterval { start_ps, port, vc, bytes, packets, stall_ps, peak_bytes });
            }
            *sums = ChannelNow { held_bytes, peak_bytes: held_bytes, ..ChannelNow::default() };
        }
        for (i, bytes) in self.port_jobs.iter_mut().enumerate().filter(|(_, bytes)| **bytes > 0) {
            let port = numbers[i / self.jobs];
            let job = (i % self.jobs) as u16;
            out.port_jobs.push(JobPortInterval { start_ps, port, job, bytes: std::mem::take(bytes) });
        }
        self.start = end;
    }
}

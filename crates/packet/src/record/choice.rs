//! Selection of records.

/// Selected records. Each has its own switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recording {
    /// Bytes, packets, stall time and peak occupancy of every virtual channel, and peak occupancy of every port.
    pub channels: bool,
    /// Wait of packets at the heads of input queues, by crossbar output.
    pub crossbar: bool,
    /// Stall time of every port as counted by the simulator of the interference study (`docs/models/packet.md`).
    pub counted_stall: bool,
    /// Wait of packets in every virtual channel of every link, by their job and the blocking job.
    pub job_waits: bool,
    /// Bytes of every job on every link.
    pub link_jobs: bool,
    /// Interval of the time series in ps; 0 records none.
    pub interval_ps: u64,
    /// Selected time series.
    pub series: SeriesChoice,
    /// One record per packet, with its times.
    pub packets: bool,
    /// Path of every recorded packet.
    pub paths: bool,
}

/// Selected time series, if there is an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeriesChoice {
    /// Bytes, packets and latency of every job.
    pub jobs: bool,
    /// Bytes, packets, busy and stall time, and peak occupancy of every port.
    pub ports: bool,
    /// Bytes, packets, stall time and peak occupancy of every virtual channel of every port.
    pub channels: bool,
    /// Bytes of every job on every port.
    pub port_jobs: bool,
}

impl Default for SeriesChoice {
    fn default() -> Self {
        Self { jobs: true, ports: false, channels: false, port_jobs: false }
    }
}

impl SeriesChoice {
    /// Whether any series of ports is selected.
    pub(crate) const fn any_port(self) -> bool {
        self.ports || self.channels || self.port_jobs
    }
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            channels: false,
            crossbar: false,
            counted_stall: false,
            job_waits: false,
            link_jobs: true,
            interval_ps: 0,
            series: SeriesChoice::default(),
            packets: false,
            paths: false,
        }
    }
}

impl Recording {
    /// Whether there is a time series of ports. Its rows are passed on during the run.
    pub const fn has_port_series(&self) -> bool {
        self.interval_ps > 0 && self.series.any_port()
    }
}

/// Selected records, measurement window and number of jobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPlan {
    pub(crate) recording: Recording,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) jobs: usize,
}

impl RecordPlan {
    /// Whether paths are recorded.
    pub(crate) const fn records_paths(&self) -> bool {
        self.recording.packets && self.recording.paths
    }

    /// Whether there is a time series of ports.
    pub(crate) const fn has_port_series(&self) -> bool {
        self.recording.has_port_series()
    }
}

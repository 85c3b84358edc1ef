//! What is recorded, and when.

/// Which records are kept. Each can be switched on alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recording {
    /// Bytes, packets, stall time and peak occupancy of every virtual channel of every port, and of the port.
    pub channels: bool,
    /// Time that packets wait at the heads of input queues for each output of a crossbar.
    pub crossbar: bool,
    /// Stall time of every port as the interference study's simulator counts it (`docs/models/packet.md`).
    pub counted_stall: bool,
    /// How long packets of each job waited in every virtual channel of every link for those of each job.
    pub job_waits: bool,
    /// Bytes of every job on every link.
    pub link_jobs: bool,
    /// Length of an interval of the time series, in ps; 0 keeps none.
    pub interval_ps: u64,
    /// Which time series are kept.
    pub series: SeriesChoice,
    /// One record per packet, with its times.
    pub packets: bool,
    /// The way of every packet that has a record.
    pub paths: bool,
}

/// Which time series are kept, if there is an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeriesChoice {
    /// Of every job: bytes, packets, latency.
    pub jobs: bool,
    /// Of every port: bytes, packets, busy and stall time, peak occupancy.
    pub ports: bool,
    /// Of every virtual channel of every port: bytes, packets, stall time, peak occupancy.
    pub channels: bool,
    /// Of every job on every port: bytes.
    pub port_jobs: bool,
}

impl Default for SeriesChoice {
    fn default() -> Self {
        Self { jobs: true, ports: false, channels: false, port_jobs: false }
    }
}

impl SeriesChoice {
    /// Whether anything is kept for each port.
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
    /// Whether there is a time series of ports, whose rows are handed out while a run goes.
    pub const fn has_port_series(&self) -> bool {
        self.interval_ps > 0 && self.series.any_port()
    }
}

/// When traffic counts, and how many jobs there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPlan {
    pub(crate) recording: Recording,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) jobs: usize,
}

impl RecordPlan {
    /// Whether the ways of packets are kept.
    pub(crate) const fn records_paths(&self) -> bool {
        self.recording.packets && self.recording.paths
    }

    /// Whether there is a time series of ports.
    pub(crate) const fn has_port_series(&self) -> bool {
        self.recording.has_port_series()
    }
}

//! Records of a run.
//!
//! The engine reports events to the [`Recorder`], which computes no means and knows no tables. All records are
//! integer sums, maxima or histograms, so records of partitions merge to the same bytes in any order.
//!
//! Membership in the measurement window has two kinds. A *packet* counts if it was created in the window, whenever it
//! arrives. *Traffic* (bytes on a port, delivered bytes, stall time) counts by its own time.

mod backlog;
mod choice;
mod control;
mod histogram;
mod iteration_cells;
mod iteration_latency;
mod part;
mod queues;
mod recorder;
mod repeat;
mod rows;
mod series;
mod spread;
mod waits;

pub use backlog::Backlog;
pub(crate) use choice::RecordPlan;
pub use choice::{Recording, SeriesChoice};
pub use histogram::Histogram;
pub(crate) use iteration_cells::IterationCells;
pub use iteration_cells::LatencyIntervals;
pub(crate) use iteration_latency::{latencies_of, latency_half_width_ps, IterationLatency};
pub(crate) use part::{Part, Sums};
pub(crate) use recorder::Recorder;
pub(crate) use repeat::RecordSums;
pub use rows::{
    ChannelRecord, FifoRecord, IntervalRecord, JobRecord, LearningInterval, PacketRecord, PortRecord, QueueRecord,
    Rows, TracedPacket, BATCHES,
};
pub(crate) use series::Intervals;
pub use series::{ChannelInterval, JobPortInterval, PortInterval};
pub(crate) use spread::IterationSpread;
pub(crate) use waits::ChannelTime;
pub use waits::JobWait;

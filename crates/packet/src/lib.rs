//! Discrete-event simulation of packets: routers, links, buffers and credits.
//!
//! A [`PacketEngine`] is a machine with a routing algorithm. It runs [`Traffic`] for a [`Schedule`] and
//! returns a [`PacketResult`]. `docs/models/packet.md` describes every mechanism and the latency of an idle
//! path.

mod control;
mod credit;
mod deadlock;
mod division;
mod endpoint;
mod engine;
mod fabric;
mod fast_forward;
mod injection;
mod mail;
mod memory;
mod packet;
mod partition;
mod queue;
mod rail_map;
mod record;
mod result;
mod run;
mod run_options;
mod schedule;
mod settings;
mod settings_error;
mod source;
mod traffic_class;

pub use control::{
    ControlInterval, ControlIntervalKey, ControlName, ControlPacketCount, ControlRecord, ControlRule, ControlSettings,
};
pub use endpoint::{
    Activity, Arrival, Departure, Endpoints, Envelope, InjectionTimes, LoopProgress, MemoryFifos, Nics, Offer,
    OutgoingPacket, PacketInFlight, Program, SkippedIterations, Socket, Subscription, UnfinishedEndpoint,
};
pub use engine::{CheckpointAccess, CheckpointParts, PacketEngine, PacketError};
pub use fast_forward::{FastForward, FastForwardReport};
pub use injection::{FifoChoice, InjectionFifos, InjectionPreset, FIFOS_MAX};
pub use memory::{memory_estimate, table_estimate, MemoryDemand};
pub use packet::PathHop;
pub use record::{
    Backlog, ChannelInterval, ChannelRecord, FifoRecord, Histogram, IntervalRecord, JobPortInterval, JobRecord,
    JobWait, LatencyIntervals, LearningInterval, PacketRecord, PortInterval, PortRecord, QueueRecord, Recording, Rows,
    SeriesChoice, TracedPacket, BATCHES,
};
pub use result::{NodeView, PacketResult, PortRecords, PortView, Steadiness};
pub use run::{CheckpointSink, Cost, Ending, Observer, Progress, Watch};
pub use run_options::RunOptions;
pub use schedule::Schedule;
pub use settings::{Arbitration, PacketPreset, PacketSettings, QueueEstimate};
pub use settings_error::SettingsError;
pub use source::{
    ClosedJob, ClosedTraffic, Destinations, Injection, JobTraffic, LoadStep, NodeMessage, OpenJob, Traffic,
};
pub use traffic_class::{ClassPreset, ClassSettings, JobClass, TrafficClass, TrafficClasses, CLASSES_MAX};

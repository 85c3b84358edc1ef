//! A partition: a range of routers with their nodes. It advances independently up to a given time.
//!
//! ```text
//!            deliver(mail)     ──► ┌───────────┐ ──► outbox : packets, credits, feedback, by partition
//!            advance(until)    ──► │ partition │
//!                                  └───────────┘
//! ```
//! A partition knows no other partition. Everything that leaves it carries its arrival time, at least one
//! cable latency ahead. Therefore all partitions may advance by the least such latency before they exchange
//! mail. No result depends on the division of routers: events are ordered by (time, kind, component), and
//! every router has its own random stream. Events of different routers at one time do not affect each
//! other.
//!
//! One instant of a router has two phases. First, all events of that time: arrivals join their input queues
//! and mark their output ports. Then every marked output settles, in port order: crossbar, link, and the
//! crossbar again if the departure freed space. So arrivals of one instant compete on equal terms. An
//! arrival that is the only event of its router settles at once. If no other packet waits for its output,
//! it passes without entering a queue.
//!
//! Credits and feedback have no events. A port keeps a list of (arrival time, amount) and applies the
//! arrived entries when it needs them. Only a port that waits for a credit gets an event at the credit's
//! arrival.
//!
//! | file | content |
//! |---|---|
//! | `state` | all parts of a partition, and the order of its events |
//! | `input`, `crossbar`, `link`, `node` | what happens to a packet, from its arrival to its departure or delivery |
//! | `end` | what a partition reports |
//! | the others | one part each, with the functions that change only this part |

mod agenda;
mod class_state;
mod classes;
mod congestion;
mod control;
mod control_packets;
mod crossbar;
mod end;
mod flow_state;
mod flows;
mod input;
mod inputs;
mod link;
mod listeners;
mod nics;
mod node;
mod outputs;
mod port_set;
mod routers;
mod section;
mod snapshot;
mod space;
mod state;
mod turns;

pub(crate) use end::BlockedHead;
pub(crate) use nics::EndpointSet;
pub(crate) use section::Section;
pub(crate) use state::Partition;

//! Changes to a machine's cabling: what-if studies and faults.
//!
//! An [`Edit`] is written as a short text and applied to a [`MachineBuilder`](crate::MachineBuilder):
//!
//! | text | meaning |
//! |---|---|
//! | `-K`, `-2K`, `+B-K`, `+3B-K` | one black cable less per router pair, two less, one blue more and one black less, … |
//! | `+2 local`, `+1 global -1 local` | the same for any class by its name |
//! | `-1 global per group pair`, `+2 blue per group pair` | fewer or more cables between every two groups, whichever routers they join |
//! | `-50% global`, `+25% global` | a share of the cables of a class, removed or added next to others, evenly distributed |
//! | `fail g0r1c2` | the router fails, with its cables and nodes |
//! | `fail nid00012`, `fail node 17` | a node can't be used; by its own name, or by id |
//! | `fail g0r0c0>g0r0c1:green.0` | the cable of this link fails, in both directions |
//! | `fail router 17`, `fail link 1234` | by id |
//! | `fail 5% blue`, `fail 2% routers` | a random fraction of the cables of a class, or of the routers |
//! | `blue.bandwidth=9.4 GB/s`, `blue.bandwidth*=0.5` | figures of a class, `terminal` included |
//! | `blue.latency=300 ns`, `blue.latency*=2` | |
//! | `blue.ports=20` | the port budget of a class |
//!
//! `K`, `B` and `G` are black, blue and green. A *router pair* has cables of the class in the machine as edited so
//! far. Adding cables never joins routers that were not joined.

mod apply;
mod parse;
mod spread;

pub use apply::apply;

use crate::MachineError;
use odonata_units::{Rate, Time};
use std::fmt::{self, Display};

/// A wrong edit.
fn wrong<T>(edit: impl Display, reason: impl Display) -> Result<T, MachineError> {
    crate::error::wrong("edit", format!("'{edit}': {reason}"))
}

/// One change.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    /// More or fewer cables per router pair, of one or more classes.
    Cables(Vec<CableChange>),
    /// More or fewer cables of a class, distributed evenly over pairs of groups.
    Spread {
        /// Link class.
        class: String,
        /// Number of cables.
        amount: Amount,
    },
    /// A router fails; by name or id.
    FailRouter(String),
    /// A node can't be used; by name or id.
    FailNode(String),
    /// The cable of a link fails, in both directions; by name or id of the link in the machine without edits.
    FailLink(String),
    /// A random fraction of the cables of a class fails.
    FailCables {
        /// Link class.
        class: String,
        /// Fraction from 0 to 1; the number of cables is rounded to the nearest whole one.
        fraction: f64,
    },
    /// A random fraction of the routers fails.
    FailRouters {
        /// Fraction from 0 to 1; the number of routers is rounded to the nearest whole one.
        fraction: f64,
    },
    /// A figure of a class changes, for the class and for each of its cables.
    Figure {
        /// Link class; `terminal` for the links of the nodes.
        class: String,
        /// Change of the figure.
        change: FigureChange,
    },
}

/// More or fewer cables of one class per router pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CableChange {
    /// Link class.
    pub class: String,
    /// Cables added to (or, if negative, removed from) every joined router pair.
    pub per_pair: i32,
}

/// Number of cables that are added or, if negative, removed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Amount {
    /// This number between every two joined groups (and in each group, if the class has cables there).
    PerGroupPair(i32),
    /// A share of all cables, from -1 to 1, rounded to a whole number.
    Share(f64),
}

/// A change of a class's figures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FigureChange {
    /// A new bandwidth.
    Bandwidth(Rate),
    /// Bandwidth times a factor above 0.
    BandwidthFactor(f64),
    /// A new latency.
    Latency(Time),
    /// Latency times a factor from 0 up.
    LatencyFactor(f64),
    /// A new port budget for each router.
    Ports(u32),
}

impl Display for Edit {
    /// Writes a text that parses to this edit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cables(changes) => {
                for (i, CableChange { class, per_pair }) in changes.iter().enumerate() {
                    write!(f, "{}{per_pair:+} {class}", if i > 0 { " " } else { "" })?;
                }
                Ok(())
            }
            Self::Spread { class, amount: Amount::PerGroupPair(count) } => {
                write!(f, "{count:+} {class} per group pair")
            }
            Self::Spread { class, amount: Amount::Share(share) } => write!(f, "{:+}% {class}", share * 100.0),
            Self::FailRouter(name) => write!(f, "fail router {name}"),
            Self::FailNode(name) => write!(f, "fail node {name}"),
            Self::FailLink(name) => write!(f, "fail link {name}"),
            Self::FailCables { class, fraction } => write!(f, "fail {} {class}", fraction),
            Self::FailRouters { fraction } => write!(f, "fail {} routers", fraction),
            Self::Figure { class, change } => match change {
                FigureChange::Bandwidth(rate) => write!(f, "{class}.bandwidth={} b/s", rate.bits_per_s()),
                FigureChange::BandwidthFactor(factor) => write!(f, "{class}.bandwidth*={factor}"),
                FigureChange::Latency(time) => write!(f, "{class}.latency={} ps", time.ps()),
                FigureChange::LatencyFactor(factor) => write!(f, "{class}.latency*={factor}"),
                FigureChange::Ports(ports) => write!(f, "{class}.ports={ports}"),
            },
        }
    }
}

//! How messages choose among whole paths ([`crate::paths`]), for engines with a steady state.

use super::OnePath;
use crate::paths::Oblivious;
use odonata_declare::{parameters, Kind};

/// How messages choose among paths.
#[derive(Clone, PartialEq, Debug)]
pub enum PathChoice {
    /// A fixed share of every path of a kind, independent of load.
    Fixed(Oblivious),
    /// AD: by the remaining capacity of direct paths, in iterations.
    AdaptiveDirect,
    /// AI: by the remaining capacity of indirect paths, in iterations.
    AdaptiveIndirect,
    /// AH: by the remaining capacity of both, without preference.
    AdaptiveHybrid,
    /// Direct paths unless they are congested.
    Ugal(UgalPaths),
    /// Any paths, so that the busiest link has the least load.
    Optimal,
    /// One path per pair of nodes.
    OnePath(OnePath),
}

impl PathChoice {
    /// How messages are spread, in a few words.
    pub const fn mechanism(&self) -> &'static str {
        match self {
            Self::Fixed(Oblivious::Minimal) => "equal split over the minimal paths",
            Self::Fixed(Oblivious::Direct) => "equal split over the direct paths",
            Self::Fixed(Oblivious::Indirect) => "equal split over the indirect paths",
            Self::AdaptiveDirect => "split over the direct paths by their free bandwidth",
            Self::AdaptiveIndirect => "split over the indirect paths by their free bandwidth",
            Self::AdaptiveHybrid => "split over direct and indirect paths by their free bandwidth, without preference",
            Self::Ugal(_) => "direct paths, and indirect ones where these are congested",
            Self::OnePath(_) => "one path for each pair of nodes",
            Self::Optimal => "any paths, so that the busiest link has the least load",
        }
    }
}

parameters! {
    /// When [`PathChoice::Ugal`] leaves the direct paths.
    ///
    /// The load of a link is the traffic that messages would send if only the NICs limited them, divided by the link's
    /// capacity. A queue grows only above load 1, so the queue is the load above 1. With q the longest queue of a path
    /// and H its hops, a message takes its indirect paths in one iteration iff `H_direct q_direct > hop_threshold
    /// H_indirect q_indirect + bias_load_hops`.
    ///
    /// The packet algorithms compare bytes without hops, and have other parameters
    /// ([`AdaptiveSettings`](super::AdaptiveSettings)).
    #[derive(Copy, PartialEq)]
    pub struct UgalPaths {
        // 1 compares queues times hops without preference.
        /// Factor on the indirect side: a message takes an indirect path if H(direct) * q(direct) > hop_threshold *
        /// H(indirect) * q(indirect) + bias_load_hops, with H hops and q the load above 1 of the busiest link.
        pub hop_threshold: f64 = 1.0, Kind::Number { min: 0.0, max: f64::INFINITY };
        /// Bias against indirect paths, in load above 1 times hops; see `hop_threshold`.
        pub bias_load_hops: f64 = 0.0, Kind::Number { min: f64::NEG_INFINITY, max: f64::INFINITY };
    }
}

impl UgalPaths {
    /// Checks that both are valid numbers.
    ///
    /// # Errors
    /// The name of the parameter and its valid values.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !(self.hop_threshold.is_finite() && self.hop_threshold >= 0.0) {
            return Err(("hop_threshold", "must be a finite number from 0 up".into()));
        }
        if !self.bias_load_hops.is_finite() {
            return Err(("bias_load_hops", "must be a finite number".into()));
        }
        Ok(())
    }
}

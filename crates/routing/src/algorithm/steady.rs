//! Algorithms of a steady state: messages are split over whole paths ([`crate::paths`]).
//!
//! Direct and indirect paths are defined by the machine's [`PathRule`](crate::paths::PathRule). Names in capitals are
//! from the Damselfly papers.

use super::{Algorithm, NoParameters};
use crate::paths::Oblivious;
use odonata_declare::{parameter, Kind, Parameter, ParameterStruct, Parameters};

/// How messages choose among paths.
#[derive(Clone, Copy, PartialEq, Debug)]
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
}

/// When [`PathChoice::Ugal`] leaves the direct paths.
///
/// The load of a link is the traffic that messages would send if only the NICs limited them, divided by the link's
/// capacity. A queue grows only above load 1, so the queue is the load above 1. With q the longest queue of a path
/// and H its hops, a message takes its indirect paths in one iteration iff `H_direct q_direct > hop_threshold
/// H_indirect q_indirect + bias_load_hops`.
///
/// The packet algorithms compare bytes without hops, and have other parameters
/// ([`AdaptiveSettings`](super::AdaptiveSettings)).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UgalPaths {
    /// Factor on the indirect side. 1 compares queues times hops without preference.
    pub hop_threshold: f64,
    /// Added to the indirect side, in queue (load above 1) times hops.
    pub bias_load_hops: f64,
}

impl Default for UgalPaths {
    fn default() -> Self {
        Self { hop_threshold: 1.0, bias_load_hops: 0.0 }
    }
}

impl Parameters for UgalPaths {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            hop_threshold,
            Kind::Number { min: 0.0, max: f64::INFINITY },
            "Factor on the indirect side: a message takes an indirect path if H(direct) * q(direct) > hop_threshold * \
             H(indirect) * q(indirect) + bias_load_hops, with H hops and q the load above 1 of the busiest link.",
        ),
        parameter!(
            bias_load_hops,
            Kind::Number { min: f64::NEG_INFINITY, max: f64::INFINITY },
            "Bias against indirect paths, in load above 1 times hops; see `hop_threshold`."
        ),
    ];
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

/// An algorithm without parameters.
const fn plain(name: &'static str, doc: &'static str, paths: fn(&dyn ParameterStruct) -> PathChoice) -> Algorithm {
    Algorithm { name, doc, parameters: || Box::new(NoParameters), paths: Some(paths), hops: None, uses_tables: false }
}

pub(super) const STATIC_DIRECT: Algorithm =
    plain("static-direct", "equal split over the direct paths (SD)", |_| PathChoice::Fixed(Oblivious::Direct));

pub(super) const STATIC_INDIRECT: Algorithm =
    plain("static-indirect", "equal split over the indirect paths (SI)", |_| PathChoice::Fixed(Oblivious::Indirect));

pub(super) const ADAPTIVE_DIRECT: Algorithm =
    plain("adaptive-direct", "iterative sharing over direct paths (AD)", |_| PathChoice::AdaptiveDirect);

pub(super) const ADAPTIVE_INDIRECT: Algorithm =
    plain("adaptive-indirect", "iterative sharing over indirect paths (AI)", |_| PathChoice::AdaptiveIndirect);

pub(super) const ADAPTIVE_HYBRID: Algorithm =
    plain("adaptive-hybrid", "iterative sharing over direct and indirect paths, without preference (AH)", |_| {
        PathChoice::AdaptiveHybrid
    });

pub(super) const OPTIMAL: Algorithm = plain(
    "optimal",
    "any paths, split so that the busiest link finishes as early as possible, up to `bound_gap`",
    |_| PathChoice::Optimal,
);

pub(super) const UGAL: Algorithm = Algorithm {
    name: "ugal",
    doc: "direct paths unless they are congested",
    parameters: || Box::new(UgalPaths::default()),
    paths: Some(|parameters| {
        PathChoice::Ugal(parameters.as_any().downcast_ref().copied().expect("the parameters of this algorithm"))
    }),
    hops: None,
    uses_tables: false,
};

//! Algorithms of a steady state: messages are split over whole paths ([`crate::paths`]).
//!
//! Direct and indirect paths are defined by the machine's [`PathRule`](crate::paths::PathRule). Names in capitals are
//! from the Damselfly papers.

use super::{Algorithm, AnyEngines, Engines, Machines, Needs, NoParameters, PathChoice, UgalPaths};
use crate::paths::Oblivious;

const fn steady(name: &'static str, doc: &'static str, engines: &'static dyn AnyEngines) -> Algorithm {
    Algorithm { name, doc, machines: Machines::Any, needs: Needs::NONE, engines }
}

pub(super) const STATIC_DIRECT: Algorithm = steady(
    "static-direct",
    "equal split over the direct paths (SD)",
    &Engines::paths(|_: &NoParameters| PathChoice::Fixed(Oblivious::Direct)),
);

pub(super) const STATIC_INDIRECT: Algorithm = steady(
    "static-indirect",
    "equal split over the indirect paths (SI)",
    &Engines::paths(|_: &NoParameters| PathChoice::Fixed(Oblivious::Indirect)),
);

pub(super) const ADAPTIVE_DIRECT: Algorithm = steady(
    "adaptive-direct",
    "iterative sharing over direct paths (AD)",
    &Engines::paths(|_: &NoParameters| PathChoice::AdaptiveDirect),
);

pub(super) const ADAPTIVE_INDIRECT: Algorithm = steady(
    "adaptive-indirect",
    "iterative sharing over indirect paths (AI)",
    &Engines::paths(|_: &NoParameters| PathChoice::AdaptiveIndirect),
);

pub(super) const ADAPTIVE_HYBRID: Algorithm = steady(
    "adaptive-hybrid",
    "iterative sharing over direct and indirect paths, without preference (AH)",
    &Engines::paths(|_: &NoParameters| PathChoice::AdaptiveHybrid),
);

pub(super) const OPTIMAL: Algorithm = steady(
    "optimal",
    "any paths, split so that the busiest link finishes as early as possible, up to `bound_gap`",
    &Engines::paths(|_: &NoParameters| PathChoice::Optimal),
);

pub(super) const UGAL: Algorithm = steady(
    "ugal",
    "direct paths unless they are congested",
    &Engines::paths(|paths: &UgalPaths| PathChoice::Ugal(*paths)),
);

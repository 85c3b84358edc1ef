//! Balanced tables of shortest paths, as the engine `minhop` of OpenSM computes them.

use super::{one_path, Algorithm, Engines, Machines, Needs, NoParameters, OnePath, PathChoice};
use crate::paths::PathSet;

pub(super) const MIN_HOP: Algorithm = Algorithm {
    name: "min-hop",
    doc: "one forwarding table per router: shortest paths, balanced by counting destinations (OpenSM's minhop)",
    machines: Machines::Any,
    needs: Needs::ONE_PATH,
    engines: &Engines {
        paths: Some((PathSet::All, |_: &NoParameters| PathChoice::OnePath(OnePath::MinHop))),
        hops: Some(|hops, _| one_path::build(hops, &OnePath::MinHop)),
    },
};

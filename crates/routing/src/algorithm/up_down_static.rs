//! Balanced tables of paths that go up, then down, as the engine `updn` of OpenSM computes them.

use super::{one_path, Algorithm, Engines, Machines, Needs, NoParameters, OnePath, PathChoice};
use crate::paths::PathSet;

pub(super) const UP_DOWN_STATIC: Algorithm = Algorithm {
    name: "up-down-static",
    doc: "one forwarding table per router: paths that go up, then down, balanced by counting destinations (OpenSM's updn)",
    machines: Machines::Any,
    needs: Needs::ONE_PATH,
    engines: &Engines {
        paths: Some((PathSet::All, |_: &NoParameters| PathChoice::OnePath(OnePath::UpDown))),
        hops: Some(|hops, _| one_path::build(hops, &OnePath::UpDown)),
    },
};

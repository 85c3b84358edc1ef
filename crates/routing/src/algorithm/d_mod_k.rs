//! D-mod-k on trees: the destination's number chooses the links up, as the engine `ftree` of OpenSM does.

use super::{one_path, Algorithm, Engines, Machines, Needs, NoParameters, OnePath, PathChoice};
use crate::paths::PathSet;

pub(super) const D_MOD_K: Algorithm = Algorithm {
    name: "d-mod-k",
    doc: "one forwarding table per router of a tree: links up by the destination's number modulo their count (OpenSM's ftree)",
    machines: Machines::Trees,
    needs: Needs::ONE_PATH,
    engines: &Engines {
        paths: Some((PathSet::All, |_: &NoParameters| PathChoice::OnePath(OnePath::DModK))),
        hops: Some(|hops, _| one_path::build(hops, &OnePath::DModK)),
    },
};

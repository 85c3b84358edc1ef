//! ECMP: every flow takes one of the shortest paths, by a hash at every switch (RFC 2992; RoCE and other Ethernet).

use super::{one_path, Algorithm, EcmpSettings, Engines, Machines, Needs, OnePath, PathChoice};
use crate::paths::PathSet;

pub(super) const ECMP: Algorithm = Algorithm {
    name: "ecmp",
    doc: "one shortest path per flow: a hash of source and destination node at every router",
    machines: Machines::Any,
    needs: Needs::ONE_PATH,
    engines: &Engines {
        paths: Some((PathSet::All, |settings: &EcmpSettings| PathChoice::OnePath(OnePath::Ecmp(*settings)))),
        hops: Some(|hops, settings| one_path::build(hops, &OnePath::Ecmp(*settings))),
    },
};

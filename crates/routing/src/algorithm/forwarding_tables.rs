//! Forwarding tables from a file, as a subnet manager computed them.

use super::{one_path, Algorithm, Engines, Machines, Needs, OnePath, PathChoice, TableSettings};
use crate::paths::PathSet;

pub(super) const FORWARDING_TABLES: Algorithm = Algorithm {
    name: "forwarding-tables",
    doc: "one forwarding table per router, from a file",
    machines: Machines::Listed,
    needs: Needs { names: true, ..Needs::ONE_PATH },
    engines: &Engines {
        paths: Some((PathSet::All, |settings: &TableSettings| PathChoice::OnePath(OnePath::Tables(settings.clone())))),
        hops: Some(|hops, settings| one_path::build(hops, &OnePath::Tables(settings.clone()))),
    },
};

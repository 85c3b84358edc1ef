//! Cables, and the links of a machine as arrays.

use odonata_units::{LinkClassId, LinkId, Rate, RouterId, Time};
use std::ops::Range;

/// A cable: two links, one in each direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cable {
    /// One end.
    pub a: RouterId,
    /// The other end; never `a`.
    pub b: RouterId,
    /// Link class.
    pub class: LinkClassId,
    /// Bandwidth in each direction.
    pub bandwidth: Rate,
    /// Latency.
    pub latency: Time,
}

/// Parallel links of one class from one router to another; their ids are consecutive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bundle {
    /// Source router.
    pub source: RouterId,
    /// Destination router.
    pub target: RouterId,
    /// Link class.
    pub class: LinkClassId,
    /// First link.
    pub first: LinkId,
    /// Number of parallel links.
    pub count: u32,
}

/// The links of a machine, sorted by source, class, target and cable.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Links {
    /// Links of router r are `first[r]..first[r + 1]`.
    pub(crate) first: Vec<u32>,
    pub(crate) source: Vec<RouterId>,
    pub(crate) target: Vec<RouterId>,
    pub(crate) class: Vec<LinkClassId>,
    pub(crate) parallel: Vec<u16>,
    pub(crate) reverse: Vec<LinkId>,
    pub(crate) bandwidth: Vec<Rate>,
    pub(crate) latency: Vec<Time>,
    /// The same of bundles.
    pub(crate) first_bundle: Vec<u32>,
    pub(crate) bundles: Vec<Bundle>,
}

impl Links {
    /// Links of cables in link order.
    pub(crate) fn from_cables(sorted: &[Cable], routers: usize) -> Self {
        // The cables are in link order, so parallel index k of both directions is the same cable, whatever the order
        // of the input. A direction of a cable is (source, class, target, cable). The cable index keeps parallel
        // links in order.
        let mut ends: Vec<(RouterId, LinkClassId, RouterId, u32)> = Vec::with_capacity(2 * sorted.len());
        for (i, c) in sorted.iter().enumerate() {
            ends.push((c.a, c.class, c.b, i as u32));
            ends.push((c.b, c.class, c.a, i as u32));
        }
        ends.sort_unstable();
        let n = ends.len();
        let mut links = Self {
            first: vec![0; routers + 1],
            source: ends.iter().map(|e| e.0).collect(),
            target: ends.iter().map(|e| e.2).collect(),
            class: ends.iter().map(|e| e.1).collect(),
            parallel: vec![0; n],
            reverse: vec![LinkId(0); n],
            bandwidth: ends.iter().map(|e| sorted[e.3 as usize].bandwidth).collect(),
            latency: ends.iter().map(|e| sorted[e.3 as usize].latency).collect(),
            first_bundle: vec![0; routers + 1],
            bundles: Vec::new(),
        };
        let mut other_end = vec![LinkId(u32::MAX); sorted.len()];
        for (l, &(source, class, target, cable)) in ends.iter().enumerate() {
            let link = LinkId::from_index(l);
            links.first[source.index() + 1] += 1;
            let seen = std::mem::replace(&mut other_end[cable as usize], link);
            if seen.0 != u32::MAX {
                links.reverse[l] = seen;
                links.reverse[seen.index()] = link;
            }
            match links.bundles.last_mut() {
                Some(b) if (b.source, b.class, b.target) == (source, class, target) => {
                    links.parallel[l] = u16::try_from(b.count).expect("fewer than 65,536 parallel links");
                    b.count += 1;
                }
                _ => {
                    links.bundles.push(Bundle { source, target, class, first: link, count: 1 });
                    links.first_bundle[source.index() + 1] += 1;
                }
            }
        }
        for r in 0..routers {
            links.first[r + 1] += links.first[r];
            links.first_bundle[r + 1] += links.first_bundle[r];
        }
        links.bundles.shrink_to_fit();
        links
    }

    /// The links of a range of routers without cables to others, numbered from 0.
    pub(crate) fn of_routers(&self, routers: Range<usize>) -> Self {
        let (first_link, end_link) = (self.first[routers.start], self.first[routers.end]);
        let (first_bundle, end_bundle) = (self.first_bundle[routers.start], self.first_bundle[routers.end]);
        let links = first_link as usize..end_link as usize;
        let own = |router: &RouterId| RouterId(router.0 - routers.start as u32);
        let link = |link: LinkId| LinkId(link.0 - first_link);
        let bundle = |bundle: &Bundle| Bundle {
            source: own(&bundle.source),
            target: own(&bundle.target),
            first: link(bundle.first),
            ..*bundle
        };
        Self {
            first: from_0(&self.first[routers.start..=routers.end]),
            source: self.source[links.clone()].iter().map(own).collect(),
            target: self.target[links.clone()].iter().map(own).collect(),
            class: self.class[links.clone()].to_vec(),
            parallel: self.parallel[links.clone()].to_vec(),
            reverse: self.reverse[links.clone()].iter().map(|&back| link(back)).collect(),
            bandwidth: self.bandwidth[links.clone()].to_vec(),
            latency: self.latency[links].to_vec(),
            first_bundle: from_0(&self.first_bundle[routers.start..=routers.end]),
            bundles: self.bundles[first_bundle as usize..end_bundle as usize].iter().map(bundle).collect(),
        }
    }
}

/// Positions counted from the first one.
pub(crate) fn from_0(positions: &[u32]) -> Vec<u32> {
    positions.iter().map(|&position| position - positions[0]).collect()
}

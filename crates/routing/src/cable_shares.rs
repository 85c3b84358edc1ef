//! Shares of parallel cables of unequal bandwidth.
//!
//! Algorithms and path rules draw parallel cables evenly. Among unequal ones, the slowest would set the pace: of 100
//! and 25 Gb/s, half of the packets would need the slow cable. A second draw makes the shares proportional to the
//! bandwidths (alias method: Walker 1977, Vose 1991). A link that was drawn evenly is kept with a probability of its
//! own, otherwise its alias takes its place. Machines without such cables have no shares and no second draw.

use odonata_machine::{Machine, Shape};
use odonata_units::{LinkId, RouterId};

/// The second draw of every link, and the share of each unequal one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CableShares {
    /// Probability that a link is kept; 1 for links with equal or no parallel ones.
    keep: Vec<f64>,
    alias: Vec<LinkId>,
    /// The unequal links from one router to another, with their shares of the sum of bandwidths.
    unequal: Vec<Vec<(LinkId, f64)>>,
}

/// The links from one router to another, of any class, if their bandwidths differ.
fn unequal_links(machine: &Machine) -> Vec<Vec<LinkId>> {
    // In a ring of two, the cables between two routers are different steps.
    if matches!(machine.shape(), Shape::Torus { dims, .. } if dims.contains(&2)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for router in machine.routers() {
        let mut links: Vec<LinkId> = machine.links_from(router).map(LinkId::from_index).collect();
        links.sort_by_key(|&link| (machine.target(link), link));
        let parallel = links.chunk_by(|&a, &b| machine.target(a) == machine.target(b));
        let differ = |links: &&[LinkId]| links.iter().any(|&l| machine.bandwidth(l) != machine.bandwidth(links[0]));
        found.extend(parallel.filter(differ).map(<[LinkId]>::to_vec));
    }
    found
}

/// Two routers with parallel cables of unequal bandwidth, if there are any.
pub fn unequal_pair(machine: &Machine) -> Option<(RouterId, RouterId)> {
    let links = unequal_links(machine).into_iter().next()?;
    Some((machine.source(links[0]), machine.target(links[0])))
}

impl CableShares {
    /// The shares on a machine; `None` if all parallel cables are equal.
    pub(crate) fn of(machine: &Machine) -> Option<Self> {
        let groups = unequal_links(machine);
        if groups.is_empty() {
            return None;
        }
        let mut shares = Self {
            keep: vec![1.0; machine.link_count()],
            alias: machine.links().collect(),
            unequal: Vec::with_capacity(groups.len()),
        };
        for links in groups {
            let bandwidth = |link: &LinkId| machine.bandwidth(*link).bits_per_s() as f64;
            let sum: f64 = links.iter().map(bandwidth).sum();
            let of_group: Vec<(LinkId, f64)> = links.iter().map(|link| (*link, bandwidth(link) / sum)).collect();
            shares.fill_aliases(&of_group);
            shares.unequal.push(of_group);
        }
        Some(shares)
    }

    /// Pairs each link with less than an even share with one that still has more.
    fn fill_aliases(&mut self, group: &[(LinkId, f64)]) {
        let even = |(link, share): &(LinkId, f64)| (*link, share * group.len() as f64);
        let (mut less, mut more): (Vec<_>, Vec<_>) = group.iter().map(even).partition(|(_, share)| *share < 1.0);
        while let (Some(&(link, share)), Some(&(rich, of_rich))) = (less.last(), more.last()) {
            less.pop();
            more.pop();
            (self.keep[link.index()], self.alias[link.index()]) = (share, rich);
            let left = of_rich - (1.0 - share);
            if left < 1.0 { &mut less } else { &mut more }.push((rich, left));
        }
    }

    /// The link for one that was drawn evenly; `unit` draws a number from 0 to below 1.
    #[inline]
    pub(crate) fn redraw(&self, link: LinkId, unit: impl FnOnce() -> f64) -> LinkId {
        let keep = self.keep[link.index()];
        if keep == 1.0 || unit() < keep {
            link
        } else {
            self.alias[link.index()]
        }
    }

    /// Divides the loads of parallel links by their shares.
    pub(crate) fn divide(&self, loads: &mut [f64]) {
        for group in &self.unequal {
            let sum: f64 = group.iter().map(|(link, _)| loads[link.index()]).sum();
            group.iter().for_each(|(link, share)| loads[link.index()] = sum * share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_machine::topology::FatTree;
    use odonata_machine::MachineBuilder;
    use odonata_units::Rate;

    /// Two switches with cables of these bandwidths, in Gb/s.
    fn machine(rates: &[u64]) -> Machine {
        let tree = FatTree { k: 4, ..FatTree::default() }.builder().unwrap();
        let cable = tree.cables[0];
        let cables = rates
            .iter()
            .map(|&rate| odonata_machine::Cable { bandwidth: Rate::from_bits_per_s(rate * 1_000_000_000), ..cable });
        MachineBuilder { cables: cables.collect(), ports: None, ..tree }.build().unwrap()
    }

    /// Over all even draws, weighted by their probabilities, each link comes out with its share of the bandwidth.
    #[test]
    fn redrawn_links_have_the_shares_of_their_bandwidths() {
        for rates in
            [&[100, 25][..], &[25, 100], &[1, 2, 3, 4], &[7, 7, 1], &[100, 1, 1, 1, 1], &[400, 100, 100, 25, 10]]
        {
            let machine = machine(rates);
            let shares = CableShares::of(&machine).expect("unequal cables");
            let sum: u64 = rates.iter().sum();
            let links: Vec<LinkId> = machine.links().filter(|&link| link < machine.reverse(link)).collect();
            for link in &links {
                let from = |drawn: &LinkId| {
                    let keep = shares.keep[drawn.index()];
                    let kept = if drawn == link { keep } else { 0.0 };
                    kept + if shares.alias[drawn.index()] == *link { 1.0 - keep } else { 0.0 }
                };
                let found = links.iter().map(from).sum::<f64>() / links.len() as f64;
                let expected = machine.bandwidth(*link).bits_per_s() as f64 / (sum as f64 * 1e9);
                assert!((found - expected).abs() < 1e-12, "{rates:?}, {link:?}: {found} instead of {expected}");
            }
        }
        assert_eq!(CableShares::of(&machine(&[25, 25, 25])), None);
    }
}

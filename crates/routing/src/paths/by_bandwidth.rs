//! Path rules that draw parallel cables evenly, on machines where some of them are unequal ([`crate::cable_shares`]).

use super::{Demand, Draws, Oblivious, PathRule};
use crate::cable_shares::CableShares;
use odonata_machine::Machine;
use odonata_units::{LinkId, RouterId};

/// A rule whose links are drawn a second time.
struct ByBandwidth<'m> {
    even: Box<dyn PathRule + 'm>,
    shares: CableShares,
}

/// The rule of a machine with parallel cables drawn by bandwidth; the same one if all of them are equal.
pub fn by_bandwidth<'m>(machine: &Machine, even: Box<dyn PathRule + 'm>) -> Box<dyn PathRule + 'm> {
    match CableShares::of(machine) {
        Some(shares) => Box::new(ByBandwidth { even, shares }),
        None => even,
    }
}

/// Steps of a drawn fraction: shares are exact to 2^-16.
const STEPS: usize = 1 << 16;

impl ByBandwidth<'_> {
    fn redraw(&self, drawn: usize, draws: &mut Draws, path: &mut [LinkId]) {
        for link in &mut path[drawn..] {
            *link = self.shares.redraw(*link, || draws.any(STEPS) as f64 / STEPS as f64);
        }
    }
}

impl PathRule for ByBandwidth<'_> {
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let drawn = path.len();
        self.even.minimal(source, target, draws, path);
        self.redraw(drawn, draws, path);
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let drawn = path.len();
        self.even.direct(source, target, draws, path);
        self.redraw(drawn, draws, path);
    }

    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let drawn = path.len();
        self.even.indirect(source, target, draws, path);
        self.redraw(drawn, draws, path);
    }

    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]) {
        let mut even = vec![0.0; loads.len()];
        self.even.spread(demands, rule, &mut even);
        self.shares.divide(&mut even);
        loads.iter_mut().zip(even).for_each(|(load, more)| *load += more);
    }

    fn distance(&self, source: RouterId, target: RouterId) -> u32 {
        self.even.distance(source, target)
    }
}

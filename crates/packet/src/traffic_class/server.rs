//! Which class a link serves next: the highest priority first, deficit round robin among classes of one priority.
//! A class with a maximum share starts a packet only if its token bucket has credit.
//!
//! Deficit round robin (Shreedhar and Varghese, 1995), with quantum `Q >= L` of the largest packet, so each turn sends
//! something. A turn begins with `D = min(D, L - 1) + Q` and lasts while `D` covers the next packet. A class that
//! empties, or could not send what its deficit covers, keeps less than a packet of it and cannot hoard. Bytes `S` of
//! two classes that stay backlogged satisfy `|S_i / Q_i - S_j / Q_j| <= 1 + L / Q_i + L / Q_j`.
//!
//! The token bucket of rate `r` and depth `s` is a time: `empty_until = max(empty_until, now) + time / share` after
//! each packet. A packet may start from `empty_until - s / r` on. So the bytes started in any time `t` are at most
//! `s + r t + L`, and the next possible start is known without an event.
//!
//! A choice changes no state: a busy link asks ahead of time, and may ask again. Only a departure is charged.

use super::settings::TrafficClasses;
use odonata_checkpoint::state;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Bits behind the point of `Rule::inverse_share`. 16 bits make an error of at most 2^-16 in a rate.
const FRACTION_BITS: u32 = 16;

/// Settings of a class at all links.
#[derive(Clone, Copy, Debug)]
struct Rule {
    priority: u32,
    quantum: u32,
    /// 1 / maximum share, a fixed-point number rounded up so that the share is never exceeded; 0 without a maximum.
    inverse_share: u64,
    /// Depth of the bucket in bytes.
    burst: u64,
}

/// State of a class at one link.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
struct ClassState {
    deficit: u32,
    /// Channel after the last one of the class that the link served.
    next_vc: u8,
    empty_until: u64,
}

/// Size and link time of a full packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkTimes {
    pub(crate) full: u32,
    pub(crate) full_time: u64,
}

/// The classes at some links, numbered from 0.
pub(crate) struct ClassServer {
    rules: Arc<[Rule]>,
    /// Class c of link l at `l * classes + c`.
    states: Vec<ClassState>,
    /// Class that had the last turn among those with the priority of class c, at the same place.
    turns: Vec<u8>,
    /// First class with the priority of each class: the place of their turn.
    levels: Vec<u8>,
    crossbar_ranks: Vec<u64>,
}

state!(ClassServer { same_length: states, turns; rebuilt: rules, levels, crossbar_ranks });

impl ClassServer {
    /// Creates `links` idle links for packets of at most `full` bytes.
    pub(crate) fn new(classes: &TrafficClasses, links: usize, full: u32) -> Self {
        let (weights, list) = (classes.weights(), &classes.list);
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let rule = |(class, weight): (&super::TrafficClass, &f64)| {
            let settings = &class.settings;
            let share = settings.maximum_share;
            Rule {
                priority: settings.priority,
                // The smallest weight gets one full packet per turn.
                quantum: (f64::from(full) * weight / least).round() as u32,
                inverse_share: if share < 1.0 { (f64::from(1u32 << FRACTION_BITS) / share).ceil() as u64 } else { 0 },
                burst: settings.burst.0,
            }
        };
        let first = |class: &super::TrafficClass| {
            let same = list.iter().position(|other| other.settings.priority == class.settings.priority);
            same.expect("it is in the list") as u8
        };
        // Number of different higher priorities, at most 7.
        let higher = |class: &super::TrafficClass| {
            let priorities: BTreeSet<u32> = list.iter().map(|other| other.settings.priority).collect();
            priorities.into_iter().filter(|other| *other > class.settings.priority).count() as u64
        };
        Self {
            rules: list.iter().zip(&weights).map(rule).collect(),
            states: vec![ClassState::default(); links * list.len()],
            turns: vec![0; links * list.len()],
            levels: list.iter().map(first).collect(),
            crossbar_ranks: list.iter().map(|class| higher(class) << 60).collect(),
        }
    }

    #[inline]
    fn state(&self, link: usize, class: usize) -> &ClassState {
        &self.states[link * self.rules.len() + class]
    }

    fn state_mut(&mut self, link: usize, class: usize) -> &mut ClassState {
        &mut self.states[link * self.rules.len() + class]
    }

    /// Upper bits of the rank of a packet at a crossbar: higher priorities have lower ranks. The bits below have room
    /// for a time of 13 days in ps.
    #[inline]
    pub(crate) fn crossbar_rank(&self, class: usize) -> u64 {
        self.crossbar_ranks[class]
    }

    /// Takes the deficit of a class that has no packet for a link.
    pub(crate) fn forfeit(&mut self, link: usize, class: usize) {
        self.state_mut(link, class).deficit = 0;
    }

    /// Channel from which the channels of a class at a link take turns.
    pub(crate) fn next_vc(&self, link: usize, class: usize) -> u8 {
        self.state(link, class).next_vc
    }

    /// Time from which a class may start a packet on a link.
    pub(crate) fn earliest(&self, link: usize, class: usize, times: LinkTimes) -> u64 {
        let Rule { inverse_share, burst, .. } = self.rules[class];
        if inverse_share == 0 {
            return 0;
        }
        // Rounded down: a longer tolerance would exceed the burst.
        let of_burst = u128::from(times.full_time) * u128::from(burst) / u128::from(times.full);
        let tolerance = (of_burst * u128::from(inverse_share - 1) >> FRACTION_BITS) as u64;
        self.state(link, class).empty_until.saturating_sub(tolerance)
    }

    /// The class that a link serves next among `candidates`, a set of bits that is not empty. `size` returns the size
    /// of the next packet of a class.
    pub(crate) fn choose(&self, link: usize, candidates: u8, size: impl Fn(usize) -> u32) -> usize {
        let classes = self.rules.len();
        let is_candidate = |class: &usize| candidates >> class & 1 == 1;
        let top = (0..classes).filter(is_candidate).map(|class| self.rules[class].priority).max();
        let competes = |class: &usize| is_candidate(class) && Some(self.rules[*class].priority) == top;
        let first = (0..classes).find(competes).expect("a candidate");
        let turn = usize::from(self.turns[link * classes + usize::from(self.levels[first])]);
        if competes(&turn) && self.state(link, turn).deficit >= size(turn) {
            return turn;
        }
        (turn + 1..classes).chain(0..=turn).find(competes).expect("a candidate")
    }

    /// Charges the packet of a class that a link starts at `now`, for a time of `busy`. `is_last` says whether no other
    /// packet of the class waits.
    pub(crate) fn charge(&mut self, link: usize, class: usize, full: u32, packet: Charge) {
        let Charge { size, next_vc, now, busy, is_last } = packet;
        let Rule { quantum, inverse_share, .. } = self.rules[class];
        let place = link * self.rules.len() + usize::from(self.levels[class]);
        let begins = self.turns[place] != class as u8 || self.state(link, class).deficit < size;
        self.turns[place] = class as u8;
        let state = self.state_mut(link, class);
        if begins {
            state.deficit = state.deficit.min(full - 1) + quantum;
        }
        state.deficit = if is_last { 0 } else { state.deficit - size };
        state.next_vc = next_vc;
        if inverse_share > 0 {
            state.empty_until = state.empty_until.max(now) + scaled_up(busy, inverse_share);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.states.capacity() * size_of::<ClassState>() + self.turns.capacity()
    }
}

/// A packet that departs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pub(crate) size: u32,
    pub(crate) next_vc: u8,
    pub(crate) now: u64,
    pub(crate) busy: u64,
    pub(crate) is_last: bool,
}

fn scaled_up(time: u64, inverse_share: u64) -> u64 {
    (u128::from(time) * u128::from(inverse_share)).div_ceil(1 << FRACTION_BITS) as u64
}

#[cfg(test)]
mod tests {
    use super::super::settings::{ClassSettings, TrafficClass};
    use super::*;
    use odonata_units::{Bytes, Stream};

    const FULL: u32 = 512;

    fn server(all: &[ClassSettings]) -> ClassServer {
        let class = |(number, settings): (usize, &ClassSettings)| TrafficClass {
            name: format!("class{number}"),
            settings: settings.clone(),
        };
        let list = all.iter().enumerate().map(class).collect();
        ClassServer::new(&TrafficClasses { list, of_job: Vec::new() }, 1, FULL)
    }

    /// Three backlogged classes with packets of random sizes, over all intervals of random runs: `|S_i / Q_i - S_j / Q_j|
    /// <= 1 + L / Q_i + L / Q_j`, and shares of the long run within 1 %.
    #[test]
    fn deficit_round_robin_keeps_its_bound() {
        for seed in 0..20 {
            let random = &mut Stream::new(seed, "shares", &[]);
            let mut share = || 0.05 + 0.28 * random.unit();
            let shares = [share(), share(), share()];
            let settings = shares.map(|share| ClassSettings { minimum_share: Some(share), ..ClassSettings::default() });
            let mut server = server(&settings);
            let quanta: Vec<f64> = server.rules.iter().map(|rule| f64::from(rule.quantum)).collect();
            let size = |random: &mut Stream| 1 + random.below(u64::from(FULL)) as u32;
            let mut heads = [0; 3].map(|_: u32| size(random));
            let mut sums = vec![[0.0; 3]];
            for now in 0..1_500 {
                let class = server.choose(0, 0b111, |class| heads[class]);
                let charge = Charge { size: heads[class], next_vc: 0, now, busy: 1, is_last: false };
                server.charge(0, class, FULL, charge);
                let mut sum = sums[now as usize];
                sum[class] += f64::from(heads[class]);
                sums.push(sum);
                heads[class] = size(random);
            }
            let full = f64::from(FULL);
            for (first, from) in sums.iter().enumerate() {
                for to in &sums[first..] {
                    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                        let served = |class: usize| (to[class] - from[class]) / quanta[class];
                        let bound = 1.0 + full / quanta[i] + full / quanta[j];
                        assert!((served(i) - served(j)).abs() <= bound + 1e-9, "seed {seed}: {from:?} to {to:?}");
                    }
                }
            }
        }
    }

    /// A class that had nothing to send gets no more than its share afterwards.
    #[test]
    fn an_idle_class_hoards_nothing() {
        let weight = |share| ClassSettings { minimum_share: Some(share), ..ClassSettings::default() };
        let mut server = server(&[weight(0.5), weight(0.5)]);
        let mut serve = |candidates: u8, is_last: bool| {
            let class = server.choose(0, candidates, |_| FULL);
            server.charge(0, class, FULL, Charge { size: FULL, next_vc: 0, now: 0, busy: 1, is_last });
            class
        };
        (0..100).for_each(|_| assert_eq!(serve(0b01, false), 0));
        serve(0b10, true);
        let of_first: usize = (0..100).map(|_| 1 - serve(0b11, false)).sum();
        assert_eq!(of_first, 50);
    }

    /// Bytes started in any time t are at most s + r t + L, and a class that always has packets gets r.
    #[test]
    fn the_bucket_keeps_its_bound() {
        let times = LinkTimes { full: FULL, full_time: 20_480 };
        for (share, burst) in [(0.1, 512u64), (0.5, 4_096), (0.9, 100)] {
            let settings = ClassSettings { maximum_share: share, burst: Bytes(burst), ..ClassSettings::default() };
            let mut server = server(&[settings, ClassSettings::default()]);
            let random = &mut Stream::new(burst, "bucket", &[]);
            let (mut now, mut starts) = (0, Vec::new());
            for _ in 0..1_500 {
                now = server.earliest(0, 0, times).max(now);
                let size = 1 + random.below(u64::from(FULL)) as u32;
                let busy = u64::from(size) * 40;
                server.charge(0, 0, FULL, Charge { size, next_vc: 0, now, busy, is_last: false });
                starts.push((now, f64::from(size)));
                now += busy;
            }
            for first in 0..starts.len() {
                let mut bytes = 0.0;
                for &(at, size) in &starts[first..] {
                    bytes += size;
                    let limit = burst as f64 + share * (at - starts[first].0) as f64 / 40.0 + f64::from(FULL);
                    assert!(bytes <= limit + 0.1, "{bytes} B, limit {limit}");
                }
            }
            let sent: f64 = starts.iter().map(|(_, size)| size).sum();
            let rate = sent * 40.0 / now as f64;
            assert!((rate / share - 1.0).abs() < 0.02, "{rate} of {share}");
        }
    }

    /// The turns of a priority are not lost when a higher one is served in between.
    #[test]
    fn a_higher_priority_keeps_the_turns_of_others() {
        let class =
            |priority, share| ClassSettings { priority, minimum_share: Some(share), ..ClassSettings::default() };
        let mut server = server(&[class(1, 0.2), class(0, 0.2), class(0, 0.6)]);
        let mut served = [0; 3];
        for n in 0..4_000 {
            let class = server.choose(0, if n % 2 == 0 { 0b111 } else { 0b110 }, |_| FULL);
            server.charge(0, class, FULL, Charge { size: FULL, next_vc: 0, now: 0, busy: 1, is_last: class == 0 });
            served[class] += 1;
        }
        assert_eq!(served, [2_000, 500, 1_500]);
    }
}

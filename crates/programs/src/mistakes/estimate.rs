//! An estimate of the messages of a program that is too long to be walked.
//!
//! Some calls of some ranks stand for all: a rank's messages are scaled by its blocks, and all by the number of ranks. A
//! collective counts at each of its ranks by an equal share.

use super::sent::SentCounts;
use crate::expansion::{CallExpander, JobProgram};
use crate::fingerprint::mixed;
use crate::message_counts::{MessageCounts, Sender};
use odonata_units::Bytes;
use std::collections::BTreeMap;

/// Ranks that are looked at. More spread the calls over more ranks, and each gets fewer.
const RANKS: u32 = 64;

/// Different sizes that are kept. A program with more sizes has nearly as many sizes as messages.
const MAX_SIZES: usize = 1 << 16;

/// Messages of a program, from about `most` calls. The blocks of an excerpt count differently, so a rank is walked to the
/// end.
pub(super) fn estimate(shared: &JobProgram, is_excerpt: bool, most: u64) -> MessageCounts {
    let all = shared.program.ranks();
    let ranks = all.min(RANKS);
    let (mut by_size, mut pairs) = (BTreeMap::<Bytes, f64>::new(), 0.0);
    let mut left = most;
    let mut looked_at = 0u32;
    for number in 0..ranks {
        let part = |number: u32| (u64::from(all) * u64::from(number) / u64::from(ranks)) as u32;
        let (first, next) = (part(number), part(number + 1));
        // A random rank of each part: evenly spaced ranks could all have the same place on a grid.
        let rank = first + (mixed(u64::from(all), number, 0) % u64::from(next - first)) as u32;
        let most = if is_excerpt { u64::MAX } else { most / u64::from(ranks) };
        let of_rank = rank_share(shared, rank, most, &mut left);
        for (bytes, messages) in of_rank.by_size {
            if by_size.len() < MAX_SIZES || by_size.contains_key(&bytes) {
                *by_size.entry(bytes).or_default() += messages;
            }
        }
        pairs += of_rank.pairs;
        looked_at += 1;
        if left == 0 {
            break;
        }
    }
    let scale = f64::from(all) / f64::from(looked_at.max(1));
    let mut counts = MessageCounts::default().estimated();
    by_size.into_iter().for_each(|(bytes, messages)| counts.add(bytes, (messages * scale).round() as u64));
    counts.pairs = ((pairs * scale).round() as u64).min(u64::from(all).pow(2));
    counts
}

/// Messages of one rank.
struct RankShare {
    by_size: BTreeMap<Bytes, f64>,
    pairs: f64,
}

/// The messages of a rank from about `most` of its calls.
fn rank_share(shared: &JobProgram, rank: u32, most: u64, left: &mut u64) -> RankShare {
    let mut own = SentCounts::new(0);
    let mut sender = Sender::default();
    let mut of_collectives = BTreeMap::<Bytes, f64>::new();
    let mut code = CallExpander::new(shared.program.ranks(), rank);
    let mut calls = 0u64;
    let mut is_cut = false;
    loop {
        let mut entered_share = Vec::new();
        let next = code.next_with_collectives(shared, |entered, _| {
            if entered.collective.size > 1 {
                // One step for a vector form: the messages of one rank.
                let mut of_all = SentCounts::new(0);
                of_all.collective(shared, entered, 1);
                let ranks = f64::from(entered.collective.size);
                let (_, counts) = of_all.finish(entered.collective.size);
                entered_share.extend(counts.by_size().map(|(bytes, messages)| (bytes, messages as f64 / ranks)));
            }
        });
        // An invalid call was reported, or is reported by the run.
        let Ok(Some(call)) = next else { break };
        let times = code.times(shared);
        own.call(&call, times, &mut sender);
        for (bytes, messages) in entered_share {
            *of_collectives.entry(bytes).or_default() += messages * times as f64;
        }
        *left = left.saturating_sub(code.begun_calls().max(1));
        calls += 1;
        // A single block may have many calls.
        if calls >= most && code.is_block_done() {
            is_cut = true;
            break;
        }
    }
    own.hand_over(&mut sender);
    let (_, counts) = own.finish(shared.program.ranks());
    let blocks = shared.program.blocks(rank);
    let scale = if is_cut { blocks as f64 / code.started_blocks().max(1) as f64 } else { 1.0 };
    let mut by_size = of_collectives;
    for (bytes, messages) in counts.by_size() {
        *by_size.entry(bytes).or_default() += messages as f64;
    }
    by_size.values_mut().for_each(|messages| *messages *= scale);
    RankShare { by_size, pairs: counts.pairs as f64 }
}

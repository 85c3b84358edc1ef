//! Why ranks are not finished when nothing can happen any more.

use odonata_packet::{Activity, Unfinished};
use std::collections::{BTreeMap, BTreeSet};

/// Most ranks that are told one by one.
const TOLD: usize = 4;

/// What holds the ranks up, the cause first: calls that can't be, then ranks that wait for each other in a circle, then ranks whose
/// partner is at its end, then the others. `job` names a job.
pub fn why_stuck(unfinished: &[Unfinished], job: impl Fn(u16) -> String) -> Vec<String> {
    let waits: BTreeMap<(u16, u32), (Option<u32>, &str)> = unfinished
        .iter()
        .filter_map(|one| match &one.activity {
            Activity::Waiting { peer, what, .. } => Some(((one.job, one.rank?), (*peer, what.as_str()))),
            _ => None,
        })
        .collect();
    let said = |(number, rank): (u16, u32)| {
        let what = waits.get(&(number, rank)).map_or("computes", |(_, what)| what);
        format!("rank {rank} of job '{}': {what}", job(number))
    };
    let wrong: Vec<(u16, u32)> = waits
        .iter()
        .filter(|(_, (peer, what))| peer.is_none() && what.starts_with("can't go on"))
        .map(|(at, _)| *at)
        .collect();
    let circle = circle(&waits);
    let mut lines: Vec<String> = Vec::new();
    let mut list = |head: &str, ranks: &[(u16, u32)]| {
        lines.extend(ranks.iter().take(TOLD).map(|&rank| format!("{head}{}", said(rank))));
        if ranks.len() > TOLD {
            lines.push(format!("{head}and {} more ranks", ranks.len() - TOLD));
        }
    };
    list("", &wrong);
    if let Some(circle) = &circle {
        list("in a circle, ", circle);
    }
    if wrong.is_empty() && circle.is_none() {
        let alone = |((number, _), (peer, _)): &(&(u16, u32), &(Option<u32>, &str))| {
            peer.is_none_or(|peer| !waits.contains_key(&(*number, peer)))
        };
        let without: Vec<(u16, u32)> = waits.iter().filter(alone).map(|(at, _)| *at).collect();
        list("without a partner, ", &without);
    }
    lines
}

/// Ranks of which each waits for the next and the last for the first, from the least on.
fn circle(waits: &BTreeMap<(u16, u32), (Option<u32>, &str)>) -> Option<Vec<(u16, u32)>> {
    let mut seen = BTreeSet::new();
    for &start in waits.keys() {
        let (mut way, mut at) = (Vec::new(), start);
        while seen.insert(at) {
            way.push(at);
            match waits.get(&at) {
                Some(&(Some(peer), _)) => at = (at.0, peer),
                _ => break,
            }
        }
        if let Some(first) = way.iter().position(|&rank| rank == at && way.len() > 1) {
            if waits.get(way.last()?).is_some_and(|(peer, _)| *peer == Some(way[first].1)) {
                return Some(way.split_off(first));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::{NodeId, Time};

    fn waiting(rank: u32, peer: Option<u32>, what: &str) -> Unfinished {
        let activity = Activity::Waiting { since: Time::ZERO, peer, what: what.into() };
        Unfinished { job: 0, rank: Some(rank), node: NodeId(rank), activity }
    }

    fn why(unfinished: &[Unfinished]) -> Vec<String> {
        why_stuck(unfinished, |job| format!("j{job}"))
    }

    #[test]
    fn a_circle_is_told_and_not_who_waits_for_it() {
        let ranks =
            [waiting(0, Some(3), "a"), waiting(3, Some(5), "b"), waiting(5, Some(3), "c"), waiting(7, Some(0), "d")];
        assert_eq!(why(&ranks), ["in a circle, rank 3 of job 'j0': b", "in a circle, rank 5 of job 'j0': c"]);
    }

    #[test]
    fn what_cannot_be_comes_first() {
        let ranks = [waiting(0, Some(1), "a"), waiting(1, None, "can't go on at call 2: x")];
        assert_eq!(why(&ranks), ["rank 1 of job 'j0': can't go on at call 2: x"]);
    }

    #[test]
    fn without_a_circle_whose_partner_is_gone_is_told() {
        let ranks: Vec<Unfinished> =
            (0..9).map(|rank| waiting(rank, Some(if rank < 3 { 8 } else { 100 }), "w")).collect();
        let lines = why(&ranks);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "without a partner, rank 3 of job 'j0': w");
        assert_eq!(lines[4], "without a partner, and 2 more ranks");
    }
}

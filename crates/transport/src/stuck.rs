//! Explains why ranks have not finished.

use odonata_packet::{Activity, UnfinishedEndpoint};
use std::collections::{BTreeMap, BTreeSet};

/// Most ranks that are listed one by one. A longer list hides the cause.
const MAX_LISTED: usize = 4;

/// Describes why ranks have not finished, the cause first: invalid calls, then a cycle of ranks that wait for each
/// other, then ranks whose peer has ended. `job` names a job.
pub fn explain_unfinished(unfinished: &[UnfinishedEndpoint], job: impl Fn(u16) -> String) -> Vec<String> {
    let waits: BTreeMap<(u16, u32), (Option<u32>, &str)> = unfinished
        .iter()
        .filter_map(|one| match &one.activity {
            Activity::Waiting { peer, what, .. } => Some(((one.job, one.rank?), (*peer, what.as_str()))),
            _ => None,
        })
        .collect();
    let describe = |(number, rank): (u16, u32)| {
        let what = waits.get(&(number, rank)).map_or("computes", |(_, what)| what);
        format!("rank {rank} of job '{}': {what}", job(number))
    };
    let wrong: Vec<(u16, u32)> = waits
        .iter()
        .filter(|(_, (peer, what))| peer.is_none() && what.starts_with("can't continue"))
        .map(|(at, _)| *at)
        .collect();
    let cycle = find_cycle(&waits);
    let mut lines: Vec<String> = Vec::new();
    let mut list = |head: &str, ranks: &[(u16, u32)]| {
        lines.extend(ranks.iter().take(MAX_LISTED).map(|&rank| format!("{head}{}", describe(rank))));
        if ranks.len() > MAX_LISTED {
            lines.push(format!("{head}{} more ranks", ranks.len() - MAX_LISTED));
        }
    };
    list("", &wrong);
    if let Some(cycle) = &cycle {
        list("cyclic wait: ", cycle);
    }
    if wrong.is_empty() && cycle.is_none() {
        let alone = |((number, _), (peer, _)): &(&(u16, u32), &(Option<u32>, &str))| {
            peer.is_none_or(|peer| !waits.contains_key(&(*number, peer)))
        };
        let without: Vec<(u16, u32)> = waits.iter().filter(alone).map(|(at, _)| *at).collect();
        list("peer has ended: ", &without);
    }
    lines
}

/// The first cycle of ranks that wait for each other.
fn find_cycle(waits: &BTreeMap<(u16, u32), (Option<u32>, &str)>) -> Option<Vec<(u16, u32)>> {
    let mut seen = BTreeSet::new();
    for &start in waits.keys() {
        let (mut path, mut at) = (Vec::new(), start);
        while seen.insert(at) {
            path.push(at);
            match waits.get(&at) {
                Some(&(Some(peer), _)) => at = (at.0, peer),
                _ => break,
            }
        }
        if let Some(first) = path.iter().position(|&rank| rank == at && path.len() > 1) {
            if waits.get(path.last()?).is_some_and(|(peer, _)| *peer == Some(path[first].1)) {
                return Some(path.split_off(first));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::{NodeId, Time};

    fn waiting(rank: u32, peer: Option<u32>, what: &str) -> UnfinishedEndpoint {
        let activity = Activity::Waiting { since: Time::ZERO, peer, what: what.into() };
        UnfinishedEndpoint { job: 0, rank: Some(rank), node: NodeId(rank), activity }
    }

    fn why(unfinished: &[UnfinishedEndpoint]) -> Vec<String> {
        explain_unfinished(unfinished, |job| format!("j{job}"))
    }

    #[test]
    fn a_cycle_is_reported_without_ranks_that_wait_for_it() {
        let ranks =
            [waiting(0, Some(3), "a"), waiting(3, Some(5), "b"), waiting(5, Some(3), "c"), waiting(7, Some(0), "d")];
        assert_eq!(why(&ranks), ["cyclic wait: rank 3 of job 'j0': b", "cyclic wait: rank 5 of job 'j0': c"]);
    }

    #[test]
    fn invalid_calls_are_reported_first() {
        let ranks = [waiting(0, Some(1), "a"), waiting(1, None, "can't continue at call 2: x")];
        assert_eq!(why(&ranks), ["rank 1 of job 'j0': can't continue at call 2: x"]);
    }

    #[test]
    fn without_a_cycle_ranks_with_an_ended_partner_are_reported() {
        let ranks: Vec<UnfinishedEndpoint> =
            (0..9).map(|rank| waiting(rank, Some(if rank < 3 { 8 } else { 100 }), "w")).collect();
        let lines = why(&ranks);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "peer has ended: rank 3 of job 'j0': w");
        assert_eq!(lines[4], "peer has ended: 2 more ranks");
    }
}

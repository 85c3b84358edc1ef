//! Explains why ranks have not finished.

use odonata_packet::{Activity, UnfinishedEndpoint};
use std::collections::{BTreeMap, BTreeSet};

/// Most ranks that are listed one by one. A longer list hides the cause.
const MAX_LISTED: usize = 4;

/// A rank: its job, and its number.
type JobRank = (u16, u32);

/// Ranks that wait.
type Waits<'a> = BTreeMap<JobRank, &'a UnfinishedEndpoint>;

/// Some unfinished ranks, and what they have in common.
struct Group<'a> {
    head: &'static str,
    ranks: Vec<&'a UnfinishedEndpoint>,
}

/// Describes why ranks that nothing can wake have not finished, the cause first: invalid calls, then ranks that wait
/// for themselves or for each other in a cycle, then ranks whose peer has ended. `job` names a job.
pub fn explain_unfinished(unfinished: &[UnfinishedEndpoint], job: impl Fn(u16) -> String) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for Group { head, ranks } in causes(unfinished) {
        for one in ranks.iter().take(MAX_LISTED) {
            let rank = one.rank.expect("ranks have numbers");
            lines.push(format!("{head}rank {rank} of job '{}': {}", job(one.job), text_of(one)));
        }
        if ranks.len() > MAX_LISTED {
            lines.push(format!("{head}{} more ranks", ranks.len() - MAX_LISTED));
        }
    }
    lines
}

/// The unfinished ranks by activity, and those first that are the cause if nothing can wake them.
pub fn by_cause(unfinished: &[UnfinishedEndpoint]) -> Vec<&UnfinishedEndpoint> {
    let causes: BTreeSet<&UnfinishedEndpoint> = causes(unfinished).into_iter().flat_map(|group| group.ranks).collect();
    let mut sorted: Vec<&UnfinishedEndpoint> = unfinished.iter().collect();
    sorted.sort_by_key(|one| (kind_of(one), !causes.contains(one)));
    sorted
}

fn causes(unfinished: &[UnfinishedEndpoint]) -> Vec<Group<'_>> {
    let of_rank = |one: &UnfinishedEndpoint| Some((one.job, one.rank?));
    let failed: Vec<_> = unfinished.iter().filter(|one| matches!(one.activity, Activity::Failed { .. })).collect();
    let waits: Waits<'_> = unfinished
        .iter()
        .filter(|one| matches!(one.activity, Activity::Waiting { .. }))
        .filter_map(|one| Some((of_rank(one)?, one)))
        .collect();
    let those = |is_one: &dyn Fn(JobRank, Option<u32>) -> bool| -> Vec<&UnfinishedEndpoint> {
        waits.iter().filter(|(at, one)| is_one(**at, peer_of(one))).map(|(_, one)| *one).collect()
    };
    let themselves = those(&|(_, rank), peer| peer == Some(rank));
    let cycle = find_cycle(&waits).unwrap_or_default();
    let is_explained = !(failed.is_empty() && themselves.is_empty() && cycle.is_empty());
    let mut groups = vec![
        Group { head: "", ranks: failed },
        Group { head: "waits for itself: ", ranks: themselves },
        Group { head: "cyclic wait: ", ranks: cycle.iter().map(|at| waits[at]).collect() },
    ];
    if !is_explained {
        let has_ended =
            |(job, _): JobRank, peer: Option<u32>| peer.is_some_and(|peer| !waits.contains_key(&(job, peer)));
        groups.push(Group { head: "peer has ended: ", ranks: those(&has_ended) });
        groups.push(Group { head: "no rank sends: ", ranks: those(&|_, peer| peer.is_none()) });
    }
    groups
}

/// The rank that a rank waits for, if it is known.
fn peer_of(one: &UnfinishedEndpoint) -> Option<u32> {
    match one.activity {
        Activity::Waiting { peer, .. } => peer,
        _ => None,
    }
}

/// Description of the call of a rank that waits or failed.
fn text_of(one: &UnfinishedEndpoint) -> &str {
    match &one.activity {
        Activity::Waiting { what, .. } | Activity::Failed { what } => what,
        other => unreachable!("a cause waits or failed, {other:?}"),
    }
}

/// Kinds of activities, the likely cause of a delay first.
fn kind_of(one: &UnfinishedEndpoint) -> usize {
    match &one.activity {
        Activity::Failed { .. } => 0,
        Activity::InCall { .. } => 1,
        Activity::Computing { .. } => 2,
        Activity::Sending { .. } => 3,
        Activity::Waiting { .. } => 4,
    }
}

/// Describes what ranks do that have not finished, one line per kind of activity with an example. `job` names a job.
pub fn describe_unfinished(unfinished: &[UnfinishedEndpoint], job: impl Fn(u16) -> String) -> Vec<String> {
    let kinds: [(&str, &str); 5] = [
        ("cannot continue", "cannot continue"),
        (
            "works on a call: it matches, copies or sets up messages",
            "work on a call: they match, copy or set up messages",
        ),
        ("computes", "compute"),
        ("has messages to send", "have messages to send"),
        ("waits", "wait"),
    ];
    let mut lines = Vec::new();
    for (kind, (one, several)) in kinds.into_iter().enumerate() {
        let those: Vec<&UnfinishedEndpoint> = unfinished.iter().filter(|one| kind_of(one) == kind).collect();
        let Some(first) = those.first() else { continue };
        let (thing, things) = if first.rank.is_some() { ("rank", "ranks") } else { ("node", "nodes") };
        let number = first.rank.map_or(first.node.0, |rank| rank);
        let example = match &first.activity {
            Activity::Computing { until } => format!(" until {until}"),
            Activity::InCall { until, what } => format!(" until {until}: {what}"),
            Activity::Sending { messages } => format!(": {messages} messages"),
            Activity::Waiting { since, what, .. } => format!(" since {since}: {what}"),
            Activity::Failed { what } => format!(": {what}"),
        };
        let head = match those.len() {
            1 => format!("1 {thing} {one}"),
            count => format!("{count} {things} {several}"),
        };
        let such = if those.len() == 1 { "" } else { "for example " };
        lines.push(format!("{head} ({such}{thing} {number} of job '{}'{example})", job(first.job)));
    }
    lines
}

/// The first cycle of several ranks that wait for each other.
fn find_cycle(waits: &Waits<'_>) -> Option<Vec<JobRank>> {
    let peer_at = |at: &JobRank| waits.get(at).and_then(|one| peer_of(one));
    let mut seen = BTreeSet::new();
    for &start in waits.keys() {
        let (mut path, mut at) = (Vec::new(), start);
        while seen.insert(at) {
            path.push(at);
            match peer_at(&at) {
                Some(peer) => at = (at.0, peer),
                None => break,
            }
        }
        if let Some(first) = path.iter().position(|&rank| rank == at).filter(|first| path.len() - first > 1) {
            if peer_at(path.last()?) == Some(path[first].1) {
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
        let failed = Activity::Failed { what: "can't continue at call 2: x".into() };
        let ranks = [waiting(0, Some(1), "a"), UnfinishedEndpoint { activity: failed, ..waiting(1, None, "") }];
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
    #[test]
    fn ranks_that_wait_for_themselves_are_reported() {
        let ranks = [waiting(0, Some(2), "a"), waiting(2, Some(2), "b"), waiting(5, Some(5), "c")];
        assert_eq!(why(&ranks), ["waits for itself: rank 2 of job 'j0': b", "waits for itself: rank 5 of job 'j0': c"]);
    }

    #[test]
    fn a_wait_for_any_rank_has_no_peer_that_ended() {
        assert_eq!(why(&[waiting(1, None, "recv from any")]), ["no rank sends: rank 1 of job 'j0': recv from any"]);
    }

    #[test]
    fn activities_are_counted_with_an_example_of_each() {
        let busy = |rank: u32| {
            let activity = Activity::InCall { until: Time::from_us(9), what: "recv".into() };
            UnfinishedEndpoint { activity, ..waiting(rank, None, "") }
        };
        let sending = UnfinishedEndpoint { rank: None, activity: Activity::Sending { messages: 3 }, ..busy(7) };
        let ranks = [waiting(0, Some(1), "wait"), busy(1), busy(2), sending];
        let lines = describe_unfinished(&ranks, |job| format!("j{job}"));
        assert_eq!(
            lines,
            [
                "2 ranks work on a call: they match, copy or set up messages (for example rank 1 of job 'j0' until 9 us: recv)",
                "1 node has messages to send (node 7 of job 'j0': 3 messages)",
                "1 rank waits (rank 0 of job 'j0' since 0 ps: wait)",
            ]
        );
    }
}

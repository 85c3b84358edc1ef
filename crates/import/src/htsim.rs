//! The connection matrix of htsim (`.cm`): flows with their sizes.
//!
//! ```text
//! Nodes 16
//! Connections 2
//! 0->4 id 1 start 0 size 2000000
//! 4->8 id 2 trigger 1 size 2000000 send_done_trigger 2
//! trigger id 1 oneshot
//! ```
//!
//! Ranks are its nodes. Start times, triggers, priorities and link failures are ignored.

use crate::message_list::{MessageList, MAX_DERIVED_RANKS};
use crate::text::text;
use crate::CommunicationGraph;
use odonata_declare::FileError;

/// Reads flows as messages of `ranks` ranks, or of as many as the file has nodes.
///
/// # Errors
/// An unknown line, a flow without a size, or a wrong number of flows; with the line.
pub fn communication_graph(label: &str, bytes: &[u8], ranks: Option<u32>) -> Result<CommunicationGraph, FileError> {
    let wrong = |line: usize, reason: String| FileError::new(label, format!("line {line}"), reason);
    let (mut nodes, mut announced, mut flows) = (None, None, 0u64);
    let mut messages: Option<MessageList<'_>> = None;
    for (at, content) in (1..).zip(text(label, bytes)?.lines()) {
        let words: Vec<&str> = content.split('#').next().unwrap_or("").split_whitespace().collect();
        let count = |word: &str, name: &str| {
            word.parse::<u32>().map_err(|_| wrong(at, format!("'{name} {word}', expected a whole number")))
        };
        match words[..] {
            [] | ["trigger" | "failure", ..] => {}
            ["Nodes", n] if nodes.is_none() => {
                let n = count(n, "Nodes")?;
                let most = ranks.unwrap_or(MAX_DERIVED_RANKS);
                if n > most {
                    let reason = format!("{n} nodes, expected at most {most}, the ranks of the job");
                    return Err(wrong(at, reason));
                }
                nodes = Some(n);
                messages = Some(MessageList::new(label, Some(ranks.unwrap_or(n))));
            }
            ["Connections", n] if announced.is_none() => announced = Some(u64::from(count(n, "Connections")?)),
            ["Triggers" | "Failures", _] | ["Grp", ..] => {}
            [pair, ref given @ ..] => {
                let Some((source, target)) = pair.split_once("->") else {
                    let reason =
                        format!("'{}', expected a flow such as '0->4 id 1 start 0 size 2000000'", content.trim());
                    return Err(wrong(at, reason));
                };
                let Some(messages) = messages.as_mut() else {
                    return Err(wrong(at, "a flow before the line 'Nodes N'".into()));
                };
                let rank = |word: &str| {
                    let rank = word.parse::<i64>().map_err(|_| wrong(at, format!("'{pair}', expected two numbers")))?;
                    match nodes.is_some_and(|nodes| (0..i64::from(nodes)).contains(&rank)) {
                        true => Ok(rank),
                        false => Err(wrong(at, format!("node {rank} of {} nodes", nodes.unwrap_or(0)))),
                    }
                };
                let (source, target) = (rank(source)?, rank(target)?);
                let size = given.chunks(2).find(|pair| pair[0] == "size").and_then(|pair| pair.get(1)?.parse().ok());
                let size = size.ok_or_else(|| wrong(at, format!("flow {pair} has no size in bytes")))?;
                messages.push(source, target, size, || format!("line {at}"))?;
                flows += 1;
            }
        }
    }
    let Some(messages) = messages else { return Err(wrong(1, "expected the line 'Nodes N'".into())) };
    match announced {
        Some(announced) if announced != flows => Err(wrong(1, format!("{flows} flows, but 'Connections {announced}'"))),
        _ => messages.finish(),
    }
}

/// Whether the text looks like this format.
pub(super) fn matches_format(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("Nodes "))
}

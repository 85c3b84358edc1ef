//! Who waits for whom, when nothing moves any more.
//!
//! The packet at the head of an input channel waits for room in an output channel; the packet at the head of that
//! output channel waits for credit, that is for the input channel at the other end of the link. Following these two
//! steps from a waiting packet leads to a channel that was seen before: the cycle that is stuck.

use crate::fabric::Fabric;
use crate::partition::{Partition, Waits};
use std::collections::BTreeMap;

/// Lines that name the links of a cycle, or of the longest chain if none closes; at most this many.
const LINES: usize = 24;

/// One line for each link of the cycle in which packets wait for each other.
pub(crate) fn report(fabric: &Fabric, partitions: &[Partition]) -> Vec<String> {
    let mut waits: BTreeMap<(u32, u8), Waits> = BTreeMap::new();
    for partition in partitions {
        waits.extend(partition.waits());
    }
    let mut longest = Vec::new();
    for &start in waits.keys() {
        let mut chain: Vec<(u32, u8)> = Vec::new();
        let mut at = start;
        while let Some(next) = waits.get(&at) {
            if let Some(first) = chain.iter().position(|&seen| seen == at) {
                return lines(fabric, &waits, &chain[first..]);
            }
            chain.push(at);
            at = next.then;
        }
        if chain.len() > longest.len() {
            longest = chain;
        }
    }
    lines(fabric, &waits, &longest)
}

fn lines(fabric: &Fabric, waits: &BTreeMap<(u32, u8), Waits>, chain: &[(u32, u8)]) -> Vec<String> {
    let place = |port: u32| {
        let router = fabric.port_router[port as usize];
        (router, port - fabric.first_port[router as usize])
    };
    let line = |&(port, vc): &(u32, u8)| {
        let wait = &waits[&(port, vc)];
        let ((router, input), (_, output)) = (place(port), place(wait.output));
        format!(
            "router {router}: the packet from node {} to node {} at input {input}, channel {vc}, waits for output {output}, channel {}",
            wait.source, wait.destination, wait.vc
        )
    };
    chain.iter().take(LINES).map(line).collect()
}

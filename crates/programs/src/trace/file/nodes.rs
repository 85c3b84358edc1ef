//! Nodes of a graph as columns.

use super::super::NodeGraph;
use super::values::{Number, Values};
use odonata_trace::chakra::{CollectiveKind, Node, NodeKind};
use odonata_trace::{BlockFile, Column};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const KIND: usize = 0;
const ID: usize = 1;
const WAITS: usize = 2;
const ON: usize = 3;
const DURATION: usize = 4;
const OPERATIONS: usize = 5;
const BYTES: usize = 6;
const PEER: usize = 7;
const TAG: usize = 8;
const GROUP: usize = 9;
const CPU: usize = 10;
const COLUMNS: usize = 11;

/// Kinds by number.
const KINDS: [NodeKind; 15] = [
    NodeKind::Metadata,
    NodeKind::Load,
    NodeKind::Store,
    NodeKind::Compute,
    NodeKind::Send,
    NodeKind::Receive,
    NodeKind::Collective(CollectiveKind::AllReduce),
    NodeKind::Collective(CollectiveKind::Reduce),
    NodeKind::Collective(CollectiveKind::AllGather),
    NodeKind::Collective(CollectiveKind::Gather),
    NodeKind::Collective(CollectiveKind::Scatter),
    NodeKind::Collective(CollectiveKind::Broadcast),
    NodeKind::Collective(CollectiveKind::AllToAll),
    NodeKind::Collective(CollectiveKind::ReduceScatter),
    NodeKind::Collective(CollectiveKind::Barrier),
];

/// Groups of nodes.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct NodeHeader {
    /// Ranks by name.
    pub(super) groups: BTreeMap<String, Vec<u32>>,
    /// Names by number in the column.
    pub(super) names: Vec<String>,
}

impl NodeHeader {
    pub(super) fn of(graph: &NodeGraph) -> Self {
        let nodes = (0..graph.ranks()).flat_map(|rank| graph.nodes(rank));
        let names: BTreeSet<&String> = nodes.map(|node| &node.group).collect();
        Self { groups: graph.groups(), names: names.into_iter().cloned().collect() }
    }
}

/// Columns of nodes.
pub(super) fn encode(nodes: &[Node], names: &BTreeMap<&str, u64>) -> [Column; COLUMNS] {
    let mut columns: [Column; COLUMNS] = Default::default();
    for node in nodes {
        let kind = KINDS.iter().position(|kind| *kind == node.kind).expect("one of all");
        columns[KIND].push(kind as u64);
        columns[ID].push(node.id);
        columns[WAITS].push(node.waits.len() as u64);
        columns[ON].extend(&node.waits);
        columns[DURATION].push(node.duration_ns);
        columns[OPERATIONS].push(node.operations);
        // 0 is none.
        columns[BYTES].push(node.bytes.map_or(0, |bytes| bytes.saturating_add(1)));
        columns[PEER].push(node.peer.map_or(0, |peer| u64::from(peer) + 1));
        columns[TAG].push(node.tag.number());
        columns[GROUP].push(names[&*node.group]);
        columns[CPU].push(node.is_cpu.into());
    }
    columns
}

/// The nodes of all ranks.
pub(super) fn read(file: &BlockFile, header: &NodeHeader) -> Result<Vec<Vec<Node>>, String> {
    let mut ranks = Vec::new();
    for rank in 0..file.ranks() {
        let mut nodes = Vec::new();
        for index in 0..file.blocks(rank) {
            file.block(rank, index, |records, columns| {
                let mut values = Values::<COLUMNS>::new(columns);
                for _ in 0..records {
                    nodes.push(node(&mut values, header)?);
                }
                values.end()
            })?;
        }
        ranks.push(nodes);
    }
    Ok(ranks)
}

fn node(values: &mut Values<COLUMNS>, header: &NodeHeader) -> Result<Node, String> {
    let kind = values.value(KIND)?;
    let kind = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind));
    let kind = *kind.ok_or("a node of a kind that this version does not know")?;
    let id = values.value(ID)?;
    let count = values.value(WAITS)?;
    let waits = (0..count).map(|_| values.value(ON)).collect::<Result<_, String>>()?;
    let (duration_ns, operations) = (values.value(DURATION)?, values.value(OPERATIONS)?);
    let (bytes, peer) = (values.value(BYTES)?, values.value(PEER)?);
    let tag = values.next(TAG)?;
    let group = values.value(GROUP)?;
    let group = usize::try_from(group).ok().and_then(|number| header.names.get(number));
    let group = group.ok_or("a group without a name")?.clone();
    let peer = u32::try_from(peer).map_err(|_| format!("rank {peer}"))?.checked_sub(1);
    let is_cpu = values.value(CPU)? > 0;
    Ok(Node { id, kind, waits, duration_ns, operations, bytes: bytes.checked_sub(1), peer, tag, group, is_cpu })
}

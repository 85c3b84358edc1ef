//! The text workloads of ASTRA-sim: one training step, layer by layer, the same on all ranks.
//!
//! ```text
//! POLICY [model_parallel_NPU_group: N] [checkpoints: ..]
//! LAYERS
//! name dependency  time comm bytes  time comm bytes  time comm bytes  update_time
//! ```
//! The three parts of a layer: forward pass, gradient of the input, gradient of the weights. Times are in ns. A
//! rank goes forward through the layers, then backward. It waits for the first two kinds of communication. Weight
//! gradients are communicated during the rest, and the update of the layer waits for them.

use super::chakra::ChakraSettings;
use super::graph::NodeGraph;
use odonata_declare::Reader;
use odonata_trace::chakra::{CollectiveKind, Node, NodeKind};
use odonata_trace::Survey;
use std::collections::BTreeMap;

/// First words of such files.
pub(super) const POLICIES: [&str; 11] = [
    "DATA",
    "MODEL",
    "MICRO",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_CUSTOMIZED",
    "DISTRIBUTED_INFERENCE",
];

const GROUP_SIZE: &str = "model_parallel_NPU_group:";

/// Whether a file begins like a workload.
pub(crate) fn is_workload(start: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(&start[..start.len().min(4096)]) else { return false };
    let mut lines = text.lines();
    let is_policy = |line: &str| line.split_whitespace().next().is_some_and(|word| POLICIES.contains(&word));
    lines.next().is_some_and(is_policy) && lines.next().is_some_and(|line| line.trim().parse::<u32>().is_ok())
}

struct Layer {
    times_ns: [u64; 3],
    update_ns: u64,
    communication: [Option<(CollectiveKind, u64)>; 3],
}

/// Reads a workload for the ranks of a job.
pub(super) fn read(
    path: &str,
    ranks: Option<u32>,
    settings: &ChakraSettings,
    files: &mut dyn Reader,
) -> Result<(NodeGraph, Survey), String> {
    let bytes = files.read_filled(path)?;
    let text = super::text_of(path, &bytes)?;
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let wrong = |line: u32, reason: String| format!("{path}: line {line}: {reason}");
    let (_, first) = lines.next().ok_or_else(|| wrong(1, "no policy; expected one such as DATA".into()))?;
    let mut words = first.split_whitespace();
    let policy = words.next().unwrap_or_default();
    let pairs: Vec<&str> = words.collect();
    let group = pairs.iter().position(|word| *word == GROUP_SIZE).and_then(|at| pairs.get(at + 1)?.parse::<u32>().ok());
    // Which parts communicate, and among how many ranks the first two do.
    let (uses, model_ranks) = match (policy, group) {
        ("DATA" | "MICRO", _) => ([false, false, true], Some(1)),
        ("MODEL", _) => ([true, true, false], None),
        ("HYBRID_TRANSFORMER" | "HYBRID_TRANSFORMER_FWD_IN_BCKWD", Some(group)) => ([true; 3], Some(group.max(1))),
        _ => {
            return Err(wrong(
                1,
                format!(
                "policy '{policy}' takes its groups from the dimensions of a network; expected DATA, MODEL, MICRO, or \
                 HYBRID_TRANSFORMER with {GROUP_SIZE} N"
            ),
            ));
        }
    };
    let ranks = ranks.unwrap_or(model_ranks.unwrap_or(2).max(2));
    let model_ranks = model_ranks.unwrap_or(ranks);
    if ranks % model_ranks != 0 {
        return Err(wrong(1, format!("groups of {model_ranks} ranks, but the job has {ranks}; expected a multiple")));
    }
    let (line, count) = lines.next().ok_or_else(|| wrong(2, "the file ends; expected the number of layers".into()))?;
    let count: usize =
        count.trim().parse().map_err(|_| wrong(line, format!("'{}'; expected the number of layers", count.trim())))?;
    let (mut layers, mut survey) = (Vec::new(), Survey::default());
    for (line, text) in lines {
        layers.push(layer(text, uses, &mut survey).map_err(|reason| wrong(line, reason))?);
    }
    if layers.len() != count {
        return Err(wrong(line, format!("{count} layers, but {} lines follow; expected one for each", layers.len())));
    }
    let nodes =
        |rank: u32| step(&layers, &format!("model-{}", rank / model_ranks), &format!("data-{}", rank % model_ranks));
    let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for rank in 0..ranks {
        groups.entry(format!("model-{}", rank / model_ranks)).or_default().push(rank);
        groups.entry(format!("data-{}", rank % model_ranks)).or_default().push(rank);
    }
    if pairs.iter().any(|word| word.starts_with("checkpoint")) && !first.contains("checkpoints: 0") {
        survey.notes.push("checkpoints are not replayed: no forward pass is computed twice".into());
    }
    let time = |node: &Node| settings.times.of_ps(node.duration_ns as f64 * 1e3);
    let (graph, _) = NodeGraph::new((0..ranks).map(nodes).collect(), groups, &|_| path.to_owned(), &time)?;
    Ok((graph, survey))
}

fn layer(text: &str, uses: [bool; 3], survey: &mut Survey) -> Result<Layer, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != 12 {
        return Err(format!(
            "{} words; expected 12: a name, -1, three times TIME COLLECTIVE BYTES, an update time",
            words.len()
        ));
    }
    let number = |at: usize| words[at].parse::<u64>().map_err(|_| format!("'{}'; expected a whole number", words[at]));
    let mut found = Layer { times_ns: [0; 3], update_ns: number(11)?, communication: [None; 3] };
    for (part, is_used) in uses.into_iter().enumerate() {
        let at = 2 + 3 * part;
        found.times_ns[part] = number(at)?;
        let kind = match words[at + 1] {
            "NONE" => continue,
            "ALLREDUCE" => CollectiveKind::AllReduce,
            "ALLGATHER" => CollectiveKind::AllGather,
            "REDUCESCATTER" => CollectiveKind::ReduceScatter,
            "ALLTOALL" => CollectiveKind::AllToAll,
            other => return Err(format!("'{other}'; expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL")),
        };
        let bytes = number(at + 2)?;
        survey.count(
            &format!("collective {}", kind.name()),
            is_used,
            if is_used { "" } else { "the policy has no communication in this part" },
        );
        found.communication[part] = is_used.then_some((kind, bytes));
    }
    survey.count("layer", true, "");
    Ok(found)
}

/// One step of a rank.
fn step(layers: &[Layer], model: &str, data: &str) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut add = |kind, duration_ns, bytes, group: &str, waits: &[Option<u64>]| {
        let id = nodes.len() as u64;
        let waits = waits.iter().flatten().copied().collect();
        let group = group.to_owned();
        nodes.push(Node {
            id,
            kind,
            waits,
            duration_ns,
            operations: 0,
            bytes,
            peer: None,
            tag: 0,
            group,
            is_cpu: false,
        });
        Some(id)
    };
    let mut last = None;
    for layer in layers {
        last = add(NodeKind::Compute, layer.times_ns[0], None, "", &[last]);
        if let Some((kind, bytes)) = layer.communication[0] {
            last = add(NodeKind::Collective(kind), 0, Some(bytes), model, &[last]);
        }
    }
    for layer in layers.iter().rev() {
        last = add(NodeKind::Compute, layer.times_ns[2], None, "", &[last]);
        let mut updated = last;
        if let Some((kind, bytes)) = layer.communication[2] {
            updated = add(NodeKind::Collective(kind), 0, Some(bytes), data, &[last]);
        }
        last = add(NodeKind::Compute, layer.times_ns[1], None, "", &[last]);
        if let Some((kind, bytes)) = layer.communication[1] {
            last = add(NodeKind::Collective(kind), 0, Some(bytes), model, &[last]);
        }
        add(NodeKind::Compute, layer.update_ns, None, "", &[updated]);
    }
    nodes
}

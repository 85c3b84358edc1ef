//! Placement on nodes listed by the user.

use super::free::{DrawnNodes, FreeNodes, NodePool};
use super::io_ranks::IoRanks;
use super::rule::{fill_from, NodeAssignment, PendingPlacement, PlacementRequest, PlacementRule};
use crate::WorkloadError;
use odonata_declare::{parameters, Field, Kind, ParameterMistake, Value};
use odonata_machine::{hostlist, Machine};
use odonata_units::NodeId;

parameters! {
    /// Parameters of `list`.
    #[derive(PartialEq, Eq)]
    pub struct ListParameters {
        /// Nodes in the order in which the ranks fill them, exactly as many as the job needs: numbers, names, or lists
        /// of names (`nid[00012-00044,00100]`).
        pub nodes: NodeList, Kind::Any(&[Kind::List(&Kind::Any(&[Kind::count(0), Kind::Text])), Kind::Text]);
        /// Ranks on each of the nodes, in their order, as `[34, 33, 33]`. A rank takes one core, so jobs with this key
        /// may share nodes. If not given, the job has its nodes alone, with `ranks_per_node` ranks on each.
        pub ranks_on_nodes: Vec<u32> = Vec::new(), Kind::List(&Kind::COUNT);
    }
}

/// Nodes as the user lists them: a list, or one text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeList(pub Vec<NodeName>);

impl Field for NodeList {
    fn get(&self) -> Option<Value> {
        self.0.get()
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(text @ Value::Text(_)) => Self(vec![NodeName::of(Some(text))]),
            list => Self(Vec::of(list)),
        }
    }
}

/// A node, or several nodes by a list of names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeName {
    /// Its number.
    Id(u32),
    /// Its name (`g0r1c2n3`), its number as text, or a list of names (`nid[001-064]`).
    Name(String),
}

impl Field for NodeName {
    fn get(&self) -> Option<Value> {
        Some(match self {
            Self::Id(id) => Value::Integer((*id).into()),
            Self::Name(name) => Value::text(name),
        })
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Text(name)) => Self::Name(name.clone()),
            id => Self::Id(u32::of(id)),
        }
    }
}

impl PlacementRule for ListParameters {
    fn given_nodes(&self, _: &PlacementRequest<'_>, machine: &Machine) -> Vec<NodeId> {
        let names = self.names().unwrap_or_default();
        names.iter().map(|name| machine.node_named(name)).collect::<Result<_, _>>().unwrap_or_default()
    }

    fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        if self.ranks_on_nodes.is_empty() {
            let request = &PlacementRequest { io_ranks: IoRanks::default(), ..*request };
            return fill_from(NodePool::All, request, free, |count, free, _| {
                self.nodes(count, free.machine()).map(DrawnNodes::from)
            });
        }
        free.next_job(request.job);
        self.on_cores(request, free).map(PendingPlacement::from).map_err(|(key, reason)| request.error(key, reason))
    }
}

impl ListParameters {
    /// The names one by one.
    fn names(&self) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        for listed in &self.nodes.0 {
            match listed {
                NodeName::Id(id) => names.push(id.to_string()),
                NodeName::Name(list) => names.append(&mut hostlist::expand(list)?),
            }
        }
        Ok(names)
    }

    /// The listed nodes, exactly `count`.
    fn nodes(&self, count: usize, machine: &Machine) -> Result<Vec<NodeId>, ParameterMistake> {
        let wrong = |reason: String| ("nodes", reason);
        let names = self.names().map_err(wrong)?;
        if names.len() != count {
            return Err(wrong(format!("{} nodes listed, but the job needs {count}", names.len())));
        }
        names.iter().map(|name| machine.node_named(name).map_err(|error| wrong(error.to_string()))).collect()
    }

    /// Puts `ranks_on_nodes` on the nodes; each rank claims one core.
    fn on_cores(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<NodeAssignment, ParameterMistake> {
        let wrong = |reason: String| ("ranks_on_nodes", reason);
        let sum: u64 = self.ranks_on_nodes.iter().map(|&ranks| u64::from(ranks)).sum();
        if sum != u64::from(request.ranks) {
            return Err(wrong(format!("{sum} ranks on the nodes, but the job has {}", request.ranks)));
        }
        let ranks_per_node = self.ranks_on_nodes.iter().copied().max().unwrap_or(0);
        if let Some(most) = request.ranks_per_node.filter(|&most| ranks_per_node > most) {
            return Err(wrong(format!("{ranks_per_node} ranks on a node, but ranks_per_node is {most}")));
        }
        let nodes = self.nodes(self.ranks_on_nodes.len(), free.machine())?;
        let mut sorted = nodes.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(("nodes", format!("node {} is named twice", free.machine().node_name(pair[0]))));
        }
        let mut node_of_rank = Vec::with_capacity(request.ranks as usize);
        for (&node, &ranks) in nodes.iter().zip(&self.ranks_on_nodes) {
            for _ in 0..ranks {
                free.claim_core(node, None).map_err(|reason| ("nodes", reason))?;
                node_of_rank.push(node);
            }
        }
        Ok(NodeAssignment { node_of_rank, ranks_per_node })
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{place, place_in, placed};
    use super::*;
    use crate::test_machines::cascade;
    use crate::PlacementSpec;
    use serde_json::json;

    #[test]
    fn names_and_numbers_in_the_given_order() {
        let machine = cascade(2, 2, 2, 2, 1);
        let given = [("nodes", json!([9, "g0r1c1n0", "2"]))];
        assert_eq!(place(&machine, "list", &given, 3, 1), [NodeId(9), NodeId(6), NodeId(2)]);
    }

    #[test]
    fn lists_of_names() {
        let machine = cascade(2, 2, 2, 2, 1);
        let listed = |nodes: serde_json::Value| place(&machine, "list", &[("nodes", nodes)], 4, 1);
        let expected: Vec<NodeId> = [0, 4, 8, 12].map(NodeId).into();
        assert_eq!(listed(json!("g[0-1]r[0-1]c0n0")), expected);
        assert_eq!(listed(json!(["g0r[0-1]c0n0", "g1r0c0n0", 12])), expected);
    }

    #[test]
    fn mistakes() {
        let machine = cascade(2, 2, 2, 2, 1);
        let message =
            |nodes: serde_json::Value| placed(&machine, "list", &[("nodes", nodes)], 2, 1).unwrap_err().to_string();
        assert_eq!(message(json!([1])), "job 'test': placement 'list': nodes: 1 nodes listed, but the job needs 2");
        assert_eq!(
            message(json!([1, "g0r0c0n1"])),
            "job 'test': placement 'list': nodes: node g0r0c0n1 is named twice"
        );
        assert!(message(json!([1, 16])).contains("ids are 0 to 15"));
        assert!(message(json!([1, "g0r0c7n0"])).contains("unknown node 'g0r0c7n0'"));
    }

    /// Jobs with (nodes, ranks on each), placed one after the other on nodes of 4 cores.
    fn on_cores(jobs: &[(&str, &[u32])]) -> Result<Vec<Vec<u32>>, String> {
        let machine = cascade(1, 2, 2, 2, 4);
        let mut free = FreeNodes::new(&machine);
        let placed = jobs.iter().enumerate().map(|(index, (nodes, ranks))| {
            let mut spec = PlacementSpec::parse("list").unwrap();
            spec.set("nodes", json!(nodes)).unwrap();
            spec.set("ranks_on_nodes", json!(ranks)).unwrap();
            let job = format!("job{index}");
            let ranks = if ranks.is_empty() { 4 } else { ranks.iter().sum() };
            let request = PlacementRequest {
                job: &job,
                placement: "list",
                index,
                ranks,
                ranks_per_node: None,
                seed: 1,
                io_ranks: IoRanks::default(),
            };
            let placed = place_in(&spec, &request, &mut free).map_err(|error| error.to_string())?;
            Ok(placed.node_of_rank.iter().map(|node| node.0).collect())
        });
        placed.collect()
    }

    /// By hand: 1 + 2 + 1 of the 4 cores of the first node, 2 of the second.
    #[test]
    fn jobs_with_ranks_share_nodes() {
        let placed = on_cores(&[("g0r0c0n0", &[1]), ("g0r0c0n[0-1]", &[2, 1]), ("g0r0c0n[1,0]", &[1, 1])]).unwrap();
        assert_eq!(placed, [vec![0], vec![0, 0, 1], vec![1, 0]]);
    }

    #[test]
    fn mistakes_of_ranks() {
        let message = |jobs: &[(&str, &[u32])]| on_cores(jobs).unwrap_err();
        assert_eq!(
            message(&[("g0r0c0n0", &[3]), ("g0r0c0n0", &[2])]),
            "job 'job1': placement 'list': nodes: node g0r0c0n0 has 4 cores, and all are taken"
        );
        assert_eq!(
            message(&[("g0r0c0n0", &[]), ("g0r0c0n0", &[2])]),
            "job 'job1': placement 'list': nodes: job 'job0' uses node g0r0c0n0 exclusively"
        );
        assert!(message(&[("g0r0c0n0", &[2]), ("g0r0c0n0", &[])]).ends_with("job 'job0' already uses node g0r0c0n0"));
        assert!(message(&[("g0r0c0n[0-1]", &[2])]).ends_with("2 nodes listed, but the job needs 1"));
        assert!(message(&[("g0r0c0n0,g0r0c0n0", &[2, 1])]).ends_with("node g0r0c0n0 is named twice"));
        let given = [("nodes", json!("g0r0c0n0")), ("ranks_on_nodes", json!([2]))];
        let machine = cascade(1, 2, 2, 2, 4);
        assert!(placed(&machine, "list", &given, 3, 1).unwrap_err().to_string().ends_with("but the job has 3"));
        assert!(placed(&machine, "list", &given, 2, 1).unwrap_err().to_string().ends_with("ranks_per_node is 1"));
    }
}

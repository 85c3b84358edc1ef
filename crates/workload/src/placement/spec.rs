//! Placements as the user writes them: a name and parameters.

use super::file::FilePlacementParameters;
use super::list::ListParameters;
use super::non_uniform::NonUniformParameters;
use super::units::RandomParameters;
use super::{
    compact, file, list, non_uniform, random_chassis, random_groups, random_nodes, random_routers, round_robin_nodes,
    round_robin_routers, units, FreeNodes, Placed, PlacementTable, Request,
};
use crate::parameters::{self, Known};
use crate::WorkloadError;
use odonata_units::{NodeId, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A placement with its parameters. In files its name is the variant's name in kebab case (`random-nodes`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum PlacementKind {
    /// The first free nodes, router by router.
    Compact {},
    /// One node of a router in each group in turn.
    RoundRobinNodes {},
    /// One router of each group in turn.
    RoundRobinRouters {},
    /// Single nodes in random order.
    RandomNodes(RandomParameters),
    /// Routers in random order.
    RandomRouters(RandomParameters),
    /// Rows of Cascade groups in random order.
    RandomChassis(RandomParameters),
    /// Groups in random order.
    RandomGroups(RandomParameters),
    /// Clustered around a random centre.
    NonUniform(NonUniformParameters),
    /// Listed by the user.
    List(ListParameters),
    /// From a file.
    File(FilePlacementParameters),
}

const KNOWN: &[Known<PlacementKind>] = &[
    Known { name: "compact", summary: "the first free nodes, router by router", default: || PlacementKind::Compact {} },
    Known {
        name: "round-robin-nodes",
        summary: "nodes dealt over the groups, one per router before any router gives a second",
        default: || PlacementKind::RoundRobinNodes {},
    },
    Known {
        name: "round-robin-routers",
        summary: "whole routers dealt over the groups",
        default: || PlacementKind::RoundRobinRouters {},
    },
    Known {
        name: "random-nodes",
        summary: "random nodes",
        default: || PlacementKind::RandomNodes(RandomParameters::default()),
    },
    Known {
        name: "random-routers",
        summary: "random routers, all free nodes of each",
        default: || PlacementKind::RandomRouters(RandomParameters::default()),
    },
    Known {
        name: "random-chassis",
        summary: "random chassis (rows of a Cascade group), all free nodes of each",
        default: || PlacementKind::RandomChassis(RandomParameters::default()),
    },
    Known {
        name: "random-groups",
        summary: "random groups, all free nodes of each",
        default: || PlacementKind::RandomGroups(RandomParameters::default()),
    },
    Known {
        name: "non-uniform",
        summary: "clustered around a random centre, with stragglers, as a batch queue leaves it",
        default: || PlacementKind::NonUniform(NonUniformParameters::default()),
    },
    Known {
        name: "list",
        summary: "the nodes that you list",
        default: || PlacementKind::List(ListParameters::default()),
    },
    Known {
        name: "file",
        summary: "the node of every rank, from a file",
        default: || PlacementKind::File(FilePlacementParameters::default()),
    },
];

const NAMES: [&str; KNOWN.len()] = parameters::names(KNOWN);

/// The user's words for a placement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlacementSpec {
    /// Which placement, with its parameters.
    #[serde(flatten)]
    pub kind: PlacementKind,
}

impl PlacementSpec {
    /// All placement names.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// One line on what placement `name` is.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn summary(name: &str) -> Result<&'static str, WorkloadError> {
        parameters::find("placement", name, KNOWN).map(|known| known.summary)
    }

    /// Placement `name` with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, WorkloadError> {
        Ok(Self { kind: (parameters::find("placement", name, KNOWN)?.default)() })
    }

    /// Placement `name` with `given` parameters, the others as by default. Whether they fit the machine is checked when
    /// the workload is built.
    ///
    /// # Errors
    /// An unknown placement or parameter name with the nearest known one; a value of the wrong type.
    pub fn with_parameters(name: &str, given: &Map<String, Value>) -> Result<Self, WorkloadError> {
        let mut spec = Self::parse(name)?;
        for (parameter, value) in given {
            spec.set(parameter, value)?;
        }
        Ok(spec)
    }

    /// Sets one parameter.
    ///
    /// # Errors
    /// As [`PlacementSpec::with_parameters`].
    pub fn set(&mut self, parameter: &str, value: &Value) -> Result<(), WorkloadError> {
        let changed = parameters::with(&format!("placement '{}'", self.name()), self, parameter, value)?;
        let before = std::mem::replace(self, changed);
        // What was attached is no parameter and would be lost; another path makes it void.
        if let (PlacementKind::File(old), PlacementKind::File(new)) = (before.kind, &mut self.kind) {
            new.table = old.table.filter(|_| old.path == new.path);
        }
        Ok(())
    }

    /// All parameters and their values, those left at their default included.
    pub fn parameters(&self) -> Map<String, Value> {
        parameters::of(self)
    }

    /// Path of the file that this placement needs, if it needs one.
    pub fn file(&self) -> Option<&str> {
        match &self.kind {
            PlacementKind::File(parameters) => Some(&parameters.path),
            _ => None,
        }
    }

    /// Hands over what [`PlacementSpec::file`] holds.
    ///
    /// # Panics
    /// If the placement needs no file.
    pub fn attach(&mut self, table: Arc<PlacementTable>) {
        match &mut self.kind {
            PlacementKind::File(parameters) => parameters.table = Some(table),
            _ => panic!("placement '{}' is not read from a file", self.name()),
        }
    }

    /// Name of the placement.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            PlacementKind::Compact {} => "compact",
            PlacementKind::RoundRobinNodes {} => "round-robin-nodes",
            PlacementKind::RoundRobinRouters {} => "round-robin-routers",
            PlacementKind::RandomNodes(_) => "random-nodes",
            PlacementKind::RandomRouters(_) => "random-routers",
            PlacementKind::RandomChassis(_) => "random-chassis",
            PlacementKind::RandomGroups(_) => "random-groups",
            PlacementKind::NonUniform(_) => "non-uniform",
            PlacementKind::List(_) => "list",
            PlacementKind::File(_) => "file",
        }
    }

    /// Places a job and takes its nodes, but for those that it draws from what all jobs leave.
    pub(crate) fn begin(&self, request: &Request<'_>, free: &mut FreeNodes<'_>) -> Result<Begun, WorkloadError> {
        let job = free.next_job(request.job);
        let owner = format!("job '{}': placement '{}'", request.job, self.name());
        if let PlacementKind::File(parameters) = &self.kind {
            return file::place(&owner, parameters, request, free).map(Begun::Placed);
        }
        let ranks_per_node = ranks_per_node(request, free)?;
        let needed = request.ranks.div_ceil(ranks_per_node) as usize;
        check_room(request, ranks_per_node, needed, free)?;
        // Named by the job, so that it does not depend on the jobs beside it.
        let mut stream = Stream::new(request.seed, &format!("placement/{}", request.job), &[]);
        let nodes = self
            .nodes(needed, free, &mut stream)
            .map_err(|(parameter, reason)| WorkloadError::parameter(&owner, parameter, reason))?;
        for &node in &nodes {
            free.claim(node).map_err(|reason| WorkloadError::parameter(&owner, "nodes", reason))?;
        }
        let later = match &self.kind {
            PlacementKind::NonUniform(_) => needed - nodes.len(),
            _ => 0,
        };
        assert_eq!(nodes.len() + later, needed, "a placement hands out as many nodes as it is asked for");
        if later == 0 {
            return Ok(Begun::Placed(Placed::in_blocks(request.ranks, ranks_per_node, &nodes)));
        }
        free.reserve(later);
        Ok(Begun::Scatters { job, nodes, later, ranks_per_node, stream })
    }

    /// The `count` nodes of a job in the order in which its ranks fill them, or (parameter, reason).
    ///
    /// `non-uniform` hands out its cluster only.
    fn nodes(
        &self,
        count: usize,
        free: &FreeNodes<'_>,
        stream: &mut Stream,
    ) -> Result<Vec<NodeId>, (&'static str, String)> {
        let unfit = |reason| ("name", reason);
        match &self.kind {
            PlacementKind::Compact {} => Ok(compact::nodes(free, count)),
            PlacementKind::RoundRobinNodes {} => Ok(round_robin_nodes::nodes(free, count)),
            PlacementKind::RoundRobinRouters {} => Ok(round_robin_routers::nodes(free, count)),
            PlacementKind::RandomNodes(p) => Ok(random_nodes::nodes(free, count, *p, stream)),
            PlacementKind::RandomRouters(p) => Ok(random_routers::nodes(free, count, *p, stream)),
            PlacementKind::RandomChassis(p) => random_chassis::nodes(free, count, *p, stream).map_err(unfit),
            PlacementKind::RandomGroups(p) => random_groups::nodes(free, count, *p, stream).map_err(unfit),
            PlacementKind::NonUniform(p) => {
                p.check()?;
                Ok(non_uniform::cluster(free, count, *p, stream))
            }
            PlacementKind::List(p) => list::nodes(free, count, p).map_err(|reason| ("nodes", reason)),
            PlacementKind::File(_) => unreachable!("a file names the node of every rank"),
        }
    }
}

/// A job that has taken nodes.
pub(crate) enum Begun {
    /// All of them.
    Placed(Placed),
    /// All but `later` nodes, which it draws from those that all jobs leave.
    Scatters {
        /// Its place among the jobs.
        job: usize,
        nodes: Vec<NodeId>,
        later: usize,
        ranks_per_node: u32,
        stream: Stream,
    },
}

impl Begun {
    /// Draws the nodes that are missing.
    pub(crate) fn finish(self, request: &Request<'_>, free: &mut FreeNodes<'_>) -> Result<Placed, WorkloadError> {
        let (job, mut nodes, later, ranks_per_node, mut stream) = match self {
            Self::Placed(placed) => return Ok(placed),
            Self::Scatters { job, nodes, later, ranks_per_node, stream } => (job, nodes, later, ranks_per_node, stream),
        };
        free.resume(job, later);
        check_room(request, ranks_per_node, later, free)?;
        for node in non_uniform::scattered(free, later, &mut stream) {
            free.claim(node).expect("the node is free");
            nodes.push(node);
        }
        units::sort(&mut nodes, free);
        Ok(Placed::in_blocks(request.ranks, ranks_per_node, &nodes))
    }
}

/// What the user gave, else one rank per core.
fn ranks_per_node(request: &Request<'_>, free: &FreeNodes<'_>) -> Result<u32, WorkloadError> {
    let cores = free.machine().cores_per_node();
    match request.ranks_per_node.unwrap_or(cores) {
        0 => Err(WorkloadError::job(request.job, "ranks_per_node", "0, but a node holds at least one rank")),
        most if most > cores => {
            let reason =
                format!("{most}, but a node of {} has {cores} cores: {} too many", free.machine().name(), most - cores);
            Err(WorkloadError::job(request.job, "ranks_per_node", reason))
        }
        most => Ok(most),
    }
}

fn check_room(
    request: &Request<'_>,
    ranks_per_node: u32,
    needed: usize,
    free: &FreeNodes<'_>,
) -> Result<(), WorkloadError> {
    let left = free.room();
    if needed <= left {
        return Ok(());
    }
    let machine = free.machine();
    Err(WorkloadError::Oversubscribed {
        job: request.job.into(),
        ranks: request.ranks,
        ranks_per_node,
        needed,
        free: left,
        usable: machine.nodes().filter(|&node| machine.node_up(node)).count(),
        machine: machine.name().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{place, place_in, placed};
    use super::*;
    use crate::test_machines::{cascade, groups, torus};
    use odonata_machine::{Machine, MachineBuilder};
    use proptest::prelude::*;
    use serde_json::json;

    const DRAWN: [&str; 8] = [
        "compact",
        "round-robin-nodes",
        "round-robin-routers",
        "random-nodes",
        "random-routers",
        "random-chassis",
        "random-groups",
        "non-uniform",
    ];

    #[test]
    fn every_name_is_its_own() {
        for name in PlacementSpec::names() {
            let spec = PlacementSpec::parse(name).unwrap();
            assert_eq!(spec.name(), *name);
            assert_eq!(serde_json::to_value(&spec).unwrap()["name"], *name);
            assert_eq!(PlacementSpec::with_parameters(name, &spec.parameters()).unwrap(), spec);
            assert!(!PlacementSpec::summary(name).unwrap().is_empty());
        }
    }

    #[test]
    fn mistakes_name_the_nearest() {
        let error = PlacementSpec::parse("random-node").unwrap_err();
        assert_eq!(error.to_string(), "unknown placement 'random-node'; did you mean 'random-nodes'?");
        let set =
            |name: &str, key: &str| PlacementSpec::parse(name).unwrap().set(key, &json!(1)).unwrap_err().to_string();
        assert_eq!(set("compact", "sorted"), "unknown parameter of placement 'compact' 'sorted'; it has none");
        assert!(set("random-nodes", "sort").ends_with("known: sorted"));
        assert!(set("random-nodes", "sorted").contains("expected a boolean"));
    }

    fn routers(machine: &Machine, nodes: &[NodeId]) -> Vec<u32> {
        nodes.iter().map(|&node| machine.router_of(node).0).collect()
    }

    /// 3 groups x 2 routers x 2 nodes.
    #[test]
    fn the_regular_ones_by_hand() {
        let machine = groups(3, 2, 2);
        let nodes = |name: &str| place(&machine, name, &[], 12, 1).iter().map(|n| n.0).collect::<Vec<_>>();
        assert_eq!(nodes("compact"), (0..12).collect::<Vec<_>>());
        assert_eq!(nodes("round-robin-routers"), [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]);
        assert_eq!(nodes("round-robin-nodes"), [0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11]);
    }

    /// What is drawn comes whole, but for the last: 5 routers and 1 node, 3 chassis and 5 nodes, 1 group and 13 nodes.
    #[test]
    fn units_come_whole() {
        let machine = cascade(4, 3, 4, 2, 2);
        let runs = |name: &str, count, unit: u32| {
            let nodes = place(&machine, name, &[], count, 3);
            let mut units: Vec<u32> = nodes.iter().map(|node| node.0 / unit).collect();
            units.dedup();
            let found = units.len();
            units.sort_unstable();
            units.dedup();
            assert_eq!(units.len(), found, "{name} comes back to a unit that it has left");
            found
        };
        assert_eq!(runs("random-routers", 11, 2), 6);
        assert_eq!(runs("random-chassis", 29, 8), 4);
        assert_eq!(runs("random-groups", 37, 24), 2);
    }

    #[test]
    fn sorted_is_the_same_nodes_in_the_order_of_the_machine() {
        let machine = cascade(4, 3, 4, 2, 2);
        for name in ["random-nodes", "random-routers", "random-chassis", "random-groups"] {
            let mut drawn = place(&machine, name, &[], 30, 1);
            let sorted = place(&machine, name, &[("sorted", json!(true))], 30, 1);
            assert_ne!(drawn, sorted, "{name}");
            drawn.sort_unstable();
            assert_eq!(drawn, sorted, "{name}");
        }
    }

    /// Each of 24 routers is the first drawn with probability 1/24: 2,400 seeds, 100 each, standard deviation 9.8.
    #[test]
    fn random_routers_are_uniform() {
        let machine = cascade(2, 3, 4, 2, 2);
        let mut first = [0i32; 24];
        for seed in 0..2_400 {
            first[routers(&machine, &place(&machine, "random-routers", &[], 1, seed))[0] as usize] += 1;
        }
        assert!(first.iter().all(|n| (n - 100).abs() < 49), "{first:?}");
    }

    #[test]
    fn a_machine_without_the_unit_says_what_to_use() {
        let message = |machine: &Machine, name: &str| placed(machine, name, &[], 1, 1).unwrap_err().to_string();
        assert_eq!(
            message(&groups(2, 2, 2), "random-chassis"),
            "job 'test': placement 'random-chassis': name: a chassis is a row of a Cray Cascade group, and test has no \
             rows; use random-routers or random-groups"
        );
        assert!(message(&torus(&[3, 3], 1), "random-groups").contains("single group; use random-routers"));
    }

    /// 4 groups x 6 routers x 2 nodes where some nodes are unusable and some routers have failed.
    fn damaged(down: &[u32], failed: &[u32]) -> Machine {
        let mut builder = MachineBuilder::from(cascade(4, 2, 3, 2, 3));
        down.iter().for_each(|&node| builder.node_up[node as usize] = false);
        failed.iter().for_each(|&router| builder.router_up[router as usize] = false);
        builder.build().unwrap()
    }

    proptest! {
        /// Jobs one after the other by any of the policies, until the machine is full: every node is usable and of one
        /// job, ranks fill nodes in blocks, and a job that does not fit says by how much.
        #[test]
        fn nodes_are_of_one_job(
            down in proptest::collection::vec(0u32..48, 0..20),
            failed in proptest::collection::vec(0u32..24, 0..4),
            jobs in proptest::collection::vec((0usize..8, 1u32..40, 1u32..=3), 1..12),
            seed in any::<u64>(),
        ) {
            let machine = damaged(&down, &failed);
            let usable = machine.nodes().filter(|&node| machine.node_up(node)).count();
            let mut free = FreeNodes::new(&machine);
            let mut taken = vec![false; machine.node_count()];
            for (index, &(policy, ranks, per_node)) in jobs.iter().enumerate() {
                let spec = PlacementSpec::parse(DRAWN[policy]).unwrap();
                let request = Request {
                    job: &format!("job{index}"), index, ranks, ranks_per_node: Some(per_node), seed,
                };
                let left = taken.iter().enumerate().filter(|(n, t)| !**t && machine.node_up(NodeId(*n as u32))).count();
                let needed = ranks.div_ceil(per_node) as usize;
                match place_in(&spec, &request, &mut free) {
                    Ok(placed) => {
                        prop_assert_eq!(placed.node_of_rank.len(), ranks as usize);
                        for block in placed.node_of_rank.chunks(per_node as usize) {
                            prop_assert!(block.iter().all(|node| *node == block[0]));
                            prop_assert!(machine.node_up(block[0]) && !taken[block[0].index()]);
                            taken[block[0].index()] = true;
                        }
                    }
                    Err(WorkloadError::Oversubscribed { needed: said, free: said_free, usable: said_usable, .. }) => {
                        prop_assert!(needed > left);
                        prop_assert_eq!((said, said_free, said_usable), (needed, left, usable));
                    }
                    Err(other) => prop_assert!(false, "{}", other),
                }
            }
        }
    }
}

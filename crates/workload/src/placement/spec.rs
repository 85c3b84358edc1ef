//! Placements as users write them: a name and parameters.

use super::file::FilePlacementParameters;
use super::list::ListParameters;
use super::mapping::MappingParameters;
use super::non_uniform::NonUniformParameters;
use super::random_order::RandomOrderParameters;
use super::units::RandomParameters;
use super::{
    compact, non_uniform, random_chassis, random_groups, random_nodes, random_routers, round_robin_nodes,
    round_robin_routers, units, FreeNodes, NodeAssignment, PlacementRequest,
};
use crate::WorkloadError;
use odonata_declare::{
    parameter, try_set, Kind, Parameter, ParameterStruct, Parameters, Reader, Value, Variant, VariantInfo,
};
use odonata_units::{NodeId, Stream};
use std::sync::Arc;

/// An invalid parameter and the reason.
pub(super) type ParameterError = (&'static str, String);

/// A placement's parameters, before its job is known.
pub trait PlacementRule: ParameterStruct {
    /// Reads the files named by the parameters.
    ///
    /// # Errors
    /// The parameter of an unreadable file, and the reason.
    fn read(&mut self, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let _ = files;
        Ok(())
    }

    /// Claims nodes for a job. Errors name `owner`.
    ///
    /// # Errors
    /// A job or parameters that do not fit.
    fn begin(
        &self,
        owner: &str,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError>;
}

/// An order of free nodes: the first `count` of them.
type Order = fn(&FreeNodes<'_>, usize, RandomParameters, &mut Stream) -> Result<Vec<NodeId>, ParameterError>;

/// A placement without parameters.
#[derive(Clone, Debug)]
struct RegularPlacement {
    nodes: fn(&FreeNodes<'_>, usize) -> Vec<NodeId>,
}

impl Parameters for RegularPlacement {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl PlacementRule for RegularPlacement {
    fn begin(
        &self,
        owner: &str,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        assign(owner, request, free, |count, free, _| Ok((self.nodes)(free, count)))
    }
}

/// A placement that draws whole units: nodes, routers, chassis, groups.
#[derive(Clone, Debug)]
struct RandomPlacement {
    order: Order,
    parameters: RandomParameters,
}

impl RandomPlacement {
    fn boxed(order: Order) -> Box<dyn PlacementRule> {
        Box::new(Self { order, parameters: RandomParameters::default() })
    }
}

impl Parameters for RandomPlacement {
    const PARAMETERS: &'static [Parameter<Self>] = &[parameter!(
        sorted = parameters.sorted,
        Kind::Flag,
        "Whether the ranks fill the drawn nodes in the order of the machine instead of the order of the draw."
    )];
}

impl PlacementRule for RandomPlacement {
    fn begin(
        &self,
        owner: &str,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        assign(owner, request, free, |count, free, stream| (self.order)(free, count, self.parameters, stream))
    }
}

const fn placement(
    name: &'static str,
    doc: &'static str,
    default: fn() -> Box<dyn PlacementRule>,
) -> Variant<dyn PlacementRule> {
    Variant { name, doc, default }
}

/// The placements, in the order of the reference; the first is the default.
pub const PLACEMENTS: &[Variant<dyn PlacementRule>] = &[
    placement("compact", "the first free nodes, router by router", || {
        Box::new(RegularPlacement { nodes: compact::nodes })
    }),
    placement(
        "round-robin-nodes",
        "nodes from the groups in turn, one per router before any router provides a second",
        || Box::new(RegularPlacement { nodes: round_robin_nodes::nodes }),
    ),
    placement("round-robin-routers", "whole routers from the groups in turn", || {
        Box::new(RegularPlacement { nodes: round_robin_routers::nodes })
    }),
    placement("random-nodes", "random nodes", || RandomPlacement::boxed(random_nodes::nodes)),
    placement("random-order", "the next nodes of one random order of all nodes, shared by all jobs", || {
        Box::new(RandomOrderParameters::default())
    }),
    placement("random-routers", "random routers, all free nodes of each", || {
        RandomPlacement::boxed(random_routers::nodes)
    }),
    placement("random-chassis", "random chassis (rows of a Cascade group), all free nodes of each", || {
        RandomPlacement::boxed(random_chassis::nodes)
    }),
    placement("random-groups", "random groups, all free nodes of each", || {
        RandomPlacement::boxed(random_groups::nodes)
    }),
    placement("non-uniform", "clustered around a random centre, with stragglers, as from a batch queue", || {
        Box::new(NonUniformParameters::default())
    }),
    placement("list", "the nodes that you list", || Box::new(ListParameters::default())),
    placement("mapping", "on a torus, places in an order of its axes, or from a map file", || {
        Box::new(MappingParameters::default())
    }),
    placement("file", "the node of every rank, from a file", || Box::new(FilePlacementParameters::default())),
];

/// Specification of a placement.
#[derive(Clone, Debug)]
pub struct PlacementSpec {
    name: &'static str,
    rule: Arc<dyn PlacementRule>,
}

impl PlacementSpec {
    /// A placement with its default parameters.
    pub fn of(placement: &'static Variant<dyn PlacementRule>) -> Self {
        Self { name: placement.name, rule: Arc::from((placement.default)()) }
    }

    /// The placement called `name` with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, String> {
        Variant::find("placement", PLACEMENTS, name).map(Self::of)
    }

    /// Description for parser and reference.
    pub fn named(placement: &Variant<dyn PlacementRule>) -> VariantInfo {
        VariantInfo::of(placement)
    }

    /// Sets one parameter. The build checks whether it fits the machine.
    ///
    /// # Errors
    /// An unknown parameter, with the nearest known one, or a value of the wrong kind.
    ///
    /// # Panics
    /// If a job already uses the placement.
    pub fn set(&mut self, parameter: &str, value: impl Into<Value>) -> Result<(), odonata_declare::ParameterError> {
        let owner = format!("placement '{}'", self.name);
        try_set(self.rule_mut(), parameter, &value.into())
            .map_err(|reason| odonata_declare::ParameterError::new(owner, parameter, reason))
    }

    /// All parameters and their values, including defaults.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.rule.values()
    }

    /// The rule, for changes.
    ///
    /// # Panics
    /// If a job already uses the placement.
    pub fn rule_mut(&mut self) -> &mut dyn PlacementRule {
        Arc::get_mut(&mut self.rule).expect("a placement is set before it is shared")
    }

    /// Name of the placement.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Places a job, except for the nodes that it draws after all jobs are placed.
    pub(crate) fn begin(
        &self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<PendingPlacement, WorkloadError> {
        self.rule.begin(&format!("job '{}': placement '{}'", request.job, self.name), request, free)
    }
}

/// Claims nodes for a job in the order of `nodes`, and puts its ranks on them in blocks. If `nodes` returns too few,
/// the rest is drawn after all jobs are placed.
pub(super) fn assign(
    owner: &str,
    request: &PlacementRequest<'_>,
    free: &mut FreeNodes<'_>,
    nodes: impl FnOnce(usize, &FreeNodes<'_>, &mut Stream) -> Result<Vec<NodeId>, ParameterError>,
) -> Result<PendingPlacement, WorkloadError> {
    let job = free.next_job(request.job);
    let ranks_per_node = ranks_per_node(request, free)?;
    let needed = request.ranks.div_ceil(ranks_per_node) as usize;
    check_room(request, ranks_per_node, needed, free)?;
    // Named by the job, so it does not depend on other jobs.
    let mut stream = Stream::new(request.seed, &format!("placement/{}", request.job), &[]);
    let nodes = nodes(needed, free, &mut stream)
        .map_err(|(parameter, reason)| WorkloadError::parameter(owner, parameter, reason))?;
    for &node in &nodes {
        free.claim(node).map_err(|reason| WorkloadError::parameter(owner, "nodes", reason))?;
    }
    let later = needed.checked_sub(nodes.len()).expect("a placement returns at most the requested nodes");
    if later == 0 {
        return Ok(PendingPlacement(Stage::NodeAssignment(NodeAssignment::in_blocks(
            request.ranks,
            ranks_per_node,
            &nodes,
        ))));
    }
    free.reserve(later);
    Ok(PendingPlacement(Stage::Scatters { job, nodes, later, ranks_per_node, stream }))
}

/// A job with claimed nodes.
#[derive(Debug)]
pub struct PendingPlacement(Stage);

#[derive(Debug)]
enum Stage {
    /// All nodes.
    NodeAssignment(NodeAssignment),
    /// All except `later` nodes, which it draws after all jobs are placed.
    Scatters {
        /// Index of the job.
        job: usize,
        nodes: Vec<NodeId>,
        later: usize,
        ranks_per_node: u32,
        stream: Stream,
    },
}

impl From<NodeAssignment> for PendingPlacement {
    fn from(placed: NodeAssignment) -> Self {
        Self(Stage::NodeAssignment(placed))
    }
}

impl PendingPlacement {
    /// Draws the missing nodes.
    pub(crate) fn finish(
        self,
        request: &PlacementRequest<'_>,
        free: &mut FreeNodes<'_>,
    ) -> Result<NodeAssignment, WorkloadError> {
        let (job, mut nodes, later, ranks_per_node, mut stream) = match self.0 {
            Stage::NodeAssignment(placed) => return Ok(placed),
            Stage::Scatters { job, nodes, later, ranks_per_node, stream } => {
                (job, nodes, later, ranks_per_node, stream)
            }
        };
        free.resume(job, later);
        check_room(request, ranks_per_node, later, free)?;
        for node in non_uniform::scattered(free, later, &mut stream) {
            free.claim(node).expect("the node is free");
            nodes.push(node);
        }
        units::sort(&mut nodes, free);
        Ok(NodeAssignment::in_blocks(request.ranks, ranks_per_node, &nodes))
    }
}

/// The given value, or one rank per core.
pub(super) fn ranks_per_node(request: &PlacementRequest<'_>, free: &FreeNodes<'_>) -> Result<u32, WorkloadError> {
    let cores = free.machine().cores_per_node();
    match request.ranks_per_node.unwrap_or(cores) {
        0 => Err(WorkloadError::job(request.job, "ranks_per_node", "0, expected at least one rank per node")),
        most if most > cores => {
            let reason =
                format!("{most}, but a node of {} has {cores} cores: {} too many", free.machine().name(), most - cores);
            Err(WorkloadError::job(request.job, "ranks_per_node", reason))
        }
        most => Ok(most),
    }
}

fn check_room(
    request: &PlacementRequest<'_>,
    ranks_per_node: u32,
    needed: usize,
    free: &FreeNodes<'_>,
) -> Result<(), WorkloadError> {
    let left = free.free_count();
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

    const DRAWN: [&str; 9] = [
        "compact",
        "round-robin-nodes",
        "round-robin-routers",
        "random-nodes",
        "random-order",
        "random-routers",
        "random-chassis",
        "random-groups",
        "non-uniform",
    ];

    #[test]
    fn every_name_is_its_own() {
        for placement in PLACEMENTS {
            let spec = PlacementSpec::parse(placement.name).unwrap();
            assert_eq!(spec.name(), placement.name);
            let mut again = PlacementSpec::parse(placement.name).unwrap();
            let written = |value: &Value| *value != Value::text("") && *value != Value::List(Vec::new());
            for (parameter, value) in spec.values().into_iter().filter(|(_, value)| written(value)) {
                again.set(parameter, value).unwrap();
            }
            assert_eq!(again.values(), spec.values());
        }
    }

    #[test]
    fn mistakes_name_the_nearest() {
        let error = PlacementSpec::parse("random-node").unwrap_err();
        assert_eq!(error.to_string(), "unknown placement 'random-node'; did you mean 'random-nodes'?");
        let set =
            |name: &str, key: &str| PlacementSpec::parse(name).unwrap().set(key, json!(1)).unwrap_err().to_string();
        assert_eq!(set("compact", "sorted"), "placement 'compact': sorted: unknown parameter; this variant has none");
        assert!(set("random-nodes", "size").ends_with("known: sorted"));
        assert!(set("random-nodes", "sorted").contains("expected true or false"));
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

    /// Units are drawn whole, except the last: 5 routers and 1 node, 3 chassis and 5 nodes, 1 group and 13 nodes.
    #[test]
    fn units_are_drawn_whole() {
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

    /// Each of 24 routers is drawn first with probability 1/24: 2,400 seeds, 100 each, standard deviation 9.8.
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

    /// 4 groups x 6 routers x 2 nodes with unusable nodes and failed routers.
    fn damaged(down: &[u32], failed: &[u32]) -> Machine {
        let mut builder = MachineBuilder::from(cascade(4, 2, 3, 2, 3));
        down.iter().for_each(|&node| builder.node_up[node as usize] = false);
        failed.iter().for_each(|&router| builder.router_up[router as usize] = false);
        builder.build().unwrap()
    }

    proptest! {
        /// Jobs are placed until the machine is full. Every node is usable and belongs to one job, and ranks fill nodes
        /// in blocks. A job that does not fit reports the number of missing nodes.
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
                let request = PlacementRequest {
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

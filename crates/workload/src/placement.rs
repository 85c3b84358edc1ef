//! Placement: ranks to nodes.
//!
//! Jobs are placed in the order of the experiment file, on usable nodes only. Storage nodes are for I/O ranks, for the
//! placement `storage`, and for placements that list them. Jobs with scattered nodes draw these
//! after all jobs are placed. Most placements assign *free* nodes in some order. The ranks fill the nodes in this
//! order, `ranks_per_node` consecutive ranks on each, and do not share them with other jobs. Only a placement file
//! gives the node of every rank. Jobs placed by files may share a node if its cores suffice.

mod cell;
mod compact;
mod file;
mod free;
mod io_ranks;
mod list;
mod mapping;
mod non_uniform;
mod random_chassis;
mod random_groups;
mod random_nodes;
mod random_order;
mod random_placement;
mod random_routers;
mod regular;
mod round_robin_nodes;
mod round_robin_routers;
mod rule;
pub mod search;
mod storage;
mod units;

#[cfg(test)]
mod test_help;

pub use file::FilePlacementParameters;
pub use io_ranks::IoRanks;
pub use list::{ListParameters, NodeName};
pub use mapping::MappingParameters;
pub use non_uniform::{Distribution, NonUniformParameters};
pub use random_order::RandomOrderParameters;
pub use random_placement::RandomPlacement;
pub use rule::{NodeAssignment, PendingPlacement, PlacementRequest, PlacementRule, PlacementSpec};

pub use free::FreeNodes;

use odonata_declare::{RuleFamily, Variant};
use regular::RegularPlacement;
use storage::StoragePlacement;

/// The placements, in the order of the reference; the first is the default.
pub const PLACEMENTS: &[Variant<dyn PlacementRule>] = &[
    Variant::new("compact", "the first free nodes, router by router", || {
        Box::new(RegularPlacement { nodes: compact::nodes })
    }),
    Variant::new(
        "round-robin-nodes",
        "nodes from the groups in turn, one per router before any router provides a second",
        || Box::new(RegularPlacement { nodes: round_robin_nodes::nodes }),
    ),
    Variant::new("round-robin-routers", "whole routers from the groups in turn", || {
        Box::new(RegularPlacement { nodes: round_robin_routers::nodes })
    }),
    Variant::new("random-nodes", "random nodes", || RandomPlacement::boxed(random_nodes::units)),
    Variant::new("random-order", "the next nodes of one random order of all nodes, shared by all jobs", || {
        Box::new(RandomOrderParameters::default())
    }),
    Variant::new("random-routers", "random routers, all free nodes of each", || {
        RandomPlacement::boxed(random_routers::units)
    }),
    Variant::new("random-chassis", "random chassis (rows of a Cascade group), all free nodes of each", || {
        RandomPlacement::boxed(random_chassis::units)
    }),
    Variant::new("random-groups", "random groups, all free nodes of each", || {
        RandomPlacement::boxed(random_groups::units)
    }),
    Variant::new("non-uniform", "clustered around a random centre, with stragglers, as from a batch queue", || {
        Box::new(NonUniformParameters::default())
    }),
    Variant::new("storage", "the first free storage nodes of the machine, router by router", || {
        Box::new(StoragePlacement)
    }),
    Variant::new("list", "the nodes that you list", || Box::new(ListParameters::default())),
    Variant::new("mapping", "on a torus, places in an order of its axes, or from a map file", || {
        Box::new(MappingParameters::default())
    }),
    Variant::new("file", "the node of every rank, from a file", || Box::new(FilePlacementParameters::default())),
];

impl RuleFamily for dyn PlacementRule {
    const NOUN: &'static str = "placement";
    const RULES: &'static [Variant<Self>] = PLACEMENTS;
    type Common = ();
}

#[cfg(test)]
mod tests {
    use super::test_help::{place, place_in, placed};
    use super::*;
    use crate::test_machines::{cascade, groups, torus};
    use crate::WorkloadError;
    use odonata_declare::Value;
    use odonata_machine::edit::{apply, Edit};
    use odonata_machine::{Machine, MachineBuilder};
    use odonata_units::NodeId;
    use proptest::prelude::*;
    use serde_json::json;

    /// Placements whose draws a failure does not change.
    const RANDOM: [&str; 6] =
        ["random-nodes", "random-order", "random-routers", "random-chassis", "random-groups", "non-uniform"];

    /// Placements that choose among all free nodes.
    pub(super) const DRAWN: [&str; 9] = [
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
                    placement: DRAWN[policy],
                    job: &format!("job{index}"), index, ranks, ranks_per_node: Some(per_node), seed,
                    io_ranks: IoRanks::default(),
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

        /// A failure moves the ranks of failed nodes, and ranks whose nodes those got. All others stay.
        #[test]
        fn a_failure_moves_no_other_rank(
            down in proptest::collection::vec(0u32..47, 0..5),
            failed in 0u32..23,
            jobs in proptest::collection::vec((0usize..RANDOM.len(), 1u32..14), 1..4),
            seed in any::<u64>(),
        ) {
            let placed = |machine: &Machine| {
                let mut free = FreeNodes::new(machine);
                let mut place = |(index, &(policy, ranks)): (usize, &(usize, u32))| {
                    let request = PlacementRequest {
                        placement: RANDOM[policy],
                        job: &format!("job{index}"), index, ranks, ranks_per_node: Some(1), seed,
                        io_ranks: IoRanks::default(),
                    };
                    place_in(&PlacementSpec::parse(RANDOM[policy]).unwrap(), &request, &mut free).unwrap().node_of_rank
                };
                jobs.iter().enumerate().map(&mut place).collect::<Vec<_>>()
            };
            // A node that the description leaves out, and failures by edits.
            let whole = MachineBuilder::from(damaged(&[47], &[]));
            let names = whole.clone().build().unwrap();
            let mut edits: Vec<String> =
                down.iter().map(|&node| format!("fail node {}", names.node_name(NodeId(node)))).collect();
            edits.push(format!("fail router {failed}"));
            let edits: Vec<Edit> = edits.iter().map(|edit| Edit::parse(edit).unwrap()).collect();
            let machine = apply(whole, &edits, 0).unwrap().build().unwrap();
            let (before, after) = (placed(&names), placed(&machine));
            for (job, (before, nodes)) in before.iter().zip(&after).enumerate() {
                for (before, now) in before.iter().zip(nodes) {
                    let stood_in = after[..job].iter().flatten().any(|node| node == before);
                    prop_assert!(now == before || !machine.node_up(*before) || stood_in, "job {}: {} to {}", job, before, now);
                }
            }
        }
    }
}

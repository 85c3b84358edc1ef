//! One random order of all nodes. Each job takes the next nodes. This is the placement of the interference study (Kang
//! et al. 2022): a job has the same nodes alone, in pairs and in a mixed workload.

use super::free::{DrawnNodes, FreeNodes};
use super::rule::NodeOrder;
use odonata_declare::{parameters, Kind, ParameterMistake, AUTO};
use odonata_units::{NodeId, Stream};

parameters! {
    /// Parameters of `random-order`.
    pub struct RandomOrderParameters {
        /// Number of the order. It seeds the draw, whatever the seed of the run.
        pub order: u32 = 1, Kind::count(0);
        /// Nodes of the order before the job's first node. If not given, the job takes the next free nodes.
        pub skip: Option<u32> = None, Kind::WordOr(AUTO, &Kind::count(0));
    }
}

impl NodeOrder for RandomOrderParameters {
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, _: &mut Stream) -> Result<DrawnNodes, ParameterMistake> {
        let machine = free.machine();
        let mut order: Vec<NodeId> = machine.nodes().collect();
        Stream::new(self.order.into(), "placement/order", &[]).shuffle(&mut order);
        let Some(skip) = self.skip else {
            order.retain(|&node| free.is_drawable(node));
            return Ok(DrawnNodes::of_order(order, count));
        };
        // After the draw, so a fault moves ranks by a few nodes only.
        order.retain(|&node| machine.is_compute(node));
        let (skip, usable) = (skip as usize, order.len());
        if usable < skip + count {
            let reason = format!(
                "{skip}, but {} has {usable} usable nodes and the job needs {count}: at most {}",
                machine.name(),
                usable - count
            );
            return Err(("skip", reason));
        }
        let nodes = order[skip..skip + count].to_vec();
        match nodes.iter().position(|&node| !free.is_free(node)) {
            None => Ok(nodes.into()),
            Some(place) => {
                let (name, place) = (machine.node_name(nodes[place]), skip + place);
                Err(("skip", format!("{skip}, but an earlier job uses node {name}, number {place} of the order")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{place, place_in, placed};
    use super::super::{FreeNodes, IoRanks, PlacementRequest, PlacementSpec};
    use crate::test_machines::groups;
    use odonata_machine::edit::{apply, Edit};
    use odonata_machine::MachineBuilder;
    use serde_json::{json, Value};

    fn spec(given: &[(&str, Value)]) -> PlacementSpec {
        let mut spec = PlacementSpec::parse("random-order").unwrap();
        given.iter().for_each(|(key, value)| spec.set(key, value.clone()).unwrap());
        spec
    }

    fn request(job: &str, ranks: u32) -> PlacementRequest<'_> {
        PlacementRequest {
            job,
            placement: "random-order",
            index: 0,
            ranks,
            ranks_per_node: Some(1),
            seed: 5,
            io_ranks: IoRanks::default(),
        }
    }

    /// The order depends neither on the name of the job nor on the seed of the run, only on its number.
    #[test]
    fn one_order_for_all() {
        let machine = groups(4, 4, 2);
        let all = place(&machine, "random-order", &[], 32, 1);
        assert_eq!(place(&machine, "random-order", &[], 32, 2), all);
        assert_eq!(place(&machine, "random-order", &[("skip", json!(0))], 32, 1), all);
        assert_eq!(place(&machine, "random-order", &[("skip", json!(7))], 9, 1), all[7..16]);
        assert_ne!(place(&machine, "random-order", &[("order", json!(2))], 32, 1), all);
        let mut sorted = all;
        sorted.sort_unstable();
        assert_eq!(sorted, machine.nodes().collect::<Vec<_>>());
    }

    /// Two jobs together take the nodes that one job of both sizes takes. With `skip`, the second job takes its nodes
    /// without the first as well.
    #[test]
    fn jobs_take_the_next_ones() {
        let machine = groups(4, 4, 2);
        let all = place(&machine, "random-order", &[], 20, 1);
        let mut free = FreeNodes::new(&machine);
        let first = place_in(&spec(&[]), &request("a", 12), &mut free).unwrap();
        let second = place_in(&spec(&[]), &request("b", 8), &mut free).unwrap();
        assert_eq!([first.node_of_rank, second.node_of_rank].concat(), all);
        assert_eq!(place(&machine, "random-order", &[("skip", json!(12))], 8, 1), all[12..]);
    }

    #[test]
    fn mistakes() {
        let machine = groups(4, 4, 2);
        let far = placed(&machine, "random-order", &[("skip", json!(25))], 8, 1).unwrap_err().to_string();
        assert_eq!(
            far,
            "job 'test': placement 'random-order': skip: 25, but test has 32 usable nodes and the job needs 8: at most 24"
        );
        let mut free = FreeNodes::new(&machine);
        place_in(&spec(&[]), &request("a", 12), &mut free).unwrap();
        let held = place_in(&spec(&[("skip", json!(11))]), &request("b", 8), &mut free).unwrap_err().to_string();
        let order = place(&machine, "random-order", &[], 32, 1);
        let name = machine.node_name(order[11]);
        assert_eq!(
            held,
            format!(
                "job 'b': placement 'random-order': skip: 11, but an earlier job uses node {name}, number 11 \
                 of the order"
            )
        );
    }

    /// The rank of a node that is down gets the next free node of the order. The others stay.
    #[test]
    fn a_fault_moves_only_its_own_ranks() {
        let whole = groups(2, 2, 2);
        let order = place(&whole, "random-order", &[], 8, 1);
        let edit = Edit::parse(&format!("fail node {}", whole.node_name(order[3]))).unwrap();
        let faulty = apply(MachineBuilder::from(whole), &[edit], 0).unwrap().build().unwrap();
        let mut moved = order[..7].to_vec();
        moved[3] = order[7];
        assert_eq!(place(&faulty, "random-order", &[], 7, 1), moved);
    }
}

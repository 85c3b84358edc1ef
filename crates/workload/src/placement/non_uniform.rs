//! Non-uniform random: a cluster of routers around a random centre and a few scattered nodes, like the nodes from a
//! batch queue. It is the placement of the Damselfly papers' workloads on Edison.

use super::free::{DrawnNodes, FreeNodes};
use super::rule::NodeOrder;
use super::units;
use odonata_declare::{parameters, words, Kind, ParameterMistake};
use odonata_units::{NodeId, RouterId, Stream};

parameters! {
    /// Parameters of `non-uniform`.
    #[derive(Copy, PartialEq)]
    pub struct NonUniformParameters {
        /// Decrease of the probability of a router with its distance from the centre.
        pub distribution: Distribution = Distribution::Geometric;
        /// Width of the distribution in routers, as a share of the routers that the job fills. It is the mean distance
        /// of the geometric distribution, or the standard deviation of the binomial one.
        // For the original's jobs of 342 routers, this width reduces the probability by 1 % per router.
        pub spread: f64 = 0.3, Kind::Number { min: 0.0, max: f64::INFINITY };
        /// Share of the nodes drawn uniformly from all free nodes.
        // 97 % are clustered, as in the original.
        pub scattered: f64 = 0.03, Kind::SHARE;
    }
}

words! {
    /// A symmetric distribution of router numbers around the centre.
    pub enum Distribution {
        Geometric = "geometric": "two-sided geometric: the probability decreases by a constant factor per router",
        Binomial = "binomial": "binomial with p = 1/2, in its normal limit",
    }
}

/// The clustered nodes, in the order of the machine. Routers are drawn without replacement, weighted by their distance
/// from a random centre along the router numbers. All free nodes of a router are used, as long as whole routers fit
/// into the clustered share. Only a job without scattered nodes uses a part of its last router.
impl NodeOrder for NonUniformParameters {
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, stream: &mut Stream) -> Result<DrawnNodes, ParameterMistake> {
        if !(self.spread > 0.0 && self.spread.is_finite()) {
            return Err(("spread", format!("{}, expected a number above 0", self.spread)));
        }
        let scattered = (count as f64 * self.scattered) as usize;
        let clustered = count - scattered;
        let mut nodes = Vec::with_capacity(count);
        let mut order = weighted_order(free, count, self, stream).into_iter();
        let mut spares = Vec::new();
        for router in order.by_ref() {
            let before = nodes.len();
            nodes.extend(free.drawable_of_router(router));
            if nodes.len() > clustered {
                spares = nodes.split_off(if scattered > 0 { before } else { clustered });
                break;
            }
        }
        spares.extend(order.flat_map(|router| free.drawable_of_router(router)));
        units::sort(&mut nodes, free);
        Ok(DrawnNodes { nodes, spares })
    }
}

/// All routers in the order of a weighted draw without replacement. Repeated draws with rejection have the same
/// distribution, but take long once the centre is full. Instead each router gets an exponential variable divided by its
/// weight, and routers are sorted by it (Efraimidis and Spirakis 2006). Logarithms avoid the underflow of small
/// weights.
fn weighted_order(
    free: &FreeNodes<'_>,
    count: usize,
    parameters: &NonUniformParameters,
    stream: &mut Stream,
) -> Vec<RouterId> {
    let machine = free.machine();
    // Failed ones, too: a failure changes no draw.
    let is_compute = |node: NodeId| machine.is_compute_before_edits(node);
    let usable: Vec<RouterId> =
        machine.routers().filter(|&r| machine.nodes_of(r).iter().any(|&node| is_compute(node))).collect();
    let usable_nodes = machine.nodes().filter(|&node| is_compute(node)).count();
    let job_routers = (count as f64 * usable.len() as f64 / usable_nodes as f64).max(1.0);
    let width = parameters.spread * job_routers;
    let centre = usable[stream.index(usable.len())].index();
    let mut keys: Vec<(f64, RouterId)> = usable
        .into_iter()
        .map(|router| {
            let distance = router.index().abs_diff(centre) as f64 / width;
            let log_weight = match parameters.distribution {
                Distribution::Geometric => -distance,
                Distribution::Binomial => -distance * distance / 2.0,
            };
            let exponential = -(1.0 - stream.unit()).ln();
            (exponential.ln() - log_weight, router)
        })
        .collect();
    keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keys.into_iter().map(|(_, router)| router).collect()
}

#[cfg(test)]
mod tests {
    use super::super::free::NodePool;
    use super::super::test_help::{place, placed};
    use super::super::{FreeNodes, IoRanks, PlacementRequest, PlacementSpec};
    use crate::test_machines::cascade;
    use serde_json::json;

    /// Two routers are drawn around one centre with a mean distance of spread x 2 routers = 40 each. The difference of
    /// two independent Laplace variables of mean distance b is on average 3/2 b = 60, standard deviation 51; over 1,000
    /// seeds 1.6.
    #[test]
    fn width_is_the_mean_distance() {
        let machine = cascade(10, 10, 10, 1, 4);
        let given = [("spread", json!(20.0)), ("scattered", json!(0.0))];
        let distance = |seed| {
            let nodes = place(&machine, "non-uniform", &given, 2, seed);
            f64::from(nodes[0].0.abs_diff(nodes[1].0))
        };
        let mean = (0..1_000).map(distance).sum::<f64>() / 1_000.0;
        assert!((mean - 60.0).abs() < 6.0, "{mean}");
    }

    /// With the binomial distribution the width is the standard deviation. The difference of two draws is normal with
    /// deviation s = sqrt(2) x 40, and its absolute value has the mean s sqrt(2 / pi) = 45.1, standard deviation 34; over
    /// 1,000 seeds 1.1. The ends of the machine cut off some distances.
    #[test]
    fn binomial_width_is_the_standard_deviation() {
        let machine = cascade(10, 10, 10, 1, 4);
        let given = [("distribution", json!("binomial")), ("spread", json!(20.0)), ("scattered", json!(0.0))];
        let distance = |seed| {
            let nodes = place(&machine, "non-uniform", &given, 2, seed);
            f64::from(nodes[0].0.abs_diff(nodes[1].0))
        };
        let mean = (0..1_000).map(distance).sum::<f64>() / 1_000.0;
        assert!((mean - 45.1).abs() < 4.0, "{mean}");
    }

    /// 400 nodes: 12 are scattered, 97 routers of 4 are clustered.
    #[test]
    fn the_cluster_is_of_whole_routers() {
        let machine = cascade(4, 6, 16, 4, 24);
        let nodes = place(&machine, "non-uniform", &[], 400, 1);
        assert!(nodes.windows(2).all(|w| w[0] < w[1]), "in the order of the machine");
        let whole = nodes.chunk_by(|a, b| a.0 / 4 == b.0 / 4).filter(|router| router.len() == 4).count();
        assert!((97..=100).contains(&whole), "{whole}");
    }

    /// Scattered nodes are drawn after the clusters of all jobs, so the cluster of the second job is whole.
    #[test]
    fn scattered_nodes_come_last() {
        let machine = cascade(4, 6, 16, 4, 24);
        let mut free = FreeNodes::new(&machine);
        let request = |job| PlacementRequest {
            placement: "non-uniform",
            job,
            index: 0,
            ranks: 600,
            ranks_per_node: Some(1),
            seed: 5,
            io_ranks: IoRanks::default(),
        };
        let mut spec = PlacementSpec::parse("non-uniform").unwrap();
        spec.set("scattered", json!(0.5)).unwrap();
        let begun = ["a", "b"].map(|job| spec.rule().begin(&request(job), &mut free).ok().unwrap());
        assert_eq!(free.free_count(NodePool::Compute), 4 * 96 * 4 - 1_200);
        let free_routers = |free: &FreeNodes<'_>| machine.routers().filter(|&r| free.of_router(r).count() == 4).count();
        assert_eq!(free_routers(&free), 4 * 96 - 150);
        for (begun, job) in begun.into_iter().zip(["a", "b"]) {
            assert_eq!(begun.finish(&request(job), &mut free).unwrap().node_of_rank.len(), 600);
        }
        assert_eq!(free.free_count(NodePool::Compute), 4 * 96 * 4 - 1_200);
    }

    /// All free nodes are found, even with a very narrow distribution.
    #[test]
    fn a_job_as_large_as_the_machine() {
        let machine = cascade(4, 6, 16, 4, 24);
        for distribution in ["geometric", "binomial"] {
            let given = [("spread", json!(1e-6)), ("distribution", json!(distribution))];
            let mut nodes = place(&machine, "non-uniform", &given, 1_536, 1);
            nodes.sort_unstable();
            assert!(nodes.iter().enumerate().all(|(i, node)| node.index() == i));
        }
    }

    #[test]
    fn impossible_parameters() {
        let machine = cascade(1, 2, 2, 1, 1);
        let message = |key, value| placed(&machine, "non-uniform", &[(key, value)], 2, 1).unwrap_err().to_string();
        assert_eq!(
            message("spread", json!(0.0)),
            "job 'test': placement 'non-uniform': spread: 0, expected a number above 0"
        );
        assert!(message("scattered", json!(1.01)).ends_with("scattered: expected a number from 0 to 1, found 1.01"));
    }
}

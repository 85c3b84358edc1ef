//! HyperX: a grid in which every two routers of a line are joined.
//!
//! Ahn, Binkert, Davis, McLaren, Schreiber: "HyperX: topology, routing, and packaging of efficient large-scale
//! networks", SC 2009. With one size S for all dimensions it is a Hamming graph. With as many nodes per router as
//! routers per line it is the flattened butterfly of Kim, Dally, Abts, ISCA 2007. The diameter is the number of
//! dimensions.

use super::{at_least_one, by_x, empty_grid, numbered_axes, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, Kind, OneOrEach};
use odonata_units::{GroupId, LinkClassId, RouterId};

parameters! {
    /// A HyperX. The default is 8 x 8 routers of 8 nodes, a flattened butterfly.
    #[derive(PartialEq, Eq)]
    pub struct HyperX {
        /// Routers along each dimension.
        pub dims: Vec<u32> = vec![8, 8], Kind::List(&Kind::COUNT);
        /// Parallel cables between every two routers of a line: one number for all dimensions, or a list with one for
        /// each.
        pub parallel: OneOrEach<u32> = OneOrEach::One(1), Kind::Any(&[Kind::COUNT, Kind::List(&Kind::COUNT)]);
        /// Nodes of each router.
        pub nodes_per_router: u32 = 8, Kind::COUNT;
        /// Links along every dimension; each dimension is a class, `x0`, `x1`, …
        pub local: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

impl Topology for HyperX {
    fn extent(&self) -> Extent {
        let routers = times(&self.dims);
        let parallel = self.parallel.expand(self.dims.len());
        let ports = self.dims.iter().zip(parallel).map(|(&size, k)| times(&[size.saturating_sub(1), k]));
        let ports = ports.fold(0u64, u64::saturating_add);
        Extent {
            routers,
            nodes: routers.saturating_mul(u64::from(self.nodes_per_router)),
            cables: routers.saturating_mul(ports) / 2,
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl HyperX {
    /// Lists routers, nodes and cables. Router = mixed-radix number of its coordinates, the last dimension fastest.
    ///
    /// # Errors
    /// No dimension, a size of zero, or a `parallel` list that does not match `dims`.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { dims, nodes_per_router, .. } = self;
        if dims.is_empty() || dims.contains(&0) {
            return wrong("dims", format!("{dims:?}; expected one size of at least 1 for each dimension"));
        }
        let parallel = self.parallel.expand(dims.len());
        if parallel.len() != dims.len() || parallel.contains(&0) {
            return wrong(
                "parallel",
                format!("{parallel:?} for {} dimensions; expected 1 or more for each", dims.len()),
            );
        }
        at_least_one(&[("nodes_per_router", *nodes_per_router)])?;
        let routers = product("routers", dims)?;
        product("nodes", &[routers, *nodes_per_router])?;
        for (&size, &cables) in dims.iter().zip(&parallel) {
            product("cables", &[routers, size, cables])?;
        }
        let axes = numbered_axes(dims.len());
        let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
        let mut builder = empty_grid(
            format!("hyperx-{}", by_x(dims)),
            Shape::Graph,
            Coordinates::grid(&axes, dims),
            vec![GroupId(0); routers as usize],
            *nodes_per_router,
            self.cores_per_node,
            self.terminal,
        );
        let ports = |d: usize| (dims[d] - 1).saturating_mul(parallel[d]);
        builder.classes = (0..dims.len()).map(|d| self.local.class(axes[d], Some(ports(d)))).collect();
        let mut stride = routers;
        for (d, &size) in dims.iter().enumerate() {
            stride /= size;
            for router in 0..routers {
                for other in router / stride % size + 1..size {
                    let there = router + (other - router / stride % size) * stride;
                    builder.add_cables(RouterId(router), RouterId(there), LinkClassId(d as u32), parallel[d]);
                }
            }
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{distances, mean};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// A distance is the number of coordinates that differ. The mean is Σ (1 - 1/S) over all pairs, including the
        /// router itself. A cut through an even dimension has K S/2 S/2 cables per line.
        #[test]
        fn closed_forms(dims in proptest::collection::vec(1u32..5, 1..4), k in 1u32..3) {
            let hyperx = HyperX { dims: dims.clone(), parallel: OneOrEach::One(k), nodes_per_router: 2, ..HyperX::default() };
            let machine = hyperx.builder().unwrap().build().unwrap();
            let routers: u32 = dims.iter().product();
            let ports: u32 = dims.iter().map(|s| k * (s - 1)).sum();
            prop_assert_eq!(machine.link_count() as u32, routers * ports);
            prop_assert_eq!(hyperx.extent(), Extent { routers: routers.into(), nodes: (2 * routers).into(), cables: (routers * ports / 2).into() });
            let all = distances(&machine);
            let moving = dims.iter().filter(|&&s| s > 1).count() as u32;
            prop_assert_eq!(*all.iter().flatten().max().unwrap(), moving);
            let expected: f64 = dims.iter().map(|&s| 1.0 - 1.0 / f64::from(s)).sum();
            prop_assert!((mean(&all) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn invalid_input_is_refused() {
        let wrong = |hyperx: HyperX| hyperx.builder().unwrap_err().to_string();
        assert!(wrong(HyperX { dims: vec![], ..HyperX::default() }).contains("dims"));
        assert!(wrong(HyperX { parallel: OneOrEach::Each(vec![1]), ..HyperX::default() }).contains("for 2 dimensions"));
    }
}

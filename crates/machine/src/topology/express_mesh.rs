//! Express mesh: a mesh with additional express cables over several routers of a line.
//!
//! Dally, "Express cubes: improving the performance of k-ary n-cube interconnection networks", IEEE Transactions on
//! Computers 40(9), 1991, without wrap-around. In a dimension with gap i, the routers at 0, i, 2 i, … are
//! interchanges, and an express cable joins each to the next. The path between two routers of a line is the shorter
//! of two: the steps between neighbours, or the steps to an interchange, the express cables, and the steps from one.
//! Dimensions are independent.

use super::{at_least_one, by_x, empty_grid, numbered_axes, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, Kind, OneOrEach};
use odonata_units::{GroupId, LinkClassId, RouterId};

parameters! {
    /// An express mesh. The default is 16 x 16 routers of one node with express cables over 4.
    #[derive(PartialEq, Eq)]
    pub struct ExpressMesh {
        /// Routers along each dimension.
        pub dims: Vec<u32> = vec![16, 16], Kind::List(&Kind::COUNT);
        /// Distance in routers between the ends of an express cable: one number for all dimensions, or a list with one
        /// for each.
        pub gap: OneOrEach<u32> = OneOrEach::One(4), Kind::Any(&[Kind::count(2), Kind::List(&Kind::count(2))]);
        /// Nodes of each router.
        pub nodes_per_router: u32 = 1, Kind::COUNT;
        /// Links between neighbours.
        pub local: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Express links.
        pub express: LinkFigures = LinkFigures::new(25_000_000_000, 150), no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

const LOCAL: LinkClassId = LinkClassId(0);
const EXPRESS: LinkClassId = LinkClassId(1);

impl Topology for ExpressMesh {
    fn extent(&self) -> Extent {
        let routers = times(&self.dims);
        Extent {
            routers,
            nodes: routers.saturating_mul(u64::from(self.nodes_per_router)),
            cables: routers.saturating_mul(2 * self.dims.len() as u64),
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl ExpressMesh {
    /// Lists routers, nodes and cables. Router = mixed-radix number of its coordinates, the last dimension fastest.
    ///
    /// # Errors
    /// No dimension, a size of zero, a gap below 2, or a `gap` list that does not match `dims`.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { dims, nodes_per_router, .. } = self;
        if dims.is_empty() || dims.contains(&0) {
            return wrong("dims", format!("{dims:?}; expected one size of at least 1 for each dimension"));
        }
        let gap = self.gap.expand(dims.len());
        if gap.len() != dims.len() || gap.iter().any(|&gap| gap < 2) {
            return wrong("gap", format!("{gap:?} for {} dimensions; expected 2 or more for each", dims.len()));
        }
        at_least_one(&[("nodes_per_router", *nodes_per_router)])?;
        let routers = product("routers", dims)?;
        product("nodes", &[routers, *nodes_per_router])?;
        product("cables", &[routers, 2 * dims.len() as u32])?;
        let axes = numbered_axes(dims.len());
        let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
        let mut builder = empty_grid(
            format!("express-mesh-{}-gap-{}", by_x(dims), by_x(&gap)),
            Shape::Graph,
            Coordinates::grid(&axes, dims),
            vec![GroupId(0); routers as usize],
            *nodes_per_router,
            self.cores_per_node,
            self.terminal,
        );
        // Cable ends of a router in the interior of each line.
        let ports = |step: &dyn Fn(usize) -> u32| (0..dims.len()).map(|d| ((dims[d] - 1) / step(d)).min(2)).sum();
        builder.classes = vec![
            self.local.class("local", Some(ports(&|_| 1))),
            self.express.class("express", Some(ports(&|d| gap[d]))),
        ];
        let mut stride = routers;
        for (d, &size) in dims.iter().enumerate() {
            stride /= size;
            for router in 0..routers {
                let at = router / stride % size;
                if at + 1 < size {
                    builder.add_cables(RouterId(router), RouterId(router + stride), LOCAL, 1);
                }
                if at % gap[d] == 0 && gap[d] < size - at {
                    builder.add_cables(RouterId(router), RouterId(router + gap[d] * stride), EXPRESS, 1);
                }
            }
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::distances;
    use proptest::prelude::*;

    /// Hops between places i and j of a line: along neighbours, or via the interchanges before or after each end.
    fn along(size: u32, gap: u32, i: u32, j: u32) -> u32 {
        let last = (size - 1) / gap;
        let near = |x: u32| [x / gap, (x / gap + 1).min(last)];
        let mut best = i.abs_diff(j);
        for a in near(i) {
            for b in near(j) {
                best = best.min(i.abs_diff(a * gap) + a.abs_diff(b) + j.abs_diff(b * gap));
            }
        }
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// A line of S routers has S - 1 local and floor((S - 1) / gap) express cables; the distances of the
        /// dimensions are summed.
        #[test]
        fn closed_forms(lines in proptest::collection::vec((1u32..12, 2u32..5), 1..4)) {
            prop_assume!(lines.iter().map(|line| line.0).product::<u32>() <= 400);
            let (dims, gaps): (Vec<u32>, Vec<u32>) = lines.iter().copied().unzip();
            let mesh = ExpressMesh { dims: dims.clone(), gap: OneOrEach::Each(gaps), nodes_per_router: 2, ..ExpressMesh::default() };
            let machine = mesh.builder().unwrap().build().unwrap();
            let routers: u32 = dims.iter().product();
            let of = |class: LinkClassId| machine.bundles().iter().filter(|b| b.class == class).count() as u32 / 2;
            let local: u32 = dims.iter().map(|s| routers / s * (s - 1)).sum();
            let express: u32 = lines.iter().map(|(s, gap)| routers / s * ((s - 1) / gap)).sum();
            prop_assert_eq!((of(LOCAL), of(EXPRESS)), (local, express));
            let Extent { routers: r, nodes, cables } = mesh.extent();
            prop_assert_eq!((r, nodes), (u64::from(routers), u64::from(2 * routers)));
            prop_assert!(cables >= u64::from(local + express));
            let all = distances(&machine);
            for a in machine.routers() {
                for b in machine.routers() {
                    let places = machine.coordinates().of(a).iter().zip(machine.coordinates().of(b));
                    let expected: u32 = lines.iter().zip(places).map(|(&(s, gap), (&i, &j))| along(s, gap, i, j)).sum();
                    prop_assert_eq!(all[a.index()][b.index()], expected);
                }
            }
        }
    }

    /// 0 1 2 3 4 5 6 with gap 3: express cables 0-3 and 3-6; from 1 to 5 in four hops along neighbours, or via 0 3 6.
    #[test]
    fn a_line_by_hand() {
        let line = ExpressMesh { dims: vec![7], gap: OneOrEach::One(3), ..ExpressMesh::default() };
        let machine = line.builder().unwrap().build().unwrap();
        let joined: Vec<(u32, u32)> = machine
            .bundles()
            .iter()
            .filter(|b| b.class == EXPRESS && b.source < b.target)
            .map(|b| (b.source.0, b.target.0))
            .collect();
        assert_eq!(joined, [(0, 3), (3, 6)]);
        let all = distances(&machine);
        assert_eq!((all[0][6], all[1][5], all[2][6], all[0][5]), (2, 4, 2, 3));
    }

    #[test]
    fn invalid_input_is_refused() {
        let wrong = |mesh: ExpressMesh| mesh.builder().unwrap_err().to_string();
        assert!(wrong(ExpressMesh { dims: vec![], ..ExpressMesh::default() }).contains("dims"));
        assert!(
            wrong(ExpressMesh { gap: OneOrEach::Each(vec![2]), ..ExpressMesh::default() }).contains("for 2 dimensions")
        );
        assert!(wrong(ExpressMesh { gap: OneOrEach::One(1), ..ExpressMesh::default() }).contains("expected 2 or more"));
    }
}

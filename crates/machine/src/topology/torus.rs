//! Tori and meshes of any dimension.
//!
//! Dally, Towles: "Principles and Practices of Interconnection Networks", chapter 5. Routers are the points of a
//! grid. Each has a neighbour one step up and one step down in every dimension, modulo the size if the dimension
//! wraps. In a wrapping dimension of size 2, both steps lead to the same neighbour, so two parallel cables join them,
//! as in the E dimension of Blue Gene/Q. A dimension of size 1 has no cables.

use super::{at_least_one, by_x, empty_grid, numbered_axes, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, FastestLetter, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, Choice, Kind, OneOrEach};
use odonata_units::{GroupId, LinkClassId, RouterId};

parameters! {
    /// A torus or mesh. The default has the size of a Blue Gene/Q midplane, 4 x 4 x 4 x 4 x 2.
    #[derive(PartialEq, Eq)]
    pub struct Torus {
        /// Size of each dimension.
        pub dims: Vec<u32> = vec![4, 4, 4, 4, 2], Kind::List(&Kind::COUNT);
        /// Whether the dimensions wrap around: one value for all, or a list with one for each.
        pub wrap: OneOrEach<bool> = OneOrEach::One(true), Kind::Any(&[Kind::Flag, Kind::List(&Kind::Flag)]);
        /// Nodes of each router.
        pub nodes_per_router: u32 = 1, Kind::COUNT;
        /// Parallel cables in each direction.
        pub links_per_direction: u32 = 1, Kind::COUNT;
        /// Capital letter for each dimension, such as `XYZ`, in names of routers, columns and mappings; `T` is reserved
        /// for the ranks of a node.
        pub axes: Option<String> = None, Kind::WordOr(NUMBERED, &Kind::Text);
        /// Letter of a mapping's `order` that changes fastest from one rank to the next.
        pub fastest: FastestLetter = FastestLetter::First;
        /// Links between routers, all of the class `local`.
        pub local: LinkFigures = LinkFigures::new(25_000_000_000, 40), no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 16, no key;
    }
}

/// The word for dimensions without letters.
const NUMBERED: &Choice = &Choice { name: "numbered", doc: "`x0`, `x1`, …" };

impl Topology for Torus {
    fn extent(&self) -> Extent {
        let routers = times(&self.dims);
        let each = |n: u32| routers.saturating_mul(u64::from(n));
        let cables = each(self.links_per_direction).saturating_mul(self.dims.len() as u64);
        Extent { routers, nodes: each(self.nodes_per_router), cables }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl Torus {
    /// The names of the axes.
    fn axis_names(&self) -> Result<Vec<String>, MachineError> {
        let Some(letters) = &self.axes else {
            return Ok(numbered_axes(self.dims.len()));
        };
        let known: Vec<char> = letters.chars().collect();
        if known.len() != self.dims.len() {
            let reason = format!("'{letters}' names {} of {} dimensions", known.len(), self.dims.len());
            return wrong("axes", format!("{reason}; expected a letter for each"));
        }
        for (i, letter) in known.iter().enumerate() {
            let why = match letter {
                _ if known[..i].contains(letter) => "names two dimensions",
                'T' => "is reserved for the ranks of a node",
                letter if !letter.is_ascii_uppercase() => "is not a capital letter from A to Z",
                _ => continue,
            };
            return wrong("axes", format!("'{letters}': {letter} {why}; expected letters like \"XYZ\""));
        }
        Ok(known.iter().map(char::to_string).collect())
    }

    /// Lists routers, nodes and cables. Router = mixed-radix number of its coordinates, the last dimension fastest.
    ///
    /// # Errors
    /// A parameter of zero, or a `wrap` list that does not match `dims`.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { dims, nodes_per_router, links_per_direction, .. } = self;
        let wrap = self.wrap.expand(dims.len());
        if dims.is_empty() || dims.contains(&0) {
            return wrong("dims", format!("{dims:?}; expected one size of at least 1 for each dimension"));
        }
        if wrap.len() != dims.len() {
            return wrong(
                "wrap",
                format!("{} values for {} dimensions; expected one for each", wrap.len(), dims.len()),
            );
        }
        at_least_one(&[("nodes_per_router", *nodes_per_router), ("links_per_direction", *links_per_direction)])?;
        let routers = product("routers", dims)?;
        product("nodes", &[routers, *nodes_per_router])?;
        product("cables", &[routers, dims.len() as u32, *links_per_direction])?;
        let axes = self.axis_names()?;
        let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
        let kind = if wrap.contains(&true) { "torus" } else { "mesh" };
        let coordinates = Coordinates { fastest: self.fastest, ..Coordinates::grid(&axes, dims) };
        let mut builder = empty_grid(
            format!("{kind}-{}", by_x(dims)),
            Shape::Torus { dims: dims.clone(), wrap: wrap.clone() },
            coordinates,
            vec![GroupId(0); routers as usize],
            *nodes_per_router,
            self.cores_per_node,
            self.terminal,
        );
        let moving = dims.iter().filter(|&&size| size > 1).count() as u32;
        builder.classes = vec![self.local.class("local", Some(2 * moving * links_per_direction))];
        let mut stride = routers;
        for (&size, wraps) in dims.iter().zip(wrap) {
            stride /= size;
            for router in 0..routers {
                let at = router / stride % size;
                if at + 1 < size {
                    builder.add_cables(
                        RouterId(router),
                        RouterId(router + stride),
                        LinkClassId(0),
                        *links_per_direction,
                    );
                } else if wraps && size > 1 {
                    let first = router - at * stride;
                    builder.add_cables(RouterId(router), RouterId(first), LinkClassId(0), *links_per_direction);
                }
            }
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn torus(dims: &[u32], wrap: bool) -> Torus {
        Torus { dims: dims.to_vec(), wrap: OneOrEach::One(wrap), ..Torus::default() }
    }

    /// Neighbours of (0, 2) in a 3 x 4 torus: (1, 2) and (2, 2), (0, 1) and (0, 3).
    #[test]
    fn neighbours_by_hand() {
        let machine = torus(&[3, 4], true).builder().unwrap().build().unwrap();
        let router = machine.router_named("x0_2").unwrap();
        let names: Vec<String> = machine.bundles_from(router).iter().map(|b| machine.router_name(b.target)).collect();
        assert_eq!(names, ["x0_1", "x0_3", "x1_2", "x2_2"]);
    }

    #[test]
    fn letters_name_routers_and_axes() {
        let machine =
            Torus { axes: Some("XYZ".into()), ..torus(&[3, 4, 12], true) }.builder().unwrap().build().unwrap();
        assert_eq!(machine.coordinates().letters(), Some("XYZ".into()));
        assert_eq!(machine.router_name(RouterId(59)), "X1Y0Z11");
        assert_eq!(machine.router_named("X1Y0Z11"), Ok(RouterId(59)));
        assert_eq!(torus(&[3, 4], true).builder().unwrap().coordinates.letters(), None);
    }

    #[test]
    fn a_ring_of_two_has_two_cables() {
        let machine = torus(&[2], true).builder().unwrap().build().unwrap();
        assert_eq!((machine.link_count(), machine.bundles()[0].count), (4, 2));
        let machine = torus(&[2], false).builder().unwrap().build().unwrap();
        assert_eq!(machine.link_count(), 2);
    }

    #[test]
    fn mistakes_name_the_parameter() {
        let message = |torus: Torus| torus.builder().unwrap_err().to_string();
        assert!(message(torus(&[], true)).starts_with("dims: []"));
        assert!(message(torus(&[4, 0], true)).starts_with("dims: [4, 0]"));
        let wrap = Torus { wrap: vec![true].into(), ..Torus::default() };
        assert_eq!(message(wrap), "wrap: 1 values for 5 dimensions; expected one for each");
        let axes = |letters: &str| Torus { axes: Some(letters.into()), ..torus(&[3, 4, 5], true) };
        assert_eq!(message(axes("XY")), "axes: 'XY' names 2 of 3 dimensions; expected a letter for each");
        assert_eq!(message(axes("XYX")), "axes: 'XYX': X names two dimensions; expected letters like \"XYZ\"");
        assert!(message(axes("XYT")).contains("T is reserved for the ranks of a node"));
        assert!(message(axes("XYn")).contains("n is not a capital letter"));
        assert!(message(torus(&[1 << 16, 1 << 16], true)).contains("multiply to more than"));
    }

    proptest! {
        /// Cables: c N for each wrapping dimension above 1, c (N - N/k) for each other one.
        #[test]
        fn counts_have_the_closed_form(
            sizes in proptest::collection::vec((1u32..5, any::<bool>()), 1..5), c in 1u32..3
        ) {
            let (dims, wrap): (Vec<u32>, Vec<bool>) = sizes.into_iter().unzip();
            let n: u32 = dims.iter().product();
            let expected: u32 = dims
                .iter()
                .zip(&wrap)
                .map(|(&k, &wraps)| if wraps && k > 1 { n } else { n - n / k })
                .sum();
            let torus = Torus { dims, wrap: wrap.into(), links_per_direction: c, ..Torus::default() };
            let machine = torus.builder().unwrap().build().unwrap();
            prop_assert_eq!(machine.link_count() as u32, 2 * c * expected);
        }
    }
}

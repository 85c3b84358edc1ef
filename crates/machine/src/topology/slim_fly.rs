//! Slim Fly and PolarFly: the most routers within two hops.
//!
//! *Slim Fly*: Besta, Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014. It uses the
//! graphs of McKay, Miller and Širáň over the field of q = 4 w + δ elements, δ in {-1, 0, 1}. There are two halves of
//! q x q routers; ξ is a primitive element:
//!
//! * (0, x, y) and (0, x, y') are joined iff y - y' is in X, (1, m, c) and (1, m, c') iff c - c' is in X';
//! * (0, x, y) and (1, m, c) iff y = m x + c.
//!
//! δ = 1: X has the even powers of ξ, X' the odd ones. δ = 0: ξ^0, ξ^2, .. ξ^(q-2) and ξ^1, ξ^3, .. ξ^(q-1). δ = -1:
//! X has ξ^0, ξ^2, .. ξ^(2w-2) and ξ^(2w-1), ξ^(2w+1), .. ξ^(4w-3), X' is ξ X. 2 q^2 routers of (3 q - δ) / 2 ports.
//!
//! *PolarFly*: Lakhotia, Besta et al., "PolarFly: a cost-effective and flexible low-diameter topology", SC 2022: the
//! graph of Erdős and Rényi. Routers are the q^2 + q + 1 points of the projective plane over a field; two are joined
//! iff they are orthogonal. A router has q + 1 ports. One port stays free at the q + 1 routers that are orthogonal to
//! themselves.

use super::galois::{nearest_prime_powers, Field};
use super::{at_least_one, empty_grid, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, Kind};
use odonata_units::{GroupId, LinkClassId, RouterId};

/// Largest order: beyond it, tables of products and next hops exceed any usable machine.
const MOST: u32 = 256;

const FIGURES: LinkFigures = LinkFigures::new(25_000_000_000, 100);
const TERMINAL: LinkFigures = LinkFigures::new(25_000_000_000, 10);

/// The field, or an error with valid orders.
fn field(q: u32) -> Result<Field, MachineError> {
    if q > MOST {
        return wrong("q", format!("{q}; expected a power of a prime up to {MOST}"));
    }
    Field::new(q).map_or_else(
        || {
            let (below, above) = nearest_prime_powers(q);
            wrong("q", format!("{q} is not a power of a prime; the nearest are {below} and {above}"))
        },
        Ok,
    )
}

parameters! {
    /// A Slim Fly. The default has 2 x 7^2 = 98 routers of 11 ports and 6 nodes each.
    #[derive(PartialEq, Eq)]
    pub struct SlimFly {
        /// Order of the finite field: a power of a prime.
        pub q: u32 = 7, Kind::count(3);
        /// Nodes of each router.
        pub nodes_per_router: u32 = 6, Kind::COUNT;
        /// Links within a half, `local`.
        pub local: LinkFigures = FIGURES, no key;
        /// Links between the halves, `global`.
        pub global: LinkFigures = FIGURES, no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = TERMINAL, no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

impl Topology for SlimFly {
    fn extent(&self) -> Extent {
        let routers = times(&[2, self.q, self.q]);
        let ports = (3 * u64::from(self.q)).div_ceil(2) + 1;
        let nodes = routers.saturating_mul(u64::from(self.nodes_per_router));
        Extent { routers, nodes, cables: routers.saturating_mul(ports) / 2 }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl SlimFly {
    /// Lists routers, nodes and cables. Router (s, x, y) = (s q + x) q + y.
    ///
    /// # Errors
    /// q is not a power of a prime, or 2 more than a multiple of 4.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { q, nodes_per_router, .. } = *self;
        at_least_one(&[("q", q), ("nodes_per_router", nodes_per_router)])?;
        let field = field(q)?;
        let Some([inner, outer]) = generators(&field, q) else {
            return wrong("q", format!("{q}; expected 4 w - 1, 4 w or 4 w + 1"));
        };
        let routers = product("routers", &[2, q, q])?;
        product("nodes", &[routers, nodes_per_router])?;
        let mut builder = empty_grid(
            format!("slim-fly-q{q}"),
            Shape::Graph,
            Coordinates::grid(&["half", "column", "row"], &[2, q, q]),
            vec![GroupId(0); routers as usize],
            nodes_per_router,
            self.cores_per_node,
            self.terminal,
        );
        builder.classes =
            vec![self.local.class("local", Some(inner.len() as u32)), self.global.class("global", Some(q))];
        let router = |half: u32, column: u32, row: u32| RouterId((half * q + column) * q + row);
        for (half, generators) in [(0, &inner), (1, &outer)] {
            for column in 0..q {
                for row in 0..q {
                    for other in row + 1..q {
                        if generators.contains(&field.minus(row, other)) {
                            builder.add_cables(
                                router(half, column, row),
                                router(half, column, other),
                                LinkClassId(0),
                                1,
                            );
                        }
                    }
                }
            }
        }
        for x in 0..q {
            for m in 0..q {
                for c in 0..q {
                    let y = field.plus(field.times(m, x), c);
                    builder.add_cables(router(0, x, y), router(1, m, c), LinkClassId(1), 1);
                }
            }
        }
        Ok(builder)
    }
}

/// X and X'.
fn generators(field: &Field, q: u32) -> Option<[Vec<u32>; 2]> {
    let powers = field.powers();
    let power = |k: u32| powers[(k % (q - 1)) as usize];
    let exponents: Vec<u32> = match q % 4 {
        0 | 1 => (0..q - 1).step_by(2).collect(),
        3 => {
            let w = (q + 1) / 4;
            (0..=2 * w - 2).step_by(2).chain((2 * w - 1..=4 * w - 3).step_by(2)).collect()
        }
        _ => return None,
    };
    let set = |shift: u32| exponents.iter().map(|k| power(k + shift)).collect();
    Some([set(0), set(1)])
}

parameters! {
    /// A PolarFly. The default has 57 routers of 8 ports and 4 nodes each.
    #[derive(PartialEq, Eq)]
    pub struct PolarFly {
        /// Order of the finite field: a power of a prime.
        pub q: u32 = 7, Kind::count(2);
        /// Nodes of each router.
        pub nodes_per_router: u32 = 4, Kind::COUNT;
        /// All links between routers, `local`.
        pub local: LinkFigures = FIGURES, no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = TERMINAL, no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

impl Topology for PolarFly {
    fn extent(&self) -> Extent {
        let q = u64::from(self.q);
        let routers = q.saturating_mul(q + 1).saturating_add(1);
        let nodes = routers.saturating_mul(u64::from(self.nodes_per_router));
        Extent { routers, nodes, cables: routers.saturating_mul(q + 1) / 2 }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl PolarFly {
    /// Lists routers, nodes and cables. Routers are the points (1, y, z) = y q + z, then (0, 1, z) = q^2 + z, then
    /// (0, 0, 1).
    ///
    /// # Errors
    /// q is not a power of a prime.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { q, nodes_per_router, .. } = *self;
        at_least_one(&[("q", q), ("nodes_per_router", nodes_per_router)])?;
        let field = field(q)?;
        let plane = (0..q).flat_map(|y| (0..q).map(move |z| [1, y, z]));
        let points: Vec<[u32; 3]> = plane.chain((0..q).map(|z| [0, 1, z])).chain([[0, 0, 1]]).collect();
        let routers = points.len() as u32;
        product("nodes", &[routers, nodes_per_router])?;
        let coordinates = Coordinates {
            axes: ["x", "y", "z"].map(str::to_owned).to_vec(),
            sizes: vec![q.min(2), q, q],
            values: points.iter().flatten().copied().collect(),
            ..Coordinates::default()
        };
        let groups = vec![GroupId(0); points.len()];
        let name = format!("polarfly-q{q}");
        let mut builder =
            empty_grid(name, Shape::Graph, coordinates, groups, nodes_per_router, self.cores_per_node, self.terminal);
        builder.classes = vec![self.local.class("local", Some(q + 1))];
        let orthogonal = |a: &[u32; 3], b: &[u32; 3]| {
            a.iter().zip(b).fold(0, |sum, (&x, &y)| field.plus(sum, field.times(x, y))) == 0
        };
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points.iter().enumerate().skip(i + 1) {
                if orthogonal(a, b) {
                    builder.add_cables(RouterId::from_index(i), RouterId::from_index(j), LinkClassId(0), 1);
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

    /// 2 q^2 routers of (3 q - δ) / 2 ports within two hops. No graph of this degree d and diameter 2 has more than
    /// d^2 + 1 vertices.
    #[test]
    fn a_slim_fly_is_within_two_hops() {
        for (q, delta) in [(3, -1), (4, 0), (5, 1), (7, -1), (8, 0), (9, 1), (11, -1), (13, 1), (16, 0), (19, -1)] {
            let machine = SlimFly { q, ..SlimFly::default() }.builder().unwrap().build().unwrap();
            let ports = (3 * q as i32 - delta) as usize / 2;
            assert_eq!(machine.router_count(), 2 * (q * q) as usize);
            for router in machine.routers() {
                assert_eq!(machine.links_from(router).count(), ports, "q = {q}");
            }
            let all = distances(&machine);
            assert_eq!(*all.iter().flatten().max().unwrap(), 2, "q = {q}");
            let n = machine.router_count() as f64;
            assert!((mean(&all) - (2.0 * (n - 1.0) - ports as f64) / n).abs() < 1e-9);
        }
    }

    #[test]
    fn a_polarfly_is_within_two_hops() {
        for q in [2, 3, 4, 5, 7, 8, 9, 11, 13] {
            let machine = PolarFly { q, ..PolarFly::default() }.builder().unwrap().build().unwrap();
            assert_eq!(machine.router_count() as u32, q * q + q + 1);
            let degrees: Vec<u32> = machine.routers().map(|r| machine.links_from(r).count() as u32).collect();
            assert_eq!(degrees.iter().filter(|&&d| d == q).count() as u32, q + 1, "routers orthogonal to themselves");
            assert!(degrees.iter().all(|&d| d == q || d == q + 1));
            assert_eq!(*distances(&machine).iter().flatten().max().unwrap(), 2, "q = {q}");
        }
    }

    #[test]
    fn invalid_orders_are_refused() {
        let wrong = |q| SlimFly { q, ..SlimFly::default() }.builder().unwrap_err().to_string();
        assert!(wrong(6).contains("6 is not a power of a prime; the nearest are 5 and 7"));
        assert!(wrong(2).contains("4 w"));
        assert!(wrong(1000).contains("up to 256"));
        assert!(PolarFly { q: 10, ..PolarFly::default() }.builder().unwrap_err().to_string().contains("9 and 11"));
    }
}

//! Rings of a torus by coordinates: which link continues which. No ring may ever be full.

use odonata_machine::{Machine, Shape};
use odonata_units::{LinkId, RouterId};

/// Coordinates of a router.
fn place(dims: &[u32], router: RouterId) -> Vec<u32> {
    let mut rest = router.0;
    let mut x: Vec<u32> = dims.iter().rev().map(|n| (rest % n, rest /= n).0).collect();
    x.reverse();
    x
}

/// The link straight ahead of `link`: the next step by the cable of the same number, if the dimension is a ring.
pub fn ahead(machine: &Machine, link: LinkId) -> Option<LinkId> {
    let Shape::Torus { dims, wrap } = machine.shape() else { panic!("a torus") };
    let (from, to) = (machine.source(link), machine.target(link));
    let (a, b) = (place(dims, from), place(dims, to));
    let d = (0..dims.len()).find(|&d| a[d] != b[d]).unwrap();
    let n = dims[d];
    if !wrap[d] || n <= 2 {
        return None;
    }
    let step = (b[d] + n - a[d]) % n;
    let stride: u32 = dims[d + 1..].iter().product();
    let next = RouterId(to.0 - b[d] * stride + (b[d] + step) % n * stride);
    let between = |from: RouterId, to: RouterId| {
        machine.links_from(from).map(LinkId::from_index).filter(move |&l| machine.target(l) == to)
    };
    let number = between(from, to).position(|l| l == link).unwrap();
    between(to, next).nth(number)
}

/// All rings, each as an ordered list of links.
pub fn rings(machine: &Machine) -> Vec<Vec<LinkId>> {
    let mut rings = Vec::new();
    for first in machine.links() {
        let mut ring = vec![first];
        while let Some(next) = ahead(machine, ring[ring.len() - 1]) {
            if next == first {
                rings.push(ring);
                break;
            }
            if next < first {
                break;
            }
            ring.push(next);
        }
    }
    rings
}

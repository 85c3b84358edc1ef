//! The direction bits of a packet on a torus or mesh (*hint bits* of Blue Gene): its direction along each dimension,
//! fixed at the source.
//!
//! A packet takes the shorter direction of a ring. If both are equally long, it goes up from an even coordinate and
//! down from an odd one. In a ring of two, the cables join up of 0 to down of 1 and down of 0 to up of 1. Both nodes
//! therefore use the first cable, and the second is idle.

use crate::lattice::{Lattice, Span};
use odonata_machine::Shape;
use odonata_units::RouterId;

pub use crate::lattice::Step;

/// Most dimensions with direction bits: two bits each, below the 7 bits of a message class and one flag in 32 bits.
pub const MAX_DIMENSIONS: usize = 12;

/// Directions, at most one along each dimension. Bit 2 d is up along dimension d, bit 2 d + 1 is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Directions(u32);

impl Directions {
    /// All valid bits.
    pub(crate) const BITS: u32 = (1 << (2 * MAX_DIMENSIONS)) - 1;

    /// Creates directions from bits; invalid bits are ignored.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits & Self::BITS)
    }

    /// The directions as bits.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether no direction remains.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Sets the direction along a dimension.
    #[inline]
    pub fn set(&mut self, Step { dimension, down }: Step) {
        self.0 = self.0 & !(3 << (2 * dimension)) | 1 << (2 * dimension + usize::from(down));
    }

    /// The step along dimension `d`, if there is one.
    #[inline]
    pub fn along(self, dimension: usize) -> Option<Step> {
        match self.0 >> (2 * dimension) & 3 {
            0 => None,
            bits => Some(Step { dimension, down: bits & 2 != 0 }),
        }
    }

    /// The steps along the dimensions of a mask, which has bit d for dimension d.
    #[inline]
    pub fn within(self, mask: u16) -> impl Iterator<Item = Step> {
        let mut left = self.0;
        std::iter::from_fn(move || loop {
            if left == 0 {
                return None;
            }
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            if mask >> (bit / 2) & 1 == 1 {
                return Some(Step { dimension: bit / 2, down: bit & 1 == 1 });
            }
        })
    }

    /// The directions without dimension `d`.
    #[inline]
    pub fn without(self, dimension: usize) -> Self {
        Self(self.0 & !(3 << (2 * dimension)))
    }

    /// The dimensions with a direction, one bit for each.
    #[inline]
    pub fn dimensions(self) -> u16 {
        (0..MAX_DIMENSIONS).filter(|&d| self.along(d).is_some()).fold(0, |mask, d| mask | 1 << d)
    }
}

/// Positions of the routers of a torus or mesh, and the directions between them.
#[derive(Clone, Debug)]
pub struct Compass {
    lattice: Lattice,
    /// Coordinates of router r start at `r * dims.len()`. A table, since [`Lattice::coordinate`] divides twice and every
    /// hop reads all dimensions.
    coordinates: Vec<u32>,
}

impl Compass {
    /// The compass of a torus or mesh with at most [`MAX_DIMENSIONS`] dimensions; `None` for other shapes.
    pub fn of(shape: &Shape) -> Option<Self> {
        let lattice = Lattice::of(shape).filter(|lattice| lattice.dims.len() <= MAX_DIMENSIONS)?;
        let routers = (0..lattice.dims.iter().product()).map(RouterId);
        let of = |router| (0..lattice.dims.len()).map(move |d| (router, d));
        let coordinates = routers.flat_map(of).map(|(router, d)| lattice.coordinate(router, d)).collect();
        Some(Self { lattice, coordinates })
    }

    /// Routers along a dimension.
    pub fn size(&self, dimension: usize) -> u32 {
        self.lattice.dims[dimension]
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.lattice.dims.len()
    }

    /// Coordinates of a router.
    #[inline]
    pub fn coordinates(&self, router: RouterId) -> &[u32] {
        let d = self.lattice.dims.len();
        &self.coordinates[router.index() * d..(router.index() + 1) * d]
    }

    /// The directions of a packet with source router `from`.
    pub fn directions(&self, from: RouterId, to: RouterId) -> Directions {
        let mut directions = Directions::default();
        for dimension in 0..self.dimensions() {
            let span = self.span(from, to, dimension);
            let down = if span.tie { self.coordinates(from)[dimension] % 2 == 1 } else { span.down };
            if span.steps > 0 {
                directions.set(Step { dimension, down });
            }
        }
        directions
    }

    #[inline]
    fn span(&self, from: RouterId, to: RouterId, d: usize) -> Span {
        self.lattice.span_between(self.coordinates(from)[d], self.coordinates(to)[d], d)
    }

    /// The directions along which the packet at `at` has not arrived yet.
    #[inline]
    pub fn remaining(&self, at: RouterId, to: RouterId, directions: Directions) -> Directions {
        let (here, there) = (self.coordinates(at), self.coordinates(to));
        let mut left = directions;
        for dimension in 0..self.dimensions() {
            if here[dimension] == there[dimension] {
                left = left.without(dimension);
            }
        }
        left
    }

    /// Hops from `from` to `to` along a dimension, in the shorter direction.
    pub fn hops(&self, from: RouterId, to: RouterId, dimension: usize) -> u32 {
        self.span(from, to, dimension).steps
    }

    /// The dimensions in which both directions are equally long, one bit for each.
    pub fn ties(&self, from: RouterId, to: RouterId) -> u16 {
        (0..self.dimensions()).filter(|&d| self.span(from, to, d).tie).fold(0, |mask, d| mask | 1 << d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compass(dims: &[u32], wrap: &[bool]) -> Compass {
        Compass::of(&Shape::Torus { dims: dims.to_vec(), wrap: wrap.to_vec() }).unwrap()
    }

    fn text(directions: Directions) -> String {
        (0..MAX_DIMENSIONS)
            .filter_map(|d| Some(format!("{d}{}", if directions.along(d)?.down { '-' } else { '+' })))
            .collect()
    }

    /// By hand: 8 x 4 torus, then a mesh of 5 and a ring of two; router = ((x 4 + y) 5 + z) 2 + e.
    #[test]
    fn shorter_directions_and_ties_by_parity() {
        let compass = compass(&[8, 4, 5, 2], &[true, true, false, true]);
        let router = |x: u32, y: u32, z: u32, e: u32| RouterId(((x * 4 + y) * 5 + z) * 2 + e);
        let path = |from, to| text(compass.directions(from, to));
        assert_eq!(compass.coordinates(router(7, 2, 4, 1)), [7, 2, 4, 1]);
        assert_eq!(path(router(0, 0, 0, 0), router(3, 3, 4, 0)), "0+1-2+");
        assert_eq!(path(router(0, 0, 4, 0), router(5, 0, 0, 0)), "0-2-");
        // Half a ring: up from an even coordinate, down from an odd one.
        assert_eq!(path(router(0, 0, 0, 0), router(4, 2, 0, 1)), "0+1+3+");
        assert_eq!(path(router(1, 3, 0, 1), router(5, 1, 0, 0)), "0-1-3-");
        assert_eq!(path(router(1, 3, 0, 1), router(1, 3, 0, 1)), "");
        let all = compass.directions(router(0, 0, 0, 0), router(3, 3, 4, 0));
        assert_eq!(text(compass.remaining(router(3, 0, 2, 0), router(3, 3, 4, 0), all)), "1-2+");
        assert_eq!(all.dimensions(), 0b111);
        assert_eq!(compass.ties(router(1, 3, 0, 1), router(5, 1, 2, 0)), 0b1011);
        assert_eq!(all.within(0b101).map(|step| step.dimension).collect::<Vec<_>>(), [0, 2]);
        let hops: Vec<u32> = (0..4).map(|d| compass.hops(router(0, 0, 0, 0), router(5, 3, 4, 1), d)).collect();
        assert_eq!(hops, [3, 1, 4, 1]);
    }
}

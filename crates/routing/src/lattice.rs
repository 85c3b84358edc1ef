//! Positions of the routers of a torus or mesh.

use odonata_machine::Shape;
use odonata_units::RouterId;

/// One step along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Number of the dimension.
    pub dimension: usize,
    /// Towards lower coordinates.
    pub down: bool,
}

/// The shorter path between two routers along one dimension.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    /// Number of steps.
    pub(crate) steps: u32,
    /// Whether it leads down; up if both directions are equally long.
    pub(crate) down: bool,
    /// Whether both directions are equally long.
    pub(crate) tie: bool,
}

/// Coordinates of routers; the last dimension changes fastest.
#[derive(Clone, Debug)]
pub(crate) struct Lattice {
    /// Size of each dimension.
    pub(crate) dims: Vec<u32>,
    /// Whether each dimension wraps around.
    pub(crate) wrap: Vec<bool>,
    /// Distance in router index of one step along each dimension.
    stride: Vec<u32>,
}

impl Lattice {
    /// The positions on a torus or mesh; `None` for other shapes.
    pub(crate) fn of(shape: &Shape) -> Option<Self> {
        let Shape::Torus { dims, wrap } = shape else { return None };
        let mut stride = vec![1u32; dims.len()];
        for d in (0..dims.len().saturating_sub(1)).rev() {
            stride[d] = stride[d + 1] * dims[d + 1];
        }
        Some(Self { dims: dims.clone(), wrap: wrap.clone(), stride })
    }

    /// All steps from a router, in the order of [`Lattice::place`].
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> {
        (0..self.dims.len()).flat_map(|dimension| [false, true].map(|down| Step { dimension, down }))
    }

    /// Number of a step from a router, in tables of all steps from all routers.
    #[inline]
    pub(crate) fn place(&self, router: RouterId, step: Step) -> usize {
        (router.index() * self.dims.len() + step.dimension) * 2 + usize::from(step.down)
    }

    /// Coordinate of a router along dimension `d`.
    #[inline]
    pub(crate) fn coordinate(&self, router: RouterId, d: usize) -> u32 {
        router.0 / self.stride[d] % self.dims[d]
    }

    /// The path from one router to another along dimension `d`.
    #[inline]
    pub(crate) fn span(&self, from: RouterId, to: RouterId, d: usize) -> Span {
        self.span_between(self.coordinate(from, d), self.coordinate(to, d), d)
    }

    /// The path from coordinate `x` to coordinate `y` of dimension `d`.
    #[inline]
    pub(crate) fn span_between(&self, x: u32, y: u32, d: usize) -> Span {
        if !self.wrap[d] {
            return Span { steps: x.abs_diff(y), down: y < x, tie: false };
        }
        let n = self.dims[d];
        let up = if y < x { y + n - x } else { y - x };
        let down = n - up;
        Span { steps: up.min(down), down: down < up, tie: up == down }
    }

    /// The router one step away, or `None` at the edge of a mesh or in a dimension of size 1.
    pub(crate) fn neighbour(&self, router: RouterId, Step { dimension: d, down }: Step) -> Option<RouterId> {
        let (x, n) = (self.coordinate(router, d), self.dims[d]);
        let edge = if down { x == 0 } else { x + 1 == n };
        if n == 1 || (edge && !self.wrap[d]) {
            return None;
        }
        let next = if down { (x + n - 1) % n } else { (x + 1) % n };
        Some(RouterId(router.0 - x * self.stride[d] + next * self.stride[d]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: rings of 5, 4 and 2, and a mesh of 4.
    #[test]
    fn the_shorter_direction_of_a_ring() {
        let shape = Shape::Torus { dims: vec![5, 4, 2, 4], wrap: vec![true, true, true, false] };
        let lattice = Lattice::of(&shape).unwrap();
        let span = |x, y, d| {
            let Span { steps, down, tie } = lattice.span_between(x, y, d);
            (steps, down, tie)
        };
        assert_eq!((span(4, 1, 0), span(1, 4, 0)), ((2, false, false), (2, true, false)));
        assert_eq!((span(3, 1, 1), span(0, 1, 2)), ((2, false, true), (1, false, true)));
        assert_eq!((span(2, 2, 1), span(3, 0, 3)), ((0, false, false), (3, true, false)));
    }
}

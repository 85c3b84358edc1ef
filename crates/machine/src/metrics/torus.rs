//! Closed forms of a torus or mesh with all its cables.

use crate::{Machine, Shape};

/// A torus or mesh without a missing or foreign cable and with all routers working.
pub(super) struct CompleteTorus<'m> {
    dims: &'m [u32],
    wrap: &'m [bool],
    /// Parallel cables of every step, if the number is the same. The two steps around a wrapping dimension of size 2
    /// count as two.
    parallel: Option<u32>,
}

impl<'m> CompleteTorus<'m> {
    /// The machine as a complete torus or mesh, if it is one.
    pub(super) fn of(machine: &'m Machine) -> Option<Self> {
        let Shape::Torus { dims, wrap } = machine.shape() else { return None };
        if machine.routers().any(|router| !machine.router_up(router)) {
            return None;
        }
        let mut parallel: Option<u32> = None;
        let mut uniform = true;
        for bundle in machine.bundles() {
            let (a, b) = (machine.coordinates().of(bundle.source), machine.coordinates().of(bundle.target));
            let mut steps = (0..dims.len()).filter(|&d| a[d] != b[d]);
            let (d, None) = (steps.next()?, steps.next()) else { return None };
            let step = a[d].abs_diff(b[d]);
            if step != 1 && !(wrap[d] && step + 1 == dims[d]) {
                return None;
            }
            // Half of an odd count differs from every other number of parallel cables.
            let (directions, remainder) = if wrap[d] && dims[d] == 2 { (2, bundle.count % 2) } else { (1, 0) };
            uniform &=
                *parallel.get_or_insert(bundle.count / directions) == bundle.count / directions && remainder == 0;
        }
        // There is one class, so every (router, neighbour) pair has one bundle.
        let routers = machine.router_count() as u64;
        let neighbours = dims.iter().zip(wrap).map(|(&size, &wraps)| match (size, wraps) {
            (1, _) => 0,
            (2, _) => routers,
            (_, true) => 2 * routers,
            (size, false) => 2 * routers / u64::from(size) * u64::from(size - 1),
        });
        let complete = machine.bundles().len() as u64 == neighbours.sum::<u64>() && machine.classes().len() == 1;
        complete.then_some(Self { dims, wrap, parallel: parallel.filter(|_| uniform) })
    }

    /// Ordered router pairs by hops, including a router with itself: the hops of the dimensions are summed.
    pub(super) fn pairs_by_hops(&self) -> Vec<u64> {
        self.dims.iter().zip(self.wrap).fold(vec![1], |so_far, (&size, &wraps)| {
            let mut along = vec![0u64; size as usize];
            for a in 0..size {
                for b in 0..size {
                    let direct = a.abs_diff(b);
                    let hops = if wraps { direct.min(size - direct) } else { direct };
                    along[hops as usize] += 1;
                }
            }
            let mut both = vec![0u64; so_far.len() + along.len() - 1];
            for (h, n) in so_far.iter().enumerate() {
                for (k, m) in along.iter().enumerate() {
                    both[h + k] += n * m;
                }
            }
            while both.last() == Some(&0) {
                both.pop();
            }
            both
        })
    }

    /// Cables of the bisection, if a formula is known: the largest dimension k is even, all dimensions wrap or none
    /// does, and every step has the same number of cables. 2 N/k for a torus and N/k for a mesh.
    pub(super) fn bisection_cables(&self) -> Option<usize> {
        let largest = self.dims.iter().copied().max().filter(|largest| largest % 2 == 0)?;
        let alike = |wanted: bool| self.dims.iter().zip(self.wrap).all(|(&size, &wraps)| size == 1 || wraps == wanted);
        let routers: usize = self.dims.iter().map(|&size| size as usize).product();
        let across = self.parallel? as usize * routers / largest as usize;
        match (alike(true), alike(false)) {
            (true, _) => Some(2 * across),
            (false, true) => Some(across),
            (false, false) => None,
        }
    }
}

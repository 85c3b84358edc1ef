//! Requests and grants by iteration: what some flows leave for others on the same links.
//!
//! A [`Field`] has the sums of all flows. Flows can be solved in the field of others without these being solved again:
//! the sums of both decide the residuals and the ratios of each iteration.

use crate::sums::Sums;

/// What is summed in an iteration.
#[derive(Clone, Copy)]
pub(crate) enum Quantity {
    Demand,
    /// Rate if only ports limited it; empty unless paths depend on it.
    Offered,
    Grants,
}

const QUANTITIES: usize = 3;

/// Sums of some flows in every iteration: place and amount, without zeros.
#[derive(Debug, Default)]
pub(crate) struct Contribution {
    iterations: Vec<[Vec<(u32, u64)>; QUANTITIES]>,
}

/// Sums of flows in every iteration, by place: links, then ports.
#[derive(Debug, Default)]
pub(crate) struct Field {
    iterations: Vec<[Vec<u64>; QUANTITIES]>,
}

impl Field {
    pub(crate) fn iterations(&self) -> u32 {
        self.iterations.len() as u32
    }

    pub(crate) fn add(&mut self, more: &Contribution, places: usize) {
        let empty = || std::array::from_fn(|_| vec![0; places]);
        let iterations = self.iterations.len().max(more.iterations.len());
        self.iterations.resize_with(iterations, empty);
        self.update(more, |sum, amount| *sum += amount);
    }

    /// A job that was solved in another field has contributed a little more or less than it would now.
    pub(crate) fn subtract(&mut self, less: &Contribution) {
        self.update(less, |sum, amount| *sum = sum.saturating_sub(amount));
    }

    /// Grants of all iterations on each of the first `places`.
    pub(crate) fn grants(&self, places: usize) -> Vec<u64> {
        let mut sums = vec![0; places];
        for quantities in &self.iterations {
            let grants = &quantities[Quantity::Grants as usize];
            sums.iter_mut().zip(grants).for_each(|(sum, amount)| *sum += amount);
        }
        sums
    }

    fn update(&mut self, by: &Contribution, change: impl Fn(&mut u64, u64)) {
        for (sums, amounts) in self.iterations.iter_mut().zip(&by.iterations) {
            for (sums, amounts) in sums.iter_mut().zip(amounts) {
                amounts.iter().for_each(|&(place, amount)| change(&mut sums[place as usize], amount));
            }
        }
    }
}

impl Contribution {
    /// Sums of all iterations of the grants, added to `sums` by place.
    pub(crate) fn add_grants(&self, sums: &mut [u64]) {
        for &(place, amount) in self.iterations.iter().flat_map(|quantities| &quantities[Quantity::Grants as usize]) {
            sums[place as usize] += amount;
        }
    }
}

/// What is known of the other flows of a system while some are solved.
#[derive(Default)]
pub(crate) struct Surroundings<'a> {
    /// Units of demand per unit of weight, equal for all flows of a field.
    pub(crate) demand_unit: Option<f64>,
    pub(crate) field: Option<&'a Field>,
    /// Whether the field has the flows' own sums, too. They then get what they got when it was made.
    pub(crate) includes_own: bool,
    /// Receives the flows' own sums.
    pub(crate) own: Option<Contribution>,
}

impl Surroundings<'_> {
    /// Records the flows' own sums, and adds the others' sums.
    pub(crate) fn exchange(&mut self, iteration: u32, quantity: Quantity, sums: &mut Sums) {
        let iteration = iteration as usize;
        let own: &mut dyn Iterator<Item = &u64> = match quantity {
            Quantity::Offered => &mut sums.offered.iter(),
            Quantity::Demand | Quantity::Grants => &mut sums.links.iter().chain(&sums.ports),
        };
        if let Some(recorded) = &mut self.own {
            recorded.iterations.resize_with(iteration + 1, Default::default);
            let nonzero = own.enumerate().filter(|(_, &amount)| amount > 0);
            recorded.iterations[iteration][quantity as usize] =
                nonzero.map(|(place, &amount)| (place as u32, amount)).collect();
        }
        let Some(others) = self.field.and_then(|field| field.iterations.get(iteration)) else { return };
        let others = &others[quantity as usize];
        let all: &mut dyn Iterator<Item = &mut u64> = match quantity {
            Quantity::Offered => &mut sums.offered.iter_mut(),
            Quantity::Demand | Quantity::Grants => &mut sums.links.iter_mut().chain(&mut sums.ports),
        };
        if self.includes_own {
            // A job that was solved in another field may now ask for a little more than the field has.
            all.zip(others).for_each(|(sum, other)| *sum = (*sum).max(*other));
        } else {
            all.zip(others).for_each(|(sum, other)| *sum += other);
        }
    }
}

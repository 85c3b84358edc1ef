//! The learnt state of a router.

use serde::{Deserialize, Serialize};

/// A matrix of estimates; empty for an algorithm that learns nothing. Only updated rows are stored. The algorithm
/// computes the initial values of all others. A job with few destination groups therefore needs little memory. A
/// router with all rows needs 4 B per row more than a whole matrix.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Position of each row among the stored ones, or `NO_ROW`.
    places: Vec<u32>,
    /// The stored rows in sequence.
    values: Vec<f32>,
    /// Values in a row.
    columns: usize,
    /// Words with a meaning for the algorithm only.
    pub notes: Vec<u64>,
    /// Number of updates: the learning curve.
    pub updates: u64,
    /// Sum of their absolute errors in ns.
    pub error_ns: f64,
}

const NO_ROW: u32 = u32::MAX;
/// Rows are reserved in steps of 1/8 of the stored ones. Smaller steps reallocate more often, larger ones waste
/// memory.
const GROWTH: usize = 8;

impl Memory {
    /// A matrix of this size without updated rows.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { places: vec![NO_ROW; rows], columns, ..Self::default() }
    }

    /// A memory without estimates and with this many words, all 0.
    pub fn with_notes(words: usize) -> Self {
        Self { notes: vec![0; words], ..Self::default() }
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.places.len(), self.columns)
    }

    /// A row, if it was updated.
    #[inline]
    pub fn row(&self, row: usize) -> Option<&[f32]> {
        let place = self.places[row];
        (place != NO_ROW).then(|| {
            let first = place as usize * self.columns;
            &self.values[first..first + self.columns]
        })
    }

    /// A row to update; `initial` gives the initial value of a column.
    #[inline]
    pub fn row_mut(&mut self, row: usize, initial: impl Fn(usize) -> f32) -> &mut [f32] {
        if self.places[row] == NO_ROW {
            self.insert_row(row, initial);
        }
        let first = self.places[row] as usize * self.columns;
        &mut self.values[first..first + self.columns]
    }

    #[inline(never)]
    fn insert_row(&mut self, row: usize, initial: impl Fn(usize) -> f32) {
        let held = self.values.len() / self.columns;
        if self.values.capacity() < self.values.len() + self.columns {
            let more = (held / GROWTH).max(1).min(self.places.len() - held);
            self.values.reserve_exact(more * self.columns);
        }
        self.values.extend((0..self.columns).map(initial));
        self.places[row] = held as u32;
    }

    /// Replaces the whole matrix, row by row.
    pub fn fill(&mut self, values: &[f32]) {
        assert_eq!(values.len(), self.places.len() * self.columns, "a value for each row and column");
        self.places = (0..self.places.len() as u32).collect();
        self.values = values.to_vec();
    }

    /// The whole matrix, row by row; `initial` gives the value of a row that was not updated.
    pub fn all(&self, initial: impl Fn(usize, usize) -> f32) -> Vec<f32> {
        let mut all = Vec::with_capacity(self.places.len() * self.columns);
        for row in 0..self.places.len() {
            match self.row(row) {
                Some(values) => all.extend_from_slice(values),
                None => all.extend((0..self.columns).map(|column| initial(row, column))),
            }
        }
        all
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        4 * (self.places.capacity() + self.values.capacity()) + 8 * self.notes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a whole matrix.
        #[test]
        fn rows_equal_the_rows_of_a_whole_matrix(changes in prop::collection::vec((0usize..9, 0usize..4, 0f32..9.0), 0..60)) {
            let initial = |row: usize, column: usize| (10 * row + column) as f32;
            let mut whole: Vec<f32> = (0..36).map(|i| initial(i / 4, i % 4)).collect();
            let mut memory = Memory::new(9, 4);
            for (row, column, value) in changes {
                whole[4 * row + column] = value;
                memory.row_mut(row, |column| initial(row, column))[column] = value;
                prop_assert_eq!(memory.row(row).unwrap(), &whole[4 * row..4 * row + 4]);
            }
            prop_assert_eq!(&memory.all(initial), &whole);
            let held = (0..9).filter(|&row| memory.row(row).is_some()).count();
            prop_assert_eq!(memory.values.len(), 4 * held);
            prop_assert!(memory.bytes() <= 4 * (9 + 36));
            let mut filled = Memory::new(9, 4);
            filled.fill(&whole);
            prop_assert_eq!(filled.all(|_, _| f32::NAN), whole);
        }
    }
}

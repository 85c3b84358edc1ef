//! What a router may learn.

use serde::{Deserialize, Serialize};

/// A matrix of estimates, empty for an algorithm that learns nothing. Only rows of which anything was learnt are held; of the others the
/// algorithm knows what they begin with. So a job that talks to few groups costs little, and a router that has learnt of all has what a whole
/// matrix would take and 4 B a row.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Place of each row among those that are held, or `NO_ROW`.
    places: Vec<u32>,
    /// The rows that are held, one after the other.
    values: Vec<f32>,
    /// Values in a row.
    columns: usize,
    /// What an algorithm notes in whole words, whatever they mean to it; as many as it asked for.
    pub notes: Vec<u64>,
    /// Number of updates: the learning curve.
    pub updates: u64,
    /// Sum of their absolute errors in ns.
    pub error_ns: f64,
}

const NO_ROW: u32 = u32::MAX;
/// Room for rows is made for a part of those that are held, since most routers end with all of them.
const GROWTH: usize = 8;

impl Memory {
    /// Of so many rows and columns, of which nothing was learnt.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { places: vec![NO_ROW; rows], columns, ..Self::default() }
    }

    /// Without estimates, of so many words, all 0.
    pub fn with_notes(words: usize) -> Self {
        Self { notes: vec![0; words], ..Self::default() }
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.places.len(), self.columns)
    }

    /// A row, if anything was learnt of it.
    #[inline]
    pub fn row(&self, row: usize) -> Option<&[f32]> {
        let place = self.places[row];
        (place != NO_ROW).then(|| {
            let first = place as usize * self.columns;
            &self.values[first..first + self.columns]
        })
    }

    /// A row of which something is to be learnt; `initial` says what its columns begin with.
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

    /// Puts a whole matrix, row by row, in its place.
    pub fn fill(&mut self, values: &[f32]) {
        assert_eq!(values.len(), self.places.len() * self.columns, "a value for each row and column");
        self.places = (0..self.places.len() as u32).collect();
        self.values = values.to_vec();
    }

    /// The whole matrix, row by row; `initial` says what a row and column begin with.
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

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        4 * (self.places.capacity() + self.values.capacity()) + 8 * self.notes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a whole matrix.
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

//! Fields of records as the values of columns.

use crate::call::Operation;
use odonata_trace::Column;
use odonata_units::{Bytes, Time};

/// The word of a header for what the places of its records count.
pub(super) fn place_word(word: &str) -> &'static str {
    ["line", "record", "event", "node"].into_iter().find(|known| *known == word).unwrap_or("")
}

/// A field of a record.
pub(super) trait Number: Sized {
    /// Its value in a column.
    fn number(self) -> u64;
    /// The field of a value, if there is one.
    fn of(number: u64) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Number for $type {
            // Wildcards and "none" are the largest number. They become 0, which takes one byte.
            fn number(self) -> u64 {
                self.wrapping_add(1).into()
            }

            fn of(number: u64) -> Option<Self> {
                <$type>::try_from(number).ok().map(|number| number.wrapping_sub(1))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64);

impl Number for Bytes {
    fn number(self) -> u64 {
        self.0.number()
    }

    fn of(number: u64) -> Option<Self> {
        u64::of(number).map(Self)
    }
}

impl Number for Time {
    // Without the step of one, so that times in whole ns have a common divisor.
    fn number(self) -> u64 {
        self.0
    }

    fn of(number: u64) -> Option<Self> {
        Some(Self(number)).filter(|time| time.0 <= i64::MAX as u64)
    }
}

impl Number for Operation {
    fn number(self) -> u64 {
        Self::ALL.iter().position(|of| *of == self).expect("one of all") as u64
    }

    fn of(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// Columns that are being read.
pub(super) struct Values<const N: usize>([std::vec::IntoIter<u64>; N]);

impl<const N: usize> Values<N> {
    pub(super) fn new(columns: [Column; N]) -> Self {
        Self(columns.map(Vec::into_iter))
    }

    /// The next value of a column.
    pub(super) fn value(&mut self, column: usize) -> Result<u64, String> {
        self.0[column].next().ok_or_else(|| format!("column {column} ends before the records"))
    }

    /// The next value of a column as a field.
    pub(super) fn next<T: Number>(&mut self, column: usize) -> Result<T, String> {
        let value = self.value(column)?;
        T::of(value).ok_or_else(|| format!("{value} in column {column}; expected a {}", std::any::type_name::<T>()))
    }

    /// Checks that all values were read.
    pub(super) fn end(self) -> Result<(), String> {
        match self.0.iter().position(|column| column.len() > 0) {
            Some(column) => Err(format!("column {column} goes on after the records")),
            None => Ok(()),
        }
    }
}

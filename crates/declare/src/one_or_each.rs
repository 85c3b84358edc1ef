//! One value for all, or one for each.

use crate::field::Field;
use crate::value::Value;

/// A value that a file gives once for all or, in a list, for each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OneOrEach<T> {
    /// The same for all.
    One(T),
    /// One for each.
    Each(Vec<T>),
}

impl<T: Clone> OneOrEach<T> {
    /// A value for each of `count`; a list is returned unchanged, whatever its length.
    pub fn expand(&self, count: usize) -> Vec<T> {
        match self {
            Self::One(value) => vec![value.clone(); count],
            Self::Each(values) => values.clone(),
        }
    }

    /// The value of number `index`.
    ///
    /// # Panics
    /// If a list is too short.
    pub fn at(&self, index: usize) -> T {
        match self {
            Self::One(value) => value.clone(),
            Self::Each(values) => values[index].clone(),
        }
    }
}

impl<T: Field> Field for OneOrEach<T> {
    fn get(&self) -> Option<Value> {
        match self {
            Self::One(value) => value.get(),
            Self::Each(values) => values.get(),
        }
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            list @ Some(Value::List(_)) => Self::Each(Field::of(list)),
            one => Self::One(T::of(one)),
        }
    }
}

impl<T> From<Vec<T>> for OneOrEach<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Each(values)
    }
}

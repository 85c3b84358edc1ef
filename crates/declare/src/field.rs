//! Fields of structs as values.

use crate::key::Kind;
use crate::value::Value;
use odonata_units::{Bytes, Rate, Time};

/// The type of a parameter: conversion from and to a value of its kind. The parser has checked the value.
pub trait Field {
    /// The value; `None` if the field has none.
    fn get(&self) -> Option<Value>;

    /// Converts a value of the parameter's kind. `None` stands for the word that means "no value".
    ///
    /// # Panics
    /// If the value is of another kind.
    fn of(value: Option<&Value>) -> Self;
}

/// A type whose keys have one kind, which a declaration need not give.
#[diagnostic::on_unimplemented(
    message = "the type `{Self}` does not decide the kind of its key",
    label = "give the kind after the default: `= default, Kind::COUNT;`"
)]
pub trait FieldKind {
    /// The kind.
    const KIND: Kind;
}

impl<T: FieldKind> FieldKind for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<T: FieldKind> FieldKind for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}

macro_rules! fields_with_a_kind {
    ($($type:ty: $variant:ident),+) => {$(
        impl FieldKind for $type {
            const KIND: Kind = Kind::$variant;
        }
    )+};
}

fields_with_a_kind!(bool: Flag, Bytes: Bytes, Time: Time, Rate: Rate);

macro_rules! plain_fields {
    ($($type:ty: $variant:ident),+) => {$(
        impl Field for $type {
            fn get(&self) -> Option<Value> {
                Some(Value::$variant(self.clone()))
            }

            fn of(value: Option<&Value>) -> Self {
                match value {
                    Some(Value::$variant(value)) => value.clone(),
                    other => unreachable!("a value of another kind: {other:?}"),
                }
            }
        }
    )+};
}

plain_fields!(String: Text, bool: Flag, f64: Number, Bytes: Bytes, Time: Time, Rate: Rate);

macro_rules! integer_fields {
    ($($type:ty),+) => {$(
        impl Field for $type {
            fn get(&self) -> Option<Value> {
                Some(Value::Integer(i64::try_from(*self).expect("a value of a file is below 2^63")))
            }

            fn of(value: Option<&Value>) -> Self {
                match value {
                    Some(Value::Integer(n)) => <$type>::try_from(*n).expect("the range was checked when it was read"),
                    other => unreachable!("a value of another kind: {other:?}"),
                }
            }
        }
    )+};
}

integer_fields!(u8, u16, u32, u64, usize, i32, i64);

impl Field for f32 {
    /// The shortest decimal that parses to the same number: 0.2 and not 0.20000000298.
    fn get(&self) -> Option<Value> {
        Some(Value::Number(self.to_string().parse().expect("a number is written as one")))
    }

    fn of(value: Option<&Value>) -> Self {
        f64::of(value) as f32
    }
}

impl<T: Field> Field for Option<T> {
    fn get(&self) -> Option<Value> {
        self.as_ref().and_then(Field::get)
    }

    fn of(value: Option<&Value>) -> Self {
        value.map(|value| T::of(Some(value)))
    }
}

impl<T: Field> Field for Vec<T> {
    /// A list.
    fn get(&self) -> Option<Value> {
        Some(Value::List(self.iter().filter_map(Field::get).collect()))
    }

    /// A single value is a list of one.
    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::List(values)) => values.iter().map(|value| T::of(Some(value))).collect(),
            one => vec![T::of(one)],
        }
    }
}

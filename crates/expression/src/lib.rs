//! Integer expressions with units: `minimal_queue > 2 * non_minimal_queue + 16 KiB`, `(rank - 1) % ranks`.
//!
//! An [`Expression`] is read once, with the names of a [`Scope`], and evaluated many times without allocation. Every
//! part has a [`Dimension`]: bytes and numbers cannot be compared. A [`Mistake`] names the column, what was expected,
//! and the nearest known name.
//!
//! ```
//! use odonata_expression::{Dimension, Expression, Scope};
//!
//! let names = [("queue", Dimension::Data), ("hops", Dimension::Number)];
//! let scope = Scope::of_variables(names);
//! let long = Expression::read("hops * queue > 4 KiB", &scope, Dimension::Truth).unwrap();
//! assert_eq!(long.saturating(&[1500, 3]), 1);
//! let error = Expression::read("hops * queu > 4 KiB", &scope, Dimension::Truth).unwrap_err();
//! assert_eq!((error.column, error.reason.as_str()), (8, "unknown name 'queu'; did you mean 'queue'?"));
//! ```
//!
//! Program files use [`TokenCursor`] instead, since a line has words around its expressions.

mod cursor;
mod dimension;
mod expression;
mod mistake;
mod operator;
mod scope;
mod tokens;

pub use cursor::{TokenCursor, DATA_UNITS, TIME_UNITS};
pub use dimension::Dimension;
pub use expression::Expression;
pub use mistake::Mistake;
pub use operator::Operator;
pub use scope::Scope;
pub use tokens::{tokens, Token, Word};

//! Errors in the numbers of a model.

use thiserror::Error;

/// A parameter or a table that no model can use. `what` is its name for the user.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModelError {
    /// A number outside its range.
    #[error("{what} is {value}; expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: String,
        /// The given value.
        value: f64,
        /// Description of the range.
        expected: &'static str,
    },
    /// Two nodes without a path.
    #[error("there is no path from node {from} to node {to}")]
    NoPath {
        /// Sending node.
        from: u32,
        /// Receiving node.
        to: u32,
    },
    /// A list of the wrong length.
    #[error("{what} has {got} entries; expected {expected}")]
    Length {
        /// The list.
        what: &'static str,
        /// Its length.
        got: usize,
        /// Description of the expected length.
        expected: String,
    },
}

/// Returns `value` if it is finite and at least `least`.
///
/// # Errors
/// A value out of range. The message starts with `what`.
pub fn at_least(what: &str, value: f64, least: f64) -> Result<f64, ModelError> {
    if value.is_finite() && value >= least {
        return Ok(value);
    }
    let expected = if least > 0.0 { "a finite number of at least 1" } else { "a finite number, zero or more" };
    Err(ModelError::OutOfRange { what: what.to_owned(), value, expected })
}

/// Returns `value` if it is finite and above zero.
///
/// # Errors
/// A value out of range. The message starts with `what`.
pub fn positive(what: &str, value: f64) -> Result<f64, ModelError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(ModelError::OutOfRange { what: what.to_owned(), value, expected: "a finite number above zero" })
}

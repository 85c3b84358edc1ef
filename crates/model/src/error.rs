//! What can be wrong with the numbers that a model is given.

use thiserror::Error;

/// A parameter or a table that no model can use. `what` names it in the user's words.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ModelError {
    /// A number outside its range.
    #[error("{what} is {value}; expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: String,
        /// What was given.
        value: f64,
        /// The range in words.
        expected: &'static str,
    },
    /// Two nodes of a machine that no path joins.
    #[error("there is no path from node {from} to node {to}")]
    NoPath {
        /// Node that sends.
        from: u32,
        /// Node that would receive.
        to: u32,
    },
    /// A list that must hold something, or as many entries as another.
    #[error("{what} has {got} entries; expected {expected}")]
    Length {
        /// The list.
        what: &'static str,
        /// Its length.
        got: usize,
        /// The length in words.
        expected: String,
    },
}

/// `value` if it is finite and at least `least`.
///
/// # Errors
/// It is not; the message begins with `what`.
pub fn at_least(what: &str, value: f64, least: f64) -> Result<f64, ModelError> {
    if value.is_finite() && value >= least {
        return Ok(value);
    }
    let expected = if least > 0.0 { "a finite number of at least 1" } else { "a finite number, zero or more" };
    Err(ModelError::OutOfRange { what: what.to_owned(), value, expected })
}

/// `value` if it is finite and above zero.
///
/// # Errors
/// It is not; the message begins with `what`.
pub fn positive(what: &str, value: f64) -> Result<f64, ModelError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(ModelError::OutOfRange { what: what.to_owned(), value, expected: "a finite number above zero" })
}

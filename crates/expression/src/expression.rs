//! An expression as a tree, and its value.

use crate::operator::Operator;
use std::sync::Arc;

/// An expression. Variables are numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A constant.
    Value(i64),
    /// The variable with this number.
    Variable(usize),
    /// Entry of a table.
    Table(Arc<[i64]>, Box<Self>),
    /// 1 for 0, and 0 for 1.
    Not(Box<Self>),
    /// An operator and its two operands.
    Binary(Operator, Box<Self>, Box<Self>),
}

impl Expression {
    /// The value.
    ///
    /// # Errors
    /// A division by zero, a number beyond 2^63, or a place outside of a table.
    pub fn of(&self, variables: &[i64]) -> Result<i64, &'static str> {
        match self {
            Self::Value(value) => Ok(*value),
            Self::Variable(number) => Ok(variables[*number]),
            Self::Table(numbers, place) => {
                let place = usize::try_from(place.of(variables)?).ok();
                place.and_then(|place| numbers.get(place).copied()).ok_or("a place outside of its table")
            }
            Self::Not(expression) => Ok(1 - expression.of(variables)?),
            Self::Binary(operator, left, right) => operator.of(left.of(variables)?, right.of(variables)?),
        }
    }

    /// The value without errors: beyond 2^63 the nearest number, a / 0 the largest number with the sign of a. 0 / 0,
    /// a % 0 and a place outside of a table are 0.
    pub fn saturating(&self, variables: &[i64]) -> i64 {
        match self {
            Self::Value(value) => *value,
            Self::Variable(number) => variables[*number],
            Self::Table(..) => self.of(variables).unwrap_or(0),
            Self::Not(expression) => 1 - expression.saturating(variables),
            Self::Binary(operator, left, right) => {
                operator.saturating(left.saturating(variables), right.saturating(variables))
            }
        }
    }

    /// Whether it depends on variable `wanted`.
    pub fn depends_on(&self, wanted: usize) -> bool {
        self.depends(&|number| number == wanted)
    }

    /// Whether it depends on a variable from `first` on.
    pub fn depends_from(&self, first: usize) -> bool {
        self.depends(&|number| number >= first)
    }

    fn depends(&self, on: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Variable(number) => on(*number),
            Self::Not(expression) | Self::Table(_, expression) => expression.depends(on),
            Self::Binary(_, left, right) => left.depends(on) || right.depends(on),
        }
    }
}

//! The names of an expression.

use crate::dimension::Dimension;
use crate::expression::Expression;
use crate::operator::Operator;
use std::sync::Arc;

/// Names of an expression.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// By name: number and dimension.
    pub variables: Vec<(String, usize, Dimension)>,
    /// By name: value and dimension.
    pub constants: Vec<(String, i64, Dimension)>,
    /// By name: values and their dimension.
    pub tables: Vec<(String, Arc<[i64]>, Dimension)>,
}

impl Scope {
    /// Variables numbered in this order.
    pub fn of_variables<'n>(names: impl IntoIterator<Item = (&'n str, Dimension)>) -> Self {
        let numbered = names.into_iter().enumerate();
        let variables = numbered.map(|(number, (name, dimension))| (name.to_owned(), number, dimension)).collect();
        Self { variables, ..Self::default() }
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let constants = self.constants.iter().map(|(name, _, _)| name.as_str());
        let tables = self.tables.iter().map(|(name, _, _)| name.as_str());
        self.variables.iter().map(|(name, _, _)| name.as_str()).chain(constants).chain(tables)
    }

    pub(crate) fn find(&self, name: &str) -> Option<(Expression, Dimension)> {
        // The innermost loop first.
        let variable = self.variables.iter().rev().find(|(known, _, _)| known == name);
        if let Some(&(_, number, dimension)) = variable {
            return Some((Expression::Variable(number), dimension));
        }
        let constant = self.constants.iter().find(|(known, _, _)| known == name);
        constant.map(|&(_, value, dimension)| (Expression::Value(value), dimension))
    }

    /// The function called `name`, unless something else has its name.
    pub(crate) fn function(&self, name: &str) -> Option<Operator> {
        let function = Operator::FUNCTIONS.iter().find(|(known, _)| *known == name);
        function.filter(|_| self.names().all(|known| known != name)).map(|&(_, operator)| operator)
    }
}

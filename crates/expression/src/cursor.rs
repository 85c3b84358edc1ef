//! The parser of expressions, over the tokens of a line.

use crate::dimension::Dimension;
use crate::expression::Expression;
use crate::mistake::Mistake;
use crate::operator::Operator;
use crate::scope::Scope;
use crate::tokens::{tokens, Token, Word};
use odonata_declare::hint;
use odonata_units::Quantity;
use std::sync::Arc;

/// Units of [`Dimension::Data`].
pub const DATA_UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
/// Units of [`Dimension::Time`].
pub const TIME_UNITS: [&str; 5] = ["ps", "ns", "us", "ms", "s"];

/// Limit on nested parentheses. Deeper nesting could overflow the stack.
const MAX_DEPTH: u32 = 40;

/// Limit on operators in a line. Each one makes the tree one level deeper.
const MAX_OPERATORS: u32 = 500;

/// An expression with its dimension.
type Operand = (Expression, Dimension);

/// Cursor over the tokens of a line.
#[derive(Clone, Debug)]
pub struct TokenCursor<'a> {
    line: u32,
    tokens: &'a [Token],
    /// The column after the last character.
    end: u32,
    next: usize,
    depth: u32,
    operators: u32,
}

impl<'a> TokenCursor<'a> {
    /// Starts at the first token of a line that ends before column `end`.
    pub fn new(line: u32, tokens: &'a [Token], end: u32) -> Self {
        Self { line, tokens, end, next: 0, depth: 0, operators: 0 }
    }

    /// The cursor after the first token.
    #[must_use]
    pub fn after_first(self) -> Self {
        Self { next: 1, ..self }
    }

    /// Starts a new expression.
    pub fn again(&mut self) {
        self.operators = 0;
    }

    fn peek(&self) -> Option<&'a Word> {
        self.tokens.get(self.next).map(|token| &token.word)
    }

    /// The column of the next token, or the end.
    pub fn column(&self) -> u32 {
        self.tokens.get(self.next).map_or(self.end, |token| token.column)
    }

    /// The line's number.
    pub fn line_number(&self) -> u32 {
        self.line
    }

    /// A mistake at the next token.
    ///
    /// # Errors
    /// Always.
    pub fn mistake<T>(&self, reason: String) -> Result<T, Mistake> {
        Err(Mistake::new(self.line, self.column(), reason))
    }

    /// A mistake: `what` was expected instead of the next token.
    ///
    /// # Errors
    /// Always.
    pub fn expected<T>(&self, what: &str) -> Result<T, Mistake> {
        match self.peek() {
            Some(word) => self.mistake(format!("expected {what}, found {word}")),
            None => self.mistake(format!("expected {what}, found the end of the line")),
        }
    }

    /// Consumes the sign or name if it is next.
    pub fn takes(&mut self, what: &str) -> bool {
        let found = match self.peek() {
            Some(Word::Sign(sign)) => *sign == what,
            Some(Word::Name(name)) => name == what,
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    /// Consumes the sign or name.
    ///
    /// # Errors
    /// If something else is next.
    pub fn needs(&mut self, what: &str) -> Result<(), Mistake> {
        if self.takes(what) {
            Ok(())
        } else {
            self.expected(&format!("'{what}'"))
        }
    }

    /// Consumes any name.
    ///
    /// # Errors
    /// `what` was expected.
    pub fn name(&mut self, what: &str) -> Result<&'a str, Mistake> {
        match self.peek() {
            Some(Word::Name(name)) => {
                self.next += 1;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// Whether no token is left.
    pub fn is_end(&self) -> bool {
        self.peek().is_none()
    }

    /// Checks that no token is left.
    ///
    /// # Errors
    /// If one is.
    pub fn end(&self) -> Result<(), Mistake> {
        if self.is_end() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    /// Parses an expression of one dimension.
    ///
    /// # Errors
    /// A mistake, or another dimension.
    pub fn amount(&mut self, scope: &Scope, dimension: Dimension) -> Result<Expression, Mistake> {
        let at = self.clone();
        let (expression, found) = self.expression(scope)?;
        match found == dimension {
            true => Ok(expression),
            false => at.mistake(format!("expected {}, found {}", dimension.expected(), found.expected())),
        }
    }

    /// Parses an expression of any dimension.
    ///
    /// # Errors
    /// A mistake in the expression.
    pub fn expression(&mut self, scope: &Scope) -> Result<(Expression, Dimension), Mistake> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.mistake(format!("more than {MAX_DEPTH} nested parentheses and signs"));
        }
        let expression = self.level(scope, 0);
        self.depth -= 1;
        expression
    }

    fn level(&mut self, scope: &Scope, level: usize) -> Result<(Expression, Dimension), Mistake> {
        let Some(operators) = Operator::LEVELS.get(level) else { return self.primary(scope) };
        let mut left = self.level(scope, level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            let at = self.clone();
            let right = self.level(scope, level + 1)?;
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return at.mistake(format!("more than {MAX_OPERATORS} operators in a line"));
            }
            left = at.joined(operator, left, right)?;
        }
        Ok(left)
    }

    fn primary(&mut self, scope: &Scope) -> Result<(Expression, Dimension), Mistake> {
        if self.takes("(") {
            let (inner, dimension) = self.expression(scope)?;
            self.needs(")")?;
            return self.unit(inner, dimension);
        }
        if self.takes("not") {
            let at = self.clone();
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return self.mistake(format!("more than {MAX_DEPTH} nested parentheses and signs"));
            }
            // Precedence of a comparison.
            let (inner, dimension) = self.level(scope, 2)?;
            self.depth -= 1;
            return match dimension {
                Dimension::Truth => Ok((Expression::Not(Box::new(inner)), dimension)),
                other => at.mistake(format!("expected {}, found {}", Dimension::Truth.expected(), other.expected())),
            };
        }
        if self.takes("-") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return self.mistake(format!("more than {MAX_DEPTH} nested parentheses and signs"));
            }
            let (inner, dimension) = self.primary(scope)?;
            self.depth -= 1;
            let negative = Expression::Binary(Operator::Minus, Box::new(Expression::Value(0)), Box::new(inner));
            return Ok((negative, dimension));
        }
        match self.peek() {
            Some(Word::Number(digits)) => self.number(digits),
            Some(Word::Name(name)) => match scope.find(name) {
                Some((expression, dimension)) => {
                    self.next += 1;
                    self.unit(expression, dimension)
                }
                None => match scope.function(name) {
                    Some(operator) => self.function(operator, scope),
                    None => self.table(name, scope),
                },
            },
            _ => self.expected("a number or a name"),
        }
    }

    /// An operator before its operands: `min(a, b)`.
    fn function(&mut self, operator: Operator, scope: &Scope) -> Result<(Expression, Dimension), Mistake> {
        self.next += 1;
        self.needs("(")?;
        let left = self.expression(scope)?;
        self.needs(",")?;
        let at = self.clone();
        let right = self.expression(scope)?;
        self.needs(")")?;
        at.joined(operator, left, right)
    }

    /// Two operands joined, and evaluated if they are constant. The cursor is at the second one.
    fn joined(&self, operator: Operator, left: Operand, right: Operand) -> Result<Operand, Mistake> {
        let Some(dimension) = operator.dimension(left.1, right.1) else {
            let (left, right) = (left.1.expected(), right.1.expected());
            return self.mistake(format!("{left} and {right} cannot be combined"));
        };
        match Expression::Binary(operator, Box::new(left.0), Box::new(right.0)) {
            constant if !constant.depends_from(0) => match constant.of(&[]) {
                Ok(value) => Ok((Expression::Value(value), dimension)),
                Err(reason) => self.mistake(reason.into()),
            },
            other => Ok((other, dimension)),
        }
    }

    /// An entry of a table.
    fn table(&mut self, name: &str, scope: &Scope) -> Result<(Expression, Dimension), Mistake> {
        let Some((_, numbers, dimension)) = scope.tables.iter().find(|(known, _, _)| known == name) else {
            return self.mistake(format!("unknown name '{name}'{}", hint(name, scope.names())));
        };
        self.next += 1;
        self.needs("[")?;
        let place = self.amount(scope, Dimension::Number)?;
        self.needs("]")?;
        self.unit(Expression::Table(Arc::clone(numbers), Box::new(place)), *dimension)
    }

    /// A number, with its unit if one follows.
    fn number(&mut self, digits: &str) -> Result<(Expression, Dimension), Mistake> {
        let at = self.clone();
        self.next += 1;
        if let Some(unit) = self.next_unit() {
            let text = format!("{digits} {unit}");
            let amount = match TIME_UNITS.contains(&unit) {
                true => Quantity::time(&text).map(|time| (time.ps(), Dimension::Time)),
                false => Quantity::bytes(&text).map(|bytes| (bytes.0, Dimension::Data)),
            };
            return match amount {
                Ok((value, dimension)) => match i64::try_from(value) {
                    Ok(value) => Ok((Expression::Value(value), dimension)),
                    Err(_) => at.mistake(format!("{text} is larger than supported")),
                },
                Err(error) => at.mistake(error.to_string()),
            };
        }
        match digits.parse() {
            Ok(value) => Ok((Expression::Value(value), Dimension::Number)),
            Err(_) if digits.contains('.') => self.expected(&format!("a unit after {digits}")),
            Err(_) => at.mistake(format!("{digits} is larger than supported")),
        }
    }

    /// Consumes a unit if one follows.
    fn next_unit(&mut self) -> Option<&'static str> {
        let Some(Word::Name(name)) = self.peek() else { return None };
        let unit = DATA_UNITS.into_iter().chain(TIME_UNITS).find(|unit| unit == name)?;
        self.next += 1;
        Some(unit)
    }

    /// A number with a unit: `(rank + 1) KiB`.
    fn unit(&mut self, number: Expression, dimension: Dimension) -> Result<(Expression, Dimension), Mistake> {
        let at = self.clone();
        let Some(unit) = self.next_unit() else { return Ok((number, dimension)) };
        if dimension != Dimension::Number {
            return at.mistake(format!("a second unit after {}", dimension.expected()));
        }
        let (one, dimension) = match TIME_UNITS.contains(&unit) {
            true => (Quantity::time(&format!("1 {unit}")).map(|time| time.ps()), Dimension::Time),
            false => (Quantity::bytes(&format!("1 {unit}")).map(|bytes| bytes.0), Dimension::Data),
        };
        let one = one.ok().and_then(|one| i64::try_from(one).ok()).expect("one unit fits");
        Ok((Expression::Binary(Operator::Times, Box::new(number), Box::new(Expression::Value(one))), dimension))
    }
}

impl Expression {
    /// Reads a text that is one expression of this dimension.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read(text: &str, scope: &Scope, dimension: Dimension) -> Result<Self, Mistake> {
        let read = || {
            let (tokens, end) = (tokens(1, text, &[])?, text.chars().count() as u32 + 1);
            let mut cursor = TokenCursor::new(1, &tokens, end);
            let expression = cursor.amount(scope, dimension)?;
            cursor.end()?;
            Ok(expression)
        };
        // So far the whole text counts as one line.
        read().map_err(|Mistake { column, reason, .. }| {
            let before: Vec<char> = text.chars().take(column as usize - 1).collect();
            let line = before.split(|&c| c == '\n').count() as u32;
            let column = before.iter().rev().take_while(|&&c| c != '\n').count() as u32 + 1;
            Mistake { line, column, reason }
        })
    }
}

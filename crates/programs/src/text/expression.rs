//! Integer expressions with units. Variables are the rank, the number of ranks and the rounds of enclosing loops.

use super::lines::{Line, Token, Word};
use super::mistake::Mistake;
use odonata_declare::hint;
use odonata_units::Quantity;
use std::sync::Arc;

/// Dimension of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dimension {
    Number,
    /// In bytes.
    Data,
    /// In picoseconds.
    Time,
    /// 0 or 1.
    Truth,
}

impl Dimension {
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Data => "an amount of data like 64 KiB",
            Self::Time => "a duration like 5 us",
            Self::Truth => "a comparison like rank > 0",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Below,
    Above,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

impl Operator {
    /// Operators by precedence, the weakest first.
    const LEVELS: [&'static [(&'static str, Self)]; 5] = [
        &[("or", Self::Or)],
        &[("and", Self::And)],
        &[
            ("==", Self::Equal),
            ("!=", Self::Unequal),
            ("<=", Self::AtMost),
            (">=", Self::AtLeast),
            ("<", Self::Below),
            (">", Self::Above),
        ],
        &[("+", Self::Plus), ("-", Self::Minus)],
        &[("*", Self::Times), ("/", Self::Over), ("%", Self::Modulo)],
    ];

    /// Dimension of the result. `None` if the operands do not fit.
    fn dimension(self, left: Dimension, right: Dimension) -> Option<Dimension> {
        use Dimension::{Number, Truth};
        let amounts = left != Truth && right != Truth;
        match self {
            Self::Or | Self::And => (left == Truth && right == Truth).then_some(Truth),
            Self::Equal | Self::Unequal | Self::AtMost | Self::AtLeast | Self::Below | Self::Above => {
                (left == right && amounts).then_some(Truth)
            }
            Self::Plus | Self::Minus | Self::Modulo => (left == right && amounts).then_some(left),
            Self::Times if left == Number && amounts => Some(right),
            Self::Times => (right == Number && amounts).then_some(left),
            Self::Over if left == right && amounts => Some(Number),
            Self::Over => (right == Number && amounts).then_some(left),
        }
    }

    /// Quotients and remainders round down, as in Python: (-1) % n is n - 1.
    fn of(self, a: i64, b: i64) -> Result<i64, &'static str> {
        let whole = |result: Option<i64>| result.ok_or("a number beyond 2^63");
        let rounded_down = |of: fn(i64, i64) -> Option<i64>| {
            if b == 0 {
                Err("a division by zero")
            } else {
                whole(of(a, b))
            }
        };
        match self {
            Self::Or => Ok(a | b),
            Self::And => Ok(a & b),
            Self::Equal => Ok((a == b).into()),
            Self::Unequal => Ok((a != b).into()),
            Self::AtMost => Ok((a <= b).into()),
            Self::AtLeast => Ok((a >= b).into()),
            Self::Below => Ok((a < b).into()),
            Self::Above => Ok((a > b).into()),
            Self::Plus => whole(a.checked_add(b)),
            Self::Minus => whole(a.checked_sub(b)),
            Self::Times => whole(a.checked_mul(b)),
            Self::Over => rounded_down(|a, b| {
                let quotient = a.checked_div(b)?;
                Some(quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
            }),
            Self::Modulo => rounded_down(|a, b| {
                let rest = a.checked_rem(b)?;
                Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
            }),
        }
    }
}

/// An expression. Variables are numbered: the rank is the first, loops follow from the outermost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expression {
    Value(i64),
    Variable(usize),
    /// Entry of a table.
    Table(Arc<[i64]>, Box<Self>),
    Not(Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
}

impl Expression {
    pub(super) fn of(&self, variables: &[i64]) -> Result<i64, &'static str> {
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

    /// Whether it depends on variable `wanted`.
    pub(super) fn depends_on(&self, wanted: usize) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Variable(number) => *number == wanted,
            Self::Not(expression) | Self::Table(_, expression) => expression.depends_on(wanted),
            Self::Binary(_, left, right) => left.depends_on(wanted) || right.depends_on(wanted),
        }
    }

    /// Whether it depends on a variable from `first` on.
    pub(super) fn depends_from(&self, first: usize) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Variable(number) => *number >= first,
            Self::Not(expression) | Self::Table(_, expression) => expression.depends_from(first),
            Self::Binary(_, left, right) => left.depends_from(first) || right.depends_from(first),
        }
    }
}

/// Names of an expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// By name: number and dimension.
    pub(super) variables: Vec<(String, usize)>,
    pub(super) constants: Vec<(String, i64, Dimension)>,
    pub(super) tables: Vec<(String, Arc<[i64]>, Dimension)>,
}

impl Scope {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let constants = self.constants.iter().map(|(name, _, _)| name.as_str());
        let tables = self.tables.iter().map(|(name, _, _)| name.as_str());
        self.variables.iter().map(|(name, _)| name.as_str()).chain(constants).chain(tables)
    }

    fn find(&self, name: &str) -> Option<(Expression, Dimension)> {
        // The innermost loop first.
        if let Some((_, number)) = self.variables.iter().rev().find(|(known, _)| known == name) {
            return Some((Expression::Variable(*number), Dimension::Number));
        }
        let constant = self.constants.iter().find(|(known, _, _)| known == name);
        constant.map(|&(_, value, dimension)| (Expression::Value(value), dimension))
    }
}

pub(super) const DATA_UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
pub(super) const TIME_UNITS: [&str; 5] = ["ps", "ns", "us", "ms", "s"];

/// Limit on nested parentheses. Deeper nesting could overflow the stack.
const MAX_DEPTH: u32 = 40;

/// Limit on operators in a line. Each one makes the tree one level deeper.
const MAX_OPERATORS: u32 = 500;

/// Cursor over the tokens of a line.
#[derive(Clone, Debug)]
pub(super) struct TokenCursor<'a> {
    line: &'a Line,
    next: usize,
    depth: u32,
    operators: u32,
}

impl<'a> TokenCursor<'a> {
    /// Starts after the first word.
    pub(super) fn after_first(line: &'a Line) -> Self {
        Self { line, next: 1, depth: 0, operators: 0 }
    }

    /// Returns to the first word.
    pub(super) fn back(&mut self) {
        self.next = 0;
    }

    /// Starts a new expression.
    pub(super) fn again(&mut self) {
        self.operators = 0;
    }

    fn peek(&self) -> Option<&'a Word> {
        self.line.tokens.get(self.next).map(|token: &Token| &token.word)
    }

    pub(super) fn column(&self) -> u32 {
        self.line.tokens.get(self.next).map_or(self.line.end, |token| token.column)
    }

    pub(super) fn line_number(&self) -> u32 {
        self.line.number
    }

    pub(super) fn mistake<T>(&self, reason: String) -> Result<T, Mistake> {
        Err(Mistake::new(self.line.number, self.column(), reason))
    }

    pub(super) fn expected<T>(&self, what: &str) -> Result<T, Mistake> {
        match self.peek() {
            Some(word) => self.mistake(format!("expected {what}, found {word}")),
            None => self.mistake(format!("expected {what}, found the end of the line")),
        }
    }

    /// Consumes the sign or name if it is next.
    pub(super) fn takes(&mut self, what: &str) -> bool {
        let found = match self.peek() {
            Some(Word::Sign(sign)) => *sign == what,
            Some(Word::Name(name)) => name == what,
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    pub(super) fn needs(&mut self, what: &str) -> Result<(), Mistake> {
        if self.takes(what) {
            Ok(())
        } else {
            self.expected(&format!("'{what}'"))
        }
    }

    /// Consumes any name.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str, Mistake> {
        match self.peek() {
            Some(Word::Name(name)) => {
                self.next += 1;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    pub(super) fn is_end(&self) -> bool {
        self.peek().is_none()
    }

    pub(super) fn end(&self) -> Result<(), Mistake> {
        if self.is_end() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    /// Parses an expression of one dimension.
    pub(super) fn amount(&mut self, scope: &Scope, dimension: Dimension) -> Result<Expression, Mistake> {
        let at = self.clone();
        let (expression, found) = self.expression(scope)?;
        match found == dimension {
            true => Ok(expression),
            false => at.mistake(format!("expected {}, found {}", dimension.expected(), found.expected())),
        }
    }

    pub(super) fn expression(&mut self, scope: &Scope) -> Result<(Expression, Dimension), Mistake> {
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
        let (mut left, mut dimension) = self.level(scope, level + 1)?;
        while let Some(&(_, operator)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            let at = self.clone();
            let (right, other) = self.level(scope, level + 1)?;
            let Some(both) = operator.dimension(dimension, other) else {
                let (left, right) = (dimension.expected(), other.expected());
                return at.mistake(format!("{left} and {right} cannot be combined"));
            };
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return at.mistake(format!("more than {MAX_OPERATORS} operators in a line"));
            }
            dimension = both;
            left = match Expression::Binary(operator, Box::new(left), Box::new(right)) {
                constant if !constant.depends_from(0) => match constant.of(&[]) {
                    Ok(value) => Expression::Value(value),
                    Err(reason) => return at.mistake(reason.into()),
                },
                other => other,
            };
        }
        Ok((left, dimension))
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
                None => self.table(name, scope),
            },
            _ => self.expected("a number or a name"),
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

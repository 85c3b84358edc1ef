//! The operators of expressions.

use crate::dimension::Dimension;

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Operator {
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
    Min,
    Max,
}

impl Operator {
    /// Operators between their operands by precedence, the weakest first.
    pub(crate) const LEVELS: [&'static [(&'static str, Self)]; 5] = [
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

    /// Operators before their operands: `min(a, b)`.
    pub(crate) const FUNCTIONS: [(&'static str, Self); 2] = [("min", Self::Min), ("max", Self::Max)];

    /// Dimension of the result. `None` if the operands do not fit.
    pub(crate) fn dimension(self, left: Dimension, right: Dimension) -> Option<Dimension> {
        use Dimension::{Number, Truth};
        let amounts = left != Truth && right != Truth;
        match self {
            Self::Or | Self::And => (left == Truth && right == Truth).then_some(Truth),
            Self::Equal | Self::Unequal | Self::AtMost | Self::AtLeast | Self::Below | Self::Above => {
                (left == right && amounts).then_some(Truth)
            }
            Self::Plus | Self::Minus | Self::Modulo | Self::Min | Self::Max => {
                (left == right && amounts).then_some(left)
            }
            Self::Times if left == Number && amounts => Some(right),
            Self::Times => (right == Number && amounts).then_some(left),
            Self::Over if left == right && amounts => Some(Number),
            Self::Over => (right == Number && amounts).then_some(left),
        }
    }

    /// Quotients and remainders round down, as in Python: (-1) % n is n - 1.
    #[inline]
    pub(crate) fn of(self, a: i64, b: i64) -> Result<i64, &'static str> {
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
            Self::Min => Ok(a.min(b)),
            Self::Max => Ok(a.max(b)),
        }
    }

    /// The same without errors: beyond 2^63 the nearest number, a / 0 the largest number with the sign of a, 0 / 0 and
    /// a % 0 zero.
    #[inline]
    pub(crate) fn saturating(self, a: i64, b: i64) -> i64 {
        self.of(a, b).unwrap_or_else(|_| {
            let sign = match self {
                Self::Plus => b.signum(),
                Self::Minus => -b.signum(),
                Self::Times => a.signum() * b.signum(),
                Self::Over if b == 0 => a.signum(),
                // -2^63 / -1.
                Self::Over => 1,
                _ => 0,
            };
            match sign {
                1 => i64::MAX,
                0 => 0,
                _ => i64::MIN,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against exact arithmetic in 128 bits, at all pairs of numbers near the limits and zero.
    #[test]
    fn saturating_gives_the_nearest_number() {
        let near = [i64::MIN, i64::MIN + 1, -3, -2, -1, 0, 1, 2, 3, i64::MAX - 1, i64::MAX];
        let nearest = |exact: i128| exact.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        for (a, b) in near.into_iter().flat_map(|a| near.map(|b| (a, b))) {
            let (x, y) = (i128::from(a), i128::from(b));
            assert_eq!(Operator::Plus.saturating(a, b), nearest(x + y), "{a} + {b}");
            assert_eq!(Operator::Minus.saturating(a, b), nearest(x - y), "{a} - {b}");
            assert_eq!(Operator::Times.saturating(a, b), nearest(x * y), "{a} * {b}");
            let (quotient, rest) = match y {
                0 => (x.signum() << 64, 0),
                // Euclid's remainder is never negative; Python's has the sign of the divisor.
                _ if x.rem_euclid(y) == 0 => (x / y, 0),
                _ if y > 0 => (x.div_euclid(y), x.rem_euclid(y)),
                _ => (x.div_euclid(y) - 1, x.rem_euclid(y) + y),
            };
            assert_eq!(Operator::Over.saturating(a, b), nearest(quotient), "{a} / {b}");
            assert_eq!(Operator::Modulo.saturating(a, b), nearest(rest), "{a} % {b}");
        }
    }
}

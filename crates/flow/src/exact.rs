//! Sums of fractions that do not depend on the order of addition.
//!
//! A sum of `f64` is an integer of 2,176 bits in units of 2^-1088. Every `f64` fits, so nothing is rounded until the
//! sum is read. U. Kulisch, "Computer Arithmetic and Validity" (2013), calls this the complete register. Here its
//! digits have 32 bits in 64-bit words, so carries can wait: 2^32 numbers may be added between reads.

use serde::{Deserialize, Serialize};

/// Bits of a digit.
const DIGIT: u32 = 32;
const DIGITS: usize = 68;
/// Unit of the lowest digit: 2^-LOWEST.
const LOWEST: i32 = 1088;

/// A sum of non-negative numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ExactSum {
    digits: Vec<u64>,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { digits: vec![0; DIGITS] }
    }
}

impl ExactSum {
    /// Adds a number.
    ///
    /// # Panics
    /// If it is negative or not finite.
    pub(crate) fn add(&mut self, value: f64) {
        assert!(value >= 0.0 && value.is_finite(), "invalid amount {value}");
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        // Subnormal numbers have the exponent of the smallest normal number, and no leading 1.
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let place = (exponent.max(1) - 1075 + LOWEST) as u32;
        let digit = (place / DIGIT) as usize;
        let mut shifted = u128::from(mantissa) << (place % DIGIT);
        for digit in &mut self.digits[digit..digit + 3] {
            *digit += shifted as u64 & ((1 << DIGIT) - 1);
            shifted >>= DIGIT;
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, mut other: Self) {
        other.carry();
        self.carry();
        self.digits.iter_mut().zip(other.digits).for_each(|(sum, digit)| *sum += digit);
    }

    /// Carries, so that every digit except the last is below 2^32.
    fn carry(&mut self) {
        let mut carried = 0;
        for digit in &mut self.digits {
            let sum = *digit + carried;
            (*digit, carried) = (sum & ((1 << DIGIT) - 1), sum >> DIGIT);
        }
        assert_eq!(carried, 0, "sums of finite numbers fit");
    }

    /// The `f64` nearest to the sum; ties go to the even one.
    pub(crate) fn value(mut self) -> f64 {
        self.carry();
        let Some(top) = self.digits.iter().rposition(|&digit| digit > 0) else { return 0.0 };
        let lowest = top.saturating_sub(3);
        let mut head =
            self.digits[lowest..=top].iter().rev().fold(0u128, |head, &digit| head << DIGIT | u128::from(digit));
        // The head has at least 97 bits. Lower digits matter only if the head is exactly between two numbers.
        head |= u128::from(self.digits[..lowest].iter().any(|&digit| digit > 0));
        let exponent = lowest as i32 * DIGIT as i32 - LOWEST;
        // In two steps: a power of two may underflow although the product does not.
        head as f64 * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum.value()
    }

    /// 2^53 + 1 lies between two numbers, but 2^53 + 1 + 2^-60 does not.
    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[0.0, 0.25]), 0.25);
        let big = 2f64.powi(53);
        assert_eq!(sum(&[big, 1.0]), big);
        assert_eq!(sum(&[big, 1.0, 2f64.powi(-60)]), big + 2.0);
        assert_eq!(sum(&[1e300, 1e-300, 1e300]), 2e300);
        assert_eq!(sum(&[f64::MIN_POSITIVE, f64::MIN_POSITIVE]), 2.0 * f64::MIN_POSITIVE);
        assert_eq!(sum(&[5e-324; 3]), 1.5e-323);
        assert_eq!(sum(&[f64::MAX]), f64::MAX);
    }

    proptest! {
        #[test]
        fn one_number_is_itself(value in proptest::num::f64::POSITIVE | proptest::num::f64::SUBNORMAL) {
            prop_assert_eq!(sum(&[value.abs()]), value.abs());
        }

        /// Integers below 2^53 have exact plain sums. Parts of a sum may be summed separately, in any order.
        #[test]
        fn the_sum_is_independent_of_order_and_grouping(mut values in proptest::collection::vec(0u64..1 << 45, 0..100), cut in 0usize..100) {
            let expected = values.iter().sum::<u64>() as f64;
            let as_f64 = |values: &[u64]| values.iter().map(|&value| value as f64).collect::<Vec<_>>();
            prop_assert_eq!(sum(&as_f64(&values)), expected);
            values.reverse();
            let (one, other) = values.split_at(cut.min(values.len()));
            let mut sums = [one, other].map(|part| {
                let mut sum = ExactSum::default();
                as_f64(part).iter().for_each(|&value| sum.add(value));
                sum
            });
            let other = std::mem::take(&mut sums[1]);
            sums[0].merge(other);
            prop_assert_eq!(sums[0].clone().value(), expected);
        }
    }
}

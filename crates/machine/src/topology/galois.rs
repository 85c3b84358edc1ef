//! Finite fields of small order, for graphs that are built from them.

/// The field of q elements, numbered 0 to q - 1. 0 and 1 are the neutral elements, and the base-p digits of a number
/// are the coefficients of its polynomial.
#[derive(Clone, Debug)]
pub(super) struct Field {
    q: u32,
    p: u32,
    /// Products, in rows.
    product: Vec<u16>,
    /// A primitive element: its powers are all elements but 0.
    primitive: u32,
}

/// The prime p and n > 0 with p^n = q.
pub(super) fn prime_power(q: u32) -> Option<(u32, u32)> {
    let p = (2..=q).find(|p| q % p == 0)?;
    let n = q.ilog(p);
    (p.checked_pow(n) == Some(q)).then_some((p, n))
}

/// Nearest prime powers, for the error message.
pub(super) fn nearest_prime_powers(q: u32) -> (u32, u32) {
    let below = (2..q).rev().find(|&n| prime_power(n).is_some()).unwrap_or(2);
    let above = (q + 1..).find(|&n| prime_power(n).is_some()).unwrap_or(q);
    (below, above)
}

impl Field {
    /// The field of q elements; `None` if q is not a prime power.
    ///
    /// # Panics
    /// Above 4,096 elements.
    pub(super) fn new(q: u32) -> Option<Self> {
        let (p, n) = prime_power(q)?;
        assert!(q <= 4096, "a table of products has q^2 entries");
        // The first monic polynomial of degree n, x^n + rest, for which some element generates all others.
        (0..q).find_map(|rest| {
            let product = products(q, p, n, rest);
            let mut field = Self { q, p, product, primitive: 0 };
            field.primitive = (1..q).find(|&element| field.order(element) == q - 1)?;
            Some(field)
        })
    }

    /// The smallest k > 0 with element^k = 1; more than q - 1 if there is none.
    fn order(&self, element: u32) -> u32 {
        let mut power = element;
        for k in 1..self.q {
            if power == 1 {
                return k;
            }
            power = self.times(power, element);
        }
        self.q
    }

    pub(super) fn times(&self, a: u32, b: u32) -> u32 {
        u32::from(self.product[(a * self.q + b) as usize])
    }

    pub(super) fn plus(&self, a: u32, b: u32) -> u32 {
        digitwise(self.p, a, b, |x, y| (x + y) % self.p)
    }

    pub(super) fn minus(&self, a: u32, b: u32) -> u32 {
        digitwise(self.p, a, b, |x, y| (x + self.p - y) % self.p)
    }

    /// Powers 0 to q - 2 of a primitive element.
    pub(super) fn powers(&self) -> Vec<u32> {
        std::iter::successors(Some(1), |&power| Some(self.times(power, self.primitive)))
            .take(self.q as usize - 1)
            .collect()
    }
}

fn digitwise(p: u32, mut a: u32, mut b: u32, digit: impl Fn(u32, u32) -> u32) -> u32 {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += place * digit(a % p, b % p);
        (a, b, place) = (a / p, b / p, place * p);
    }
    sum
}

/// Products of polynomials over the integers modulo p, modulo x^n + rest.
fn products(q: u32, p: u32, n: u32, rest: u32) -> Vec<u16> {
    let top = q / p;
    // x^n = -rest.
    let times_x = |a: u32| {
        let lead = a / top;
        digitwise(p, a % top * p, rest, |x, r| (x + p * p - lead * r) % p)
    };
    let mut product = vec![0u16; (q * q) as usize];
    for a in 0..q {
        let mut shifted = Vec::with_capacity(n as usize);
        shifted.push(a);
        for k in 1..n as usize {
            shifted.push(times_x(shifted[k - 1]));
        }
        for b in 0..q {
            let (mut digits, mut sum) = (b, 0);
            for &power in &shifted {
                let coefficient = digits % p;
                sum = digitwise(p, sum, power, |x, y| (x + coefficient * y) % p);
                digits /= p;
            }
            product[(a * q + b) as usize] = sum as u16;
        }
    }
    if n == 1 {
        product = (0..q * q).map(|i| ((i / q) * (i % q) % q) as u16).collect();
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_primes_are_known() {
        let found: Vec<u32> = (0..33).filter(|&q| prime_power(q).is_some()).collect();
        assert_eq!(found, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
        assert_eq!(nearest_prime_powers(6), (5, 7));
        assert!(Field::new(12).is_none());
    }

    /// The axioms, element by element.
    #[test]
    fn they_are_fields() {
        for q in [2, 3, 4, 5, 7, 8, 9, 11, 16, 25, 27] {
            let field = Field::new(q).unwrap();
            for a in 0..q {
                assert_eq!((field.plus(a, 0), field.times(a, 1), field.minus(a, a)), (a, a, 0));
                assert!(a == 0 || (1..q).any(|b| field.times(a, b) == 1), "{a} of {q} has an inverse");
                for b in 0..q {
                    assert_eq!(field.times(a, b), field.times(b, a));
                    assert_eq!(field.plus(field.minus(a, b), b), a);
                    for c in 0..q {
                        let left = field.times(a, field.plus(b, c));
                        assert_eq!(left, field.plus(field.times(a, b), field.times(a, c)), "{a} ({b} + {c}), {q}");
                        assert_eq!(field.times(a, field.times(b, c)), field.times(field.times(a, b), c));
                    }
                }
            }
            let mut powers = field.powers();
            powers.sort_unstable();
            assert_eq!(powers, (1..q).collect::<Vec<_>>());
        }
    }
}

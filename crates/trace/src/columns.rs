//! Columns of whole numbers as bytes.
//!
//! A column is its length, a mode, a divisor of all its values, and varints: of the quotients, or of their differences
//! if these take fewer bytes.

/// Values of one field, in the order of the records that have it.
pub type Column = Vec<u64>;

/// The varints are differences.
const DIFFERENCES: u8 = 1;

/// Longest varint.
const MAX_VARINT_BYTES: u32 = 10;

/// Appends a column.
pub(crate) fn put(column: &[u64], into: &mut Vec<u8>) {
    put_varint(column.len() as u64, into);
    let divisor = column.iter().fold(0, |divisor, &value| common_divisor(divisor, value)).max(1);
    let (mut plain, mut differences, mut before) = (Vec::new(), Vec::new(), 0u64);
    for value in column.iter().map(|value| value / divisor) {
        put_varint(value, &mut plain);
        put_varint(zigzag(value.wrapping_sub(before) as i64), &mut differences);
        before = value;
    }
    let is_shorter = differences.len() < plain.len();
    into.push(if is_shorter { DIFFERENCES } else { 0 });
    put_varint(divisor, into);
    into.extend(if is_shorter { differences } else { plain });
}

/// The column at the start of `from`, which moves behind it.
pub(crate) fn take(from: &mut &[u8]) -> Result<Column, String> {
    let count = take_varint(from)?;
    let (&mode, rest) = from.split_first().ok_or("the columns end; expected the mode of one")?;
    *from = rest;
    if mode > DIFFERENCES {
        return Err(format!("a column of mode {mode}; expected 0 or {DIFFERENCES}"));
    }
    let divisor = take_varint(from)?;
    // Each value has a byte or more, so a wrong count takes no memory.
    if count > from.len() as u64 {
        return Err(format!("a column of {count} values in {} bytes", from.len()));
    }
    let mut column = Vec::with_capacity(count as usize);
    let mut before = 0u64;
    for _ in 0..count {
        let number = take_varint(from)?;
        before = if mode == DIFFERENCES { before.wrapping_add(unzigzag(number) as u64) } else { number };
        column.push(before.wrapping_mul(divisor));
    }
    Ok(column)
}

/// Appends a number, 7 bits per byte.
pub(crate) fn put_varint(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// The number at the start of `from`, which moves behind it.
pub(crate) fn take_varint(from: &mut &[u8]) -> Result<u64, String> {
    let mut number = 0u64;
    for place in 0..MAX_VARINT_BYTES {
        let (&byte, rest) = from.split_first().ok_or("the bytes end; expected a number")?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(format!("a number of more than {MAX_VARINT_BYTES} bytes"))
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_same_after_reading() {
        for column in [
            vec![],
            vec![0; 5],
            vec![u64::MAX, 0, 1, u64::MAX - 1],
            vec![5_000, 7_000, 1_000_000_000_000],
            (0..300).map(|line| 1_000_000 + 3 * line).collect(),
        ] {
            let mut bytes = Vec::new();
            put(&column, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(take(&mut rest).unwrap(), column);
            assert!(rest.is_empty());
            for cut in 0..bytes.len() {
                assert!(take(&mut &bytes[..cut]).is_err(), "{column:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn regular_values_take_a_byte_each() {
        let lines: Vec<u64> = (0..100).map(|line| 1_000_000 + 3 * line).collect();
        let times: Vec<u64> = (0..100).map(|ns| (ns * 7 % 100) * 1_000).collect();
        for column in [lines, times] {
            let mut bytes = Vec::new();
            put(&column, &mut bytes);
            assert!(bytes.len() <= 100 + 6, "{} bytes", bytes.len());
        }
    }
}

//! Fields of a message of protocol buffers, without a schema.
//!
//! A field is a varint of its number and wire type, then a varint, 8 bytes, a length and bytes, or 4 bytes.

/// Value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value<'a> {
    Varint(u64),
    Eight([u8; 8]),
    Bytes(&'a [u8]),
    Four([u8; 4]),
}

impl<'a> Value<'a> {
    /// A whole number of any kind. `None` for bytes.
    pub(crate) fn integer(self) -> Option<u64> {
        match self {
            Self::Varint(number) => Some(number),
            Self::Eight(bytes) => Some(u64::from_le_bytes(bytes)),
            Self::Four(bytes) => Some(u32::from_le_bytes(bytes).into()),
            Self::Bytes(_) => None,
        }
    }

    pub(crate) fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Varint(_) | Self::Eight(_) | Self::Four(_) => None,
        }
    }

    /// The numbers of a repeated field: packed, or one of them.
    pub(crate) fn repeated(self) -> Option<Vec<u64>> {
        match self {
            Self::Bytes(mut packed) => {
                let mut numbers = Vec::new();
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)?);
                }
                Some(numbers)
            }
            other => other.integer().map(|number| vec![number]),
        }
    }
}

/// Takes a varint. `None` if the bytes end, or it has more than 64 bits.
pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
        if byte < 0x80 {
            return (place < 9 || byte < 2).then_some(number);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// Takes a field: its number and value. `None` if the bytes are none.
pub(crate) fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = varint(bytes)?;
    let value = match key & 7 {
        0 => Value::Varint(varint(bytes)?),
        1 => Value::Eight(take(bytes, 8)?.try_into().ok()?),
        2 => {
            let length = varint(bytes)?;
            Value::Bytes(take(bytes, length)?)
        }
        5 => Value::Four(take(bytes, 4)?.try_into().ok()?),
        _ => return None,
    };
    (key >> 3 != 0).then_some((key >> 3, value))
}

/// The fields of a message. `None` if the bytes are none.
pub(crate) fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(field(&mut bytes)?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's description: 150 in field 1, "testing" in field 2.
    #[test]
    fn the_published_examples() {
        assert_eq!(fields(&[0x08, 0x96, 0x01]), Some(vec![(1, Value::Varint(150))]));
        let text = [&[0x12, 0x07][..], b"testing"].concat();
        assert_eq!(fields(&text), Some(vec![(2, Value::Bytes(b"testing"))]));
        assert_eq!(Value::Bytes(&[0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]).repeated(), Some(vec![3, 270, 86_942]));
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(varint(&mut &most[..]), Some(u64::MAX));
    }

    #[test]
    fn bytes_that_are_no_message() {
        for bytes in [&[0x08][..], &[0x12, 0x07, 1], &[0x0b], &[0x00, 0x01], &[0x0d, 1, 2], &[0xff; 11]] {
            assert_eq!(fields(bytes), None, "{bytes:?}");
        }
    }
}

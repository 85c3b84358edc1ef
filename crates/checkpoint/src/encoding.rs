//! Values as bytes. `postcard` writes them in sequence, without names. Raw entries are copied from memory: this takes
//! fewer instructions and more space, and needs machines of one byte order.

use serde::de::DeserializeOwned;
use serde::Serialize;
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// Bytes that are no valid encoding.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(pub String);

/// Writes values.
#[derive(Default, Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Appends a value.
    ///
    /// # Panics
    /// If its type serialises a sequence of unknown length.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) {
        let bytes = std::mem::take(&mut self.bytes);
        self.bytes = postcard::to_extend(value, bytes).expect("plain data has an encoding");
    }

    /// Appends an entry, or a list of entries without its length, as a copy of memory.
    #[inline]
    pub fn put_raw<T: IntoBytes + Immutable + ?Sized>(&mut self, entries: &T) {
        self.bytes.extend_from_slice(entries.as_bytes());
    }

    /// All written bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads values in the order of writing.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads the bytes of a [`Writer`].
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Next value.
    ///
    /// # Errors
    /// The bytes are no value of this type.
    pub fn get<T: DeserializeOwned>(&mut self) -> Result<T, DecodeError> {
        let (value, rest) = postcard::take_from_bytes(self.rest)
            .map_err(|error| DecodeError(format!("expected {}: {error}", std::any::type_name::<T>())))?;
        self.rest = rest;
        Ok(value)
    }

    /// Next entries, as written by [`Writer::put_raw`].
    ///
    /// # Errors
    /// Too few bytes. For an entry: its bytes are no value of this type.
    pub fn get_raw<T: TryFromBytes>(
        &mut self,
        count: usize,
    ) -> Result<impl Iterator<Item = Result<T, DecodeError>> + use<'a, T>, DecodeError> {
        let damaged = || DecodeError(format!("expected {count} of {}", std::any::type_name::<T>()));
        let size = count.checked_mul(size_of::<T>()).ok_or_else(damaged)?;
        let (bytes, rest) = self.rest.split_at_checked(size).ok_or_else(damaged)?;
        self.rest = rest;
        let entry = |bytes| {
            T::try_read_from_bytes(bytes)
                .map_err(|_| DecodeError(format!("expected {}, found other bytes", std::any::type_name::<T>())))
        };
        Ok(bytes.chunks_exact(size_of::<T>()).map(entry))
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Checks that everything was read.
    ///
    /// # Errors
    /// Bytes are left.
    pub fn end(self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(DecodeError(format!("{left} B more than expected"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_bit_by_bit_in_order() {
        let mut writer = Writer::default();
        writer.put(&(u64::MAX, -3i32, "text"));
        writer.put(&[f32::NAN, -0.0, 1.5e-42]);
        writer.put(&Some(vec![None, Some(7u128 << 100)]));
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.get::<(u64, i32, String)>().unwrap(), (u64::MAX, -3, "text".into()));
        let floats = reader.get::<[f32; 3]>().unwrap();
        assert_eq!(floats.map(f32::to_bits), [f32::NAN, -0.0, 1.5e-42].map(f32::to_bits));
        assert_eq!(reader.get::<Option<Vec<Option<u128>>>>().unwrap(), Some(vec![None, Some(7 << 100)]));
        reader.end().unwrap();
    }

    #[test]
    fn raw_entries_are_read_at_any_offset_and_bad_ones_are_errors() {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, TryFromBytes, IntoBytes, Immutable)]
        #[repr(C, packed)]
        struct Entry {
            number: u64,
            flag: bool,
        }
        let entries = [Entry { number: u64::MAX - 1, flag: true }, Entry { number: 7, flag: false }];
        let mut writer = Writer::default();
        writer.put(&1u8);
        writer.put_raw(entries.as_slice());
        writer.put(&2u8);
        let mut bytes = writer.into_bytes();
        let read = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.get::<u8>().unwrap(), 1);
            let found = reader.get_raw::<Entry>(2)?.collect::<Result<Vec<_>, _>>()?;
            assert_eq!(reader.get::<u8>().unwrap(), 2);
            Ok::<_, DecodeError>(found)
        };
        assert_eq!(read(&bytes).unwrap(), entries);
        assert!(read(&bytes[..18]).is_err());
        assert!(Reader::new(&bytes).get_raw::<Entry>(usize::MAX).is_err());
        bytes[9] = 2;
        assert!(read(&bytes).is_err());
    }

    #[test]
    fn short_and_long_input_is_an_error() {
        let mut writer = Writer::default();
        writer.put(&[1u64 << 40; 3]);
        let bytes = writer.into_bytes();
        for cut in 0..bytes.len() {
            assert!(Reader::new(&bytes[..cut]).get::<[u64; 3]>().is_err());
        }
        // A length beyond the bytes must not allocate memory.
        assert!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).get::<Vec<u64>>().is_err());
        assert!(Reader::new(&bytes).end().is_err());
    }
}

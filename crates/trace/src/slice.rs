//! Bytes of a binary file in memory, with their place. Numbers are big endian. Errors lack the name of the file and the place.

/// Bytes from a place on.
pub(crate) struct Slice<'a> {
    bytes: &'a [u8],
    /// Bytes before the next one.
    pub(crate) at: usize,
}

impl<'a> Slice<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `length` bytes. `what` is expected there.
    pub(crate) fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], String> {
        if length > self.left() {
            return Err(format!("the file ends; expected {what}"));
        }
        self.at += length;
        Ok(&self.bytes[self.at - length..self.at])
    }

    pub(crate) fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        self.take(N, what).map(|bytes| bytes.try_into().expect("so many bytes"))
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, String> {
        self.bytes(what).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, String> {
        self.bytes(what).map(u16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self, what: &str) -> Result<i32, String> {
        self.bytes(what).map(i32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, String> {
        self.bytes(what).map(u64::from_be_bytes)
    }

    /// The length of a list whose elements have `width` bytes each, or more. A longer list than the bytes that are left is a
    /// mistake, so a wrong length takes no memory. A negative length is 0.
    pub(crate) fn list(&mut self, width: usize, what: &str) -> Result<usize, String> {
        let length = usize::try_from(self.i32(what)?).unwrap_or(0);
        if length > self.left() / width {
            return Err(format!("{length} {what}; expected no more than the {} bytes that are left", self.left()));
        }
        Ok(length)
    }
}

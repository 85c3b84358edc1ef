//! Text and binary files.

use odonata_declare::FileError;

/// Whether a file is a table. Binary 32-bit numbers below 2^24 have zero bytes.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    !start.contains(&0)
        && (start.iter().any(u8::is_ascii_alphabetic) || start.iter().all(|&b| b >= b' ' || b.is_ascii_whitespace()))
}

/// The text of a file.
pub(crate) fn text<'a>(label: &str, bytes: &'a [u8]) -> Result<&'a str, FileError> {
    let text = std::str::from_utf8(bytes);
    text.map_err(|error| {
        FileError::new(label, format!("byte {}", error.valid_up_to()), "expected UTF-8 text, found binary data")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_a_header_is_no_list_of_numbers() {
        assert!(is_text(b"src,dst,bytes\n0,4,512\n"));
        assert!(is_text(b"0,4,512\n1,5,512\n"));
        let records: Vec<u8> = [0u32, 4, 512, 1, 5, 512].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert!(!is_text(&records));
    }
}

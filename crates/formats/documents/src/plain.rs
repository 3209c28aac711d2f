//! Plain text in UTF-8, or in UTF-16 with a byte order mark.

use crate::fault::{self, DocumentReadError};

pub(crate) fn decode_plain_text(bytes: &[u8]) -> Result<String, DocumentReadError> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    };
    // Text does not contain NUL; most binary files do.
    text.filter(|text| !text.contains('\0')).ok_or(fault::NOT_TEXT)
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>().ok()
}

//! Decodes the bytes of a page to text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// A page must declare its encoding within these bytes.
const HEAD_BYTES: usize = 1024;

/// Decodes a page by its byte order mark, the `Content-Type` header, its `meta` element, or a guess
/// from its bytes, in this order.
pub fn decode_html(bytes: &[u8], content_type: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    let told = content_type.and_then(parse_charset_label).or_else(|| find_meta_charset(bytes));
    let encoding = told
        .unwrap_or_else(|| if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 });
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// The encoding named after `charset=`.
fn parse_charset_label(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let (_, rest) = lower.split_once("charset")?;
    let rest = rest.trim_start().strip_prefix('=')?;
    let rest = rest.trim_start_matches([' ', '"', '\'']);
    let end = rest.find([' ', '"', '\'', ';', '>', '/']).unwrap_or(rest.len());
    Encoding::for_label(&rest.as_bytes()[..end])
}

fn find_meta_charset(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..HEAD_BYTES).unwrap_or(bytes)).into_owned();
    let encoding = parse_charset_label(&head)?;
    // A page whose `meta` element is readable as ASCII is not UTF-16, even if it says so.
    Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_in_the_encoding_that_it_is_in() {
        let page = b"<meta charset=\"iso-8859-2\"><p>\xB1</p>";
        assert!(decode_html(page, None).contains('ą'));
        assert!(decode_html(b"<p>\xE9</p>", None).contains('é'), "guessed");
        assert!(decode_html("<p>é</p>".as_bytes(), None).contains('é'), "guessed");
        assert!(decode_html(b"\x93\xfa", Some("text/html; charset=Shift_JIS")).contains('日'));
        assert!(
            decode_html("\u{feff}ü".as_bytes(), Some("text/html; charset=latin1")).contains('ü')
        );
        assert!(decode_html(b"<meta charset=utf-16>abc", None).contains("abc"));
    }
}

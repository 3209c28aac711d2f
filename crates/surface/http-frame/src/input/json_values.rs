//! Counts the values of a JSON text while it arrives, without parsing it.

use memchr::{memchr, memchr2};

/// State of the scan of one text.
#[derive(Debug, Default)]
pub(super) struct JsonValueCounter {
    count: usize,
    in_string: bool,
    is_escaped: bool,
}

impl JsonValueCounter {
    /// Never fewer than the values and keys scanned, and only slightly more. Meaningless for text
    /// that is not JSON.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn scan(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let read = if self.is_escaped {
                self.is_escaped = false;
                1
            } else if self.in_string {
                self.skip_string(bytes)
            } else {
                self.count_outside(bytes)
            };
            bytes = &bytes[read..];
        }
    }

    fn skip_string(&mut self, bytes: &[u8]) -> usize {
        let Some(end) = memchr2(b'"', b'\\', bytes) else { return bytes.len() };
        self.in_string = bytes[end] != b'"';
        self.is_escaped = self.in_string;
        end + 1
    }

    /// Counts separators and opening brackets: each value but the first follows one.
    fn count_outside(&mut self, bytes: &[u8]) -> usize {
        let end = memchr(b'"', bytes);
        let outside = &bytes[..end.unwrap_or(bytes.len())];
        self.count += outside.iter().filter(|it| matches!(it, b',' | b':' | b'[' | b'{')).count();
        self.in_string = end.is_some();
        end.map_or(bytes.len(), |end| end + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: usize) {
        for piece_bytes in [1, 2, 3, text.len()] {
            let mut values = JsonValueCounter::default();
            text.as_bytes().chunks(piece_bytes).for_each(|piece| values.scan(piece));
            assert_eq!(values.count(), expected, "{text} in pieces of {piece_bytes}");
        }
    }

    #[test]
    fn what_stands_in_strings_does_not_count() {
        check(r#"{"a":[0,0,0]}"#, 5);
        check(r#""a,b:[{""#, 0);
        check(r#"["\",,,\\",1]"#, 2);
        check(r#"[{},{},"\\\"[[["]"#, 5);
    }
}

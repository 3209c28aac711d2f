//! A digest of a body, taken while it arrives, by which repeated requests are recognised.

use std::hash::{DefaultHasher, Hasher};

/// Later bytes count by their number only, so that large files cost little.
const HASHED_BYTES_MAX: usize = 1024 * 1024;

/// Depends on the bytes only, not on the pieces in which they arrive.
#[derive(Default)]
pub(super) struct BodyDigest {
    hasher: DefaultHasher,
    bytes: usize,
}

impl BodyDigest {
    pub(super) fn update(&mut self, data: &[u8]) {
        let room = HASHED_BYTES_MAX.saturating_sub(self.bytes);
        self.hasher.write(data.get(..room).unwrap_or(data));
        self.bytes += data.len();
    }

    pub(super) fn value(&self) -> u64 {
        let mut hasher = self.hasher.clone();
        hasher.write_usize(self.bytes);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(pieces: &[&[u8]]) -> u64 {
        let mut digest = BodyDigest::default();
        pieces.iter().for_each(|piece| digest.update(piece));
        digest.value()
    }

    #[test]
    fn pieces_do_not_matter_and_bytes_and_length_do() {
        assert_eq!(digest(&[b"abcdefghijk"]), digest(&[b"abc", b"", b"defghij", b"k"]));
        assert_ne!(digest(&[b"abc"]), digest(&[b"abd"]));
        let long = vec![b'x'; HASHED_BYTES_MAX];
        assert_ne!(digest(&[&long, b"a"]), digest(&[&long, b"ab"]));
        assert_ne!(digest(&[&long]), digest(&[&long[1..]]));
    }
}

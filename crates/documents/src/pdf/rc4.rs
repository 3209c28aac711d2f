//! The cipher RC4, with which PDF files are encrypted until version 1.7. Here it is a part of a file
//! format and protects nothing: whoever reads such a file has no secret.

/// Encrypts and decrypts: it is the same.
pub(super) fn apply(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut state: [u8; 256] = std::array::from_fn(|place| place.to_le_bytes()[0]);
    let mut other = 0_u8;
    for (place, key_byte) in (0..=255_u8).zip(key.iter().cycle()) {
        other = other.wrapping_add(state[usize::from(place)]).wrapping_add(*key_byte);
        state.swap(usize::from(place), usize::from(other));
    }
    let (mut place, mut other) = (0_u8, 0_u8);
    let mut next = || {
        place = place.wrapping_add(1);
        let moved = state[usize::from(place)];
        other = other.wrapping_add(moved);
        state.swap(usize::from(place), usize::from(other));
        state[usize::from(moved.wrapping_add(state[usize::from(place)]))]
    };
    bytes.iter().map(|byte| byte ^ next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, plain: &str, expected: &[u8]) {
        assert_eq!(apply(key.as_bytes(), plain.as_bytes()), expected);
        assert_eq!(apply(key.as_bytes(), expected), plain.as_bytes());
    }

    #[test]
    fn well_known_examples_come_out() {
        check("Key", "Plaintext", b"\xbb\xf3\x16\xe8\xd9\x40\xaf\x0a\xd3");
        check("Wiki", "pedia", b"\x10\x21\xbf\x04\x20");
    }

    #[test]
    fn a_long_text_is_a_short_one_and_more() {
        let long = apply(&[1, 2, 3, 4, 5], &[0; 1_000]);
        assert_eq!(apply(&[1, 2, 3, 4, 5], &[0; 10]), long[..10]);
        // RFC 6229, at an offset of 768 bytes.
        assert_eq!(long[768..772], [0xeb, 0x62, 0x63, 0x8d]);
    }
}

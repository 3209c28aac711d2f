//! The checksum MD5 (RFC 1321), which the keys of PDF files are made with. Here it is a part of a
//! file format and protects nothing: whoever reads such a file has no secret.

const BLOCK_BYTES: usize = 64;

/// How far each of the four rounds turns its words, over and over.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The whole parts of 2^32 times the sines of 1 to 64, without their signs.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

pub(super) fn digest(message: &[u8]) -> [u8; 16] {
    let bits = u64::try_from(message.len()).unwrap_or(u64::MAX).wrapping_mul(8);
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % BLOCK_BYTES != BLOCK_BYTES - 8 {
        padded.push(0);
    }
    padded.extend(bits.to_le_bytes());
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.as_chunks::<BLOCK_BYTES>().0 {
        mix(&mut state, block);
    }
    let mut digest = [0; 16];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}

fn mix(state: &mut [u32; 4], block: &[u8; BLOCK_BYTES]) {
    let words = block.as_chunks::<4>().0;
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..SINES.len() {
        let (mixed, place) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((b & d) | (c & !d), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let word = u32::from_le_bytes(words[place % words.len()]);
        let sum = a.wrapping_add(mixed).wrapping_add(word).wrapping_add(SINES[step]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4]));
    }
    for (word, mixed) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(mixed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: u128) {
        assert_eq!(u128::from_be_bytes(digest(message.as_bytes())), expected, "{message}");
    }

    #[test]
    fn the_examples_of_the_standard_have_their_checksums() {
        check("", 0xd41d_8cd9_8f00_b204_e980_0998_ecf8_427e);
        check("a", 0x0cc1_75b9_c0f1_b6a8_31c3_99e2_6977_2661);
        check("message digest", 0xf96b_697d_7cb7_938d_525a_2f31_aaf1_61d0);
        let tens = "1234567890".repeat(8);
        check(&tens, 0x57ed_f4a2_2be3_c955_ac49_da2e_2107_b67a);
    }

    #[test]
    fn what_just_fills_a_block_takes_another() {
        check(&"a".repeat(55), 0xef17_72b6_dff9_a122_3585_5295_4ad0_df65);
        check(&"a".repeat(56), 0x3b0c_8ac7_03f8_28b0_4c6c_1970_06d1_7218);
        check(&"a".repeat(64), 0x0148_42d4_80b5_7149_5a4a_0363_793f_7367);
    }
}

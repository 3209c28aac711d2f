//! The cipher AES, with which PDF files are encrypted since version 1.6. Here it is a part of a file
//! format and protects nothing: whoever reads such a file has no secret, so its time may tell one.
//!
//! A state is four columns of four bytes, the first in the highest bits. The tables hold what a byte
//! adds to its column in one round; for the other three rows they are turned.

pub(super) const BLOCK_BYTES: usize = 16;

type Block = [u8; BLOCK_BYTES];
type Columns = [u32; 4];

const SUBSTITUTES: [u8; 256] = substitutes();
const ORIGINALS: [u8; 256] = originals();
const MIXED: [u32; 256] = table(&SUBSTITUTES, [2, 1, 1, 3]);
const UNMIXED: [u32; 256] = table(&ORIGINALS, [14, 9, 13, 11]);

/// What blocks are encrypted and decrypted with.
pub(super) struct Cipher {
    encrypting: Vec<Columns>,
    decrypting: Vec<Columns>,
}

impl Cipher {
    /// With a key of 16 bytes, or of 32.
    pub(super) fn new(key: &[u8]) -> Cipher {
        let encrypting = round_keys(key);
        let mut decrypting: Vec<Columns> = encrypting.iter().rev().copied().collect();
        let last = decrypting.len().saturating_sub(1);
        for columns in decrypting.iter_mut().take(last).skip(1) {
            *columns = columns.map(|column| unmixed(column.to_be_bytes().map(substitute)));
        }
        Cipher { encrypting, decrypting }
    }

    /// Whole blocks, each with the one before it in it.
    pub(super) fn encrypt_chain(&self, before: Block, bytes: &[u8]) -> Vec<u8> {
        let mut before = before;
        let mut encrypted = Vec::with_capacity(bytes.len());
        for block in bytes.as_chunks().0 {
            before = self.encrypt(xor(*block, before));
            encrypted.extend_from_slice(&before);
        }
        encrypted
    }

    /// Whole blocks; what is left over at the end is none.
    pub(super) fn decrypt_chain(&self, before: Block, bytes: &[u8]) -> Vec<u8> {
        let mut before = before;
        let mut decrypted = Vec::with_capacity(bytes.len());
        for block in bytes.as_chunks().0 {
            decrypted.extend_from_slice(&xor(self.decrypt(*block), before));
            before = *block;
        }
        decrypted
    }

    fn encrypt(&self, block: Block) -> Block {
        let round = |rows: [u8; 4]| mixed(rows);
        run(&self.encrypting, block, [0, 1, 2, 3], round, substitute)
    }

    fn decrypt(&self, block: Block) -> Block {
        let round = |rows: [u8; 4]| unmixed(rows);
        run(&self.decrypting, block, [0, 3, 2, 1], round, |byte| ORIGINALS[usize::from(byte)])
    }
}

/// All rounds of one block. `shifts` says how far the rows are moved, `round` makes a column of four
/// bytes, and the last round only puts another byte in the place of each.
fn run(
    keys: &[Columns],
    block: Block,
    shifts: [usize; 4],
    round: impl Fn([u8; 4]) -> u32,
    last: impl Fn(u8) -> u8,
) -> Block {
    let [first, middle @ .., end] = keys else { return block };
    let mut state = add(columns_of(block), first);
    let shifted = |state: &Columns, column: usize| -> [u8; 4] {
        std::array::from_fn(|row| state[(column + shifts[row]) % 4].to_be_bytes()[row])
    };
    for key in middle {
        state = add(std::array::from_fn(|column| round(shifted(&state, column))), key);
    }
    let ended =
        std::array::from_fn(|column| u32::from_be_bytes(shifted(&state, column).map(&last)));
    bytes_of(add(ended, end))
}

fn mixed(rows: [u8; 4]) -> u32 {
    turned(&MIXED, rows)
}

fn unmixed(rows: [u8; 4]) -> u32 {
    turned(&UNMIXED, rows)
}

fn turned(table: &[u32; 256], [a, b, c, d]: [u8; 4]) -> u32 {
    table[usize::from(a)]
        ^ table[usize::from(b)].rotate_right(8)
        ^ table[usize::from(c)].rotate_right(16)
        ^ table[usize::from(d)].rotate_right(24)
}

fn substitute(byte: u8) -> u8 {
    SUBSTITUTES[usize::from(byte)]
}

/// One key more than there are rounds: ten for a key of four columns, fourteen for one of eight.
fn round_keys(key: &[u8]) -> Vec<Columns> {
    let mut words: Vec<u32> =
        key.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
    let length = words.len();
    let mut constant = 1;
    for place in length..4 * (length + 7) {
        let mut word = words[place - 1];
        if place % length == 0 {
            word = u32::from_be_bytes(word.rotate_left(8).to_be_bytes().map(substitute));
            word ^= u32::from(constant) << 24;
            constant = doubled(constant);
        } else if 6 < length && place % length == 4 {
            word = u32::from_be_bytes(word.to_be_bytes().map(substitute));
        }
        words.push(words[place - length] ^ word);
    }
    words.as_chunks().0.to_vec()
}

fn columns_of(block: Block) -> Columns {
    std::array::from_fn(|column| {
        u32::from_be_bytes(std::array::from_fn(|row| block[4 * column + row]))
    })
}

fn bytes_of(columns: Columns) -> Block {
    let bytes = columns.map(u32::to_be_bytes);
    std::array::from_fn(|place| bytes[place / 4][place % 4])
}

fn add(columns: Columns, key: &Columns) -> Columns {
    std::array::from_fn(|column| columns[column] ^ key[column])
}

fn xor(block: Block, other: Block) -> Block {
    std::array::from_fn(|place| block[place] ^ other[place])
}

/// Bytes are polynomials here, and this is the multiplication of one by x.
const fn doubled(byte: u8) -> u8 {
    (byte << 1) ^ if byte & 0x80 == 0 { 0 } else { 0x1b }
}

const fn product(byte: u8, factor: u8) -> u8 {
    let (mut sum, mut power, mut bits) = (0, byte, factor);
    while bits != 0 {
        if bits & 1 == 1 {
            sum ^= power;
        }
        power = doubled(power);
        bits >>= 1;
    }
    sum
}

/// The inverse of every byte, with its bits mixed. Three makes all bytes but zero, one by one; its
/// inverse makes their inverses.
const fn substitutes() -> [u8; 256] {
    const INVERSE_OF_THREE: u8 = 0xf6;
    let mut substitutes = [0x63; 256];
    let (mut byte, mut inverse) = (1_u8, 1_u8);
    loop {
        let turned = inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4);
        substitutes[byte as usize] = inverse ^ turned ^ 0x63;
        byte = product(byte, 3);
        inverse = product(inverse, INVERSE_OF_THREE);
        if byte == 1 {
            return substitutes;
        }
    }
}

const fn originals() -> [u8; 256] {
    let mut originals = [0; 256];
    let mut byte = 0_u8;
    loop {
        originals[SUBSTITUTES[byte as usize] as usize] = byte;
        if byte == u8::MAX {
            return originals;
        }
        byte += 1;
    }
}

const fn table(substitutes: &[u8; 256], factors: [u8; 4]) -> [u32; 256] {
    let mut table = [0; 256];
    let mut place = 0;
    while place < table.len() {
        let byte = substitutes[place];
        table[place] = u32::from_be_bytes([
            product(byte, factors[0]),
            product(byte, factors[1]),
            product(byte, factors[2]),
            product(byte, factors[3]),
        ]);
        place += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting<const N: usize>() -> [u8; N] {
        std::array::from_fn(|place| place.to_le_bytes()[0])
    }

    /// The examples of FIPS 197, appendix C.
    #[track_caller]
    fn check(key: &[u8], expected: Block) {
        let plain = std::array::from_fn(|place| 0x11 * place.to_le_bytes()[0]);
        let cipher = Cipher::new(key);
        assert_eq!(cipher.encrypt(plain), expected);
        assert_eq!(cipher.decrypt(expected), plain);
    }

    #[test]
    fn the_examples_of_the_standard_come_out() {
        check(&counting::<16>(), 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes());
        check(&counting::<32>(), 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089_u128.to_be_bytes());
    }

    #[test]
    fn chains_come_out_as_they_went_in_and_depend_on_all_before() {
        let cipher = Cipher::new(&counting::<32>());
        let plain = counting::<48>();
        let encrypted = cipher.encrypt_chain([7; 16], &plain);
        assert_eq!(cipher.decrypt_chain([7; 16], &encrypted), plain);
        let equal = cipher.encrypt_chain([0; 16], &[5; 32]);
        assert_ne!(equal[..16], equal[16..]);
        assert_eq!(cipher.decrypt_chain([7; 16], &encrypted[..40]), plain[..32]);
    }
}

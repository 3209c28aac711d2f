//! Rows of bytes that were packed as their differences from others, as PNG and TIFF do.

use super::object::Dict;

/// Of a row. Only pictures have longer ones.
const ROW_BYTES_MAX: usize = 1 << 20;

/// None for what only pictures use.
pub(super) fn undo(bytes: Vec<u8>, parameters: &Dict) -> Option<Vec<u8>> {
    let number = |key: &str, usual: usize| parameters.raw(key).index().unwrap_or(usual);
    let kind = number("Predictor", 1);
    if kind < 2 {
        return Some(bytes);
    }
    let (colors, bits) = (number("Colors", 1), number("BitsPerComponent", 8));
    let pixel_bits = colors.checked_mul(bits)?;
    let row_bytes = pixel_bits.checked_mul(number("Columns", 1))?.div_ceil(8);
    if row_bytes == 0 || ROW_BYTES_MAX < row_bytes {
        return None;
    }
    let pixel_bytes = pixel_bits.div_ceil(8);
    match kind {
        2 if bits == 8 => Some(undo_left(bytes, row_bytes, pixel_bytes)),
        10.. => Some(undo_png(&bytes, row_bytes, pixel_bytes)),
        _ => None,
    }
}

fn undo_left(mut bytes: Vec<u8>, row_bytes: usize, pixel_bytes: usize) -> Vec<u8> {
    for row in bytes.chunks_mut(row_bytes) {
        for place in pixel_bytes..row.len() {
            row[place] = row[place].wrapping_add(row[place - pixel_bytes]);
        }
    }
    bytes
}

/// Each row is preceded by a byte that says what it was taken from.
fn undo_png(bytes: &[u8], row_bytes: usize, pixel_bytes: usize) -> Vec<u8> {
    let (mut above, mut row) = (vec![0; row_bytes], vec![0; row_bytes]);
    let mut output = Vec::with_capacity(bytes.len());
    for packed in bytes.chunks(row_bytes + 1) {
        let Some((kind, packed)) = packed.split_first() else { break };
        for (place, difference) in packed.iter().enumerate() {
            let before = |row: &[u8]| place.checked_sub(pixel_bytes).map_or(0, |it| row[it]);
            let (left, up, corner) = (before(&row), above[place], before(&above));
            let guess = match kind {
                1 => left,
                2 => up,
                3 => left.midpoint(up),
                4 => nearest(left, up, corner),
                _ => 0,
            };
            row[place] = difference.wrapping_add(guess);
        }
        output.extend_from_slice(&row[..packed.len()]);
        std::mem::swap(&mut above, &mut row);
    }
    output
}

/// Paeth's choice: the neighbour that is nearest to left + up - corner.
fn nearest(left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i16::from);
    let (to_left, to_up, to_corner) = ((b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs());
    if to_left <= to_up && to_left <= to_corner {
        left
    } else if to_up <= to_corner {
        up
    } else {
        corner
    }
}

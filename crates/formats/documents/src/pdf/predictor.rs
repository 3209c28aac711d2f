//! Decodes rows stored as differences, as in PNG and TIFF.

use super::object::PdfDict;

/// Maximum row length. Only images have longer rows.
const ROW_BYTES_MAX: usize = 1 << 20;

/// `None` for variants that only images use.
pub(super) fn undo_predictor(bytes: Vec<u8>, parameters: &PdfDict) -> Option<Vec<u8>> {
    let number = |key: &str, usual: usize| parameters.raw(key).as_index().unwrap_or(usual);
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

/// PNG: a byte before each row names its predictor.
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
                4 => predict_paeth(left, up, corner),
                _ => 0,
            };
            row[place] = difference.wrapping_add(guess);
        }
        output.extend_from_slice(&row[..packed.len()]);
        std::mem::swap(&mut above, &mut row);
    }
    output
}

/// Paeth predictor: the neighbour nearest to left + up - corner.
fn predict_paeth(left: u8, up: u8, corner: u8) -> u8 {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::super::object::PdfObject;
    use super::*;

    fn parameters(predictor: u8, colors: u8, columns: u8) -> PdfDict {
        let entries = [("Predictor", predictor), ("Colors", colors), ("Columns", columns)];
        let entries = entries
            .map(|(key, value)| (Rc::from(key.as_bytes()), PdfObject::Number(f64::from(value))));
        PdfDict::new(BTreeMap::from(entries))
    }

    /// Encodes each row with the given predictor.
    fn packed(rows: &[Vec<u8>], kinds: &[u8], pixel_bytes: usize) -> Vec<u8> {
        let mut above = vec![0; rows[0].len()];
        let mut bytes = Vec::new();
        for (row, kind) in rows.iter().zip(kinds) {
            bytes.push(*kind);
            for place in 0..row.len() {
                let before = |row: &[u8]| place.checked_sub(pixel_bytes).map_or(0, |it| row[it]);
                let [left, up, corner] = [before(row), above[place], before(&above)].map(i32::from);
                let guess = match kind {
                    1 => left,
                    2 => up,
                    3 => (left + up) / 2,
                    4 => {
                        let wanted = left + up - corner;
                        let near = |it: &i32| (it - wanted).abs();
                        [left, up, corner].into_iter().min_by_key(near).unwrap()
                    }
                    _ => 0,
                };
                bytes.push(row[place].wrapping_sub(u8::try_from(guess).unwrap()));
            }
            above.clone_from(row);
        }
        bytes
    }

    proptest! {
        #[test]
        fn rows_are_put_together_from_any_differences(
            colors in 1_u8..5,
            rows in prop::collection::vec((prop::collection::vec(any::<u8>(), 12), 0_u8..5), 1..6),
        ) {
            let (rows, kinds): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
            let columns = 12 / colors;
            let length = usize::from(columns * colors);
            let rows: Vec<Vec<u8>> = rows.iter().map(|row| row[..length].to_vec()).collect();
            let bytes = packed(&rows, &kinds, usize::from(colors));
            prop_assert_eq!(undo_predictor(bytes, &parameters(15, colors, columns)), Some(rows.concat()));
        }
    }

    #[test]
    fn differences_from_the_left_need_no_mark() {
        let bytes = vec![1, 2, 3, 255, 0, 1];
        assert_eq!(undo_predictor(bytes, &parameters(2, 1, 3)), Some(vec![1, 3, 6, 255, 255, 0]));
    }

    #[test]
    fn rows_without_end_or_width_are_none() {
        assert_eq!(undo_predictor(vec![1], &parameters(12, 0, 3)), None);
        assert_eq!(undo_predictor(vec![1], &parameters(12, 255, 255)).map(drop), Some(()));
        assert_eq!(undo_predictor(vec![1], &parameters(7, 1, 1)), None);
    }
}

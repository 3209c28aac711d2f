//! Decodes the stream filters of a PDF. Damaged data gives what was decoded before the damage.

use flate2::{Decompress, FlushDecompress, Status};

use super::lexer::{hex_digit, is_space};
use super::object::PdfDict;
use super::predictor;
use super::work_limit::PdfWorkLimit;
use crate::fault::{self, DocumentReadError};

/// Maximum filters per stream.
pub(super) const FILTERS_MAX: usize = 8;
const PIECE_BYTES: usize = 32 * 1024;

/// Decodes one filter. `None` for image filters and unknown ones.
pub(super) fn decode_filter(
    name: &[u8],
    parameters: &PdfDict,
    packed: &[u8],
    effort: &mut PdfWorkLimit<'_>,
) -> Result<Option<Vec<u8>>, DocumentReadError> {
    effort.spend(packed.len())?;
    let mut output = CountedOutput { bytes: Vec::new(), effort };
    match name {
        b"FlateDecode" | b"Fl" => decode_flate(packed, &mut output)?,
        b"LZWDecode" | b"LZW" => {
            let changes_early = parameters.raw("EarlyChange").as_index() != Some(0);
            decode_lzw(packed, changes_early, &mut output)?;
        }
        b"ASCII85Decode" | b"A85" => decode_ascii85(packed, &mut output)?,
        b"ASCIIHexDecode" | b"AHx" => decode_ascii_hex(packed, &mut output)?,
        b"RunLengthDecode" | b"RL" => decode_run_length(packed, &mut output)?,
        _ => return Ok(None),
    }
    let bytes = output.bytes;
    let has_predictor = matches!(name, b"FlateDecode" | b"Fl" | b"LZWDecode" | b"LZW");
    Ok(if has_predictor { predictor::undo_predictor(bytes, parameters) } else { Some(bytes) })
}

/// Output that counts bytes as they are added.
struct CountedOutput<'a, 'b> {
    bytes: Vec<u8>,
    effort: &'a mut PdfWorkLimit<'b>,
}

impl CountedOutput<'_, '_> {
    fn extend(&mut self, bytes: &[u8]) -> Result<(), DocumentReadError> {
        self.effort.spend_unpacked(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn repeat(&mut self, byte: u8, count: usize) -> Result<(), DocumentReadError> {
        self.effort.spend_unpacked(count)?;
        self.bytes.resize(self.bytes.len() + count, byte);
        Ok(())
    }
}

fn decode_flate(
    packed: &[u8],
    output: &mut CountedOutput<'_, '_>,
) -> Result<(), DocumentReadError> {
    let mut inflater = Decompress::new(true);
    let mut piece = vec![0; PIECE_BYTES];
    let mut rest = packed;
    loop {
        let (read, written) = (inflater.total_in(), inflater.total_out());
        let status = inflater.decompress(rest, &mut piece, FlushDecompress::None);
        let read = usize::try_from(inflater.total_in() - read).map_err(|_| fault::DAMAGED)?;
        let written = usize::try_from(inflater.total_out() - written);
        let written = written.map_err(|_| fault::DAMAGED)?;
        output.extend(&piece[..written])?;
        rest = &rest[read..];
        let goes_on = matches!(status, Ok(Status::Ok)) && (0 < read || 0 < written);
        if !goes_on {
            return Ok(());
        }
    }
}

/// LZW: codes refer to earlier sequences, extended by one byte.
fn decode_lzw(
    packed: &[u8],
    changes_early: bool,
    output: &mut CountedOutput<'_, '_>,
) -> Result<(), DocumentReadError> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const CODES_MAX: usize = 4096;
    // The position of each sequence in the output; single bytes need none.
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut buffer, mut bits, mut width) = (0_u32, 0_u32, 9_u32);
    for byte in packed {
        buffer = (buffer << 8) | u32::from(*byte);
        bits += 8;
        if bits < width {
            continue;
        }
        bits -= width;
        let code = usize::try_from((buffer >> bits) & ((1 << width) - 1)).unwrap_or(END);
        let start = output.bytes.len();
        match code {
            0..CLEAR => output.repeat(code.to_le_bytes()[0], 1)?,
            CLEAR => {
                (places, previous, width) = (Vec::new(), None, 9);
                continue;
            }
            END => return Ok(()),
            _ => {
                // The next code to be defined is the previous sequence plus its own first byte.
                let is_next = code - 258 == places.len();
                let place = if is_next { previous } else { places.get(code - 258).copied() };
                let Some((from, length)) = place else { return Ok(()) };
                let length = if is_next { length + 1 } else { length };
                output.effort.spend_unpacked(length)?;
                for offset in 0..length {
                    output.bytes.push(output.bytes[from + offset]);
                }
            }
        }
        if let Some((from, length)) = previous
            && places.len() + 258 < CODES_MAX
        {
            places.push((from, length + 1));
        }
        previous = Some((start, output.bytes.len() - start));
        let next = places.len() + 258 + usize::from(changes_early);
        width = match next {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    Ok(())
}

fn decode_ascii85(
    packed: &[u8],
    output: &mut CountedOutput<'_, '_>,
) -> Result<(), DocumentReadError> {
    let (mut group, mut count) = (0_u32, 0_usize);
    let body = packed.strip_prefix(b"<~").unwrap_or(packed);
    for byte in body.iter().filter(|byte| !is_space(**byte)) {
        match byte {
            b'z' if count == 0 => output.repeat(0, 4)?,
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                count += 1;
            }
            _ => break,
        }
        if count == 5 {
            output.extend(&group.to_be_bytes())?;
            (group, count) = (0, 0);
        }
    }
    if count < 2 {
        return Ok(());
    }
    for _ in count..5 {
        group = group.wrapping_mul(85).wrapping_add(84);
    }
    output.extend(&group.to_be_bytes()[..count - 1])
}

fn decode_ascii_hex(
    packed: &[u8],
    output: &mut CountedOutput<'_, '_>,
) -> Result<(), DocumentReadError> {
    let body = packed.split(|byte| *byte == b'>').next().unwrap_or_default();
    let digits: Vec<u8> = body.iter().filter_map(|byte| hex_digit(*byte)).collect();
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair[0] * 16 + pair.get(1).unwrap_or(&0)).collect();
    output.extend(&bytes)
}

fn decode_run_length(
    packed: &[u8],
    output: &mut CountedOutput<'_, '_>,
) -> Result<(), DocumentReadError> {
    let mut rest = packed;
    while let Some((length, after)) = rest.split_first() {
        let length = usize::from(*length);
        rest = match length {
            0..128 => {
                let taken = after.len().min(length + 1);
                output.extend(&after[..taken])?;
                &after[taken..]
            }
            128 => break,
            _ => {
                let Some((byte, after)) = after.split_first() else { break };
                output.repeat(*byte, 257 - length)?;
                after
            }
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, packed: &[u8], expected: &[u8]) {
        let mut room = 1000;
        let mut effort = PdfWorkLimit::new(&mut room);
        let unpacked = decode_filter(name.as_bytes(), &PdfDict::default(), packed, &mut effort);
        assert_eq!(unpacked.unwrap().unwrap(), expected);
        assert_eq!(room, 1000 - u64::try_from(expected.len()).unwrap(), "what came is counted");
    }

    #[test]
    fn every_filter_for_text_is_undone() {
        // The example of the specification.
        let lzw = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        check("LZWDecode", &lzw, &[45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
        check("ASCII85Decode", b"87cUR\nD]i,\"Ebo80z@:B~>", b"Hello World!\0\0\0\0ab");
        check("A85", b"<~87cURDZ~>", b"Hello");
        check("ASCIIHexDecode", b"48 65\n6C6c6F 2>zz", b"Hello ");
        check("RL", &[2, b'a', b'b', b'c', 254, b'x', 128, b'y'], b"abcxxx");
    }

    #[test]
    fn what_is_cut_short_gives_what_came_before() {
        check("LZWDecode", &[0x80, 0x0b, 0x60], &[45]);
        check("FlateDecode", b"\x78\x9c\xf3\x48\xcd\xc9", b"Hel");
        check("FlateDecode", b"no deflate", b"");
        check("RL", &[9, b'a'], b"a");
    }

    #[test]
    fn pictures_are_not_unpacked() {
        let mut room = 1000;
        let mut effort = PdfWorkLimit::new(&mut room);
        let unpacked = decode_filter(b"DCTDecode", &PdfDict::default(), b"x", &mut effort);
        assert_eq!(unpacked, Ok(None));
    }
}

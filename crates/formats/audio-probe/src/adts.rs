//! AAC in ADTS frames, each with its length.

use std::time::Duration;

use crate::bytes::ReadNumbers;
use crate::units_to_duration;

/// Sample rates by index.
pub(crate) const RATES: [u64; 13] = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
];
const HEADER_BYTES: usize = 7;
const SAMPLES_PER_BLOCK: u64 = 1024;

struct AdtsFrame {
    bytes: usize,
    samples: u64,
    rate: u64,
}

/// True for two consecutive frames, or one at the end of the file.
pub(crate) fn is_start(file: &[u8]) -> bool {
    let Some(first) = parse_frame_header(file) else { return false };
    let Some(rest) = file.get(first.bytes..) else { return false };
    rest.is_empty() || parse_frame_header(rest).is_some()
}

pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let mut length = Duration::ZERO;
    let mut rest = file;
    while !rest.is_empty() {
        match parse_frame_header(rest).and_then(|frame| Some((rest.get(frame.bytes..)?, frame))) {
            Some((next, frame)) => {
                length += units_to_duration(frame.samples, frame.rate)?;
                rest = next;
            }
            // Tags or damage: resynchronise at the next possible sync byte.
            None => {
                let next = rest[1..].iter().position(|byte| *byte == 0xff);
                rest = next.map_or(&[], |skipped| &rest[1 + skipped..]);
            }
        }
    }
    Some(length)
}

fn parse_frame_header(bytes: &[u8]) -> Option<AdtsFrame> {
    let is_frame = bytes.be16(0)? & 0xfff6 == 0xfff0;
    if !is_frame {
        return None;
    }
    let rate = *RATES.get(usize::from((bytes.get(2)? >> 2) & 0xf))?;
    let size = (bytes.be32(3)? >> 13) & 0x1fff;
    let size = usize::try_from(size).ok()?;
    let blocks = u64::from(bytes.get(6)? & 3) + 1;
    (HEADER_BYTES < size).then_some(AdtsFrame {
        bytes: size,
        samples: SAMPLES_PER_BLOCK * blocks,
        rate,
    })
}

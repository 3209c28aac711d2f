//! FLAC: a header with the number of samples, and numbered frames.

use std::time::Duration;

use crate::bytes::{ReadNumbers, count_bytes, to_offset};
use crate::units_to_duration;

const STREAM_INFO_BYTES: usize = 34;

/// The STREAMINFO block.
#[derive(Clone, Copy)]
pub(crate) struct StreamInfo {
    pub(crate) rate: u64,
    channels: u64,
    bits: u64,
    /// Zero if the encoder did not know it.
    samples: u64,
    block_samples_max: u64,
}

impl StreamInfo {
    pub(crate) fn read(block: &[u8]) -> Option<StreamInfo> {
        let packed = block.be64(10)?;
        Some(StreamInfo {
            rate: packed >> 44,
            channels: ((packed >> 41) & 7) + 1,
            bits: ((packed >> 36) & 0x1f) + 1,
            samples: packed & 0xf_ffff_ffff,
            block_samples_max: block.be16(2)?.into(),
        })
    }
}

/// The length. The header's sample count is used only if the frames do not show more.
pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let info = StreamInfo::read(file.get(8..8 + STREAM_INFO_BYTES)?)?;
    let frames = skip_metadata(file)?;
    let counted = last_sample(frames, info).unwrap_or(0);
    // Frames are hardly larger than raw samples, which gives a minimum count.
    let bits_per_sample = info.channels * info.bits;
    let least = count_bytes(frames) * 8 * 9 / 10 / bits_per_sample;
    units_to_duration(info.samples.max(counted).max(least), info.rate)
}

/// The data after the metadata blocks.
fn skip_metadata(file: &[u8]) -> Option<&[u8]> {
    const IS_LAST: u32 = 0x8000_0000;
    let mut at = 4;
    loop {
        let header = file.be32(at)?;
        at = at.checked_add(4 + to_offset(u64::from(header & 0x00ff_ffff)))?;
        if header & IS_LAST != 0 {
            return file.get(at..);
        }
    }
}

/// The end of the last frame, in samples from the start.
fn last_sample(frames: &[u8], info: StreamInfo) -> Option<u64> {
    let starts = frames.windows(2).enumerate().rev();
    let mut starts = starts.filter(|(_, pair)| pair[0] == 0xff && pair[1] & 0xfe == 0xf8);
    starts.find_map(|(at, _)| frame_end(&frames[at..], info))
}

/// The sample after a frame, if these bytes are a frame with a valid header checksum.
fn frame_end(frame: &[u8], info: StreamInfo) -> Option<u64> {
    let (number, number_bytes) = coded_number(frame.get(4..)?)?;
    let mut end = 4 + number_bytes;
    let size_code = frame.get(2)? >> 4;
    let block = match size_code {
        0 => return None,
        1 => 192,
        2..=5 => 576 << (size_code - 2),
        6 => {
            end += 1;
            u64::from(*frame.get(end - 1)?) + 1
        }
        7 => {
            end += 2;
            u64::from(frame.be16(end - 2)?) + 1
        }
        _ => 256 << (size_code - 8),
    };
    end += match frame.get(2)? & 0xf {
        12 => 1,
        13 | 14 => 2,
        15 => return None,
        _ => 0,
    };
    if compute_crc8(frame.get(..end)?) != *frame.get(end)? {
        return None;
    }
    let counts_samples = frame.get(1)? & 1 == 1;
    let first = if counts_samples { number } else { number.checked_mul(info.block_samples_max)? };
    first.checked_add(block)
}

/// A UTF-8-like number of up to 36 bits, and its length in bytes.
fn coded_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let ones = usize::try_from(first.leading_ones()).ok()?;
    if ones == 0 {
        return Some((first.into(), 1));
    }
    if !(2..=7).contains(&ones) {
        return None;
    }
    let mut number = u64::from(first) & (0x7f >> ones);
    for byte in bytes.get(1..ones)? {
        if byte & 0xc0 != 0x80 {
            return None;
        }
        number = (number << 6) | u64::from(byte & 0x3f);
    }
    Some((number, ones))
}

/// CRC-8 with the polynomial x⁸ + x² + x + 1.
fn compute_crc8(bytes: &[u8]) -> u8 {
    let step = |sum: u8| if sum & 0x80 == 0 { sum << 1 } else { (sum << 1) ^ 0x07 };
    bytes.iter().fold(0, |sum, byte| (0..8).fold(sum ^ byte, |sum, _| step(sum)))
}

//! MP3: frames, each with its length.

use std::time::Duration;

use crate::units_to_duration;

/// Maximum garbage before the first frame, such as the rest of a cut one; more is another format.
const LEAD_BYTES_MAX: usize = 4096;

/// Bit rates in kbit/s by index, for MPEG-1 layers 1, 2 and 3, and for the other versions.
const BITRATES: [[u64; 15]; 5] = [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const RATES: [u64; 3] = [44_100, 48_000, 32_000];

/// The fields of a frame header.
#[derive(Clone, Copy)]
struct Mp3Frame {
    bytes: usize,
    samples: u64,
    rate: u64,
}

pub(crate) fn is_start(file: &[u8]) -> bool {
    next_frame(file, 0).is_some_and(|(at, _)| at <= LEAD_BYTES_MAX)
}

pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let mut length = Duration::ZERO;
    let mut at = 0;
    while let Some((found, frame)) = next_frame(file, at) {
        let is_first = at == 0;
        at = found + frame.bytes;
        if !(is_first && is_index(&file[found..at])) {
            length += units_to_duration(frame.samples, frame.rate)?;
        }
    }
    Some(length)
}

/// True for the Xing or Info frame, which has the frame count and is not played.
fn is_index(frame: &[u8]) -> bool {
    const MARK_AT_MAX: usize = 40;
    let start = &frame[..frame.len().min(MARK_AT_MAX)];
    start.windows(4).any(|it| it == b"Xing" || it == b"Info")
}

/// The next frame from `at` that is followed by another frame or the end of the file.
fn next_frame(file: &[u8], at: usize) -> Option<(usize, Mp3Frame)> {
    let mut at = at;
    loop {
        at += file.get(at..)?.iter().position(|byte| *byte == 0xff)?;
        if let Some(frame) = parse_frame_header(file.get(at..)?) {
            let rest = file.get(at + frame.bytes..);
            let is_last = rest.is_some_and(|rest| rest.len() < 4 || rest.starts_with(b"TAG"));
            if is_last || rest.and_then(parse_frame_header).is_some() {
                return Some((at, frame));
            }
        }
        at += 1;
    }
}

fn parse_frame_header(bytes: &[u8]) -> Option<Mp3Frame> {
    let &[0xff, second, third, _, ..] = bytes else { return None };
    if second & 0xe0 != 0xe0 {
        return None;
    }
    let (version, layer) = ((second >> 3) & 3, 4 - ((second >> 1) & 3));
    let (bitrate, rate) = (usize::from(third >> 4), usize::from((third >> 2) & 3));
    let padding = u64::from((third >> 1) & 1);
    let is_reserved = version == 1 || layer == 4 || bitrate == 0;
    if is_reserved {
        return None;
    }
    let is_first = version == 3;
    let table = match (is_first, layer) {
        (true, _) => usize::from(layer) - 1,
        (false, 1) => 3,
        (false, _) => 4,
    };
    let bits_per_second = BITRATES[table].get(bitrate)? * 1000;
    // MPEG-2 halves the rates of MPEG-1, and MPEG-2.5 halves them again.
    let rate = RATES.get(rate)? >> [2, 0, 1, 0][usize::from(version)];
    let (samples, bytes) = match (layer, is_first) {
        (1, _) => (384, (12 * bits_per_second / rate + padding) * 4),
        (3, false) => (576, 72 * bits_per_second / rate + padding),
        _ => (1152, 144 * bits_per_second / rate + padding),
    };
    Some(Mp3Frame { bytes: usize::try_from(bytes).ok()?, samples, rate })
}

//! Converts samples to signed 16-bit little-endian integers.

pub(super) fn append_samples(samples: &[f32], bytes: &mut Vec<u8>) {
    bytes.reserve(samples.len() * 2);
    for sample in samples {
        bytes.extend_from_slice(&sample_to_i16(*sample).to_le_bytes());
    }
}

/// The nearest 16-bit integer; NaN becomes silence.
pub(super) fn sample_to_i16(sample: f32) -> i16 {
    (sample.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16
}

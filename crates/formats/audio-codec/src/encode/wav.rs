//! The header of a WAV file with 16-bit samples.

use super::ChannelLayout;

/// Length written when the total is not known yet.
const UNKNOWN_BYTES: u32 = u32::MAX;
/// Bytes between the file length and the data length.
const HEADER_BYTES: u32 = 36;

/// `samples` counts one channel.
pub(super) fn build_header(
    sample_rate: u32,
    samples: Option<u64>,
    channels: ChannelLayout,
) -> Vec<u8> {
    const PCM: u16 = 1;
    const ONE_SAMPLE_BYTES: u16 = 2;
    let frame_bytes = ONE_SAMPLE_BYTES * channels.count();
    const FORMAT_BYTES: u32 = 16;
    let data_bytes = match samples.map(|it| u32::try_from(it * u64::from(frame_bytes))) {
        Some(Ok(bytes)) if bytes < UNKNOWN_BYTES - HEADER_BYTES => bytes,
        _ => UNKNOWN_BYTES,
    };
    let byte_rate = sample_rate.saturating_mul(u32::from(frame_bytes));
    let mut header = Vec::with_capacity(44);
    header.extend_from_slice(b"RIFF");
    header.extend_from_slice(&data_bytes.saturating_add(HEADER_BYTES).to_le_bytes());
    header.extend_from_slice(b"WAVEfmt ");
    header.extend_from_slice(&FORMAT_BYTES.to_le_bytes());
    header.extend_from_slice(&PCM.to_le_bytes());
    header.extend_from_slice(&channels.count().to_le_bytes());
    header.extend_from_slice(&sample_rate.to_le_bytes());
    header.extend_from_slice(&byte_rate.to_le_bytes());
    header.extend_from_slice(&frame_bytes.to_le_bytes());
    header.extend_from_slice(&(ONE_SAMPLE_BYTES * 8).to_le_bytes());
    header.extend_from_slice(b"data");
    header.extend_from_slice(&data_bytes.to_le_bytes());
    header
}

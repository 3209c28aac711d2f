//! WAV: chunks with the sample format and the samples.

use std::time::Duration;

use crate::bytes::{ReadNumbers, count_bytes, to_offset};
use crate::units_to_duration;

/// Offset of the first chunk, after `RIFF`, a size and `WAVE`.
const CHUNKS_AT: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
/// Size written by programs that do not know the length yet.
const UNKNOWN: u32 = u32::MAX;

/// Format tags with a fixed number of bits per sample.
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;

pub(crate) fn measure_length(file: &[u8]) -> Option<Duration> {
    let mut bytes_per_second = None;
    for chunk in WavChunkIter::in_file(file) {
        if chunk.id == *b"fmt " {
            bytes_per_second = read_byte_rate(chunk.body);
        }
        if chunk.id == *b"data" {
            return units_to_duration(count_bytes(chunk.body), bytes_per_second?);
        }
    }
    None
}

/// Writes the sizes into the header of a file that was streamed without a known length. Many
/// players show such a file as hours long.
pub fn write_wav_sizes(file: &mut [u8]) {
    let is_wav = file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WAVE");
    if !is_wav {
        return;
    }
    let data = WavChunkIter::in_file(file).find(|chunk| chunk.id == *b"data");
    let Some((at, declared)) = data.map(|chunk| (chunk.at, chunk.declared)) else { return };
    let is_open =
        declared == 0 || file.len() - at - CHUNK_HEADER_BYTES < to_offset(declared.into());
    if !is_open {
        return;
    }
    let mut put = |at: usize, from: usize| {
        if let Ok(size) = u32::try_from(file.len() - from) {
            file[at..at + 4].copy_from_slice(&size.to_le_bytes());
        }
    };
    put(4, CHUNK_HEADER_BYTES);
    put(at + 4, at + CHUNK_HEADER_BYTES);
}

fn read_byte_rate(format: &[u8]) -> Option<u64> {
    let tag = format.le16(0)?;
    let (channels, samples) = (format.le16(2)?, format.le32(4)?);
    let (told, bits) = (format.le32(8)?, format.le16(14)?);
    if matches!(tag, PCM | FLOAT | EXTENSIBLE) {
        // Decoders compute the byte rate of these formats themselves, so the declared one is
        // ignored.
        let frame = u64::from(channels) * u64::from(bits.div_ceil(8));
        return Some(frame * u64::from(samples));
    }
    Some(u64::from(told))
}

struct WavChunk<'a> {
    id: [u8; 4],
    /// Offset of the chunk's header.
    at: usize,
    declared: u32,
    /// The content, possibly truncated.
    body: &'a [u8],
}

struct WavChunkIter<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> WavChunkIter<'a> {
    fn in_file(file: &'a [u8]) -> WavChunkIter<'a> {
        WavChunkIter { file, at: CHUNKS_AT }
    }
}

impl<'a> Iterator for WavChunkIter<'a> {
    type Item = WavChunk<'a>;

    fn next(&mut self) -> Option<WavChunk<'a>> {
        let at = self.at;
        let id = self.file.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let declared = self.file.le32(at + 4)?;
        let rest = self.file.get(at + CHUNK_HEADER_BYTES..)?;
        let is_open = declared == UNKNOWN || (declared == 0 && id == *b"data");
        let size = if is_open { rest.len() } else { to_offset(declared.into()).min(rest.len()) };
        // Chunks start at even offsets.
        self.at = at + CHUNK_HEADER_BYTES + size + size % 2;
        Some(WavChunk { id, at, declared, body: &rest[..size] })
    }
}

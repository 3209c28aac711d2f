//! WAV: chunks with the sample format and the samples.

use std::time::Duration;

use crate::bytes::{Bytes, count, place};
use crate::time;

/// Offset of the first chunk, after `RIFF`, a size and `WAVE`.
const CHUNKS_AT: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
/// Size written by programs that do not know the length yet.
const UNKNOWN: u32 = u32::MAX;

/// Format tags with a fixed number of bits per sample.
const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;

pub(crate) fn length(file: &[u8]) -> Option<Duration> {
    let mut bytes_per_second = None;
    for chunk in Chunks::of(file) {
        if chunk.id == *b"fmt " {
            bytes_per_second = rate(chunk.body);
        }
        if chunk.id == *b"data" {
            return time(count(chunk.body), bytes_per_second?);
        }
    }
    None
}

/// Writes the sizes into the header of a file that was streamed without a known length. Many
/// players show such a file as hours long.
pub fn complete(file: &mut [u8]) {
    let is_wav = file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WAVE");
    if !is_wav {
        return;
    }
    let data = Chunks::of(file).find(|chunk| chunk.id == *b"data");
    let Some((at, declared)) = data.map(|chunk| (chunk.at, chunk.declared)) else { return };
    let is_open = declared == 0 || file.len() - at - CHUNK_HEADER_BYTES < place(declared.into());
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

fn rate(format: &[u8]) -> Option<u64> {
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

struct Chunk<'a> {
    id: [u8; 4],
    /// Offset of the chunk's header.
    at: usize,
    declared: u32,
    /// The content, possibly truncated.
    body: &'a [u8],
}

struct Chunks<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Chunks<'a> {
    fn of(file: &'a [u8]) -> Chunks<'a> {
        Chunks { file, at: CHUNKS_AT }
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let at = self.at;
        let id = self.file.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let declared = self.file.le32(at + 4)?;
        let rest = self.file.get(at + CHUNK_HEADER_BYTES..)?;
        let is_open = declared == UNKNOWN || (declared == 0 && id == *b"data");
        let size = if is_open { rest.len() } else { place(declared.into()).min(rest.len()) };
        // Chunks start at even offsets.
        self.at = at + CHUNK_HEADER_BYTES + size + size % 2;
        Some(Chunk { id, at, declared, body: &rest[..size] })
    }
}

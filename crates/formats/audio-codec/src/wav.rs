//! Reads WAV headers before the library does.

use std::borrow::Cow;

const FIRST_CHUNK: usize = 12;
const CHUNK_HEADER: usize = 8;

/// A chunk and the offset of its header.
struct WavChunkHeader {
    at: usize,
    id: [u8; 4],
    length: u32,
}

impl WavChunkHeader {
    fn body_offset(&self) -> usize {
        self.at + CHUNK_HEADER
    }
}

/// The largest declared number of channels; 0 if there is no format chunk.
pub(crate) fn read_channel_count(wav: &[u8]) -> usize {
    const CHANNELS_AT: usize = 2;
    let formats = iter_chunks(wav).filter(|chunk| chunk.id == *b"fmt ");
    let declared =
        formats.filter_map(|chunk| wav.get(chunk.body_offset() + CHANNELS_AT..)?.first_chunk());
    declared.map(|declared| u16::from_le_bytes(*declared).into()).max().unwrap_or(0)
}

/// Replaces the data length if it is a placeholder: programs that write to a pipe declare the
/// maximum. The samples then extend to the end of the file.
pub(crate) fn with_true_length(wav: &[u8]) -> Cow<'_, [u8]> {
    const UNKNOWN_BYTES_MIN: u32 = 0x7fff_0000;
    let samples = iter_chunks(wav).find(|chunk| chunk.id == *b"data");
    let Some(chunk) = samples.filter(|chunk| UNKNOWN_BYTES_MIN <= chunk.length) else {
        return Cow::Borrowed(wav);
    };
    let true_length = u32::try_from(wav.len() - chunk.body_offset()).unwrap_or(u32::MAX);
    let mut corrected = wav.to_vec();
    corrected[chunk.at + 4..chunk.body_offset()].copy_from_slice(&true_length.to_le_bytes());
    Cow::Owned(corrected)
}

fn iter_chunks(wav: &[u8]) -> impl Iterator<Item = WavChunkHeader> {
    let mut at = FIRST_CHUNK;
    std::iter::from_fn(move || {
        let header: &[u8; CHUNK_HEADER] = wav.get(at..)?.first_chunk()?;
        let [i, d, e, n, length @ ..] = *header;
        let chunk = WavChunkHeader { at, id: [i, d, e, n], length: u32::from_le_bytes(length) };
        // A chunk of odd length is followed by a padding byte.
        let length = chunk.length as usize;
        at = chunk.body_offset().saturating_add(length).saturating_add(length % 2);
        Some(chunk)
    })
}

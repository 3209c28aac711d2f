//! What a WAV file says about itself, read before the library reads it.

use std::borrow::Cow;

const FIRST_CHUNK: usize = 12;
const CHUNK_HEADER: usize = 8;

/// A part of the file, with where its header begins.
struct Chunk {
    at: usize,
    id: [u8; 4],
    length: u32,
}

impl Chunk {
    fn body(&self) -> usize {
        self.at + CHUNK_HEADER
    }
}

/// The most channels that a format in it declares; none if it has no format.
pub(crate) fn channels(wav: &[u8]) -> usize {
    const CHANNELS_AT: usize = 2;
    let formats = chunks(wav).filter(|chunk| chunk.id == *b"fmt ");
    let declared = formats.filter_map(|chunk| wav.get(chunk.body() + CHANNELS_AT..)?.first_chunk());
    declared.map(|declared| u16::from_le_bytes(*declared).into()).max().unwrap_or(0)
}

/// A program that writes WAV to a pipe cannot know the length, and declares the most that fits.
/// Then the samples go on until the file ends.
pub(crate) fn with_true_length(wav: &[u8]) -> Cow<'_, [u8]> {
    const UNKNOWN_BYTES_MIN: u32 = 0x7fff_0000;
    let samples = chunks(wav).find(|chunk| chunk.id == *b"data");
    let Some(chunk) = samples.filter(|chunk| UNKNOWN_BYTES_MIN <= chunk.length) else {
        return Cow::Borrowed(wav);
    };
    let true_length = u32::try_from(wav.len() - chunk.body()).unwrap_or(u32::MAX);
    let mut corrected = wav.to_vec();
    corrected[chunk.at + 4..chunk.body()].copy_from_slice(&true_length.to_le_bytes());
    Cow::Owned(corrected)
}

fn chunks(wav: &[u8]) -> impl Iterator<Item = Chunk> {
    let mut at = FIRST_CHUNK;
    std::iter::from_fn(move || {
        let header: &[u8; CHUNK_HEADER] = wav.get(at..)?.first_chunk()?;
        let [i, d, e, n, length @ ..] = *header;
        let chunk = Chunk { at, id: [i, d, e, n], length: u32::from_le_bytes(length) };
        // A chunk of an odd length is followed by a byte of padding.
        let length = chunk.length as usize;
        at = chunk.body().saturating_add(length).saturating_add(length % 2);
        Some(chunk)
    })
}

//! Detects the format and length of a recording without decoding it.
//!
//! File names and media types of callers are ignored. Lengths are counted from what a decoder would
//! play wherever the format allows it (frames, packets, blocks), because a number in a header is
//! easily forged and work is priced by the second.
//!
//! Nothing here panics, allocates by a number in the file, or takes more than a few passes.

mod adts;
mod bytes;
mod flac;
mod mp3;
mod mp4;
mod ogg;
mod opus;
mod wav;
mod webm;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use wav::write_wav_sizes as complete_wav;

/// Longer recordings do not fit into an upload: 25 MB at the lowest common bit rate are 10 hours.
const LENGTH_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Format and length of a recording, sufficient to price it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingInfo {
    pub container: AudioContainer,
    pub length: Duration,
}

/// Container formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AudioContainer {
    Wav,
    Flac,
    Mp3,
    /// AAC in ADTS frames.
    Aac,
    Mp4,
    /// An MP4 that declares itself audio-only.
    M4a,
    Ogg,
    Webm,
}

/// The reason why a file cannot be priced. `Display` is a message for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum RecordingReadError {
    #[error("the file is empty")]
    Empty,
    #[error("the format is not supported: send WAV, FLAC, MP3, AAC, MP4, M4A, OGG or WEBM")]
    UnknownFormat,
    #[error("the {} file is damaged or truncated, or has no audio", .0.name())]
    Damaged(AudioContainer),
    #[error("the {} file declares a duration of more than a day", .0.name())]
    TooLong(AudioContainer),
}

/// Detects a file's format and measures its length.
pub fn inspect_recording(file: &[u8]) -> Result<RecordingInfo, RecordingReadError> {
    if file.is_empty() {
        return Err(RecordingReadError::Empty);
    }
    let (container, sound) = detect_container(file).ok_or(RecordingReadError::UnknownFormat)?;
    let length = match container {
        AudioContainer::Wav => wav::measure_length(sound),
        AudioContainer::Flac => flac::measure_length(sound),
        AudioContainer::Mp3 => mp3::measure_length(sound),
        AudioContainer::Aac => adts::measure_length(sound),
        AudioContainer::Mp4 | AudioContainer::M4a => mp4::measure_length(sound),
        AudioContainer::Ogg => ogg::measure_length(sound),
        AudioContainer::Webm => webm::measure_length(sound),
    };
    let length = length.filter(|it| !it.is_zero()).ok_or(RecordingReadError::Damaged(container))?;
    if LENGTH_MAX < length {
        return Err(RecordingReadError::TooLong(container));
    }
    Ok(RecordingInfo { container, length })
}

impl AudioContainer {
    /// The format's common name.
    pub const fn name(self) -> &'static str {
        match self {
            AudioContainer::Wav => "WAV",
            AudioContainer::Flac => "FLAC",
            AudioContainer::Mp3 => "MP3",
            AudioContainer::Aac => "AAC",
            AudioContainer::Mp4 => "MP4",
            AudioContainer::M4a => "M4A",
            AudioContainer::Ogg => "OGG",
            AudioContainer::Webm => "WEBM",
        }
    }

    pub const fn extension(self) -> &'static str {
        match self {
            AudioContainer::Wav => "wav",
            AudioContainer::Flac => "flac",
            AudioContainer::Mp3 => "mp3",
            AudioContainer::Aac => "aac",
            AudioContainer::Mp4 => "mp4",
            AudioContainer::M4a => "m4a",
            AudioContainer::Ogg => "ogg",
            AudioContainer::Webm => "webm",
        }
    }

    pub const fn mime(self) -> &'static str {
        match self {
            AudioContainer::Wav => "audio/wav",
            AudioContainer::Flac => "audio/flac",
            AudioContainer::Mp3 => "audio/mpeg",
            AudioContainer::Aac => "audio/aac",
            AudioContainer::Mp4 | AudioContainer::M4a => "audio/mp4",
            AudioContainer::Ogg => "audio/ogg",
            AudioContainer::Webm => "audio/webm",
        }
    }
}

/// Detects the container, and the start of the audio after leading tags of MP3, AAC and FLAC.
pub fn detect_container(file: &[u8]) -> Option<(AudioContainer, &[u8])> {
    if let Some(container) = detect_by_signature(file) {
        return Some((container, file));
    }
    let frames = skip_id3_tags(file);
    let container = if frames.starts_with(b"fLaC") {
        AudioContainer::Flac
    } else if adts::is_start(frames) {
        AudioContainer::Aac
    } else if mp3::is_start(frames) {
        AudioContainer::Mp3
    } else {
        return None;
    };
    Some((container, frames))
}

/// Formats with a signature at a fixed offset.
fn detect_by_signature(file: &[u8]) -> Option<AudioContainer> {
    let is_riff = file.starts_with(b"RIFF") || file.starts_with(b"RF64");
    if is_riff && file.get(8..12) == Some(b"WAVE") {
        return Some(AudioContainer::Wav);
    }
    if file.starts_with(b"OggS") {
        return Some(AudioContainer::Ogg);
    }
    if file.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) {
        return Some(AudioContainer::Webm);
    }
    if file.get(4..8) == Some(b"ftyp") {
        let is_sound_alone = matches!(file.get(8..11), Some(b"M4A" | b"M4B"));
        return Some(if is_sound_alone { AudioContainer::M4a } else { AudioContainer::Mp4 });
    }
    None
}

/// The data after the ID3 tags that many programs write before MP3, AAC and FLAC.
fn skip_id3_tags(file: &[u8]) -> &[u8] {
    const HEADER_BYTES: usize = 10;
    const HAS_FOOTER: u8 = 0x10;
    let mut rest = file;
    while rest.starts_with(b"ID3") {
        let (Some(flags), Some(size)) = (rest.get(5), rest.get(6..10)) else { return &[] };
        // Seven bits per byte.
        let size = size.iter().fold(0, |sum, byte| (sum << 7) | usize::from(byte & 0x7f));
        let footer = if flags & HAS_FOOTER == 0 { 0 } else { HEADER_BYTES };
        rest = rest.get(HEADER_BYTES + size + footer..).unwrap_or(&[]);
    }
    let padding = rest.iter().take_while(|byte| **byte == 0).count();
    &rest[padding..]
}

/// Converts units to time; `None` if the rate is zero.
fn units_to_duration(units: u64, per_second: u64) -> Option<Duration> {
    if per_second == 0 {
        return None;
    }
    let nanos = u128::from(units) * 1_000_000_000 / u128::from(per_second);
    Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests;

//! A sound file that has been opened: its packets, and the codec that turns them into samples.

use std::borrow::Cow;
use std::io::{Cursor, ErrorKind};

use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::codecs::registry::CodecRegistry;
use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::{FormatOptions, FormatReader, Track, TrackType};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::packet::Packet;
use symphonia::default::formats::{
    AdtsReader, FlacReader, IsoMp4Reader, MkvReader, MpaReader, OggReader, WavReader,
};
use symphonia_adapter_libopus::OpusDecoder;

use crate::sniff::{Container, sniff};

/// How much of a sound a caller lets in.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub bytes_max: usize,
    pub seconds_max: u32,
    pub channels_max: usize,
}

/// Why a file gives no sound. Every one of them is the file's fault.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SoundError {
    #[error("the file has {bytes} bytes, and {bytes_max} is the most")]
    TooLarge { bytes: usize, bytes_max: usize },
    #[error("the sound is longer than {seconds_max} seconds")]
    TooLong { seconds_max: u32 },
    #[error("the sound has {channels} channels, and {channels_max} is the most")]
    TooManyChannels { channels: usize, channels_max: usize },
    #[error("not a sound file of a known kind: send WAV, FLAC, MP3, AAC, MP4, M4A, OGG or WEBM")]
    Unknown,
    #[error("the file holds no sound")]
    Silent,
    #[error("the file ends before its sound does")]
    Truncated,
    #[error("the sound cannot be decoded: {0}")]
    Unsupported(String),
    #[error("the file is damaged: {0}")]
    Corrupt(String),
}

/// Packets of the file's one sound track.
pub(crate) struct Source<'a> {
    pub(crate) container: Container,
    pub(crate) track: Track,
    pub(crate) codec: AudioCodecParameters,
    reader: Box<dyn FormatReader + 'a>,
}

impl<'a> Source<'a> {
    pub(crate) fn open(file: &'a [u8], limits: &Limits) -> Result<Source<'a>, SoundError> {
        if limits.bytes_max < file.len() {
            let bytes = file.len();
            return Err(SoundError::TooLarge { bytes, bytes_max: limits.bytes_max });
        }
        let (container, sound) = sniff(file).ok_or(SoundError::Unknown)?;
        let reader = reader(container, sound).map_err(refusal)?;
        let track = reader.default_track(TrackType::Audio).ok_or(SoundError::Silent)?.clone();
        let Some(CodecParameters::Audio(codec)) = track.codec_params.clone() else {
            return Err(SoundError::Silent);
        };
        let channels = codec.channels.as_ref().map_or(1, |it| it.count());
        if limits.channels_max < channels {
            let channels_max = limits.channels_max;
            return Err(SoundError::TooManyChannels { channels, channels_max });
        }
        Ok(Source { container, track, codec, reader })
    }

    /// The next packet of the track; none at the end.
    pub(crate) fn packet(&mut self) -> Result<Option<Packet>, SoundError> {
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) if packet.track_id == self.track.id => return Ok(Some(packet)),
                Ok(Some(_)) => (),
                Ok(None) => return Ok(None),
                Err(error) => return Err(refusal(error)),
            }
        }
    }

    pub(crate) fn decoder(&self) -> Result<Box<dyn AudioDecoder>, SoundError> {
        let mut codecs = CodecRegistry::new();
        symphonia::default::register_enabled_codecs(&mut codecs);
        codecs.register_audio_decoder::<OpusDecoder>();
        let options = AudioDecoderOptions::default();
        codecs.make_audio_decoder(&self.codec, &options).map_err(refusal)
    }
}

fn reader(
    container: Container,
    sound: &[u8],
) -> Result<Box<dyn FormatReader + '_>, SymphoniaError> {
    let sound = match container {
        Container::Wav => with_true_length(sound),
        _ => Cow::Borrowed(sound),
    };
    let cursor = Box::new(Cursor::new(sound));
    let stream = MediaSourceStream::new(cursor, MediaSourceStreamOptions::default());
    let options = FormatOptions::default();
    Ok(match container {
        Container::Wav => Box::new(WavReader::try_new(stream, options)?),
        Container::Flac => Box::new(FlacReader::try_new(stream, options)?),
        Container::Mp3 => Box::new(MpaReader::try_new(stream, options)?),
        Container::Aac => Box::new(AdtsReader::try_new(stream, options)?),
        Container::Mp4 => Box::new(IsoMp4Reader::try_new(stream, options)?),
        Container::Ogg => Box::new(OggReader::try_new(stream, options)?),
        Container::Webm => Box::new(MkvReader::try_new(stream, options)?),
    })
}

/// A program that writes WAV to a pipe cannot know the length, and declares the most that fits.
/// Then the samples go on until the file ends.
fn with_true_length(wav: &[u8]) -> Cow<'_, [u8]> {
    const FIRST_CHUNK: usize = 12;
    const CHUNK_HEADER: usize = 8;
    const UNKNOWN_BYTES_MIN: u32 = 0x7fff_0000;
    let mut at = FIRST_CHUNK;
    while let Some([i, d, e, n, length @ ..]) = wav.get(at..at + CHUNK_HEADER) {
        let length = length.try_into().map_or(0, u32::from_le_bytes);
        let body = at + CHUNK_HEADER;
        if [*i, *d, *e, *n] != *b"data" {
            // A chunk of an odd length is followed by a byte of padding.
            at = body.saturating_add(length as usize).saturating_add(length as usize % 2);
            continue;
        }
        if length < UNKNOWN_BYTES_MIN {
            break;
        }
        let true_length = u32::try_from(wav.len() - body).unwrap_or(u32::MAX);
        let mut corrected = wav.to_vec();
        corrected[at + 4..body].copy_from_slice(&true_length.to_le_bytes());
        return Cow::Owned(corrected);
    }
    Cow::Borrowed(wav)
}

pub(crate) fn refusal(error: SymphoniaError) -> SoundError {
    match error {
        SymphoniaError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            SoundError::Truncated
        }
        SymphoniaError::Unsupported(what) => SoundError::Unsupported(what.to_owned()),
        other => SoundError::Corrupt(other.to_string()),
    }
}

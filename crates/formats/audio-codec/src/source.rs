//! An opened audio file: its packets and codec.

use std::borrow::Cow;
use std::io::{Cursor, ErrorKind};

use audio_probe::AudioContainer;
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

use crate::wav;

/// The caller's limits.
#[derive(Clone, Copy, Debug)]
pub struct DecodeLimits {
    pub bytes_max: usize,
    pub seconds_max: u32,
    pub channels_max: usize,
}

/// Errors of reading an audio file, all caused by the file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SoundError {
    #[error("the file has {bytes} bytes, and {bytes_max} is the most")]
    TooLarge { bytes: usize, bytes_max: usize },
    #[error("the sound is longer than {seconds_max} seconds")]
    TooLong { seconds_max: u32 },
    #[error("the sound has {channels} channels, and {channels_max} is the most")]
    TooManyChannels { channels: usize, channels_max: usize },
    #[error("the audio format is not supported: send WAV, FLAC, MP3, AAC, MP4, M4A, OGG or WEBM")]
    Unknown,
    #[error("the file has no audio")]
    Silent,
    #[error("the file is truncated")]
    Truncated,
    #[error("the sound cannot be decoded: {0}")]
    Unsupported(String),
    #[error("the file is damaged: {0}")]
    Corrupt(String),
}

/// The packets of the file's audio track.
pub(crate) struct AudioSource<'a> {
    pub(crate) container: AudioContainer,
    pub(crate) track: Track,
    pub(crate) codec: AudioCodecParameters,
    reader: Box<dyn FormatReader + 'a>,
}

impl<'a> AudioSource<'a> {
    pub(crate) fn open(
        file: &'a [u8],
        limits: &DecodeLimits,
    ) -> Result<AudioSource<'a>, SoundError> {
        if limits.bytes_max < file.len() {
            let bytes = file.len();
            return Err(SoundError::TooLarge { bytes, bytes_max: limits.bytes_max });
        }
        let (container, sound) = audio_probe::detect_container(file).ok_or(SoundError::Unknown)?;
        if container == AudioContainer::Wav {
            // Checked before the library, which multiplies with the unchecked number.
            check_channel_count(wav::read_channel_count(sound), limits)?;
        }
        let reader = open_reader(container, sound).map_err(to_sound_error)?;
        let track = reader.default_track(TrackType::Audio).ok_or(SoundError::Silent)?.clone();
        let Some(CodecParameters::Audio(codec)) = track.codec_params.clone() else {
            return Err(SoundError::Silent);
        };
        check_channel_count(codec.channels.as_ref().map_or(1, |it| it.count()), limits)?;
        Ok(AudioSource { container, track, codec, reader })
    }

    /// The next packet of the track; `None` at the end.
    pub(crate) fn next_packet(&mut self) -> Result<Option<Packet>, SoundError> {
        loop {
            match self.reader.next_packet() {
                Ok(Some(packet)) if packet.track_id == self.track.id => return Ok(Some(packet)),
                Ok(Some(_)) => (),
                Ok(None) => return Ok(None),
                Err(error) => return Err(to_sound_error(error)),
            }
        }
    }

    pub(crate) fn make_decoder(&self) -> Result<Box<dyn AudioDecoder>, SoundError> {
        let mut codecs = CodecRegistry::new();
        symphonia::default::register_enabled_codecs(&mut codecs);
        codecs.register_audio_decoder::<OpusDecoder>();
        let options = AudioDecoderOptions::default();
        codecs.make_audio_decoder(&self.codec, &options).map_err(to_sound_error)
    }
}

pub(crate) fn check_channel_count(
    channels: usize,
    limits: &DecodeLimits,
) -> Result<(), SoundError> {
    let channels_max = limits.channels_max;
    if channels_max < channels {
        return Err(SoundError::TooManyChannels { channels, channels_max });
    }
    Ok(())
}

fn open_reader(
    container: AudioContainer,
    sound: &[u8],
) -> Result<Box<dyn FormatReader + '_>, SymphoniaError> {
    let sound = match container {
        AudioContainer::Wav => wav::with_true_length(sound),
        _ => Cow::Borrowed(sound),
    };
    let cursor = Box::new(Cursor::new(sound));
    let stream = MediaSourceStream::new(cursor, MediaSourceStreamOptions::default());
    let options = FormatOptions::default();
    Ok(match container {
        AudioContainer::Wav => Box::new(WavReader::try_new(stream, options)?),
        AudioContainer::Flac => Box::new(FlacReader::try_new(stream, options)?),
        AudioContainer::Mp3 => Box::new(MpaReader::try_new(stream, options)?),
        AudioContainer::Aac => Box::new(AdtsReader::try_new(stream, options)?),
        AudioContainer::Mp4 | AudioContainer::M4a => {
            Box::new(IsoMp4Reader::try_new(stream, options)?)
        }
        AudioContainer::Ogg => Box::new(OggReader::try_new(stream, options)?),
        AudioContainer::Webm => Box::new(MkvReader::try_new(stream, options)?),
    })
}

pub(crate) fn to_sound_error(error: SymphoniaError) -> SoundError {
    match error {
        SymphoniaError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            SoundError::Truncated
        }
        SymphoniaError::Unsupported(what) => SoundError::Unsupported(what.to_owned()),
        other => SoundError::Corrupt(other.to_string()),
    }
}

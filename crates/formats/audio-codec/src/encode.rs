//! Encodes samples to an audio file incrementally, so that speech can be streamed.

mod aac;
mod flac;
mod mp3;
mod ogg_opus;
mod pcm;
mod wav;

use self::aac::AacEncoder;
use self::flac::FlacEncoder;
use self::mp3::Mp3Encoder;
use self::ogg_opus::OggOpusEncoder;

/// The audio formats, in the order of the specification.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EncoderFormat {
    Mp3,
    Opus,
    Aac,
    Flac,
    Wav,
    Pcm,
}

/// Errors of encoding.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EncodeError {
    #[error("{format} cannot hold {sample_rate} samples a second")]
    SampleRate { format: &'static str, sample_rate: u32 },
    #[error("the {format} encoder failed: {cause}")]
    Failed { format: &'static str, cause: String },
}

/// An audio file in progress. The outputs of `new`, `push` and `finish`, in this order, form the
/// file.
pub struct AudioEncoder(FormatEncoder);

enum FormatEncoder {
    Mp3(Box<Mp3Encoder>),
    Opus(Box<OggOpusEncoder>),
    Aac(Box<AacEncoder>),
    Flac(Box<FlacEncoder>),
    /// The header, until it is returned with the first samples.
    Wav(Vec<u8>),
    Pcm,
}

impl EncoderFormat {
    pub const ALL: [EncoderFormat; 6] = [
        EncoderFormat::Mp3,
        EncoderFormat::Opus,
        EncoderFormat::Aac,
        EncoderFormat::Flac,
        EncoderFormat::Wav,
        EncoderFormat::Pcm,
    ];

    pub fn parse(name: &str) -> Option<EncoderFormat> {
        EncoderFormat::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            EncoderFormat::Mp3 => "mp3",
            EncoderFormat::Opus => "opus",
            EncoderFormat::Aac => "aac",
            EncoderFormat::Flac => "flac",
            EncoderFormat::Wav => "wav",
            EncoderFormat::Pcm => "pcm",
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            EncoderFormat::Mp3 => "audio/mpeg",
            EncoderFormat::Opus => "audio/opus",
            EncoderFormat::Aac => "audio/aac",
            EncoderFormat::Flac => "audio/flac",
            EncoderFormat::Wav => "audio/wav",
            EncoderFormat::Pcm => "audio/pcm",
        }
    }
}

impl AudioEncoder {
    /// Starts an audio file of unknown length.
    pub fn new(format: EncoderFormat, sample_rate: u32) -> Result<AudioEncoder, EncodeError> {
        AudioEncoder::start(format, sample_rate, None)
    }

    fn start(
        format: EncoderFormat,
        sample_rate: u32,
        samples: Option<u64>,
    ) -> Result<AudioEncoder, EncodeError> {
        let kind = match format {
            EncoderFormat::Mp3 => {
                FormatEncoder::Mp3(Box::new(Mp3Encoder::new(sample_rate, ChannelLayout::One)?))
            }
            EncoderFormat::Opus => FormatEncoder::Opus(Box::new(OggOpusEncoder::new(sample_rate)?)),
            EncoderFormat::Aac => FormatEncoder::Aac(Box::new(AacEncoder::new(sample_rate)?)),
            EncoderFormat::Flac => FormatEncoder::Flac(Box::new(FlacEncoder::new(
                sample_rate,
                samples,
                ChannelLayout::One,
            )?)),
            EncoderFormat::Wav => {
                FormatEncoder::Wav(wav::build_header(sample_rate, samples, ChannelLayout::One))
            }
            EncoderFormat::Pcm => FormatEncoder::Pcm,
        };
        Ok(AudioEncoder(kind))
    }

    /// Encodes samples from -1 to 1 and returns the available bytes, possibly none.
    pub fn push(&mut self, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
        match &mut self.0 {
            FormatEncoder::Mp3(mp3) => mp3.push(samples),
            FormatEncoder::Opus(opus) => opus.push(samples),
            FormatEncoder::Aac(aac) => aac.push(samples),
            FormatEncoder::Flac(flac) => flac.push(samples),
            FormatEncoder::Wav(header) => {
                let mut bytes = std::mem::take(header);
                pcm::append_samples(samples, &mut bytes);
                Ok(bytes)
            }
            FormatEncoder::Pcm => {
                let mut bytes = Vec::new();
                pcm::append_samples(samples, &mut bytes);
                Ok(bytes)
            }
        }
    }

    /// Returns the last bytes of the file.
    pub fn finish(self) -> Result<Vec<u8>, EncodeError> {
        match self.0 {
            FormatEncoder::Mp3(mp3) => mp3.finish(),
            FormatEncoder::Opus(opus) => opus.finish(),
            FormatEncoder::Aac(aac) => aac.finish(),
            FormatEncoder::Flac(flac) => flac.finish(),
            FormatEncoder::Wav(header) => Ok(header),
            FormatEncoder::Pcm => Ok(Vec::new()),
        }
    }
}

impl AudioEncoder {
    /// Encodes interleaved stereo samples as a complete file. MP3, FLAC and WAV only.
    pub fn stereo_file(
        format: EncoderFormat,
        sample_rate: u32,
        samples: &[f32],
    ) -> Result<Vec<u8>, EncodeError> {
        let frames = samples.len() as u64 / 2;
        let channels = ChannelLayout::Two;
        let kind = match format {
            EncoderFormat::Mp3 => {
                FormatEncoder::Mp3(Box::new(Mp3Encoder::new(sample_rate, channels)?))
            }
            EncoderFormat::Flac => FormatEncoder::Flac(Box::new(FlacEncoder::new(
                sample_rate,
                Some(frames),
                channels,
            )?)),
            EncoderFormat::Wav => {
                FormatEncoder::Wav(wav::build_header(sample_rate, Some(frames), channels))
            }
            EncoderFormat::Opus | EncoderFormat::Aac | EncoderFormat::Pcm => {
                let cause = "it has one channel here".to_owned();
                return Err(EncodeError::Failed { format: format.name(), cause });
            }
        };
        let mut encoder = AudioEncoder(kind);
        let mut bytes = encoder.push(samples)?;
        bytes.extend(encoder.finish()?);
        Ok(bytes)
    }
}

/// Number of channels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ChannelLayout {
    One,
    /// Left and right, interleaved.
    Two,
}

impl ChannelLayout {
    const fn count(self) -> u16 {
        match self {
            ChannelLayout::One => 1,
            ChannelLayout::Two => 2,
        }
    }
}

/// Encodes a complete file; unlike a streamed one, its header states the length.
pub fn encode_file(
    format: EncoderFormat,
    sample_rate: u32,
    samples: &[f32],
) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = AudioEncoder::start(format, sample_rate, Some(samples.len() as u64))?;
    let mut bytes = encoder.push(samples)?;
    bytes.extend(encoder.finish()?);
    Ok(bytes)
}

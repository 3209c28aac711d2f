//! Encodes samples to an audio file incrementally, so that speech can be streamed.

mod aac;
mod flac;
mod mp3;
mod ogg_opus;
mod pcm;
mod wav;

use self::aac::Aac;
use self::flac::Flac;
use self::mp3::Mp3;
use self::ogg_opus::OggOpus;

/// The audio formats, in the order of the specification.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
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
pub struct Encoder(Kind);

enum Kind {
    Mp3(Box<Mp3>),
    Opus(Box<OggOpus>),
    Aac(Box<Aac>),
    Flac(Box<Flac>),
    /// The header, until it is returned with the first samples.
    Wav(Vec<u8>),
    Pcm,
}

impl Format {
    pub const ALL: [Format; 6] =
        [Format::Mp3, Format::Opus, Format::Aac, Format::Flac, Format::Wav, Format::Pcm];

    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Format::Mp3 => "mp3",
            Format::Opus => "opus",
            Format::Aac => "aac",
            Format::Flac => "flac",
            Format::Wav => "wav",
            Format::Pcm => "pcm",
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Format::Mp3 => "audio/mpeg",
            Format::Opus => "audio/opus",
            Format::Aac => "audio/aac",
            Format::Flac => "audio/flac",
            Format::Wav => "audio/wav",
            Format::Pcm => "audio/pcm",
        }
    }
}

impl Encoder {
    /// Starts an audio file of unknown length.
    pub fn new(format: Format, sample_rate: u32) -> Result<Encoder, EncodeError> {
        Encoder::start(format, sample_rate, None)
    }

    fn start(
        format: Format,
        sample_rate: u32,
        samples: Option<u64>,
    ) -> Result<Encoder, EncodeError> {
        let kind = match format {
            Format::Mp3 => Kind::Mp3(Box::new(Mp3::new(sample_rate, Channels::One)?)),
            Format::Opus => Kind::Opus(Box::new(OggOpus::new(sample_rate)?)),
            Format::Aac => Kind::Aac(Box::new(Aac::new(sample_rate)?)),
            Format::Flac => Kind::Flac(Box::new(Flac::new(sample_rate, samples, Channels::One)?)),
            Format::Wav => Kind::Wav(wav::header(sample_rate, samples, Channels::One)),
            Format::Pcm => Kind::Pcm,
        };
        Ok(Encoder(kind))
    }

    /// Encodes samples from -1 to 1 and returns the available bytes, possibly none.
    pub fn push(&mut self, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
        match &mut self.0 {
            Kind::Mp3(mp3) => mp3.push(samples),
            Kind::Opus(opus) => opus.push(samples),
            Kind::Aac(aac) => aac.push(samples),
            Kind::Flac(flac) => flac.push(samples),
            Kind::Wav(header) => {
                let mut bytes = std::mem::take(header);
                pcm::append(samples, &mut bytes);
                Ok(bytes)
            }
            Kind::Pcm => {
                let mut bytes = Vec::new();
                pcm::append(samples, &mut bytes);
                Ok(bytes)
            }
        }
    }

    /// Returns the last bytes of the file.
    pub fn finish(self) -> Result<Vec<u8>, EncodeError> {
        match self.0 {
            Kind::Mp3(mp3) => mp3.finish(),
            Kind::Opus(opus) => opus.finish(),
            Kind::Aac(aac) => aac.finish(),
            Kind::Flac(flac) => flac.finish(),
            Kind::Wav(header) => Ok(header),
            Kind::Pcm => Ok(Vec::new()),
        }
    }
}

impl Encoder {
    /// Encodes interleaved stereo samples as a complete file. MP3, FLAC and WAV only.
    pub fn stereo_file(
        format: Format,
        sample_rate: u32,
        samples: &[f32],
    ) -> Result<Vec<u8>, EncodeError> {
        let frames = samples.len() as u64 / 2;
        let channels = Channels::Two;
        let kind = match format {
            Format::Mp3 => Kind::Mp3(Box::new(Mp3::new(sample_rate, channels)?)),
            Format::Flac => Kind::Flac(Box::new(Flac::new(sample_rate, Some(frames), channels)?)),
            Format::Wav => Kind::Wav(wav::header(sample_rate, Some(frames), channels)),
            Format::Opus | Format::Aac | Format::Pcm => {
                let cause = "it has one channel here".to_owned();
                return Err(EncodeError::Failed { format: format.name(), cause });
            }
        };
        let mut encoder = Encoder(kind);
        let mut bytes = encoder.push(samples)?;
        bytes.extend(encoder.finish()?);
        Ok(bytes)
    }
}

/// Number of channels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Channels {
    One,
    /// Left and right, interleaved.
    Two,
}

impl Channels {
    const fn count(self) -> u16 {
        match self {
            Channels::One => 1,
            Channels::Two => 2,
        }
    }
}

/// Encodes a complete file; unlike a streamed one, its header states the length.
pub fn encode(format: Format, sample_rate: u32, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder::start(format, sample_rate, Some(samples.len() as u64))?;
    let mut bytes = encoder.push(samples)?;
    bytes.extend(encoder.finish()?);
    Ok(bytes)
}

//! Samples as a sound file, piece by piece, so that speech can be sent while it is made.

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

/// The formats of speech, in the order of the specification.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    Mp3,
    Opus,
    Aac,
    Flac,
    Wav,
    Pcm,
}

/// Why samples cannot be encoded.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EncodeError {
    #[error("{format} cannot hold {sample_rate} samples a second")]
    SampleRate { format: &'static str, sample_rate: u32 },
    #[error("the {format} encoder failed: {cause}")]
    Failed { format: &'static str, cause: String },
}

/// One sound under way. What `new`, `push` and `finish` give, in this order, is the file.
pub struct Encoder(Kind);

enum Kind {
    Mp3(Box<Mp3>),
    Opus(Box<OggOpus>),
    Aac(Box<Aac>),
    Flac(Box<Flac>),
    /// The header, until it is given out with the first samples.
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
    /// Starts a sound whose length is not known yet.
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

    /// Takes samples between -1 and 1 and gives the bytes that are ready, which may be none yet.
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

    /// The last bytes of the file.
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
    /// A whole sound of two channels as a file: left and right in turn. MP3, FLAC and WAV only.
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

/// How many sounds there are at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Channels {
    One,
    /// Left and right, in turn.
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

/// A whole sound as a file; unlike a sound under way, its header tells its length.
pub fn encode(format: Format, sample_rate: u32, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
    let mut encoder = Encoder::start(format, sample_rate, Some(samples.len() as u64))?;
    let mut bytes = encoder.push(samples)?;
    bytes.extend(encoder.finish()?);
    Ok(bytes)
}

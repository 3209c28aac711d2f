//! MP3 by LAME, at a constant bit rate, so that no header has to be corrected at the end.

use mp3lame_encoder::{
    Bitrate, Builder, Encoder, FlushGap, InterleavedPcm, Mode, MonoPcm, Quality,
};

use super::{ChannelLayout, EncodeError};

const FORMAT: &str = "mp3";
/// Rates of MPEG-1 and MPEG-2; lower ones would need MPEG-2.5, which not every player supports.
const SAMPLE_RATES: [u32; 6] = [16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/// Transparent for speech, and allowed at every rate above.
const BITRATE: Bitrate = Bitrate::Kbps96;
/// Bit rate for stereo music.
const STEREO_BITRATE: Bitrate = Bitrate::Kbps192;
/// Buffer size that LAME requires to flush its last frames.
const FLUSH_BYTES: usize = 7_200;

pub(super) struct Mp3Encoder {
    encoder: Encoder,
    channels: ChannelLayout,
}

impl Mp3Encoder {
    pub(super) fn new(
        sample_rate: u32,
        channels: ChannelLayout,
    ) -> Result<Mp3Encoder, EncodeError> {
        let (mode, bitrate) = match channels {
            ChannelLayout::One => (Mode::Mono, BITRATE),
            ChannelLayout::Two => (Mode::JointStereo, STEREO_BITRATE),
        };
        if !SAMPLE_RATES.contains(&sample_rate) {
            return Err(EncodeError::SampleRate { format: FORMAT, sample_rate });
        }
        let builder = Builder::new().ok_or_else(|| encode_error("out of memory"))?;
        let encoder = builder
            .with_num_channels(channels.count() as u8)
            .and_then(|it| it.with_sample_rate(sample_rate))
            .and_then(|it| it.with_mode(mode))
            .and_then(|it| it.with_brate(bitrate))
            .and_then(|it| it.with_quality(Quality::Good))
            .and_then(|it| it.with_to_write_vbr_tag(false))
            .and_then(Builder::build);
        Ok(Mp3Encoder { encoder: encoder.map_err(encode_error)?, channels })
    }

    pub(super) fn push(&mut self, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
        let sane: Vec<f32> = samples.iter().map(|it| clamp_sample(*it)).collect();
        let mut bytes = Vec::with_capacity(mp3lame_encoder::max_required_buffer_size(sane.len()));
        match self.channels {
            ChannelLayout::One => self.encoder.encode_to_vec(MonoPcm(&sane), &mut bytes),
            ChannelLayout::Two => self.encoder.encode_to_vec(InterleavedPcm(&sane), &mut bytes),
        }
        .map_err(encode_error)?;
        Ok(bytes)
    }

    pub(super) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::with_capacity(FLUSH_BYTES);
        self.encoder.flush_to_vec::<FlushGap>(&mut bytes).map_err(encode_error)?;
        Ok(bytes)
    }
}

/// LAME clips itself, but asserts on non-finite samples.
fn clamp_sample(sample: f32) -> f32 {
    if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 }
}

fn encode_error(cause: impl ToString) -> EncodeError {
    EncodeError::Failed { format: FORMAT, cause: cause.to_string() }
}

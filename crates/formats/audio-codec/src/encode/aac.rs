//! AAC-LC by the FDK encoder, in ADTS frames.

use fdk_aac::enc::{AudioObjectType, BitRate, ChannelMode, Encoder, EncoderParams, Transport};

use super::{EncodeError, pcm};

const FORMAT: &str = "aac";
const SAMPLE_RATES: [u32; 12] =
    [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000];
const BITRATE: BitRate = BitRate::Cbr(64_000);
const FRAME_SAMPLES: usize = 1_024;
/// The largest ADTS frame: its length has 13 bits.
const FRAME_BYTES_MAX: usize = 8_192;
/// The encoder's lookahead is shorter than this, so this much silence flushes the end.
const LOOKAHEAD_FRAMES: usize = 2;

pub(super) struct AacEncoder {
    encoder: Encoder,
    waiting: Vec<i16>,
}

impl AacEncoder {
    pub(super) fn new(sample_rate: u32) -> Result<AacEncoder, EncodeError> {
        if !SAMPLE_RATES.contains(&sample_rate) {
            return Err(EncodeError::SampleRate { format: FORMAT, sample_rate });
        }
        let parameters = EncoderParams {
            bit_rate: BITRATE,
            sample_rate,
            transport: Transport::Adts,
            channels: ChannelMode::Mono,
            audio_object_type: AudioObjectType::Mpeg4LowComplexity,
        };
        let encoder = Encoder::new(parameters).map_err(encode_error)?;
        Ok(AacEncoder { encoder, waiting: Vec::new() })
    }

    pub(super) fn push(&mut self, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
        self.waiting.extend(samples.iter().map(|it| pcm::sample_to_i16(*it)));
        self.encode_frames()
    }

    pub(super) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        let frames = self.waiting.len().div_ceil(FRAME_SAMPLES) + LOOKAHEAD_FRAMES;
        self.waiting.resize(frames * FRAME_SAMPLES, 0);
        self.encode_frames()
    }

    /// Encodes complete frames and keeps the rest.
    fn encode_frames(&mut self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        let mut frame_bytes = [0; FRAME_BYTES_MAX];
        let whole = self.waiting.len() / FRAME_SAMPLES * FRAME_SAMPLES;
        for frame in self.waiting[..whole].chunks(FRAME_SAMPLES) {
            let mut rest = frame;
            while !rest.is_empty() {
                let done = self.encoder.encode(rest, &mut frame_bytes).map_err(encode_error)?;
                bytes.extend_from_slice(&frame_bytes[..done.output_size]);
                if done.input_consumed == 0 && done.output_size == 0 {
                    return Err(encode_error("it takes no more samples"));
                }
                rest = &rest[done.input_consumed..];
            }
        }
        self.waiting.drain(..whole);
        Ok(bytes)
    }
}

fn encode_error(cause: impl ToString) -> EncodeError {
    EncodeError::Failed { format: FORMAT, cause: cause.to_string() }
}

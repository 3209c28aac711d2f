//! 16-bit FLAC: our own header, and frames by flacenc.

use flacenc::bitsink::ByteSink;
use flacenc::component::{BitRepr, StreamInfo};
use flacenc::config;
use flacenc::error::{Verified, Verify};
use flacenc::source::{Fill, FrameBuf};

use super::{ChannelLayout, EncodeError, pcm};

const FORMAT: &str = "flac";
const BLOCK_SAMPLES: usize = 4_096;
/// flacenc's minimum block length; a shorter end is padded with silence.
const BLOCK_SAMPLES_MIN: usize = 64;
const SAMPLE_BITS: usize = 16;
/// The limit of flacenc and of FLAC's streamable subset.
const SAMPLE_RATE_MAX: u32 = 96_000;

pub(super) struct FlacEncoder {
    config: Verified<config::Encoder>,
    info: StreamInfo,
    header: Vec<u8>,
    waiting: Vec<i32>,
    frames: usize,
    channels: usize,
}

impl FlacEncoder {
    /// `samples` counts one channel.
    pub(super) fn new(
        sample_rate: u32,
        samples: Option<u64>,
        channels: ChannelLayout,
    ) -> Result<FlacEncoder, EncodeError> {
        if sample_rate == 0 || SAMPLE_RATE_MAX < sample_rate {
            return Err(EncodeError::SampleRate { format: FORMAT, sample_rate });
        }
        let config =
            config::Encoder::default().into_verified().map_err(|(_, it)| encode_error(it))?;
        let count = usize::from(channels.count());
        let info =
            StreamInfo::new(sample_rate as usize, count, SAMPLE_BITS).map_err(encode_error)?;
        let header = build_header(sample_rate, samples.map_or(0, pad_last_block), channels);
        Ok(FlacEncoder { config, info, header, waiting: Vec::new(), frames: 0, channels: count })
    }

    pub(super) fn push(&mut self, samples: &[f32]) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = std::mem::take(&mut self.header);
        self.waiting.extend(samples.iter().map(|it| i32::from(pcm::sample_to_i16(*it))));
        let block = BLOCK_SAMPLES * self.channels;
        let whole = self.waiting.len() / block * block;
        let blocks: Vec<i32> = self.waiting.drain(..whole).collect();
        for block in blocks.chunks(block) {
            self.append_frame(block, &mut bytes)?;
        }
        Ok(bytes)
    }

    pub(super) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = std::mem::take(&mut self.header);
        let mut last = std::mem::take(&mut self.waiting);
        if !last.is_empty() {
            let length =
                pad_last_block((last.len() / self.channels) as u64) as usize * self.channels;
            last.resize(length, 0);
            self.append_frame(&last, &mut bytes)?;
        }
        Ok(bytes)
    }

    fn append_frame(&mut self, block: &[i32], bytes: &mut Vec<u8>) -> Result<(), EncodeError> {
        let mut buffer = FrameBuf::with_size(self.channels, block.len() / self.channels)
            .map_err(encode_error)?;
        buffer.fill_interleaved(block).map_err(encode_error)?;
        let config = &self.config;
        let frame = flacenc::encode_fixed_size_frame(config, &buffer, self.frames, &self.info);
        let mut sink = ByteSink::new();
        frame.map_err(encode_error)?.write(&mut sink).map_err(encode_error)?;
        bytes.extend_from_slice(sink.as_slice());
        self.frames += 1;
        Ok(())
    }
}

/// Total samples after padding of a short last block.
fn pad_last_block(samples: u64) -> u64 {
    let last = samples % BLOCK_SAMPLES as u64;
    if last == 0 { samples } else { samples - last + last.max(BLOCK_SAMPLES_MIN as u64) }
}

/// The signature and the STREAMINFO block (RFC 9639, section 8.2). Unknown values are zero: frame
/// sizes, the checksum, and the sample count of a streamed file.
fn build_header(sample_rate: u32, samples: u64, channels: ChannelLayout) -> Vec<u8> {
    const LAST_BLOCK_STREAMINFO: u8 = 0x80;
    const STREAMINFO_BYTES: u8 = 34;
    const CHECKSUM_BYTES: usize = 16;
    const SAMPLES_BITS: u32 = 36;
    let block = (BLOCK_SAMPLES as u16).to_be_bytes();
    // 20 bits rate, 3 bits channels minus one, 5 bits sample size minus one, 36 bits sample count.
    let packed = (u64::from(sample_rate) << 44)
        | ((u64::from(channels.count()) - 1) << 41)
        | ((SAMPLE_BITS as u64 - 1) << SAMPLES_BITS)
        | (samples & ((1 << SAMPLES_BITS) - 1));
    let mut header = b"fLaC".to_vec();
    header.extend_from_slice(&[LAST_BLOCK_STREAMINFO, 0, 0, STREAMINFO_BYTES]);
    header.extend_from_slice(&block);
    header.extend_from_slice(&block);
    header.extend_from_slice(&[0; 6]);
    header.extend_from_slice(&packed.to_be_bytes());
    header.extend_from_slice(&[0; CHECKSUM_BYTES]);
    header
}

fn encode_error(cause: impl ToString) -> EncodeError {
    EncodeError::Failed { format: FORMAT, cause: cause.to_string() }
}

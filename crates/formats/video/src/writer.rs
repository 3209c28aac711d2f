//! Encodes frames and builds the file at the end.

use openh264::encoder::{
    Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, RateControlMode, VuiConfig,
};
use openh264::formats::YUVSlices;
use openh264::{OpenH264API, Timestamp};

use crate::frame::VideoFrame;
use crate::mp4::{self, EncodedSample, VideoTrack};

/// Maximum side in pixels.
pub const SIDE_MAX: usize = 1920;
pub const FRAMES_MAX: usize = 3_600;
const FRAMES_PER_SECOND_MAX: u32 = 60;
/// Interval of key frames, at which players can start.
const WHOLE_FRAME_EVERY_S: u32 = 2;

/// Settings common to all frames of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoFormat {
    pub width: usize,
    pub height: usize,
    pub frames_per_second: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum VideoError {
    #[error("a video has even sides of 16 to {SIDE_MAX} pixels and 1 to 60 frames in a second")]
    Format,
    #[error("a frame has another size than the video")]
    FrameSize,
    #[error("a video has from 1 to {FRAMES_MAX} frames")]
    FrameCount,
    #[error("the encoder failed: {0}")]
    Encoder(#[from] openh264::Error),
    #[error("the encoder left a frame out")]
    NoFrame,
}

/// A file in progress. Keeps encoded data, not frames.
pub struct VideoWriter {
    format: VideoFormat,
    encoder: Encoder,
    parameters: ParameterSets,
    samples: Vec<EncodedSample>,
    bytes: Vec<u8>,
}

/// Parameter sets that a decoder needs before the first frame.
#[derive(Debug, Default)]
struct ParameterSets {
    sequence: Vec<u8>,
    picture: Vec<u8>,
}

impl VideoWriter {
    pub fn new(format: VideoFormat) -> Result<VideoWriter, VideoError> {
        let fits = |side: usize| (16..=SIDE_MAX).contains(&side) && side.is_multiple_of(2);
        let is_rate = (1..=FRAMES_PER_SECOND_MAX).contains(&format.frames_per_second);
        if !(fits(format.width) && fits(format.height) && is_rate) {
            return Err(VideoError::Format);
        }
        let whole_every = WHOLE_FRAME_EVERY_S * format.frames_per_second;
        let config = EncoderConfig::new()
            // With rate control the bytes would depend on what was encoded before.
            .rate_control_mode(RateControlMode::Off)
            .skip_frames(false)
            .scene_change_detect(false)
            .background_detection(false)
            .max_frame_rate(FrameRate::from_hz(format.frames_per_second as f32))
            .intra_frame_period(IntraFramePeriod::from_num_frames(whole_every))
            // Slices of several threads would make the bytes depend on the machine.
            .num_threads(1)
            .vui(VuiConfig::bt709());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        let (samples, bytes) = (Vec::new(), Vec::new());
        Ok(VideoWriter { format, encoder, parameters: ParameterSets::default(), samples, bytes })
    }

    pub fn add_frame(&mut self, frame: &VideoFrame) -> Result<(), VideoError> {
        let (width, height) = (self.format.width, self.format.height);
        if (frame.width(), frame.height()) != (width, height) {
            return Err(VideoError::FrameSize);
        }
        if FRAMES_MAX <= self.samples.len() {
            return Err(VideoError::FrameCount);
        }
        let planes = (frame.luma.as_slice(), frame.blue.as_slice(), frame.red.as_slice());
        let source = YUVSlices::new(planes, (width, height), (width, width / 2, width / 2));
        let at_ms = self.samples.len() as u64 * 1000 / u64::from(self.format.frames_per_second);
        let encoded = self.encoder.encode_at(&source, Timestamp::from_millis(at_ms))?;
        let is_whole = match encoded.frame_type() {
            FrameType::IDR => true,
            FrameType::I | FrameType::P => false,
            FrameType::Skip | FrameType::IPMixed | FrameType::Invalid => {
                return Err(VideoError::NoFrame);
            }
        };
        let begin = self.bytes.len();
        let layers = (0..encoded.num_layers()).filter_map(|index| encoded.layer(index));
        for layer in layers {
            for unit in (0..layer.nal_count()).filter_map(|index| layer.nal_unit(index)) {
                self.parameters.sort_unit(without_start_code(unit), &mut self.bytes);
            }
        }
        let bytes = self.bytes.len() - begin;
        if bytes == 0 {
            return Err(VideoError::NoFrame);
        }
        self.samples.push(EncodedSample { bytes, is_whole });
        Ok(())
    }

    /// Returns the file, which can be played while it is being downloaded.
    pub fn finish(self) -> Result<Vec<u8>, VideoError> {
        if self.samples.is_empty() {
            return Err(VideoError::FrameCount);
        }
        let track = VideoTrack {
            width: self.format.width,
            height: self.format.height,
            frames_per_second: self.format.frames_per_second,
            sequence_parameters: &self.parameters.sequence,
            picture_parameters: &self.parameters.picture,
            samples: &self.samples,
        };
        Ok(mp4::build_file(&track, &self.bytes))
    }
}

impl ParameterSets {
    /// Stores parameter sets, which the file contains once; all other units belong to a frame.
    fn sort_unit(&mut self, unit: &[u8], frame: &mut Vec<u8>) {
        const SEQUENCE: u8 = 7;
        const PICTURE: u8 = 8;
        match unit.first().map(|head| head & 0x1f) {
            Some(SEQUENCE) => self.sequence = unit.to_vec(),
            Some(PICTURE) => self.picture = unit.to_vec(),
            Some(_) => {
                frame.extend((unit.len() as u32).to_be_bytes());
                frame.extend(unit);
            }
            None => {}
        }
    }
}

/// Removes the start code of a NAL unit; in MP4 units have a length instead.
fn without_start_code(unit: &[u8]) -> &[u8] {
    let long = unit.strip_prefix(&[0, 0, 0, 1]);
    long.or_else(|| unit.strip_prefix(&[0, 0, 1])).unwrap_or(unit)
}

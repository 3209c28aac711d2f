//! Decodes an audio file to mono samples at a given rate, block by block.

use audio_probe::AudioContainer;
use symphonia::core::codecs::audio::AudioDecoder;
use symphonia::core::errors::Error as SymphoniaError;

use crate::resample::ChannelResampler;
use crate::source::{AudioSource, DecodeLimits, SoundError, check_channel_count, to_sound_error};

/// Approximate samples per block; the last one is shorter.
const BLOCK_SAMPLES: usize = 8_192;
/// Rates outside of this range indicate damage or an attack.
const SAMPLE_RATES: std::ops::RangeInclusive<u32> = 4_000..=384_000;
/// Real files have a few bad packets; a file with more is rejected.
const BAD_PACKETS_MAX: usize = 16;
/// Tolerance for declared lengths: encoders pad, and count packets whole.
const DECLARED_SLACK_S: f64 = 0.25;

/// Decodes while iterating: holds one packet and one block at a time, never the whole audio. Ends
/// after an error.
pub struct MonoDecoder<'a> {
    source: AudioSource<'a>,
    codec: Box<dyn AudioDecoder>,
    limits: DecodeLimits,
    sample_rate: u32,
    resampler: Option<ChannelResampler>,
    interleaved: Vec<f32>,
    mono: Vec<f32>,
    block: Vec<f32>,
    decoded_s: f64,
    bad_packets: usize,
    is_over: bool,
}

impl<'a> MonoDecoder<'a> {
    /// Opens a file; `sample_rate` is the rate of the blocks.
    pub fn open(
        file: &'a [u8],
        sample_rate: u32,
        limits: &DecodeLimits,
    ) -> Result<MonoDecoder<'a>, SoundError> {
        let source = AudioSource::open(file, limits)?;
        let codec = source.make_decoder()?;
        Ok(MonoDecoder {
            source,
            codec,
            limits: *limits,
            sample_rate,
            resampler: None,
            interleaved: Vec::new(),
            mono: Vec::new(),
            block: Vec::new(),
            decoded_s: 0.0,
            bad_packets: 0,
            is_over: false,
        })
    }

    pub fn container(&self) -> AudioContainer {
        self.source.container
    }

    /// Length decoded so far in seconds; at the end, the total length.
    pub fn decoded_s(&self) -> f64 {
        self.decoded_s
    }

    /// Fills the block; false at the end.
    fn fill_block(&mut self) -> Result<bool, SoundError> {
        while self.block.len() < BLOCK_SAMPLES {
            let Some(packet) = self.source.next_packet()? else {
                self.finish()?;
                return Ok(false);
            };
            let rate = match self.codec.decode(&packet) {
                Ok(buffer) => {
                    let channels = buffer.spec().channels().count();
                    check_channel_count(channels, &self.limits)?;
                    buffer.copy_to_vec_interleaved(&mut self.interleaved);
                    mix_to_mono(&self.interleaved, channels, &mut self.mono);
                    buffer.spec().rate()
                }
                Err(SymphoniaError::DecodeError(_) | SymphoniaError::ResetRequired)
                    if self.bad_packets < BAD_PACKETS_MAX =>
                {
                    self.bad_packets += 1;
                    continue;
                }
                Err(error) => return Err(to_sound_error(error)),
            };
            self.resample_mono(rate)?;
        }
        Ok(true)
    }

    /// Resamples the mono samples and appends them to the block.
    fn resample_mono(&mut self, rate: u32) -> Result<(), SoundError> {
        if self.mono.is_empty() {
            return Ok(());
        }
        if !SAMPLE_RATES.contains(&rate) {
            return Err(SoundError::Unsupported(format!("it has {rate} samples a second")));
        }
        self.decoded_s += self.mono.len() as f64 / f64::from(rate);
        if f64::from(self.limits.seconds_max) < self.decoded_s {
            return Err(SoundError::TooLong { seconds_max: self.limits.seconds_max });
        }
        let rate_before = self.resampler.as_ref().map(ChannelResampler::rate_in);
        if rate_before != Some(rate) {
            if let Some(mut last) = self.resampler.take() {
                last.finish(&mut self.block);
            }
            self.resampler = Some(ChannelResampler::new(rate, self.sample_rate)?);
        }
        if let Some(resampler) = &mut self.resampler {
            resampler.push(&self.mono, &mut self.block);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SoundError> {
        if let Some(mut resampler) = self.resampler.take() {
            resampler.finish(&mut self.block);
        }
        if self.decoded_s == 0.0 {
            return Err(SoundError::Silent);
        }
        let is_short = match declared_s(&self.source) {
            Some(declared_s) => self.decoded_s + DECLARED_SLACK_S < declared_s,
            None => false,
        };
        if is_short { Err(SoundError::Truncated) } else { Ok(()) }
    }
}

impl Iterator for MonoDecoder<'_> {
    type Item = Result<Vec<f32>, SoundError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        match self.fill_block() {
            Ok(is_more) => self.is_over = !is_more,
            Err(error) => {
                self.is_over = true;
                return Some(Err(error));
            }
        }
        let block = std::mem::take(&mut self.block);
        (!block.is_empty()).then_some(Ok(block))
    }
}

/// Mixes channels to their mean. Non-finite samples become silence.
fn mix_to_mono(interleaved: &[f32], channels: usize, mono: &mut Vec<f32>) {
    let mean = |frame: &[f32]| frame.iter().sum::<f32>() / frame.len() as f32;
    let sane = |sample: f32| if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 };
    mono.clear();
    mono.extend(interleaved.chunks_exact(channels.max(1)).map(|frame| sane(mean(frame))));
}

/// The declared length, if the file states it before the audio.
fn declared_s(source: &AudioSource<'_>) -> Option<f64> {
    let rate = source.codec.sample_rate.filter(|it| SAMPLE_RATES.contains(it))?;
    Some(source.track.num_frames? as f64 / f64::from(rate))
}

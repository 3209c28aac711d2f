//! Resamples one channel, with the filter's delay compensated.

use audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler as _};

use crate::source::SoundError;

/// Samples per run of the filter.
const CHUNK_SAMPLES: usize = 1_024;

pub(crate) struct ChannelResampler {
    rate_in: u32,
    rate_out: u32,
    /// `None` if both rates are equal.
    filter: Option<ResamplerState>,
}

struct ResamplerState {
    fft: Fft<f32>,
    waiting: Vec<f32>,
    chunk: Vec<f32>,
    samples_in: u64,
    samples_out: u64,
    /// Remaining filter delay, in output samples to drop.
    delay: usize,
}

impl ChannelResampler {
    pub(crate) fn new(rate_in: u32, rate_out: u32) -> Result<ChannelResampler, SoundError> {
        let filter =
            if rate_in == rate_out { None } else { Some(ResamplerState::new(rate_in, rate_out)?) };
        Ok(ChannelResampler { rate_in, rate_out, filter })
    }

    pub(crate) fn rate_in(&self) -> u32 {
        self.rate_in
    }

    /// Appends the samples that can be computed so far.
    pub(crate) fn push(&mut self, input: &[f32], output: &mut Vec<f32>) {
        let Some(filter) = &mut self.filter else {
            output.extend_from_slice(input);
            return;
        };
        filter.samples_in += input.len() as u64;
        filter.waiting.extend_from_slice(input);
        filter.run(output);
    }

    /// Appends the rest, so that output and input have the same duration.
    pub(crate) fn finish(&mut self, output: &mut Vec<f32>) {
        let (rate_in, rate_out) = (u64::from(self.rate_in), u64::from(self.rate_out));
        let Some(filter) = &mut self.filter else {
            return;
        };
        let expected = (filter.samples_in * rate_out).div_ceil(rate_in);
        while filter.samples_out < expected {
            let needed = filter.fft.input_frames_next();
            filter.waiting.resize(needed, 0.0);
            filter.run(output);
        }
        let surplus = usize::try_from(filter.samples_out - expected).unwrap_or(usize::MAX);
        output.truncate(output.len().saturating_sub(surplus));
        filter.samples_out = expected;
    }
}

impl ResamplerState {
    fn new(rate_in: u32, rate_out: u32) -> Result<ResamplerState, SoundError> {
        let (from, to) = (rate_in as usize, rate_out as usize);
        let fft = Fft::new(from, to, CHUNK_SAMPLES, 1, FixedSync::Input).map_err(|_| {
            SoundError::Unsupported(format!("{rate_in} samples a second cannot become {rate_out}"))
        })?;
        let chunk = vec![0.0; fft.output_frames_max()];
        let delay = fft.output_delay();
        Ok(ResamplerState { fft, waiting: Vec::new(), chunk, samples_in: 0, samples_out: 0, delay })
    }

    fn run(&mut self, output: &mut Vec<f32>) {
        let mut taken = 0;
        loop {
            let needed = self.fft.input_frames_next();
            let Some(input) = self.waiting.get(taken..taken + needed) else {
                break;
            };
            let length = self.chunk.len();
            let input = InterleavedSlice::new(input, 1, needed).expect("the slice has one channel");
            let mut chunk = InterleavedSlice::new_mut(&mut self.chunk, 1, length)
                .expect("the slice has one channel");
            let (read, written) = self
                .fft
                .process_into_buffer(&input, &mut chunk, None)
                .expect("both buffers are as long as the filter asked for");
            taken += read;
            let skipped = self.delay.min(written);
            self.delay -= skipped;
            output.extend_from_slice(&self.chunk[skipped..written]);
            self.samples_out += (written - skipped) as u64;
        }
        self.waiting.drain(..taken);
    }
}

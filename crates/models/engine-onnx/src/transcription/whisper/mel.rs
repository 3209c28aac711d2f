//! Log-mel features for Whisper: 80 bands, every 10 ms.

use std::f32::consts::TAU;
use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

use crate::transcription::SAMPLE_RATE;

pub(super) const BANDS: usize = 80;
/// 30 s.
pub(super) const FRAMES: usize = 3_000;

const WINDOW_SAMPLES: usize = 400;
const HOP_SAMPLES: usize = 160;
const BINS: usize = WINDOW_SAMPLES / 2 + 1;
/// Lower limit of the power, and the dynamic range below the maximum (log10).
const POWER_MIN: f32 = 1e-10;
const RANGE: f32 = 8.0;

pub(super) struct MelSpectrogram {
    transform: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    /// For each band, its first bin and the weights from there on.
    filters: Vec<(usize, Vec<f32>)>,
}

impl MelSpectrogram {
    pub(super) fn new() -> MelSpectrogram {
        let angle = |index: usize| TAU * index as f32 / WINDOW_SAMPLES as f32;
        MelSpectrogram {
            transform: RealFftPlanner::new().plan_fft_forward(WINDOW_SAMPLES),
            window: (0..WINDOW_SAMPLES).map(|it| 0.5 - 0.5 * angle(it).cos()).collect(),
            filters: build_filters(),
        }
    }

    /// One row per band with one column per frame; shorter audio is padded with silence.
    pub(super) fn compute_features(&self, samples: &[f32]) -> Vec<f32> {
        let mut features = vec![POWER_MIN.log10(); BANDS * FRAMES];
        let mut input = self.transform.make_input_vec();
        let mut spectrum = self.transform.make_output_vec();
        let mut scratch = self.transform.make_scratch_vec();
        let mut power = [0.0; BINS];
        // The window extends half its length to both sides of a frame.
        let sounding = (samples.len() + WINDOW_SAMPLES / 2).div_ceil(HOP_SAMPLES);
        for frame in 0..sounding.min(FRAMES) {
            for (offset, value) in input.iter_mut().enumerate() {
                *value = window_sample(samples, frame, offset) * self.window[offset];
            }
            self.transform
                .process_with_scratch(&mut input, &mut spectrum, &mut scratch)
                .expect("the buffers are those that the transform made");
            for (power, bin) in power.iter_mut().zip(&spectrum) {
                *power = bin.norm_sqr();
            }
            for (band, (first, weights)) in self.filters.iter().enumerate() {
                let energy: f32 = weights.iter().zip(&power[*first..]).map(|(w, p)| w * p).sum();
                features[band * FRAMES + frame] = energy.max(POWER_MIN).log10();
            }
        }
        scale_features(&mut features);
        features
    }
}

/// A sample of a frame's window; mirrored before the start of the audio.
fn window_sample(samples: &[f32], frame: usize, offset: usize) -> f32 {
    let at = (frame * HOP_SAMPLES + offset).abs_diff(WINDOW_SAMPLES / 2);
    samples.get(at).copied().unwrap_or(0.0)
}

fn scale_features(features: &mut [f32]) {
    let loudest = features.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for value in features {
        *value = (value.max(loudest - RANGE) + 4.0) / 4.0;
    }
}

/// Triangular filters over the bins, equally spaced on the mel scale and of equal area (Slaney).
fn build_filters() -> Vec<(usize, Vec<f32>)> {
    let highest = to_mel(f64::from(SAMPLE_RATE) / 2.0);
    let edge = |index: usize| to_hertz(highest * index as f64 / (BANDS + 1) as f64);
    (0..BANDS).map(|band| build_triangle(edge(band), edge(band + 1), edge(band + 2))).collect()
}

fn build_triangle(low: f64, peak: f64, high: f64) -> (usize, Vec<f32>) {
    let bin_hertz = f64::from(SAMPLE_RATE) / WINDOW_SAMPLES as f64;
    let weight = |bin: usize| {
        let hertz = bin as f64 * bin_hertz;
        let rising = (hertz - low) / (peak - low);
        let falling = (high - hertz) / (high - peak);
        (rising.min(falling).max(0.0) * 2.0 / (high - low)) as f32
    };
    let weights: Vec<f32> = (0..BINS).map(weight).collect();
    let first = weights.iter().position(|it| 0.0 < *it).unwrap_or(0);
    let last = weights.iter().rposition(|it| 0.0 < *it).unwrap_or(0);
    (first, weights[first..=last].to_vec())
}

/// The mel scale is linear up to 1000 Hz and logarithmic above.
const LINEAR_HERTZ: f64 = 200.0 / 3.0;
const LOG_HERTZ: f64 = 1_000.0;
const LOG_MEL: f64 = LOG_HERTZ / LINEAR_HERTZ;
/// ln(6.4) / 27.
const LOG_STEP: f64 = 1.856_297_990_365_626_3 / 27.0;

fn to_mel(hertz: f64) -> f64 {
    if hertz < LOG_HERTZ {
        return hertz / LINEAR_HERTZ;
    }
    LOG_MEL + (hertz / LOG_HERTZ).ln() / LOG_STEP
}

fn to_hertz(mel: f64) -> f64 {
    if mel < LOG_MEL {
        return mel * LINEAR_HERTZ;
    }
    LOG_HERTZ * ((mel - LOG_MEL) * LOG_STEP).exp()
}

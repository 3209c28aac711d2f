//! Converts a predicted spectrum to audio: pulses at the voice's pitch shaped by the harmonic part,
//! plus shaped noise, plus a part with its own phases, through one inverse short-time Fourier
//! transform.

use std::f32::consts::{PI, TAU};
use std::sync::Arc;

use realfft::num_complex::Complex32;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

use super::SAMPLE_RATE_HZ;
use crate::noise::NoiseGenerator;

/// The graph's output: log magnitudes ([`BINS`] rows with one value per frame), and the pitch of
/// each frame, 0 if unvoiced.
pub(super) struct VoiceSpectrum<'o> {
    pub(super) harmonic: &'o [f32],
    /// In half turns, before `tanh`.
    pub(super) harmonic_phase: &'o [f32],
    pub(super) noise: &'o [f32],
    pub(super) rest: &'o [f32],
    pub(super) rest_phase: &'o [f32],
    pub(super) pitch_hz: &'o [f32],
}

pub(super) struct SpectrumVocoder {
    forward: Arc<dyn RealToComplex<f32>>,
    backward: Arc<dyn ComplexToReal<f32>>,
    window: Vec<f32>,
}

impl std::fmt::Debug for SpectrumVocoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Vocoder").finish_non_exhaustive()
    }
}

/// Length of the transform, and distance of frames (12.5 ms), in samples.
const LENGTH: usize = 1200;
const HOP: usize = 300;
const BINS: usize = LENGTH / 2 + 1;
/// Upper limit of the log magnitudes.
const MAGNITUDE_LOG_MAX: f32 = 7.0;

impl SpectrumVocoder {
    pub(super) fn new() -> SpectrumVocoder {
        let mut planner = RealFftPlanner::new();
        SpectrumVocoder {
            forward: planner.plan_fft_forward(LENGTH),
            backward: planner.plan_fft_inverse(LENGTH),
            window: (0..LENGTH).map(hann_weight).collect(),
        }
    }

    /// Synthesizes audio; `None` if the parts do not have matching lengths.
    pub(super) fn synthesize(&self, spectrum: &VoiceSpectrum<'_>) -> Option<Vec<f32>> {
        let frames = spectrum.pitch_hz.len();
        let parts = [
            spectrum.harmonic,
            spectrum.harmonic_phase,
            spectrum.noise,
            spectrum.rest,
            spectrum.rest_phase,
        ];
        if frames < LENGTH.div_ceil(HOP) || parts.iter().any(|it| it.len() != BINS * frames) {
            return None;
        }
        let source = pad_mirrored(&generate_pulses(spectrum.pitch_hz));
        let mut noise = NoiseGenerator::new(NOISE_SEED);
        let mut sum = OverlapAdd::new(frames);
        let mut time = self.forward.make_input_vec();
        let mut bins = self.forward.make_output_vec();
        for frame in 0..frames {
            let excerpt = &source[frame * HOP..frame * HOP + LENGTH];
            for ((to, from), weight) in time.iter_mut().zip(excerpt).zip(&self.window) {
                // Scales a cosine of amplitude 1 to magnitude 1.
                *to = from * weight / (LENGTH / 4) as f32;
            }
            self.forward.process(&mut time, &mut bins).ok()?;
            for (bin, value) in bins.iter_mut().enumerate() {
                let at = bin * frames + frame;
                let (real, imaginary) = noise.normal_pair();
                *value = *value
                    * to_complex(spectrum.harmonic[at], PI * spectrum.harmonic_phase[at].tanh())
                    + Complex32::new(real, imaginary) * to_magnitude(spectrum.noise[at])
                    + to_complex(spectrum.rest[at], spectrum.rest_phase[at]);
            }
            // The first and the last bin of a real signal are real.
            bins[0].im = 0.0;
            bins[BINS - 1].im = 0.0;
            self.backward.process(&mut bins, &mut time).ok()?;
            sum.add_frame(frame, &time, &self.window);
        }
        Some(sum.finish())
    }
}

/// Arbitrary but fixed, so that output is reproducible.
const NOISE_SEED: u64 = 1;

fn to_magnitude(logarithm: f32) -> f32 {
    logarithm.min(MAGNITUDE_LOG_MAX).exp()
}

fn to_complex(logarithm: f32, angle: f32) -> Complex32 {
    Complex32::from_polar(to_magnitude(logarithm), angle)
}

/// Overlap-add of frames, divided by the sum of their windows.
struct OverlapAdd {
    frames: usize,
    sum: Vec<f32>,
    weights: Vec<f32>,
}

impl OverlapAdd {
    fn new(frames: usize) -> OverlapAdd {
        let samples = (frames - 1) * HOP + LENGTH;
        OverlapAdd { frames, sum: vec![0.0; samples], weights: vec![0.0; samples] }
    }

    fn add_frame(&mut self, frame: usize, time: &[f32], window: &[f32]) {
        let at = frame * HOP;
        let sums = self.sum[at..at + LENGTH].iter_mut();
        let weights = self.weights[at..at + LENGTH].iter_mut();
        for (((sum, total), value), weight) in sums.zip(weights).zip(time).zip(window) {
            // The inverse transform is not normalised.
            *sum += value * weight / LENGTH as f32;
            *total += weight * weight;
        }
    }

    /// Removes the padding: a frame represents the samples around its middle.
    fn finish(self) -> Vec<f32> {
        let samples = self.sum.iter().zip(&self.weights).map(|(sum, total)| sum / total.max(1e-11));
        samples.skip(LENGTH / 2).take(self.frames * HOP).collect()
    }
}

/// Pulses at the pitch, each the sum of all harmonics up to [`HARMONICS_HZ_MAX`].
fn generate_pulses(pitch_hz: &[f32]) -> Vec<f32> {
    let mut pulses = Vec::with_capacity(pitch_hz.len() * HOP);
    let mut turn = 0.0f64;
    for sample in 0..pitch_hz.len() * HOP {
        let pitch = pitch_at(pitch_hz, sample);
        let voiced = VOICED_HZ_MIN < pitch;
        let pitch = pitch.max(VOICED_HZ_MIN);
        turn = (turn + f64::from(pitch) / f64::from(SAMPLE_RATE_HZ)).fract();
        #[expect(clippy::cast_possible_truncation, reason = "a fraction of a turn")]
        let angle = TAU * turn as f32;
        pulses.push(if voiced {
            sum_harmonics(angle, (HARMONICS_HZ_MAX / pitch).floor())
        } else {
            0.0
        });
    }
    pulses
}

const VOICED_HZ_MIN: f32 = 40.0;
const HARMONICS_HZ_MAX: f32 = 11_000.0;

/// cos(t) + cos(2t) + ... + cos(count * t), in closed form.
fn sum_harmonics(angle: f32, count: f32) -> f32 {
    let divisor = 2.0 * (angle * 0.5).sin();
    let limit = count + 0.5;
    // The limit where the closed form is 0 / 0.
    let sum = if divisor.abs() <= 2e-3 { limit } else { (limit * angle).sin() / divisor };
    sum - 0.5
}

/// Pitch at a sample, interpolated between frame centres.
#[expect(clippy::cast_precision_loss, reason = "a place inside of a frame is small")]
fn pitch_at(pitch_hz: &[f32], sample: usize) -> f32 {
    let (frame, inside) = (sample / HOP, sample % HOP);
    let place = (inside as f32 + 0.5) / HOP as f32 - 0.5;
    let here = pitch_hz[frame];
    let (neighbour, weight) = if place < 0.0 {
        (pitch_hz[frame.saturating_sub(1)], -place)
    } else {
        (pitch_hz[(frame + 1).min(pitch_hz.len() - 1)], place)
    };
    here * (1.0 - weight) + neighbour * weight
}

/// Pads the audio by half a transform's length at both ends, mirrored.
fn pad_mirrored(sound: &[f32]) -> Vec<f32> {
    let half = LENGTH / 2;
    let before = sound[1..=half].iter().rev();
    let after = sound[sound.len() - half - 1..sound.len() - 1].iter().rev();
    before.chain(sound).chain(after).copied().collect()
}

#[expect(clippy::cast_precision_loss, reason = "positions inside of a window are small")]
fn hann_weight(position: usize) -> f32 {
    0.5 - 0.5 * (TAU * position as f32 / LENGTH as f32).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonics_in_closed_form_are_their_sum() {
        for angle in [0.0f32, 0.0005, 0.1, 1.0, 3.0, 6.2] {
            let sum: f32 = (1..=8).map(|it| (it as f32 * angle).cos()).sum();
            assert!((sum_harmonics(angle, 8.0) - sum).abs() < 0.01, "at {angle}");
        }
    }

    #[test]
    fn the_pitch_moves_evenly_between_frames() {
        let pitch = [100.0, 200.0];
        assert!((pitch_at(&pitch, 0) - 100.0).abs() < 0.01);
        assert!((pitch_at(&pitch, HOP) - 150.0).abs() < 0.5);
        assert!((pitch_at(&pitch, 2 * HOP - 1) - 200.0).abs() < 0.01);
    }

    #[test]
    fn a_flat_harmonic_part_gives_back_the_pulses() {
        let frames = 40;
        let silent = vec![-40.0; BINS * frames];
        let flat = vec![0.0; BINS * frames];
        let pitch_hz = vec![120.0; frames];
        let spectrum = VoiceSpectrum {
            harmonic: &flat,
            harmonic_phase: &flat,
            noise: &silent,
            rest: &silent,
            rest_phase: &flat,
            pitch_hz: &pitch_hz,
        };
        let sound = SpectrumVocoder::new().synthesize(&spectrum).unwrap();
        let expected = generate_pulses(&pitch_hz);
        assert_eq!(sound.len(), expected.len());
        for (sample, pulse) in
            sound.iter().zip(&expected).skip(LENGTH).take(frames * HOP - 2 * LENGTH)
        {
            assert!((sample * (LENGTH / 4) as f32 - pulse).abs() < 0.05, "{sample} for {pulse}");
        }
    }

    #[test]
    fn parts_that_do_not_fit_give_nothing() {
        let spectrum = VoiceSpectrum {
            harmonic: &[0.0; BINS],
            harmonic_phase: &[],
            noise: &[],
            rest: &[],
            rest_phase: &[],
            pitch_hz: &[100.0; 8],
        };
        assert!(SpectrumVocoder::new().synthesize(&spectrum).is_none());
    }
}

//! Keyboard instruments.

use super::{RATE, TURN, ToneParameters, count_overtones, envelope_level, seconds_to_samples};
use crate::random::SeededRandom;

/// Stiff strings: slightly sharp overtones, of which higher ones decay faster, and hammer noise.
pub(super) fn render_piano(tone: ToneParameters, random: &mut SeededRandom) -> Vec<f32> {
    const STIFFNESS: f32 = 0.0004;
    let ToneParameters { hertz, seconds, force } = tone;
    let decay = (2.6 * (220.0 / hertz).powf(0.5)).clamp(0.4, 4.0);
    let mut out = vec![0.0; seconds_to_samples(seconds.max(0.25) + 0.5)];
    for number in 1..=count_overtones(hertz, 10) {
        let n = number as f32;
        let sharp = hertz * n * (1.0 + STIFFNESS * n * n).sqrt();
        let level = force.powf(0.4 + 0.12 * n) / n.powf(1.25);
        let gone = decay / (0.7 + 0.45 * n);
        let phase = n * 0.7;
        for (index, sample) in out.iter_mut().enumerate() {
            let time = index as f32 / RATE;
            let damped = envelope_level(time, seconds, 0.003, 0.22);
            *sample += level * damped * (-time / gone).exp() * (TURN * sharp * time + phase).sin();
        }
    }
    let mut low = 0.0;
    for (index, sample) in out.iter_mut().take(seconds_to_samples(0.03)).enumerate() {
        let fading = 1.0 - index as f32 / (0.03 * RATE);
        low += 0.25 * (random.next_noise() - low);
        *sample += 0.12 * force * fading * low;
    }
    scale_samples(out, 0.5)
}

/// Frequency modulation with a decaying depth, plus the sound of a tine.
pub(super) fn render_electric_piano(tone: ToneParameters) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    let mut out = vec![0.0; seconds_to_samples(seconds + 0.4)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let body = (-time / 1.6).exp();
        let bend = 1.4 * force * (-time / 0.5).exp();
        let tine = 0.35 * force * (-time / 0.12).exp() * (TURN * hertz * 14.0 * time).sin();
        let tremor = 1.0 + 0.1 * (TURN * 4.6 * time).sin();
        let bent = (TURN * hertz * time + bend * (TURN * hertz * time).sin() + tine).sin();
        *sample = 0.55 * force * body * tremor * envelope_level(time, seconds, 0.004, 0.3) * bent;
    }
    out
}

/// Frequency modulation with inharmonic overtones.
pub(super) fn render_bell(tone: ToneParameters) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    let mut out = vec![0.0; seconds_to_samples(seconds.max(1.2) + 1.0)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let bend = 2.2 * force * (-time / 0.7).exp() * (TURN * hertz * 3.51 * time).sin();
        *sample = 0.4 * force * (-time / 1.1).exp() * (TURN * hertz * time + bend).sin();
    }
    fade_out_end(out)
}

/// Pipes at an octave, a fifth and more, together.
pub(super) fn render_organ(tone: ToneParameters) -> Vec<f32> {
    const PIPES: [(f32, f32); 6] =
        [(0.5, 0.5), (1.0, 1.0), (1.5, 0.3), (2.0, 0.6), (3.0, 0.25), (4.0, 0.2)];
    let ToneParameters { hertz, seconds, force } = tone;
    let mut out = vec![0.0; seconds_to_samples(seconds + 0.12)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let sound: f32 =
            PIPES.iter().map(|(pipe, level)| level * (TURN * hertz * pipe * time).sin()).sum();
        *sample = 0.2 * force * envelope_level(time, seconds, 0.02, 0.1) * sound;
    }
    out
}

fn scale_samples(mut samples: Vec<f32>, by: f32) -> Vec<f32> {
    for sample in &mut samples {
        *sample *= by;
    }
    samples
}

/// Fades out the end to avoid a click.
fn fade_out_end(mut samples: Vec<f32>) -> Vec<f32> {
    let count = samples.len();
    let fade = (RATE * 0.1) as usize;
    for (index, sample) in samples.iter_mut().enumerate().skip(count.saturating_sub(fade)) {
        *sample *= (count - index) as f32 / fade as f32;
    }
    samples
}

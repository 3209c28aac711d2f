//! Plucked strings (Karplus–Strong): a burst of noise in a delay line with a low-pass filter.

use super::{RATE, ToneParameters, envelope_level, seconds_to_samples};
use crate::random::SeededRandom;

/// `brightness` is the share of high frequencies kept per cycle; `life` is in seconds.
fn render_string(
    tone: ToneParameters,
    brightness: f32,
    life: f32,
    random: &mut SeededRandom,
) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    // The averaging adds half a sample of delay; interpolation provides the fractional rest.
    let period = (RATE / hertz.max(20.0) - 0.5).max(2.0);
    let whole = period as usize;
    let part = period - whole as f32;
    let mut low = 0.0;
    let mut wave: Vec<f32> = (0..=whole)
        .map(|_| {
            low += (0.25 + 0.7 * force * brightness) * (random.next_noise() - low);
            low
        })
        .collect();
    let mean = wave.iter().sum::<f32>() / wave.len() as f32;
    for sample in &mut wave {
        *sample -= mean;
    }
    let kept = 0.001_f32.powf(1.0 / (hertz * life).max(1.0));
    let mut out = vec![0.0; seconds_to_samples(seconds + 0.25)];
    let (mut place, mut before) = (0, 0.0);
    for (index, sample) in out.iter_mut().enumerate() {
        let next = (place + 1) % wave.len();
        let now = wave[place] * (1.0 - part) + wave[next] * part;
        let smooth = brightness * now + (1.0 - brightness) * 0.5 * (now + before);
        before = now;
        wave[place] = smooth * kept;
        place = next;
        let time = index as f32 / RATE;
        *sample = now * envelope_level(time, seconds, 0.001, 0.2);
    }
    out
}

pub(super) fn render_guitar(tone: ToneParameters, random: &mut SeededRandom) -> Vec<f32> {
    let mut out = render_string(tone, 0.5, 2.2, random);
    for sample in &mut out {
        *sample *= 1.1 * tone.force;
    }
    out
}

pub(super) fn render_double_bass(tone: ToneParameters, random: &mut SeededRandom) -> Vec<f32> {
    let mut out = render_string(tone, 0.15, 1.3, random);
    let mut low = 0.0;
    for sample in &mut out {
        low += 0.12 * (*sample - low);
        *sample = 2.6 * tone.force * low;
    }
    out
}

/// A guitar with an overdriven amplifier.
pub(super) fn render_distorted_guitar(tone: ToneParameters, random: &mut SeededRandom) -> Vec<f32> {
    let mut out = render_string(tone, 0.7, 3.0, random);
    let (mut low, mut lower) = (0.0, 0.0);
    for sample in &mut out {
        let loud = (*sample * 14.0 * tone.force).tanh();
        // A loudspeaker attenuates the highest and lowest frequencies.
        low += 0.35 * (loud - low);
        lower += 0.012 * (low - lower);
        *sample = 0.34 * (low - lower);
    }
    out
}

//! Sustained instruments: wind, bowed and synthesizer sounds.

use super::{RATE, TURN, ToneParameters, count_overtones, envelope_level, seconds_to_samples};
use crate::random::SeededRandom;

/// Pad: slightly detuned saws without their highest overtones.
pub(super) fn render_pad(tone: ToneParameters) -> Vec<f32> {
    let detunes = &[-0.006, 0.0, 0.007];
    render_detuned_saws(tone, SawTimbre { detunes, rise: 0.6, fall: 0.9, dull: 1.6, most: 10 })
}

/// Strings: faster attack and brighter than the pad.
pub(super) fn render_strings(tone: ToneParameters) -> Vec<f32> {
    let detunes = &[-0.004, 0.003, 0.0];
    render_detuned_saws(tone, SawTimbre { detunes, rise: 0.12, fall: 0.35, dull: 1.15, most: 14 })
}

/// The sound of detuned saws.
#[derive(Clone, Copy)]
struct SawTimbre<'a> {
    detunes: &'a [f32],
    /// Attack in seconds.
    rise: f32,
    /// Release in seconds.
    fall: f32,
    /// Decay exponent of the overtones.
    dull: f32,
    /// Maximum number of overtones.
    most: usize,
}

/// Detuned saws with tremolo.
fn render_detuned_saws(tone: ToneParameters, timbre: SawTimbre<'_>) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    let SawTimbre { detunes, rise, fall, dull, most } = timbre;
    let mut out = vec![0.0; seconds_to_samples(seconds + fall)];
    let rise = rise.min(seconds * 0.6).max(0.01);
    for (voice, detune) in detunes.iter().enumerate() {
        let own = hertz * (1.0 + detune);
        for number in 1..=count_overtones(own, most) {
            let n = number as f32;
            let level = 1.0 / n.powf(dull);
            // Rotation by a complex factor instead of a sine per sample.
            let step = TURN * own * n / RATE;
            let (turn_sin, turn_cos) = step.sin_cos();
            let (mut sin, mut cos) = (voice as f32 * 1.3 + n).sin_cos();
            for sample in &mut out {
                *sample += level * sin;
                let turned = sin * turn_cos + cos * turn_sin;
                cos = cos * turn_cos - sin * turn_sin;
                sin = turned;
            }
        }
    }
    let level = 0.3 * force / detunes.len() as f32;
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let swell = 1.0 + 0.06 * (TURN * 5.1 * time).sin() * (time / 0.4).min(1.0);
        *sample *= level * swell * envelope_level(time, seconds, rise, fall);
    }
    out
}

/// A near-sine tone with breath noise and delayed vibrato.
pub(super) fn render_flute(tone: ToneParameters, random: &mut SeededRandom) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    let mut out = vec![0.0; seconds_to_samples(seconds + 0.15)];
    let (mut turn, mut breath) = (0.0, 0.0);
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let tremble = 0.004 * (TURN * 5.3 * time).sin() * ((time - 0.2) / 0.3).clamp(0.0, 1.0);
        turn = (turn + hertz * (1.0 + tremble) / RATE).fract();
        breath += 0.3 * (random.next_noise() - breath);
        let phase = TURN * turn;
        let sound = phase.sin() + 0.28 * (2.0 * phase).sin() + 0.1 * (3.0 * phase).sin();
        *sample = 0.4 * force * envelope_level(time, seconds, 0.05, 0.12) * (sound + 0.06 * breath);
    }
    out
}

/// A band-limited square wave, as in early home computers.
pub(super) fn render_chip_lead(tone: ToneParameters) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    let mut out = vec![0.0; seconds_to_samples(seconds + 0.03)];
    for number in (1..=count_overtones(hertz, 15)).step_by(2) {
        let n = number as f32;
        let step = TURN * hertz * n / RATE;
        let (turn_sin, turn_cos) = step.sin_cos();
        let (mut sin, mut cos) = (0.0, 1.0);
        for sample in &mut out {
            *sample += sin / n;
            let turned = sin * turn_cos + cos * turn_sin;
            cos = cos * turn_cos - sin * turn_sin;
            sin = turned;
        }
    }
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        *sample *= 0.35
            * force
            * envelope_level(time, seconds, 0.002, 0.02)
            * (0.6 + 0.4 * (-time / 0.2).exp());
    }
    out
}

/// A saw through a closing low-pass filter.
pub(super) fn render_synth_bass(tone: ToneParameters) -> Vec<f32> {
    let ToneParameters { hertz, seconds, force } = tone;
    let mut out = vec![0.0; seconds_to_samples(seconds + 0.06)];
    let (mut turn, mut first, mut second) = (0.0_f32, 0.0, 0.0);
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        turn = (turn + hertz / RATE).fract();
        let saw = 2.0 * turn - 1.0;
        let cutoff = 180.0 + 1400.0 * force * (-time / 0.14).exp();
        let open = (TURN * cutoff / RATE).min(0.9);
        first += open * (saw - first);
        second += open * (first - second);
        let under = 0.5 * (TURN * turn).sin();
        *sample = 0.6 * force * envelope_level(time, seconds, 0.004, 0.05) * (second + under);
    }
    out
}

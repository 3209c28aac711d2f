//! Sustained instruments: wind, bowed and synthesizer sounds.

use super::{RATE, TURN, Tone, held, overtones, samples};
use crate::random::Random;

/// Pad: slightly detuned saws without their highest overtones.
pub(super) fn pad(tone: Tone) -> Vec<f32> {
    ensemble(tone, &[-0.006, 0.0, 0.007], (0.6, 0.9), 1.6, 10)
}

/// Strings: faster attack and brighter than the pad.
pub(super) fn strings(tone: Tone) -> Vec<f32> {
    ensemble(tone, &[-0.004, 0.003, 0.0], (0.12, 0.35), 1.15, 14)
}

/// Detuned saws with tremolo. `dull` is the decay exponent of the overtones.
fn ensemble(
    tone: Tone,
    detunes: &[f32],
    (rise, fall): (f32, f32),
    dull: f32,
    most: usize,
) -> Vec<f32> {
    let Tone { hertz, seconds, force } = tone;
    let mut out = vec![0.0; samples(seconds + fall)];
    let rise = rise.min(seconds * 0.6).max(0.01);
    for (voice, detune) in detunes.iter().enumerate() {
        let own = hertz * (1.0 + detune);
        for number in 1..=overtones(own, most) {
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
        *sample *= level * swell * held(time, seconds, rise, fall);
    }
    out
}

/// A near-sine tone with breath noise and delayed vibrato.
pub(super) fn flute(tone: Tone, random: &mut Random) -> Vec<f32> {
    let Tone { hertz, seconds, force } = tone;
    let mut out = vec![0.0; samples(seconds + 0.15)];
    let (mut turn, mut breath) = (0.0, 0.0);
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let tremble = 0.004 * (TURN * 5.3 * time).sin() * ((time - 0.2) / 0.3).clamp(0.0, 1.0);
        turn = (turn + hertz * (1.0 + tremble) / RATE).fract();
        breath += 0.3 * (random.noise() - breath);
        let phase = TURN * turn;
        let sound = phase.sin() + 0.28 * (2.0 * phase).sin() + 0.1 * (3.0 * phase).sin();
        *sample = 0.4 * force * held(time, seconds, 0.05, 0.12) * (sound + 0.06 * breath);
    }
    out
}

/// A band-limited square wave, as in early home computers.
pub(super) fn chip_lead(tone: Tone) -> Vec<f32> {
    let Tone { hertz, seconds, force } = tone;
    let mut out = vec![0.0; samples(seconds + 0.03)];
    for number in (1..=overtones(hertz, 15)).step_by(2) {
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
        *sample *=
            0.35 * force * held(time, seconds, 0.002, 0.02) * (0.6 + 0.4 * (-time / 0.2).exp());
    }
    out
}

/// A saw through a closing low-pass filter.
pub(super) fn synth_bass(tone: Tone) -> Vec<f32> {
    let Tone { hertz, seconds, force } = tone;
    let mut out = vec![0.0; samples(seconds + 0.06)];
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
        *sample = 0.6 * force * held(time, seconds, 0.004, 0.05) * (second + under);
    }
    out
}

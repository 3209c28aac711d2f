//! Drums.

use super::{RATE, TURN, seconds_to_samples};
use crate::drums::DrumSound;
use crate::random::SeededRandom;

/// Samples of one hit.
pub(crate) fn render_drum(drum: DrumSound, force: f32, random: &mut SeededRandom) -> Vec<f32> {
    match drum {
        DrumSound::Kick => {
            render_sweep(PitchSweep { from: 150.0, to: 46.0, falls: 0.05, dies: 0.22 }, force)
        }
        DrumSound::Tom => {
            render_sweep(PitchSweep { from: 160.0, to: 72.0, falls: 0.12, dies: 0.42 }, force * 0.9)
        }
        DrumSound::Snare => {
            let mut out = render_noise(NoiseShape { dies: 0.16, sharp: 0.35 }, force * 0.7, random);
            let body = PitchSweep { from: 230.0, to: 180.0, falls: 0.03, dies: 0.1 };
            for (sample, body) in out.iter_mut().zip(render_sweep(body, force * 0.5)) {
                *sample += body;
            }
            out
        }
        DrumSound::Rim => {
            let sweep = PitchSweep { from: 1700.0, to: 1500.0, falls: 0.01, dies: 0.02 };
            render_sweep(sweep, force * 0.4)
        }
        DrumSound::Clap => render_clap(force, random),
        DrumSound::Hat => {
            render_noise(NoiseShape { dies: 0.04, sharp: 0.92 }, force * 0.28, random)
        }
        DrumSound::OpenHat => {
            render_noise(NoiseShape { dies: 0.22, sharp: 0.9 }, force * 0.26, random)
        }
        DrumSound::Shaker => {
            render_noise(NoiseShape { dies: 0.06, sharp: 0.8 }, force * 0.3, random)
        }
        DrumSound::Ride => render_ride(force, random),
        DrumSound::Crash => {
            render_noise(NoiseShape { dies: 1.1, sharp: 0.7 }, force * 0.35, random)
        }
    }
}

/// Frequencies at the start and at the end in hertz; times in seconds.
#[derive(Clone, Copy)]
struct PitchSweep {
    from: f32,
    to: f32,
    falls: f32,
    dies: f32,
}

/// A tone of falling pitch.
fn render_sweep(sweep: PitchSweep, force: f32) -> Vec<f32> {
    let PitchSweep { from, to, falls, dies } = sweep;
    let mut turn = 0.0_f32;
    let mut out = vec![0.0; seconds_to_samples(dies * 5.0)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let hertz = to + (from - to) * (-time / falls).exp();
        turn = (turn + hertz / RATE).fract();
        let rise = (time / 0.001).min(1.0);
        *sample = force * rise * (-time / dies).exp() * (TURN * turn).sin();
    }
    out
}

/// Describes high-passed noise.
#[derive(Clone, Copy)]
struct NoiseShape {
    /// In seconds.
    dies: f32,
    /// More leaves fewer low frequencies.
    sharp: f32,
}

fn render_noise(shape: NoiseShape, force: f32, random: &mut SeededRandom) -> Vec<f32> {
    let NoiseShape { dies, sharp } = shape;
    let mut low = 0.0;
    let mut out = vec![0.0; seconds_to_samples(dies * 5.0)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let white = random.next_noise();
        low += (1.0 - sharp * 0.5) * (white - low) * sharp;
        *sample = force * (-time / dies).exp() * (white - low);
    }
    out
}

/// Several short noise bursts, slightly apart.
fn render_clap(force: f32, random: &mut SeededRandom) -> Vec<f32> {
    let mut out = render_noise(NoiseShape { dies: 0.12, sharp: 0.5 }, force * 0.6, random);
    for late in [0.011, 0.023] {
        let shift = seconds_to_samples(late);
        let again = render_noise(NoiseShape { dies: 0.02, sharp: 0.5 }, force * 0.4, random);
        for (sample, more) in out.iter_mut().skip(shift).zip(again) {
            *sample += more;
        }
    }
    out
}

fn render_ride(force: f32, random: &mut SeededRandom) -> Vec<f32> {
    let mut out = render_noise(NoiseShape { dies: 0.25, sharp: 0.9 }, force * 0.16, random);
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let ring = (TURN * 3170.0 * time).sin() + (TURN * 4410.0 * time).sin();
        *sample += 0.03 * force * (-time / 0.3).exp() * ring;
    }
    out
}

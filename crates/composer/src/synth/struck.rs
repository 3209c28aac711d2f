//! Drums.

use super::{RATE, TURN, samples};
use crate::drums::Drum;
use crate::random::Random;

/// Samples of one hit.
pub(crate) fn play(drum: Drum, force: f32, random: &mut Random) -> Vec<f32> {
    match drum {
        Drum::Kick => sweep((150.0, 46.0), 0.05, 0.22, force),
        Drum::Tom => sweep((160.0, 72.0), 0.12, 0.42, force * 0.9),
        Drum::Snare => {
            let mut out = noise((0.16, 0.35), force * 0.7, random);
            for (sample, body) in out.iter_mut().zip(sweep((230.0, 180.0), 0.03, 0.1, force * 0.5))
            {
                *sample += body;
            }
            out
        }
        Drum::Rim => sweep((1700.0, 1500.0), 0.01, 0.02, force * 0.4),
        Drum::Clap => clap(force, random),
        Drum::Hat => noise((0.04, 0.92), force * 0.28, random),
        Drum::OpenHat => noise((0.22, 0.9), force * 0.26, random),
        Drum::Shaker => noise((0.06, 0.8), force * 0.3, random),
        Drum::Ride => ride(force, random),
        Drum::Crash => noise((1.1, 0.7), force * 0.35, random),
    }
}

/// A tone of falling pitch.
fn sweep((from, to): (f32, f32), falls: f32, dies: f32, force: f32) -> Vec<f32> {
    let mut turn = 0.0_f32;
    let mut out = vec![0.0; samples(dies * 5.0)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let hertz = to + (from - to) * (-time / falls).exp();
        turn = (turn + hertz / RATE).fract();
        let rise = (time / 0.001).min(1.0);
        *sample = force * rise * (-time / dies).exp() * (TURN * turn).sin();
    }
    out
}

/// High-passed noise: a higher `sharp` leaves fewer low frequencies.
fn noise((dies, sharp): (f32, f32), force: f32, random: &mut Random) -> Vec<f32> {
    let mut low = 0.0;
    let mut out = vec![0.0; samples(dies * 5.0)];
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let white = random.noise();
        low += (1.0 - sharp * 0.5) * (white - low) * sharp;
        *sample = force * (-time / dies).exp() * (white - low);
    }
    out
}

/// Several short noise bursts, slightly apart.
fn clap(force: f32, random: &mut Random) -> Vec<f32> {
    let mut out = noise((0.12, 0.5), force * 0.6, random);
    for late in [0.011, 0.023] {
        let shift = samples(late);
        let again = noise((0.02, 0.5), force * 0.4, random);
        for (sample, more) in out.iter_mut().skip(shift).zip(again) {
            *sample += more;
        }
    }
    out
}

fn ride(force: f32, random: &mut Random) -> Vec<f32> {
    let mut out = noise((0.25, 0.9), force * 0.16, random);
    for (index, sample) in out.iter_mut().enumerate() {
        let time = index as f32 / RATE;
        let ring = (TURN * 3170.0 * time).sin() + (TURN * 4410.0 * time).sin();
        *sample += 0.03 * force * (-time / 0.3).exp() * ring;
    }
    out
}

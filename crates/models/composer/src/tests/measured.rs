//! Loudness, brightness, dynamics and tempo of the styles.
//! `cargo test -p composer the_styles_differ -- --nocapture` prints them as a table, which
//! `docs/benchmarks.md` summarises.

use super::{bands, loudness_db};
use crate::{SAMPLE_RATE, StyleName, plan_song, render_samples};

/// Long enough for every part of a style to play.
const SECONDS: u32 = 30;
const SEED: u64 = 7;
/// Samples of mono sound for each value of the envelope: 100 values a second.
const HOP: usize = SAMPLE_RATE as usize / 100;
const TEMPI: std::ops::RangeInclusive<u16> = 50..=220;

#[derive(Debug, Clone)]
struct Measured {
    style: StyleName,
    loudness_db: f32,
    /// How far the loudest sample lies above the mean: more where single notes are struck.
    crest_db: f32,
    /// The frequency below which 85 % of the sound lies.
    rolloff_hz: f32,
    bands: Vec<f32>,
    /// As the plan has it.
    bpm: u16,
    /// How strongly the sound repeats at the beat of the plan, against the mean of all tempi.
    pulse: f32,
}

fn measured(style: StyleName) -> Measured {
    let plan = plan_song(style.name(), SECONDS, SEED);
    let samples = render_samples(&plan);
    let loudness = loudness_db(&samples);
    let peak = samples.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
    let mono: Vec<f32> = samples.chunks(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    Measured {
        style,
        loudness_db: loudness,
        crest_db: 20.0 * peak.log10() - loudness,
        rolloff_hz: rolloff(&bands(&samples)),
        bands: bands(&samples),
        bpm: plan.bpm,
        pulse: pulse(&onsets(&mono), plan.bpm),
    }
}

/// Within a band the sound is taken to be spread evenly over its octaves.
fn rolloff(bands: &[f32]) -> f32 {
    let mut below = 0.0;
    for (number, part) in bands.iter().enumerate() {
        if 0.85 <= below + part {
            let edge = 40.0 * 2.0_f32.powi(number as i32);
            return edge * 2.0_f32.powf((0.85 - below) / part);
        }
        below += part;
    }
    SAMPLE_RATE as f32 / 2.0
}

/// How much louder it gets from one moment to the next.
fn onsets(mono: &[f32]) -> Vec<f32> {
    let level = |window: &[f32]| window.iter().map(|it| it * it).sum::<f32>().sqrt();
    let levels: Vec<f32> = mono.chunks_exact(HOP).map(level).collect();
    levels.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect()
}

/// The autocorrelation of the onsets at a beat, against its mean over all tempi.
fn pulse(onsets: &[f32], bpm: u16) -> f32 {
    let at = |bpm: u16| {
        let lag = (6000.0 / f32::from(bpm)).round() as usize;
        onsets.iter().zip(&onsets[lag..]).map(|(now, later)| now * later).sum::<f32>()
    };
    let mean = TEMPI.map(at).sum::<f32>() / TEMPI.count() as f32;
    // A beat of an off number of hops is looked for beside it too.
    [bpm - 1, bpm, bpm + 1].map(at).into_iter().fold(0.0, f32::max) / mean
}

/// How far two styles are apart, each measure by what a listener notices of it.
fn differences(one: &Measured, other: &Measured) -> [f32; 3] {
    let spectrum: f32 = one.bands.iter().zip(&other.bands).map(|(a, b)| (a - b).abs()).sum();
    let tempo = (f32::from(one.bpm) / f32::from(other.bpm)).ln().abs();
    [(one.crest_db - other.crest_db).abs() / 1.0, spectrum / 0.2, tempo / 0.08]
}

#[test]
fn the_styles_differ_in_sound_and_tempo_and_keep_their_beat() {
    let all = StyleName::ALL.map(measured);
    println!("| style | loudness | peaks above it | 85 % lies below | tempo | pulse at it |");
    println!("|---|---|---|---|---|---|");
    for it in &all {
        println!(
            "| {} | {:.1} dB | {:.1} dB | {:.0} Hz | {} bpm | {:.1} × |",
            it.style.name(),
            it.loudness_db,
            it.crest_db,
            it.rolloff_hz,
            it.bpm,
            it.pulse
        );
    }
    assert!(8 <= all.len());
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            let apart = differences(one, other);
            let noticed = apart.into_iter().fold(0.0, f32::max);
            let (one, other) = (one.style.name(), other.style.name());
            assert!(1.0 <= noticed, "{one} and {other} are alike: {apart:?}");
        }
    }
    // What has a beat repeats at its tempo. Ambient music has none.
    for it in all.iter().filter(|it| it.style != StyleName::Ambient) {
        assert!(1.05 < it.pulse, "{}: {}", it.style.name(), it.pulse);
    }
}

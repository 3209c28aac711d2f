//! Mixes notes to a recording: rendering, panning, reverb and loudness.

use crate::random::SeededRandom;
use crate::score::SongScore;
use crate::synth::{ToneParameters, pitch_to_hertz, play_drum};
use crate::{SAMPLE_RATE, SongPlan};

/// Target RMS level: comparable to other music, with headroom; about -16 dB.
const LOUDNESS: f32 = 0.16;
const PEAK: f32 = 0.95;
const FADE_IN_S: f32 = 0.01;
const FADE_OUT_S: f32 = 2.0;
/// Delay lengths of the reverb (a small hall), in samples; the right channel's are longer.
const COMBS: [usize; 4] = [1557, 1617, 1491, 1422];
const PASSES: [usize; 2] = [225, 556];
const RIGHT_LATER: usize = 23;

/// Returns interleaved stereo samples.
pub(crate) fn render_score(plan: &SongPlan, score: &SongScore) -> Vec<f32> {
    let frames = plan.seconds as usize * SAMPLE_RATE as usize;
    let mut dry = [vec![0.0_f32; frames], vec![0.0_f32; frames]];
    let seconds_per_beat = 60.0 / f32::from(plan.bpm);
    let frame_of = |beat: f32| (beat * seconds_per_beat * SAMPLE_RATE as f32) as usize;
    let mut random = SeededRandom::new(plan.seed, "sound");
    for track in &score.tracks {
        for note in &track.notes {
            let first = frame_of(note.start);
            if frames <= first {
                continue;
            }
            let length = note.length * seconds_per_beat;
            let tone = ToneParameters {
                hertz: pitch_to_hertz(note.pitch),
                seconds: length,
                force: note.force.clamp(0.05, 1.0),
            };
            let sound = track.instrument.render_note(tone, &mut random);
            let placement = StereoPlacement { level: track.level, pan: track.pan };
            mix_into_stereo(&mut dry, first, &sound, placement);
        }
    }
    for hit in &score.hits {
        let first = frame_of(hit.start);
        if first < frames {
            let sound = play_drum(hit.drum, hit.force.clamp(0.05, 1.0), &mut random);
            let placement = StereoPlacement { level: score.drum_level, pan: 0.0 };
            mix_into_stereo(&mut dry, first, &sound, placement);
        }
    }
    let room = plan.style.definition().room;
    let [left, right] = dry;
    let left = add_reverb(left, room, 0);
    let right = add_reverb(right, room, RIGHT_LATER);
    normalise_and_fade(&left, &right)
}

/// The volume of a sound, and its place between left (-1) and right (1).
#[derive(Clone, Copy)]
struct StereoPlacement {
    level: f32,
    pan: f32,
}

/// Constant-power panning.
fn mix_into_stereo(
    sides: &mut [Vec<f32>; 2],
    first: usize,
    sound: &[f32],
    placement: StereoPlacement,
) {
    let StereoPlacement { level, pan } = placement;
    let angle = (pan.clamp(-1.0, 1.0) + 1.0) * std::f32::consts::FRAC_PI_4;
    let gains = [angle.cos() * level, angle.sin() * level];
    for (side, gain) in sides.iter_mut().zip(gains) {
        for (sample, add) in side[first..].iter_mut().zip(sound) {
            *sample += add * gain;
        }
    }
}

/// Schroeder reverb.
fn add_reverb(dry: Vec<f32>, amount: f32, later: usize) -> Vec<f32> {
    let mut wet = vec![0.0; dry.len()];
    for delay in COMBS {
        let mut line = vec![0.0_f32; delay + later];
        let (mut place, mut dull) = (0, 0.0);
        for (sample, dry) in wet.iter_mut().zip(&dry) {
            let echo = line[place];
            dull += 0.6 * (echo - dull);
            line[place] = dry + dull * 0.82;
            place = (place + 1) % line.len();
            *sample += echo * 0.25;
        }
    }
    for delay in PASSES {
        let mut line = vec![0.0_f32; delay + later];
        let mut place = 0;
        for sample in &mut wet {
            let echo = line[place];
            let out = echo - 0.5 * *sample;
            line[place] = *sample + 0.5 * out;
            place = (place + 1) % line.len();
            *sample = out;
        }
    }
    let mut mixed = dry;
    for (sample, wet) in mixed.iter_mut().zip(wet) {
        *sample += wet * amount;
    }
    mixed
}

/// Normalises the loudness, limits peaks, and fades both ends.
fn normalise_and_fade(left: &[f32], right: &[f32]) -> Vec<f32> {
    let frames = left.len().max(1);
    let power: f64 = left.iter().chain(right).map(|it| f64::from(*it) * f64::from(*it)).sum();
    let loudness = (power / (2 * frames) as f64).sqrt() as f32;
    let gain = if loudness < 1e-6 { 0.0 } else { LOUDNESS / loudness };
    let fade_in = FADE_IN_S * SAMPLE_RATE as f32;
    let fade_out = (FADE_OUT_S * SAMPLE_RATE as f32).min(frames as f32 / 4.0);
    let mut out = Vec::with_capacity(frames * 2);
    for (index, (left, right)) in left.iter().zip(right).enumerate() {
        let from_end = (frames - index) as f32;
        let fade = (index as f32 / fade_in).min(1.0) * (from_end / fade_out).min(1.0);
        for sample in [left, right] {
            let sample = sample * gain;
            let soft = if sample.abs() < 0.6 { sample } else { soft_limit(sample) };
            out.push((soft * fade).clamp(-PEAK, PEAK));
        }
    }
    out
}

/// Soft limiter: approaches the maximum without exceeding it.
fn soft_limit(sample: f32) -> f32 {
    let over = sample.abs() - 0.6;
    (0.6 + 0.34 * (over / 0.34).tanh()) * sample.signum()
}

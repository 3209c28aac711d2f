//! Melodies: a short figure that is repeated, transposed and varied over the harmony.

use crate::random::SeededRandom;
use crate::score::ScoreNote;
use crate::theory::{ScaleKey, degree_to_pitch};

/// Length of a figure in beats.
const FIGURE_BEATS: usize = 8;
/// Range of a melody in scale steps around its centre.
const REACH: i32 = 7;

/// A note of a figure, relative to the note before.
#[derive(Debug, Clone, Copy)]
struct FigureNote {
    start: f32,
    length: f32,
    /// Interval from the previous note, in scale steps.
    leap: i32,
}

/// The figure of a melody; sections of the same letter share it.
#[derive(Debug, Clone)]
pub(crate) struct MelodyFigure {
    steps: Vec<FigureNote>,
    first: i32,
}

impl MelodyFigure {
    /// Creates two bars of rhythm and contour. A higher density gives more and shorter notes.
    pub(crate) fn new(random: &mut SeededRandom, density: f32) -> MelodyFigure {
        let mut steps = Vec::new();
        let mut at = 0.0;
        let whole = FIGURE_BEATS as f32;
        while at < whole {
            let length = pick_note_length(random, density).min(whole - at);
            let is_rest = !steps.is_empty() && random.chance(0.22 - 0.12 * density);
            if !is_rest {
                let leap = match random.next_below(10) {
                    0..=3 => 1,
                    4..=6 => -1,
                    7 => 2,
                    8 => -2,
                    _ => 0,
                };
                steps.push(FigureNote { start: at, length: length * 0.92, leap });
            }
            at += length;
        }
        MelodyFigure { steps, first: *random.pick(&[0, 2, 4]) }
    }

    /// Repeats the figure over the bars of a four-bar phrase. The repetition is varied, and ends on
    /// a note of the chord.
    pub(crate) fn build_phrase(
        &self,
        key: ScaleKey,
        degrees: &[i32],
        start: f32,
        random: &mut SeededRandom,
    ) -> Vec<ScoreNote> {
        let mut notes = Vec::new();
        let mut place = self.first;
        for time in 0..degrees.len().div_ceil(2) {
            let is_answer = time % 2 == 1;
            let count = self.steps.len();
            for (index, step) in self.steps.iter().enumerate() {
                let beat = step.start;
                let bar = time * 2 + usize::from(4.0 <= beat);
                let Some(degree) = degrees.get(bar) else { break };
                let is_varied = is_answer && random.chance(0.25);
                place += if is_varied { -step.leap } else { step.leap };
                place = fold_into_range(place);
                let is_strong = beat.rem_euclid(2.0) < 0.01;
                let is_last = is_answer && index + 1 == count;
                if is_strong || is_last {
                    place = nearest_chord_step(place, *degree);
                }
                let force = if is_strong { 0.82 } else { 0.66 } + random.next_noise() * 0.06;
                let length = if is_last { step.length.max(1.8) } else { step.length };
                let at = start + (time * FIGURE_BEATS) as f32 + beat;
                notes.push(ScoreNote {
                    start: at,
                    length,
                    pitch: degree_to_pitch(key, place),
                    force,
                });
            }
        }
        notes
    }
}

fn pick_note_length(random: &mut SeededRandom, density: f32) -> f32 {
    let short = density;
    if random.chance(short * 0.35) {
        0.5
    } else if random.chance(0.3 + short * 0.5) {
        1.0
    } else if random.chance(0.6) {
        2.0
    } else {
        1.5
    }
}

fn fold_into_range(place: i32) -> i32 {
    if REACH < place {
        place - 4
    } else if place < -REACH + 2 {
        place + 4
    } else {
        place
    }
}

/// The nearest scale step that belongs to the chord on this degree.
fn nearest_chord_step(place: i32, degree: i32) -> i32 {
    let belongs = |it: i32| matches!((it - degree).rem_euclid(7), 0 | 2 | 4);
    [0, -1, 1, -2, 2]
        .into_iter()
        .map(|shift| place + shift)
        .find(|it| belongs(*it))
        .unwrap_or(place)
}

//! Melodies: a short figure that is repeated, transposed and varied over the harmony.

use crate::random::Random;
use crate::score::Note;
use crate::theory::{Mode, pitch};

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
pub(crate) struct Figure {
    steps: Vec<FigureNote>,
    first: i32,
}

impl Figure {
    /// Creates two bars of rhythm and contour. A higher density gives more and shorter notes.
    pub(crate) fn new(random: &mut Random, density: f32) -> Figure {
        let mut steps = Vec::new();
        let mut at = 0.0;
        let whole = FIGURE_BEATS as f32;
        while at < whole {
            let length = length(random, density).min(whole - at);
            let is_rest = !steps.is_empty() && random.chance(0.22 - 0.12 * density);
            if !is_rest {
                let leap = match random.below(10) {
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
        Figure { steps, first: *random.pick(&[0, 2, 4]) }
    }

    /// Repeats the figure over the bars of a four-bar phrase. The repetition is varied, and ends on
    /// a note of the chord.
    pub(crate) fn phrase(
        &self,
        (root, mode): (i32, Mode),
        degrees: &[i32],
        start: f32,
        random: &mut Random,
    ) -> Vec<Note> {
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
                place = bounded(place);
                let is_strong = beat.rem_euclid(2.0) < 0.01;
                let is_last = is_answer && index + 1 == count;
                if is_strong || is_last {
                    place = on_chord(place, *degree);
                }
                let force = if is_strong { 0.82 } else { 0.66 } + random.noise() * 0.06;
                let length = if is_last { step.length.max(1.8) } else { step.length };
                let at = start + (time * FIGURE_BEATS) as f32 + beat;
                notes.push(Note { start: at, length, pitch: pitch(root, mode, place), force });
            }
        }
        notes
    }
}

fn length(random: &mut Random, density: f32) -> f32 {
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

fn bounded(place: i32) -> i32 {
    if REACH < place {
        place - 4
    } else if place < -REACH + 2 {
        place + 4
    } else {
        place
    }
}

/// The nearest scale step that belongs to the chord on this degree.
fn on_chord(place: i32, degree: i32) -> i32 {
    let belongs = |it: i32| matches!((it - degree).rem_euclid(7), 0 | 2 | 4);
    [0, -1, 1, -2, 2]
        .into_iter()
        .map(|shift| place + shift)
        .find(|it| belongs(*it))
        .unwrap_or(place)
}

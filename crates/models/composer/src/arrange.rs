//! Converts a plan to notes: sections, a chord for each bar, and the notes of each part.

use crate::SongPlan;
use crate::drums::BarPosition;
use crate::melody::MelodyFigure;
use crate::random::SeededRandom;
use crate::score::{InstrumentTrack, ScoreNote, SongScore};
use crate::style::{MusicStyle, PartRole, StylePart};
use crate::synth::SynthInstrument;
use crate::theory::{ScaleKey, build_chord, degree_to_pitch, voice_chord};

pub(crate) const BEATS_PER_BAR: u32 = 4;
/// Bars per section; even, so that phrases fit.
const SECTION_BARS: usize = 4;
/// Bars of the ending.
const END_BARS: usize = 2;
/// The energy levels of consecutive sections, repeated.
const FORM: [u8; 8] = [1, 2, 2, 3, 2, 3, 3, 1];
const MIDDLE_C: i32 = 60;

/// Up to four bars with the same energy.
struct SongSection {
    first_bar: usize,
    degrees: Vec<i32>,
    energy: u8,
    /// Sections of the same letter have the same melody.
    letter: usize,
}

/// Describes one part; the same in every section.
struct PartMaterial<'a> {
    plan: &'a SongPlan,
    style: &'a MusicStyle,
    part: &'a StylePart,
    /// By the section's letter.
    figures: &'a [MelodyFigure; 2],
}

pub(crate) fn compose_score(plan: &SongPlan) -> SongScore {
    let style = plan.style.definition();
    let sections = plan_sections(plan, style);
    let mut random = SeededRandom::new(plan.seed, "figures");
    let density = style.density;
    let figures =
        [MelodyFigure::new(&mut random, density), MelodyFigure::new(&mut random, density)];
    let tracks = style.parts.iter().enumerate().map(|(index, part)| {
        let mut random = SeededRandom::new(plan.seed, &format!("part {index}"));
        let instrument = match (part.role, plan.lead) {
            (PartRole::Melody, Some(lead)) => lead,
            _ => part.instrument,
        };
        let material = PartMaterial { plan, style, part, figures: &figures };
        let mut notes = Vec::new();
        let mut before = Vec::new();
        for section in sections.iter().filter(|section| part.enters <= section.energy) {
            compose_part(&material, section, &mut before, &mut random, &mut notes);
        }
        apply_swing(&mut notes, style.swing);
        InstrumentTrack { instrument, level: part.level, pan: part.pan, notes }
    });
    let tracks = tracks.collect();
    SongScore { tracks, hits: build_drum_hits(plan, style, &sections), drum_level: 0.55 }
}

/// Divides the piece's bars into sections.
fn plan_sections(plan: &SongPlan, style: &MusicStyle) -> Vec<SongSection> {
    let beats = plan.seconds as f32 * f32::from(plan.bpm) / 60.0;
    let bars = (beats / BEATS_PER_BAR as f32).ceil().max(2.0) as usize;
    let mut random = SeededRandom::new(plan.seed, "harmony");
    let verse = *random.pick(style.progressions);
    let chorus = *random.pick(style.progressions);
    let mut sections = Vec::new();
    let mut bar = 0;
    let main_bars = bars.saturating_sub(END_BARS);
    while bar < main_bars {
        let number = sections.len();
        let is_short = main_bars <= 3 * SECTION_BARS;
        let energy = if is_short { (number as u8 + 2).min(3) } else { FORM[number % FORM.len()] };
        let letter = usize::from(energy == 3);
        let progression = if letter == 1 { chorus } else { verse };
        let length = SECTION_BARS.min(main_bars - bar);
        let degrees =
            (0..length).map(|it| progression[(number * SECTION_BARS + it) % progression.len()]);
        sections.push(SongSection { first_bar: bar, degrees: degrees.collect(), energy, letter });
        bar += length;
    }
    // Ends on the tonic chord.
    let degrees = vec![0; bars - bar];
    sections.push(SongSection { first_bar: bar, degrees, energy: 1, letter: 0 });
    sections
}

fn compose_part(
    material: &PartMaterial<'_>,
    section: &SongSection,
    before: &mut Vec<i32>,
    random: &mut SeededRandom,
    notes: &mut Vec<ScoreNote>,
) {
    let PartMaterial { plan, style, part, figures } = *material;
    let key = ScaleKey { root: i32::from(plan.root) - 6 + MIDDLE_C, mode: plan.mode };
    let bar_start = |bar: usize| ((section.first_bar + bar) * BEATS_PER_BAR as usize) as f32;
    let soft = 0.75 + 0.08 * f32::from(section.energy);
    if part.role == PartRole::Melody {
        let key = ScaleKey { root: key.root + part.instrument.octave() * 12, ..key };
        let figure = &figures[section.letter];
        notes.extend(figure.build_phrase(key, &section.degrees, bar_start(0), random));
        return;
    }
    for (bar, degree) in section.degrees.iter().enumerate() {
        let start = bar_start(bar);
        let harmony = build_chord(key, *degree, style.has_sevenths);
        let centre = MIDDLE_C + part.instrument.octave() * 12;
        let chord = voice_chord(&harmony, before, centre);
        before.clone_from(&chord);
        let bass = find_bass_root(&harmony);
        let approaches_from_above = part.role == PartRole::WalkingBass && random.chance(0.5);
        let mut strike = |at: f32, length: f32, pitches: &[i32], force: f32| {
            for (place, pitch) in pitches.iter().enumerate() {
                // The notes of a chord start slightly after each other, as on a real instrument.
                let start = start + at + place as f32 * 0.012;
                let force = (force + random.next_noise() * 0.05) * soft;
                notes.push(ScoreNote { start, length, pitch: *pitch, force });
            }
        };
        match part.role {
            PartRole::Held => strike(0.0, BEATS_PER_BAR as f32 * 1.02, &chord, 0.7),
            PartRole::Struck(eighths) => {
                let power = [bass + 12, bass + 19, bass + 24];
                let pitches = if part.instrument == SynthInstrument::Distorted {
                    &power
                } else {
                    chord.as_slice()
                };
                for (index, eighth) in eighths.iter().enumerate() {
                    let next = eighths.get(index + 1).map_or(8, |it| *it);
                    let length = f32::from(next - eighth) * 0.5 * 0.85;
                    let force = if eighth % 4 == 0 { 0.8 } else { 0.62 };
                    strike(f32::from(*eighth) * 0.5, length, pitches, force);
                }
            }
            PartRole::Arpeggio(per_beat) => {
                let count = u32::from(per_beat) * BEATS_PER_BAR;
                let step = 1.0 / f32::from(per_beat);
                let round = arpeggiate_chord(&chord);
                for index in 0..count {
                    let pitch = round[index as usize % round.len()];
                    let force = if index % u32::from(per_beat) == 0 { 0.7 } else { 0.55 };
                    strike(index as f32 * step, step * 1.6, &[pitch], force);
                }
            }
            PartRole::Bass(eighths) => {
                for (start, length, pitch) in bass_line(eighths, bass) {
                    strike(start, length, &[pitch], 0.8);
                }
            }
            PartRole::WalkingBass => {
                let next = section.degrees.get(bar + 1).copied().unwrap_or(0);
                let target = find_bass_root(&[degree_to_pitch(key, next)]);
                let approach = target + if approaches_from_above { 1 } else { -1 };
                let walk = build_walking_bass(bass, &harmony, approach);
                for (beat, pitch) in walk.into_iter().enumerate() {
                    strike(beat as f32, 0.92, &[pitch], 0.78);
                }
            }
            PartRole::Melody => {}
        }
    }
}

/// Start, length and pitch of each note, in beats. Some later notes are the fifth.
fn bass_line(eighths: &[u8], bass: i32) -> impl Iterator<Item = (f32, f32, i32)> {
    eighths.iter().enumerate().map(move |(index, eighth)| {
        let next = eighths.get(index + 1).map_or(8, |it| *it);
        let is_fifth = 4 <= *eighth && eighths.len() <= 4 && index % 2 == 1;
        let pitch = if is_fifth { bass + 7 } else { bass };
        (f32::from(*eighth) * 0.5, f32::from(next - eighth) * 0.5 * 0.9, pitch)
    })
}

/// One note per beat, leading to the root of the next bar.
fn build_walking_bass(bass: i32, harmony: &[i32], approach: i32) -> [i32; 4] {
    [bass, harmony_note(bass, harmony, 1), harmony_note(bass, harmony, 2), approach]
}

/// The chord's notes up and down again.
fn arpeggiate_chord(chord: &[i32]) -> Vec<i32> {
    let mut round = chord.to_vec();
    round.push(chord[0] + 12);
    let down: Vec<i32> = round[1..round.len() - 1].iter().rev().copied().collect();
    round.extend(down);
    round
}

/// The root of a chord in the bass range, from E1 to D#2.
fn find_bass_root(harmony: &[i32]) -> i32 {
    const LOWEST: i32 = 28;
    LOWEST + (harmony[0] - LOWEST).rem_euclid(12)
}

/// Another note of the chord, within an octave above the bass.
fn harmony_note(bass: i32, harmony: &[i32], place: usize) -> i32 {
    let note = harmony[place % harmony.len()];
    bass + (note - bass).rem_euclid(12)
}

fn build_drum_hits(
    plan: &SongPlan,
    style: &MusicStyle,
    sections: &[SongSection],
) -> Vec<crate::score::DrumHit> {
    let Some(groove) = style.groove.filter(|_| plan.has_drums) else { return Vec::new() };
    let mut random = SeededRandom::new(plan.seed, "drums");
    let mut hits = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        let is_end = number + 1 == sections.len();
        for bar in 0..section.degrees.len() {
            if is_end && 0 < bar {
                continue;
            }
            let start = ((section.first_bar + bar) * BEATS_PER_BAR as usize) as f32;
            let is_last = bar + 1 == section.degrees.len() && !is_end;
            let position = BarPosition { is_first: bar == 0, is_last };
            hits.extend(groove.build_bar(start, position, section.energy, &mut random));
        }
    }
    for hit in &mut hits {
        hit.start = delay_offbeat(hit.start, style.swing);
    }
    hits
}

fn apply_swing(notes: &mut [ScoreNote], amount: f32) {
    for note in notes {
        note.start = delay_offbeat(note.start, amount);
    }
}

/// Delays the second eighth of a beat.
fn delay_offbeat(start: f32, amount: f32) -> f32 {
    let within = start.rem_euclid(1.0);
    if (0.49..0.99).contains(&within) { start + amount * 0.5 } else { start }
}

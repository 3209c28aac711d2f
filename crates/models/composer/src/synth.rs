//! Instruments: each is a few lines of arithmetic over a note's pitch, length and force.

mod keys;
mod percussion;
mod plucked;
mod sustained;

pub(crate) use percussion::render_drum as play_drum;

use crate::random::SeededRandom;

const RATE: f32 = crate::SAMPLE_RATE as f32;
const TURN: f32 = std::f32::consts::TAU;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SynthInstrument {
    Bell,
    ChipLead,
    Distorted,
    DoubleBass,
    ElectricPiano,
    Flute,
    Guitar,
    Organ,
    Pad,
    Piano,
    Strings,
    SynthBass,
}

/// Frequency, length and force of a note.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToneParameters {
    pub(crate) hertz: f32,
    pub(crate) seconds: f32,
    pub(crate) force: f32,
}

impl SynthInstrument {
    const NAMES: [(&'static str, SynthInstrument); 15] = [
        ("bell", SynthInstrument::Bell),
        ("bells", SynthInstrument::Bell),
        ("vibraphone", SynthInstrument::Bell),
        ("synth", SynthInstrument::ChipLead),
        ("electric-guitar", SynthInstrument::Distorted),
        ("rhodes", SynthInstrument::ElectricPiano),
        ("flute", SynthInstrument::Flute),
        ("whistle", SynthInstrument::Flute),
        ("guitar", SynthInstrument::Guitar),
        ("harp", SynthInstrument::Guitar),
        ("organ", SynthInstrument::Organ),
        ("piano", SynthInstrument::Piano),
        ("violin", SynthInstrument::Strings),
        ("cello", SynthInstrument::Strings),
        ("strings", SynthInstrument::Strings),
    ];

    /// The instrument that a word of a prompt names.
    pub(crate) fn from_word(word: &str) -> Option<SynthInstrument> {
        SynthInstrument::NAMES
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, instrument)| *instrument)
    }

    pub fn name(self) -> &'static str {
        match self {
            SynthInstrument::Bell => "bell",
            SynthInstrument::ChipLead => "synth",
            SynthInstrument::Distorted => "electric-guitar",
            SynthInstrument::DoubleBass => "double-bass",
            SynthInstrument::ElectricPiano => "rhodes",
            SynthInstrument::Flute => "flute",
            SynthInstrument::Guitar => "guitar",
            SynthInstrument::Organ => "organ",
            SynthInstrument::Pad => "pad",
            SynthInstrument::Piano => "piano",
            SynthInstrument::Strings => "strings",
            SynthInstrument::SynthBass => "synth-bass",
        }
    }

    pub fn parse(name: &str) -> Option<SynthInstrument> {
        SynthInstrument::from_word(name)
    }

    /// The instrument's best octave, relative to the middle one.
    pub(crate) fn octave(self) -> i32 {
        match self {
            SynthInstrument::Bell | SynthInstrument::Flute | SynthInstrument::ChipLead => 1,
            SynthInstrument::DoubleBass | SynthInstrument::SynthBass => -2,
            _ => 0,
        }
    }

    /// Samples of one note, including its release.
    pub(crate) fn render_note(self, tone: ToneParameters, random: &mut SeededRandom) -> Vec<f32> {
        match self {
            SynthInstrument::Piano => keys::render_piano(tone, random),
            SynthInstrument::ElectricPiano => keys::render_electric_piano(tone),
            SynthInstrument::Bell => keys::render_bell(tone),
            SynthInstrument::Organ => keys::render_organ(tone),
            SynthInstrument::Guitar => plucked::render_guitar(tone, random),
            SynthInstrument::DoubleBass => plucked::render_double_bass(tone, random),
            SynthInstrument::Distorted => plucked::render_distorted_guitar(tone, random),
            SynthInstrument::Pad => sustained::render_pad(tone),
            SynthInstrument::Strings => sustained::render_strings(tone),
            SynthInstrument::Flute => sustained::render_flute(tone, random),
            SynthInstrument::ChipLead => sustained::render_chip_lead(tone),
            SynthInstrument::SynthBass => sustained::render_synth_bass(tone),
        }
    }
}

pub(crate) fn pitch_to_hertz(pitch: i32) -> f32 {
    440.0 * 2.0_f32.powf((pitch - 69) as f32 / 12.0)
}

/// Converts seconds to samples.
fn seconds_to_samples(seconds: f32) -> usize {
    (seconds.clamp(0.0, 60.0) * RATE) as usize
}

/// Envelope: attack, sustain, and release after the end of the note.
fn envelope_level(time: f32, length: f32, rise: f32, fall: f32) -> f32 {
    let risen = (time / rise).min(1.0);
    let left = if time < length { 1.0 } else { 1.0 - ((time - length) / fall).min(1.0) };
    risen * left * left
}

/// The number of overtones below the Nyquist limit, at most `most`.
fn count_overtones(hertz: f32, most: usize) -> usize {
    let fit = (RATE * 0.45 / hertz.max(1.0)) as usize;
    fit.clamp(1, most)
}

//! Instruments: each is a few lines of arithmetic over a note's pitch, length and force.

mod blown;
mod keys;
mod plucked;
mod struck;

pub(crate) use struck::play as play_drum;

use crate::random::Random;

const RATE: f32 = crate::SAMPLE_RATE as f32;
const TURN: f32 = std::f32::consts::TAU;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instrument {
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
pub(crate) struct Tone {
    pub(crate) hertz: f32,
    pub(crate) seconds: f32,
    pub(crate) force: f32,
}

impl Instrument {
    const NAMES: [(&'static str, Instrument); 15] = [
        ("bell", Instrument::Bell),
        ("bells", Instrument::Bell),
        ("vibraphone", Instrument::Bell),
        ("synth", Instrument::ChipLead),
        ("electric-guitar", Instrument::Distorted),
        ("rhodes", Instrument::ElectricPiano),
        ("flute", Instrument::Flute),
        ("whistle", Instrument::Flute),
        ("guitar", Instrument::Guitar),
        ("harp", Instrument::Guitar),
        ("organ", Instrument::Organ),
        ("piano", Instrument::Piano),
        ("violin", Instrument::Strings),
        ("cello", Instrument::Strings),
        ("strings", Instrument::Strings),
    ];

    /// The instrument that a word of a prompt names.
    pub(crate) fn named(word: &str) -> Option<Instrument> {
        Instrument::NAMES.iter().find(|(name, _)| *name == word).map(|(_, instrument)| *instrument)
    }

    pub fn name(self) -> &'static str {
        match self {
            Instrument::Bell => "bell",
            Instrument::ChipLead => "synth",
            Instrument::Distorted => "electric-guitar",
            Instrument::DoubleBass => "double-bass",
            Instrument::ElectricPiano => "rhodes",
            Instrument::Flute => "flute",
            Instrument::Guitar => "guitar",
            Instrument::Organ => "organ",
            Instrument::Pad => "pad",
            Instrument::Piano => "piano",
            Instrument::Strings => "strings",
            Instrument::SynthBass => "synth-bass",
        }
    }

    pub fn parse(name: &str) -> Option<Instrument> {
        Instrument::named(name)
    }

    /// The instrument's best octave, relative to the middle one.
    pub(crate) fn octave(self) -> i32 {
        match self {
            Instrument::Bell | Instrument::Flute | Instrument::ChipLead => 1,
            Instrument::DoubleBass | Instrument::SynthBass => -2,
            _ => 0,
        }
    }

    /// Samples of one note, including its release.
    pub(crate) fn play(self, tone: Tone, random: &mut Random) -> Vec<f32> {
        match self {
            Instrument::Piano => keys::piano(tone, random),
            Instrument::ElectricPiano => keys::electric_piano(tone),
            Instrument::Bell => keys::bell(tone),
            Instrument::Organ => keys::organ(tone),
            Instrument::Guitar => plucked::guitar(tone, random),
            Instrument::DoubleBass => plucked::double_bass(tone, random),
            Instrument::Distorted => plucked::distorted(tone, random),
            Instrument::Pad => blown::pad(tone),
            Instrument::Strings => blown::strings(tone),
            Instrument::Flute => blown::flute(tone, random),
            Instrument::ChipLead => blown::chip_lead(tone),
            Instrument::SynthBass => blown::synth_bass(tone),
        }
    }
}

pub(crate) fn hertz(pitch: i32) -> f32 {
    440.0 * 2.0_f32.powf((pitch - 69) as f32 / 12.0)
}

/// Converts seconds to samples.
fn samples(seconds: f32) -> usize {
    (seconds.clamp(0.0, 60.0) * RATE) as usize
}

/// Envelope: attack, sustain, and release after the end of the note.
fn held(time: f32, length: f32, rise: f32, fall: f32) -> f32 {
    let risen = (time / rise).min(1.0);
    let left = if time < length { 1.0 } else { 1.0 - ((time - length) / fall).min(1.0) };
    risen * left * left
}

/// The number of overtones below the Nyquist limit, at most `most`.
fn overtones(hertz: f32, most: usize) -> usize {
    let fit = (RATE * 0.45 / hertz.max(1.0)) as usize;
    fit.clamp(1, most)
}

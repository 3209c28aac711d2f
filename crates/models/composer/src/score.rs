//! The notes of a piece.

use crate::drums::DrumSound;
use crate::synth::SynthInstrument;

/// One note. Times are in beats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreNote {
    pub(crate) start: f32,
    pub(crate) length: f32,
    /// MIDI pitch: 60 is middle C.
    pub(crate) pitch: i32,
    /// From 0 to 1.
    pub(crate) force: f32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DrumHit {
    pub(crate) start: f32,
    pub(crate) drum: DrumSound,
    pub(crate) force: f32,
}

/// The notes of one instrument.
#[derive(Debug, Clone)]
pub(crate) struct InstrumentTrack {
    pub(crate) instrument: SynthInstrument,
    pub(crate) level: f32,
    /// -1 is left, 1 is right.
    pub(crate) pan: f32,
    pub(crate) notes: Vec<ScoreNote>,
}

#[derive(Debug, Clone)]
pub(crate) struct SongScore {
    pub(crate) tracks: Vec<InstrumentTrack>,
    pub(crate) hits: Vec<DrumHit>,
    pub(crate) drum_level: f32,
}

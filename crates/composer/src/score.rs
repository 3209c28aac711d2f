//! The notes of a piece.

use crate::drums::Drum;
use crate::synth::Instrument;

/// One note. Times are in beats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Note {
    pub(crate) start: f32,
    pub(crate) length: f32,
    /// MIDI pitch: 60 is middle C.
    pub(crate) pitch: i32,
    /// From 0 to 1.
    pub(crate) force: f32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) start: f32,
    pub(crate) drum: Drum,
    pub(crate) force: f32,
}

/// The notes of one instrument.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    pub(crate) instrument: Instrument,
    pub(crate) level: f32,
    /// -1 is left, 1 is right.
    pub(crate) pan: f32,
    pub(crate) notes: Vec<Note>,
}

#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) tracks: Vec<Track>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) drum_level: f32,
}

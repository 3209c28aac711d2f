//! The available styles, each as a table of instruments, tempo and patterns.

use std::ops::RangeInclusive;

use crate::drums::DrumGroove;
use crate::synth::SynthInstrument::{
    self, Bell, ChipLead, Distorted, DoubleBass, ElectricPiano, Flute, Guitar, Organ, Pad, Piano,
    Strings, SynthBass,
};
use crate::theory::ScaleMode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StyleName {
    Ambient,
    Bossa,
    Chiptune,
    Cinematic,
    Classical,
    Folk,
    House,
    Jazz,
    Lofi,
    Rock,
}

/// The role of an instrument in a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartRole {
    /// Chords held for the duration of the harmony.
    Held,
    /// Chords struck at these eighths of a bar.
    Struck(&'static [u8]),
    /// The chord's notes in turn, with this number of notes per beat.
    Arpeggio(u8),
    /// The root, at these eighths of a bar.
    Bass(&'static [u8]),
    /// A walking bass line, one note per beat.
    WalkingBass,
    Melody,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StylePart {
    pub(crate) instrument: SynthInstrument,
    pub(crate) role: PartRole,
    pub(crate) level: f32,
    pub(crate) pan: f32,
    /// Minimum energy of the sections in which it plays, from 1 to 3.
    pub(crate) enters: u8,
}

#[derive(Debug)]
pub(crate) struct MusicStyle {
    pub(crate) name: StyleName,
    /// Names of its genres, without hyphens; the first is the style's own name.
    pub(crate) genres: &'static [&'static str],
    /// Moods, places and instruments that suggest it, without hyphens.
    pub(crate) words: &'static [&'static str],
    pub(crate) bpm: RangeInclusive<u16>,
    pub(crate) mode: ScaleMode,
    /// Scale degrees, one per bar; 0 is the root.
    pub(crate) progressions: &'static [&'static [i32]],
    pub(crate) has_sevenths: bool,
    /// Delay of every second eighth, as a fraction of an eighth.
    pub(crate) swing: f32,
    pub(crate) groove: Option<DrumGroove>,
    pub(crate) parts: &'static [StylePart],
    /// Amount of reverb.
    pub(crate) room: f32,
    /// Density of melody notes, from 0 to 1.
    pub(crate) density: f32,
}

const fn build_part(
    instrument: SynthInstrument,
    role: PartRole,
    level: f32,
    pan: f32,
    enters: u8,
) -> StylePart {
    StylePart { instrument, role, level, pan, enters }
}

impl StyleName {
    pub const ALL: [StyleName; 10] = [
        StyleName::Ambient,
        StyleName::Bossa,
        StyleName::Chiptune,
        StyleName::Cinematic,
        StyleName::Classical,
        StyleName::Folk,
        StyleName::House,
        StyleName::Jazz,
        StyleName::Lofi,
        StyleName::Rock,
    ];

    pub fn name(self) -> &'static str {
        match self {
            StyleName::Ambient => "ambient",
            StyleName::Bossa => "bossa",
            StyleName::Chiptune => "chiptune",
            StyleName::Cinematic => "cinematic",
            StyleName::Classical => "classical",
            StyleName::Folk => "folk",
            StyleName::House => "house",
            StyleName::Jazz => "jazz",
            StyleName::Lofi => "lofi",
            StyleName::Rock => "rock",
        }
    }

    pub fn parse(name: &str) -> Option<StyleName> {
        StyleName::ALL.into_iter().find(|style| style.name() == name)
    }

    pub(crate) fn definition(self) -> &'static MusicStyle {
        let found = STYLES.iter().find(|style| style.name == self);
        found.unwrap_or(&STYLES[0])
    }
}

pub(crate) const STYLES: [MusicStyle; 10] = [
    MusicStyle {
        name: StyleName::Ambient,
        genres: &["ambient", "drone", "newage"],
        words: &[
            "calm",
            "meditation",
            "space",
            "sleep",
            "relax",
            "relaxing",
            "peaceful",
            "floating",
            "atmospheric",
            "dreamy",
            "yoga",
            "spa",
        ],
        bpm: 56..=72,
        mode: ScaleMode::Lydian,
        progressions: &[&[0, 4, 5, 3], &[0, 1, 5, 4], &[0, 2, 3, 0]],
        has_sevenths: true,
        swing: 0.0,
        groove: None,
        parts: &[
            build_part(Pad, PartRole::Held, 0.55, 0.0, 1),
            build_part(Strings, PartRole::Held, 0.25, -0.3, 2),
            build_part(Bell, PartRole::Arpeggio(1), 0.22, 0.4, 2),
            build_part(Flute, PartRole::Melody, 0.30, 0.1, 3),
        ],
        room: 0.55,
        density: 0.25,
    },
    MusicStyle {
        name: StyleName::Bossa,
        genres: &["bossa", "bossanova", "samba", "rumba", "salsa", "latin"],
        words: &["brazilian", "beach", "tropical"],
        bpm: 118..=138,
        mode: ScaleMode::Major,
        progressions: &[&[0, 5, 1, 4], &[1, 4, 0, 5], &[0, 0, 1, 4]],
        has_sevenths: true,
        swing: 0.0,
        groove: Some(DrumGroove::Bossa),
        parts: &[
            build_part(Guitar, PartRole::Struck(&[0, 3, 5]), 0.5, -0.25, 1),
            build_part(DoubleBass, PartRole::Bass(&[0, 3, 4, 7]), 0.6, 0.0, 1),
            build_part(Flute, PartRole::Melody, 0.45, 0.2, 2),
            build_part(ElectricPiano, PartRole::Held, 0.2, 0.4, 3),
        ],
        room: 0.22,
        density: 0.55,
    },
    MusicStyle {
        name: StyleName::Chiptune,
        genres: &["chiptune", "8bit", "16bit", "videogame"],
        words: &["game", "retro", "arcade", "pixel", "nintendo"],
        bpm: 138..=164,
        mode: ScaleMode::Minor,
        progressions: &[&[0, 5, 2, 6], &[0, 3, 6, 2], &[0, 6, 5, 6]],
        has_sevenths: false,
        swing: 0.0,
        groove: Some(DrumGroove::Chip),
        parts: &[
            build_part(ChipLead, PartRole::Arpeggio(4), 0.22, -0.35, 1),
            build_part(SynthBass, PartRole::Bass(&[0, 1, 2, 3, 4, 5, 6, 7]), 0.4, 0.0, 1),
            build_part(ChipLead, PartRole::Melody, 0.34, 0.2, 2),
        ],
        room: 0.05,
        density: 0.75,
    },
    MusicStyle {
        name: StyleName::Cinematic,
        genres: &["cinematic", "orchestral", "soundtrack"],
        words: &[
            "epic",
            "orchestra",
            "film",
            "movie",
            "trailer",
            "heroic",
            "dramatic",
            "battle",
            "adventure",
            "fantasy",
        ],
        bpm: 84..=104,
        mode: ScaleMode::Minor,
        progressions: &[&[0, 5, 2, 6], &[0, 3, 5, 4], &[0, 6, 5, 4]],
        has_sevenths: false,
        swing: 0.0,
        groove: Some(DrumGroove::Cinematic),
        parts: &[
            build_part(Strings, PartRole::Held, 0.5, 0.15, 1),
            build_part(Strings, PartRole::Arpeggio(4), 0.3, -0.3, 2),
            build_part(DoubleBass, PartRole::Bass(&[0, 4]), 0.5, 0.0, 1),
            build_part(Organ, PartRole::Held, 0.16, 0.0, 3),
            build_part(Strings, PartRole::Melody, 0.42, 0.1, 3),
        ],
        room: 0.42,
        density: 0.4,
    },
    MusicStyle {
        name: StyleName::Classical,
        genres: &["classical", "sonata", "waltz", "baroque", "nocturne"],
        words: &["piano", "romantic", "chamber", "mozartlike", "elegant"],
        bpm: 88..=116,
        mode: ScaleMode::Major,
        progressions: &[&[0, 4, 5, 3, 0, 3, 4, 0], &[0, 3, 4, 0, 5, 1, 4, 0], &[0, 5, 3, 4]],
        has_sevenths: false,
        swing: 0.0,
        groove: None,
        parts: &[
            build_part(Piano, PartRole::Arpeggio(2), 0.42, -0.15, 1),
            build_part(Piano, PartRole::Bass(&[0]), 0.4, -0.1, 1),
            build_part(Piano, PartRole::Melody, 0.6, 0.12, 1),
            build_part(Strings, PartRole::Held, 0.16, 0.0, 3),
        ],
        room: 0.3,
        density: 0.6,
    },
    MusicStyle {
        name: StyleName::Folk,
        genres: &["folk", "country", "celtic", "americana", "bluegrass"],
        words: &["acoustic", "campfire", "guitar", "ballad"],
        bpm: 92..=116,
        mode: ScaleMode::Mixolydian,
        progressions: &[&[0, 6, 3, 0], &[0, 3, 0, 4], &[0, 4, 5, 3]],
        has_sevenths: false,
        swing: 0.08,
        groove: Some(DrumGroove::Shaker),
        parts: &[
            build_part(Guitar, PartRole::Arpeggio(2), 0.5, -0.3, 1),
            build_part(Guitar, PartRole::Struck(&[0, 2, 3, 5, 6]), 0.3, 0.35, 2),
            build_part(DoubleBass, PartRole::Bass(&[0, 4]), 0.45, 0.0, 2),
            build_part(Flute, PartRole::Melody, 0.36, 0.1, 2),
        ],
        room: 0.2,
        density: 0.5,
    },
    MusicStyle {
        name: StyleName::House,
        genres: &["house", "techno", "edm", "trance", "disco", "electro"],
        words: &["dance", "electronic", "club", "party", "rave"],
        bpm: 120..=128,
        mode: ScaleMode::Minor,
        progressions: &[&[0, 5, 3, 6], &[0, 0, 5, 6], &[0, 3, 5, 4]],
        has_sevenths: true,
        swing: 0.0,
        groove: Some(DrumGroove::House),
        parts: &[
            build_part(Pad, PartRole::Struck(&[1, 3, 5, 7]), 0.36, 0.2, 1),
            build_part(SynthBass, PartRole::Bass(&[1, 3, 5, 7]), 0.55, 0.0, 1),
            build_part(Bell, PartRole::Arpeggio(4), 0.18, -0.35, 2),
            build_part(ChipLead, PartRole::Melody, 0.18, 0.15, 3),
        ],
        room: 0.18,
        density: 0.5,
    },
    MusicStyle {
        name: StyleName::Jazz,
        genres: &["jazz", "swing", "bebop", "blues", "bigband"],
        words: &["saxophone", "lounge", "smoky", "noir"],
        bpm: 132..=164,
        mode: ScaleMode::Dorian,
        progressions: &[&[1, 4, 0, 5], &[0, 5, 1, 4], &[0, 3, 1, 4]],
        has_sevenths: true,
        swing: 0.33,
        groove: Some(DrumGroove::Swing),
        parts: &[
            build_part(DoubleBass, PartRole::WalkingBass, 0.6, 0.0, 1),
            build_part(Piano, PartRole::Struck(&[1, 6]), 0.42, -0.25, 1),
            build_part(ElectricPiano, PartRole::Melody, 0.46, 0.25, 2),
        ],
        room: 0.2,
        density: 0.7,
    },
    MusicStyle {
        name: StyleName::Lofi,
        genres: &["lofi", "hiphop", "chillhop", "trap"],
        words: &["chill", "study", "beat", "beats", "rain", "rainy", "coffee", "mellow", "cozy"],
        bpm: 70..=86,
        mode: ScaleMode::Minor,
        progressions: &[&[3, 4, 2, 5], &[0, 5, 3, 6], &[1, 4, 0, 0]],
        has_sevenths: true,
        swing: 0.2,
        groove: Some(DrumGroove::Lofi),
        parts: &[
            build_part(ElectricPiano, PartRole::Struck(&[0, 3]), 0.5, -0.1, 1),
            build_part(SynthBass, PartRole::Bass(&[0, 3, 5]), 0.5, 0.0, 1),
            build_part(Guitar, PartRole::Melody, 0.34, 0.25, 2),
            build_part(Pad, PartRole::Held, 0.14, 0.0, 3),
        ],
        room: 0.24,
        density: 0.35,
    },
    MusicStyle {
        name: StyleName::Rock,
        genres: &["rock", "metal", "punk", "grunge"],
        words: &["loud", "electricguitar", "energetic", "aggressive", "stadium", "garage"],
        bpm: 116..=148,
        mode: ScaleMode::Minor,
        progressions: &[&[0, 5, 6, 0], &[0, 3, 5, 6], &[0, 6, 3, 4]],
        has_sevenths: false,
        swing: 0.0,
        groove: Some(DrumGroove::Rock),
        parts: &[
            build_part(Distorted, PartRole::Struck(&[0, 1, 2, 3, 4, 5, 6, 7]), 0.42, -0.5, 1),
            build_part(Distorted, PartRole::Struck(&[0, 3, 6]), 0.36, 0.5, 2),
            build_part(SynthBass, PartRole::Bass(&[0, 1, 2, 3, 4, 5, 6, 7]), 0.5, 0.0, 1),
            build_part(Distorted, PartRole::Melody, 0.3, 0.1, 3),
        ],
        room: 0.14,
        density: 0.55,
    },
];

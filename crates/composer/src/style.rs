//! The available styles, each as a table of instruments, tempo and patterns.

use crate::drums::Groove;
use crate::synth::Instrument::{
    self, Bell, ChipLead, Distorted, DoubleBass, ElectricPiano, Flute, Guitar, Organ, Pad, Piano,
    Strings, SynthBass,
};
use crate::theory::Mode;

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
pub(crate) enum Role {
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
pub(crate) struct Part {
    pub(crate) instrument: Instrument,
    pub(crate) role: Role,
    pub(crate) level: f32,
    pub(crate) pan: f32,
    /// Minimum energy of the sections in which it plays, from 1 to 3.
    pub(crate) enters: u8,
}

#[derive(Debug)]
pub(crate) struct Style {
    pub(crate) name: StyleName,
    /// Names of its genres, without hyphens; the first is the style's own name.
    pub(crate) genres: &'static [&'static str],
    /// Moods, places and instruments that suggest it, without hyphens.
    pub(crate) words: &'static [&'static str],
    pub(crate) bpm: (u16, u16),
    pub(crate) mode: Mode,
    /// Scale degrees, one per bar; 0 is the root.
    pub(crate) progressions: &'static [&'static [i32]],
    pub(crate) has_sevenths: bool,
    /// Delay of every second eighth, as a fraction of an eighth.
    pub(crate) swing: f32,
    pub(crate) groove: Option<Groove>,
    pub(crate) parts: &'static [Part],
    /// Amount of reverb.
    pub(crate) room: f32,
    /// Density of melody notes, from 0 to 1.
    pub(crate) density: f32,
}

const fn part(instrument: Instrument, role: Role, level: f32, pan: f32, enters: u8) -> Part {
    Part { instrument, role, level, pan, enters }
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

    pub(crate) fn style(self) -> &'static Style {
        let found = STYLES.iter().find(|style| style.name == self);
        found.unwrap_or(&STYLES[0])
    }
}

pub(crate) const STYLES: [Style; 10] = [
    Style {
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
        bpm: (56, 72),
        mode: Mode::Lydian,
        progressions: &[&[0, 4, 5, 3], &[0, 1, 5, 4], &[0, 2, 3, 0]],
        has_sevenths: true,
        swing: 0.0,
        groove: None,
        parts: &[
            part(Pad, Role::Held, 0.55, 0.0, 1),
            part(Strings, Role::Held, 0.25, -0.3, 2),
            part(Bell, Role::Arpeggio(1), 0.22, 0.4, 2),
            part(Flute, Role::Melody, 0.30, 0.1, 3),
        ],
        room: 0.55,
        density: 0.25,
    },
    Style {
        name: StyleName::Bossa,
        genres: &["bossa", "bossanova", "samba", "rumba", "salsa", "latin"],
        words: &["brazilian", "beach", "tropical"],
        bpm: (118, 138),
        mode: Mode::Major,
        progressions: &[&[0, 5, 1, 4], &[1, 4, 0, 5], &[0, 0, 1, 4]],
        has_sevenths: true,
        swing: 0.0,
        groove: Some(Groove::Bossa),
        parts: &[
            part(Guitar, Role::Struck(&[0, 3, 5]), 0.5, -0.25, 1),
            part(DoubleBass, Role::Bass(&[0, 3, 4, 7]), 0.6, 0.0, 1),
            part(Flute, Role::Melody, 0.45, 0.2, 2),
            part(ElectricPiano, Role::Held, 0.2, 0.4, 3),
        ],
        room: 0.22,
        density: 0.55,
    },
    Style {
        name: StyleName::Chiptune,
        genres: &["chiptune", "8bit", "16bit", "videogame"],
        words: &["game", "retro", "arcade", "pixel", "nintendo"],
        bpm: (138, 164),
        mode: Mode::Minor,
        progressions: &[&[0, 5, 2, 6], &[0, 3, 6, 2], &[0, 6, 5, 6]],
        has_sevenths: false,
        swing: 0.0,
        groove: Some(Groove::Chip),
        parts: &[
            part(ChipLead, Role::Arpeggio(4), 0.22, -0.35, 1),
            part(SynthBass, Role::Bass(&[0, 1, 2, 3, 4, 5, 6, 7]), 0.4, 0.0, 1),
            part(ChipLead, Role::Melody, 0.34, 0.2, 2),
        ],
        room: 0.05,
        density: 0.75,
    },
    Style {
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
        bpm: (84, 104),
        mode: Mode::Minor,
        progressions: &[&[0, 5, 2, 6], &[0, 3, 5, 4], &[0, 6, 5, 4]],
        has_sevenths: false,
        swing: 0.0,
        groove: Some(Groove::Cinematic),
        parts: &[
            part(Strings, Role::Held, 0.5, 0.15, 1),
            part(Strings, Role::Arpeggio(4), 0.3, -0.3, 2),
            part(DoubleBass, Role::Bass(&[0, 4]), 0.5, 0.0, 1),
            part(Organ, Role::Held, 0.16, 0.0, 3),
            part(Strings, Role::Melody, 0.42, 0.1, 3),
        ],
        room: 0.42,
        density: 0.4,
    },
    Style {
        name: StyleName::Classical,
        genres: &["classical", "sonata", "waltz", "baroque", "nocturne"],
        words: &["piano", "romantic", "chamber", "mozartlike", "elegant"],
        bpm: (88, 116),
        mode: Mode::Major,
        progressions: &[&[0, 4, 5, 3, 0, 3, 4, 0], &[0, 3, 4, 0, 5, 1, 4, 0], &[0, 5, 3, 4]],
        has_sevenths: false,
        swing: 0.0,
        groove: None,
        parts: &[
            part(Piano, Role::Arpeggio(2), 0.42, -0.15, 1),
            part(Piano, Role::Bass(&[0]), 0.4, -0.1, 1),
            part(Piano, Role::Melody, 0.6, 0.12, 1),
            part(Strings, Role::Held, 0.16, 0.0, 3),
        ],
        room: 0.3,
        density: 0.6,
    },
    Style {
        name: StyleName::Folk,
        genres: &["folk", "country", "celtic", "americana", "bluegrass"],
        words: &["acoustic", "campfire", "guitar", "ballad"],
        bpm: (92, 116),
        mode: Mode::Mixolydian,
        progressions: &[&[0, 6, 3, 0], &[0, 3, 0, 4], &[0, 4, 5, 3]],
        has_sevenths: false,
        swing: 0.08,
        groove: Some(Groove::Shaker),
        parts: &[
            part(Guitar, Role::Arpeggio(2), 0.5, -0.3, 1),
            part(Guitar, Role::Struck(&[0, 2, 3, 5, 6]), 0.3, 0.35, 2),
            part(DoubleBass, Role::Bass(&[0, 4]), 0.45, 0.0, 2),
            part(Flute, Role::Melody, 0.36, 0.1, 2),
        ],
        room: 0.2,
        density: 0.5,
    },
    Style {
        name: StyleName::House,
        genres: &["house", "techno", "edm", "trance", "disco", "electro"],
        words: &["dance", "electronic", "club", "party", "rave"],
        bpm: (120, 128),
        mode: Mode::Minor,
        progressions: &[&[0, 5, 3, 6], &[0, 0, 5, 6], &[0, 3, 5, 4]],
        has_sevenths: true,
        swing: 0.0,
        groove: Some(Groove::House),
        parts: &[
            part(Pad, Role::Struck(&[1, 3, 5, 7]), 0.36, 0.2, 1),
            part(SynthBass, Role::Bass(&[1, 3, 5, 7]), 0.55, 0.0, 1),
            part(Bell, Role::Arpeggio(4), 0.18, -0.35, 2),
            part(ChipLead, Role::Melody, 0.18, 0.15, 3),
        ],
        room: 0.18,
        density: 0.5,
    },
    Style {
        name: StyleName::Jazz,
        genres: &["jazz", "swing", "bebop", "blues", "bigband"],
        words: &["saxophone", "lounge", "smoky", "noir"],
        bpm: (132, 164),
        mode: Mode::Dorian,
        progressions: &[&[1, 4, 0, 5], &[0, 5, 1, 4], &[0, 3, 1, 4]],
        has_sevenths: true,
        swing: 0.33,
        groove: Some(Groove::Swing),
        parts: &[
            part(DoubleBass, Role::WalkingBass, 0.6, 0.0, 1),
            part(Piano, Role::Struck(&[1, 6]), 0.42, -0.25, 1),
            part(ElectricPiano, Role::Melody, 0.46, 0.25, 2),
        ],
        room: 0.2,
        density: 0.7,
    },
    Style {
        name: StyleName::Lofi,
        genres: &["lofi", "hiphop", "chillhop", "trap"],
        words: &["chill", "study", "beat", "beats", "rain", "rainy", "coffee", "mellow", "cozy"],
        bpm: (70, 86),
        mode: Mode::Minor,
        progressions: &[&[3, 4, 2, 5], &[0, 5, 3, 6], &[1, 4, 0, 0]],
        has_sevenths: true,
        swing: 0.2,
        groove: Some(Groove::Lofi),
        parts: &[
            part(ElectricPiano, Role::Struck(&[0, 3]), 0.5, -0.1, 1),
            part(SynthBass, Role::Bass(&[0, 3, 5]), 0.5, 0.0, 1),
            part(Guitar, Role::Melody, 0.34, 0.25, 2),
            part(Pad, Role::Held, 0.14, 0.0, 3),
        ],
        room: 0.24,
        density: 0.35,
    },
    Style {
        name: StyleName::Rock,
        genres: &["rock", "metal", "punk", "grunge"],
        words: &["loud", "electricguitar", "energetic", "aggressive", "stadium", "garage"],
        bpm: (116, 148),
        mode: Mode::Minor,
        progressions: &[&[0, 5, 6, 0], &[0, 3, 5, 6], &[0, 6, 3, 4]],
        has_sevenths: false,
        swing: 0.0,
        groove: Some(Groove::Rock),
        parts: &[
            part(Distorted, Role::Struck(&[0, 1, 2, 3, 4, 5, 6, 7]), 0.42, -0.5, 1),
            part(Distorted, Role::Struck(&[0, 3, 6]), 0.36, 0.5, 2),
            part(SynthBass, Role::Bass(&[0, 1, 2, 3, 4, 5, 6, 7]), 0.5, 0.0, 1),
            part(Distorted, Role::Melody, 0.3, 0.1, 3),
        ],
        room: 0.14,
        density: 0.55,
    },
];

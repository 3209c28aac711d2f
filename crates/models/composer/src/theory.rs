//! Scales and chords.

/// The scale of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleMode {
    Major,
    Minor,
    Dorian,
    Mixolydian,
    Lydian,
}

impl ScaleMode {
    /// Semitones above the root.
    pub(crate) fn steps(self) -> [i32; 7] {
        match self {
            ScaleMode::Major => [0, 2, 4, 5, 7, 9, 11],
            ScaleMode::Minor => [0, 2, 3, 5, 7, 8, 10],
            ScaleMode::Dorian => [0, 2, 3, 5, 7, 9, 10],
            ScaleMode::Mixolydian => [0, 2, 4, 5, 7, 9, 10],
            ScaleMode::Lydian => [0, 2, 4, 6, 7, 9, 11],
        }
    }

    pub fn parse(name: &str) -> Option<ScaleMode> {
        let all = [
            ScaleMode::Major,
            ScaleMode::Minor,
            ScaleMode::Dorian,
            ScaleMode::Mixolydian,
            ScaleMode::Lydian,
        ];
        all.into_iter().find(|mode| mode.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            ScaleMode::Major => "major",
            ScaleMode::Minor => "minor",
            ScaleMode::Dorian => "dorian",
            ScaleMode::Mixolydian => "mixolydian",
            ScaleMode::Lydian => "lydian",
        }
    }
}

/// The root's pitch, and the scale above it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScaleKey {
    pub(crate) root: i32,
    pub(crate) mode: ScaleMode,
}

/// The pitch of a scale degree; degree 7 is the root an octave higher.
pub(crate) fn degree_to_pitch(key: ScaleKey, degree: i32) -> i32 {
    let steps = key.mode.steps();
    let place = usize::try_from(degree.rem_euclid(7)).unwrap_or(0);
    key.root + 12 * degree.div_euclid(7) + steps[place]
}

/// The chord on a degree, in thirds: three notes, or four with a seventh.
pub(crate) fn build_chord(key: ScaleKey, degree: i32, has_seventh: bool) -> Vec<i32> {
    let thirds: &[i32] = if has_seventh { &[0, 2, 4, 6] } else { &[0, 2, 4] };
    thirds.iter().map(|third| degree_to_pitch(key, degree + third)).collect()
}

/// The chord with each note in the octave nearest to the previous chord, so that voices move
/// little.
pub(crate) fn voice_chord(chord: &[i32], before: &[i32], around: i32) -> Vec<i32> {
    let centre = if before.is_empty() {
        around
    } else {
        before.iter().sum::<i32>() / i32::try_from(before.len()).unwrap_or(1)
    };
    // Moves back towards the instrument's best range.
    let centre = (centre * 3 + around) / 4;
    let mut notes: Vec<i32> = chord
        .iter()
        .map(|note| {
            let octaves = (centre - note + 6).div_euclid(12);
            note + 12 * octaves
        })
        .collect();
    notes.sort_unstable();
    notes
}

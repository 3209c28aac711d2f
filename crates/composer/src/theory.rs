//! Scales and chords.

/// The scale of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Major,
    Minor,
    Dorian,
    Mixolydian,
    Lydian,
}

impl Mode {
    /// Semitones above the root.
    pub(crate) fn steps(self) -> [i32; 7] {
        match self {
            Mode::Major => [0, 2, 4, 5, 7, 9, 11],
            Mode::Minor => [0, 2, 3, 5, 7, 8, 10],
            Mode::Dorian => [0, 2, 3, 5, 7, 9, 10],
            Mode::Mixolydian => [0, 2, 4, 5, 7, 9, 10],
            Mode::Lydian => [0, 2, 4, 6, 7, 9, 11],
        }
    }

    pub fn parse(name: &str) -> Option<Mode> {
        let all = [Mode::Major, Mode::Minor, Mode::Dorian, Mode::Mixolydian, Mode::Lydian];
        all.into_iter().find(|mode| mode.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Mode::Major => "major",
            Mode::Minor => "minor",
            Mode::Dorian => "dorian",
            Mode::Mixolydian => "mixolydian",
            Mode::Lydian => "lydian",
        }
    }
}

/// The pitch of a scale degree; degree 7 is the root an octave higher.
pub(crate) fn pitch(root: i32, mode: Mode, degree: i32) -> i32 {
    let steps = mode.steps();
    let place = usize::try_from(degree.rem_euclid(7)).unwrap_or(0);
    root + 12 * degree.div_euclid(7) + steps[place]
}

/// The chord on a degree, in thirds: three notes, or four with a seventh.
pub(crate) fn chord(root: i32, mode: Mode, degree: i32, has_seventh: bool) -> Vec<i32> {
    let thirds: &[i32] = if has_seventh { &[0, 2, 4, 6] } else { &[0, 2, 4] };
    thirds.iter().map(|third| pitch(root, mode, degree + third)).collect()
}

/// The chord with each note in the octave nearest to the previous chord, so that voices move
/// little.
pub(crate) fn voiced(chord: &[i32], before: &[i32], around: i32) -> Vec<i32> {
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

//! Drum patterns of one bar in sixteenths.

use crate::random::SeededRandom;
use crate::score::DrumHit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrumSound {
    Kick,
    Snare,
    Rim,
    Clap,
    Hat,
    OpenHat,
    Ride,
    Shaker,
    Tom,
    Crash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrumGroove {
    Bossa,
    Chip,
    Cinematic,
    House,
    Lofi,
    Rock,
    Shaker,
    Swing,
}

/// The position of a bar in its section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BarPosition {
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
}

/// One character per sixteenth: `X` is hard, `x` is soft, `.` is silence.
type DrumPattern = (DrumSound, &'static str);

impl DrumGroove {
    fn drum_patterns(self) -> &'static [DrumPattern] {
        match self {
            DrumGroove::Bossa => &[
                (DrumSound::Kick, "X.....x.X.....x."),
                (DrumSound::Rim, "X..x..x...x..x.."),
                (DrumSound::Hat, "x.x.x.x.x.x.x.x."),
            ],
            DrumGroove::Chip => &[
                (DrumSound::Kick, "X...x...X.x.x..."),
                (DrumSound::Snare, "....X.......X..."),
                (DrumSound::Hat, "x.x.x.x.x.x.x.xx"),
            ],
            DrumGroove::Cinematic => &[
                (DrumSound::Tom, "X..x..x.X..x..x."),
                (DrumSound::Kick, "X.......X......."),
                (DrumSound::Crash, "................"),
            ],
            DrumGroove::House => &[
                (DrumSound::Kick, "X...X...X...X..."),
                (DrumSound::Clap, "....X.......X..."),
                (DrumSound::OpenHat, "..x...x...x...x."),
                (DrumSound::Hat, "x.x.x.x.x.x.x.x."),
            ],
            DrumGroove::Lofi => &[
                (DrumSound::Kick, "X......x.xX....."),
                (DrumSound::Snare, "....X.......X..x"),
                (DrumSound::Hat, "x.x.x.x.x.x.x.x."),
            ],
            DrumGroove::Rock => &[
                (DrumSound::Kick, "X.....x.X.x....."),
                (DrumSound::Snare, "....X.......X..."),
                (DrumSound::Hat, "X.x.X.x.X.x.X.x."),
            ],
            DrumGroove::Shaker => &[
                (DrumSound::Shaker, "X.x.x.x.X.x.x.x."),
                (DrumSound::Kick, "X.......x......."),
                (DrumSound::Rim, "....x.......x..."),
            ],
            DrumGroove::Swing => &[
                (DrumSound::Ride, "X...X.x.X...X.x."),
                (DrumSound::Hat, "....x.......x..."),
                (DrumSound::Kick, "x.......x......."),
            ],
        }
    }

    /// The hits of one bar. The first bar of a section starts with a crash, the last one has a
    /// fill.
    pub(crate) fn build_bar(
        self,
        start: f32,
        position: BarPosition,
        energy: u8,
        random: &mut SeededRandom,
    ) -> Vec<DrumHit> {
        let mut hits = Vec::new();
        for (drum, line) in self.drum_patterns() {
            let is_light = matches!(
                drum,
                DrumSound::Hat | DrumSound::Ride | DrumSound::Shaker | DrumSound::Rim
            );
            if energy == 1 && !is_light {
                continue;
            }
            for (sixteenth, letter) in line.chars().enumerate() {
                let force = match letter {
                    'X' => 0.95,
                    'x' => 0.6,
                    _ => continue,
                };
                if position.is_last && 12 <= sixteenth {
                    continue;
                }
                let force = force + random.next_noise() * 0.05;
                hits.push(DrumHit { start: start + sixteenth as f32 / 4.0, drum: *drum, force });
            }
        }
        if position.is_last && 1 < energy {
            let fill =
                if self == DrumGroove::Cinematic { DrumSound::Tom } else { DrumSound::Snare };
            for sixteenth in 12..16 {
                let force = 0.5 + 0.12 * (sixteenth - 12) as f32;
                hits.push(DrumHit { start: start + sixteenth as f32 / 4.0, drum: fill, force });
            }
        }
        if position.is_first && 2 < energy {
            hits.push(DrumHit { start, drum: DrumSound::Crash, force: 0.7 });
        }
        hits
    }
}

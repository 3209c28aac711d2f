//! Drum patterns of one bar in sixteenths.

use crate::random::Random;
use crate::score::Hit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drum {
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
pub(crate) enum Groove {
    Bossa,
    Chip,
    Cinematic,
    House,
    Lofi,
    Rock,
    Shaker,
    Swing,
}

/// One character per sixteenth: `X` is hard, `x` is soft, `.` is silence.
type Line = (Drum, &'static str);

impl Groove {
    fn lines(self) -> &'static [Line] {
        match self {
            Groove::Bossa => &[
                (Drum::Kick, "X.....x.X.....x."),
                (Drum::Rim, "X..x..x...x..x.."),
                (Drum::Hat, "x.x.x.x.x.x.x.x."),
            ],
            Groove::Chip => &[
                (Drum::Kick, "X...x...X.x.x..."),
                (Drum::Snare, "....X.......X..."),
                (Drum::Hat, "x.x.x.x.x.x.x.xx"),
            ],
            Groove::Cinematic => &[
                (Drum::Tom, "X..x..x.X..x..x."),
                (Drum::Kick, "X.......X......."),
                (Drum::Crash, "................"),
            ],
            Groove::House => &[
                (Drum::Kick, "X...X...X...X..."),
                (Drum::Clap, "....X.......X..."),
                (Drum::OpenHat, "..x...x...x...x."),
                (Drum::Hat, "x.x.x.x.x.x.x.x."),
            ],
            Groove::Lofi => &[
                (Drum::Kick, "X......x.xX....."),
                (Drum::Snare, "....X.......X..x"),
                (Drum::Hat, "x.x.x.x.x.x.x.x."),
            ],
            Groove::Rock => &[
                (Drum::Kick, "X.....x.X.x....."),
                (Drum::Snare, "....X.......X..."),
                (Drum::Hat, "X.x.X.x.X.x.X.x."),
            ],
            Groove::Shaker => &[
                (Drum::Shaker, "X.x.x.x.X.x.x.x."),
                (Drum::Kick, "X.......x......."),
                (Drum::Rim, "....x.......x..."),
            ],
            Groove::Swing => &[
                (Drum::Ride, "X...X.x.X...X.x."),
                (Drum::Hat, "....x.......x..."),
                (Drum::Kick, "x.......x......."),
            ],
        }
    }

    /// The hits of one bar. The first bar of a section starts with a crash, the last one has a
    /// fill.
    pub(crate) fn bar(
        self,
        start: f32,
        (is_first, is_last): (bool, bool),
        energy: u8,
        random: &mut Random,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (drum, line) in self.lines() {
            let is_light = matches!(drum, Drum::Hat | Drum::Ride | Drum::Shaker | Drum::Rim);
            if energy == 1 && !is_light {
                continue;
            }
            for (sixteenth, letter) in line.chars().enumerate() {
                let force = match letter {
                    'X' => 0.95,
                    'x' => 0.6,
                    _ => continue,
                };
                if is_last && 12 <= sixteenth {
                    continue;
                }
                let force = force + random.noise() * 0.05;
                hits.push(Hit { start: start + sixteenth as f32 / 4.0, drum: *drum, force });
            }
        }
        if is_last && 1 < energy {
            let fill = if self == Groove::Cinematic { Drum::Tom } else { Drum::Snare };
            for sixteenth in 12..16 {
                let force = 0.5 + 0.12 * (sixteenth - 12) as f32;
                hits.push(Hit { start: start + sixteenth as f32 / 4.0, drum: fill, force });
            }
        }
        if is_first && 2 < energy {
            hits.push(Hit { start, drum: Drum::Crash, force: 0.7 });
        }
        hits
    }
}

//! Prices of music and video requests.

use super::{MusicPrice, UnitRate, VideoPrice};

/// A number of units at their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedLine {
    pub unit: QueuedUnit,
    pub units: u64,
    /// Per unit.
    pub rate: UnitRate,
}

/// The unit of a billing line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueuedUnit {
    Generation,
    Second,
    /// Shown per thousand characters.
    Character,
}

impl QueuedUnit {
    pub fn name(self) -> &'static str {
        match self {
            QueuedUnit::Generation => "generation",
            QueuedUnit::Second => "second",
            QueuedUnit::Character => "kchar",
        }
    }
}

impl MusicPrice {
    /// `None` if the price depends on a length or a character count that is unknown.
    pub fn line(&self, seconds: Option<u64>, characters: Option<u64>) -> Option<QueuedLine> {
        let line = |unit, units, rate| QueuedLine { unit, units, rate };
        match self {
            MusicPrice::PerGeneration(rate) => Some(line(QueuedUnit::Generation, 1, *rate)),
            MusicPrice::PerSecond(rate) => Some(line(QueuedUnit::Second, seconds?, *rate)),
            MusicPrice::PerThousandCharacters(rate) => {
                Some(line(QueuedUnit::Character, characters?, *rate))
            }
            MusicPrice::ByDuration(bands) => {
                let seconds = seconds?;
                let band = bands.iter().find(|it| (it.min_s..=it.max_s).contains(&seconds))?;
                Some(line(QueuedUnit::Generation, 1, band.rate))
            }
        }
    }
}

impl VideoPrice {
    /// The amounts per video and per second, for each that has a price.
    pub fn lines(
        &self,
        seconds: Option<u64>,
        resolution: Option<&str>,
        has_audio: bool,
    ) -> Vec<QueuedLine> {
        let whole = self.per_generation.map(|rate| (QueuedUnit::Generation, 1, rate));
        let timed = seconds.zip(self.rates(resolution)).map(|(seconds, rates)| {
            let rate = if has_audio { rates.with_audio } else { rates.silent };
            (QueuedUnit::Second, seconds, rate)
        });
        let line = |(unit, units, rate)| QueuedLine { unit, units, rate };
        whole.into_iter().chain(timed).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use money::{Nano, Price, PriceUnits};

    use super::*;
    use crate::pricing::{DurationBand, VideoRates};

    fn rate(usd: &str) -> UnitRate {
        UnitRate::at_par(Price::parse(usd, PriceUnits::One).unwrap())
    }

    fn cost(lines: &[QueuedLine]) -> Nano {
        let lines: Vec<(u64, UnitRate)> = lines.iter().map(|it| (it.units, it.rate)).collect();
        money::WorkCost::sum_lines(&lines).usd
    }

    #[test]
    fn music_is_priced_by_its_band_of_lengths() {
        let band = |min_s, max_s, usd| DurationBand { min_s, max_s, rate: rate(usd) };
        let price = MusicPrice::ByDuration(vec![band(1, 60, "0.03"), band(61, 90, "0.04")]);
        let of = |seconds| price.line(Some(seconds), None).map(|line| cost(&[line]));
        assert_eq!(of(60), Nano::parse("0.03").ok());
        assert_eq!(of(61), Nano::parse("0.04").ok());
        assert_eq!(of(91), None);
        assert_eq!(price.line(None, None), None);
    }

    #[test]
    fn a_video_costs_its_generation_and_its_seconds() {
        let silent = |usd, with| VideoRates { silent: rate(usd), with_audio: rate(with) };
        let price = VideoPrice {
            per_generation: Some(rate("0.05")),
            per_second: Some(silent("0.10", "0.15")),
            resolutions: BTreeMap::from([("1080p".to_owned(), silent("0.20", "0.20"))]),
        };
        assert_eq!(cost(&price.lines(Some(5), None, true)), Nano::parse("0.80").unwrap());
        assert_eq!(cost(&price.lines(Some(5), Some("720p"), false)), Nano::parse("0.55").unwrap());
        assert_eq!(cost(&price.lines(Some(10), Some("1080p"), true)), Nano::parse("2.05").unwrap());
        assert_eq!(cost(&price.lines(None, None, true)), Nano::parse("0.05").unwrap());
    }
}

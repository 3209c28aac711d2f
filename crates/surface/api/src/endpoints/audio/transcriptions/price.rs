//! The price of a transcription.
//!
//! It is charged per second of audio, rounded up. The hold covers the length that we measured; the
//! charge is for the length that the engine reports, if that is less. A recording without speech is
//! free.

use std::sync::Arc;
use std::time::Duration;

use domain::catalogue::CatalogueModel;
use engine::TranscriptionAnswer;
use http_frame::payment;
use ledger::{ChargeLine, WorkCharge};
use ledger_core::AMOUNT_MAX;
use money::{PriceUnits, UnitRate, WorkCost};

/// The price per second of audio.
pub(in super::super) struct SecondPrice {
    pub(in super::super) model: Arc<CatalogueModel>,
    pub(in super::super) rate: UnitRate,
}

impl SecondPrice {
    pub(in super::super) fn max_cost(&self, length: Duration) -> WorkCost {
        self.rate.cost(started_seconds(length)).capped(AMOUNT_MAX)
    }

    pub(in super::super) fn build_charge(
        &self,
        transcript: &TranscriptionAnswer,
        heard: Duration,
    ) -> WorkCharge {
        if transcript.text.trim().is_empty() {
            return WorkCharge::default();
        }
        let line = ChargeLine {
            sku: format!("{}-asr-audio-second", self.model.id),
            units: started_seconds(heard),
            rate: self.rate,
            per: PriceUnits::One,
        };
        payment::unit_charge(&self.model, line)
    }
}

/// The billed seconds: the length, rounded up.
fn started_seconds(length: Duration) -> u64 {
    length.as_secs() + u64::from(0 < length.subsec_nanos())
}

/// The length that the engine reports, but at most the measured length.
pub(in super::super) fn measure_billed_length(measured: Duration, told_s: Option<f64>) -> Duration {
    let told = told_s.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let told = told.filter(|it| !it.is_zero());
    told.map_or(measured, |told| told.min(measured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(measured_ms: u64, told_s: Option<f64>, seconds: u64) {
        let heard = measure_billed_length(Duration::from_millis(measured_ms), told_s);
        assert_eq!(started_seconds(heard), seconds, "{measured_ms} ms, told {told_s:?}");
    }

    #[test]
    fn every_started_second_is_paid_and_none_that_was_not_measured() {
        check(1, None, 1);
        check(1000, None, 1);
        check(1001, None, 2);
        check(2500, Some(1.5), 2);
        check(2500, Some(900.0), 3);
        for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            check(2500, Some(nonsense), 3);
        }
    }
}

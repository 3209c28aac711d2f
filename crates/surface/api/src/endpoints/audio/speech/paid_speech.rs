//! Speech whose money is held.
//!
//! A text has one price, however much of its audio is read: a caller that disconnects after the
//! first bytes pays for all of it. Audio that breaks off is free, because the part of the text that
//! was spoken cannot be determined.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use domain::catalogue::CatalogueModel;
use engine::{EngineError, SoundFormat, SoundStream, SpeechEngine, SpeechRequest, TimeoutPhase};
use futures_util::StreamExt;
use http_frame::paid_work::{HeldFunds, PaidResult, WorkResult};
use http_frame::payment;
use http_frame::refusal::inference::InferenceFailure;
use ledger::{ChargeLine, WorkCharge};
use ledger_core::ChargeReceipt;
use money::{PriceUnits, UnitRate};
use tokio::time::timeout;

/// A whole file must be complete within this time, because the caller sees no progress.
const WHOLE_WAIT_MAX: Duration = Duration::from_secs(600);

/// A text to speak whose money is held.
pub(super) struct PaidSpeech {
    pub(super) funds: HeldFunds,
    pub(super) engine: Arc<dyn SpeechEngine>,
    pub(super) charge: WorkCharge,
}

/// `rate` is the price per character.
pub(super) fn build_charge(model: &CatalogueModel, rate: UnitRate, characters: u64) -> WorkCharge {
    let line = ChargeLine {
        sku: format!("{}-tts-input-mcharacter", model.id),
        units: characters,
        rate,
        per: PriceUnits::Million,
    };
    payment::unit_charge(model, line)
}

impl PaidSpeech {
    /// Waits for the whole file.
    pub(super) async fn speak_whole(
        self,
        request: Arc<SpeechRequest>,
    ) -> Result<PaidResult<Bytes>, InferenceFailure> {
        let PaidSpeech { funds, engine, charge } = self;
        let work = async move {
            let format = request.format;
            let collecting = async { collect_sound(engine.synthesize(request).await?).await };
            let too_slow = Err(EngineError::Timeout { phase: TimeoutPhase::Answer });
            let sound = timeout(WHOLE_WAIT_MAX, collecting).await.unwrap_or(too_slow)?;
            Ok(WorkResult { output: complete_file(sound, format), tokens: 0, charge })
        };
        funds.run(work).await
    }

    pub(super) async fn pay(self) -> Result<ChargeReceipt, InferenceFailure> {
        self.funds.pay(0, self.charge).await
    }
}

async fn collect_sound(mut sound: SoundStream) -> Result<BytesMut, EngineError> {
    let mut whole = BytesMut::new();
    while let Some(piece) = sound.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole)
}

/// Writes the length into a WAV: engines that stream write its header before they know the length.
fn complete_file(mut sound: BytesMut, format: SoundFormat) -> Bytes {
    if format == SoundFormat::Wav {
        audio_probe::complete_wav(&mut sound);
    }
    sound.freeze()
}

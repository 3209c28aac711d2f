//! Speech whose money is held.
//!
//! A text has one price, however much of its audio is read: a caller that disconnects after the
//! first bytes pays for all of it. Audio that breaks off is free, because the part of the text that
//! was spoken cannot be determined.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use credits::Receipt;
use domain::catalogue::Model;
use engine::{EngineError, Phase, SoundFormat, SoundStream, SpeechEngine, SpeechRequest};
use futures_util::StreamExt;
use ledger::{Charge, ChargeLine};
use money::{Per, Rate};
use tokio::time::timeout;

use crate::paid::{HeldFunds, Paid, Produced};
use crate::payment;
use crate::refusal::inference::Failure;

/// A whole file must be complete within this time, because the caller sees no progress.
const WHOLE_WAIT_MAX: Duration = Duration::from_secs(600);

/// A text to speak whose money is held.
pub(super) struct PaidSpeech {
    pub(super) funds: HeldFunds,
    pub(super) engine: Arc<dyn SpeechEngine>,
    pub(super) charge: Charge,
}

/// `rate` is the price per character.
pub(super) fn charge(model: &Model, rate: Rate, characters: u64) -> Charge {
    let line = ChargeLine {
        sku: format!("{}-tts-input-mcharacter", model.id),
        units: characters,
        rate,
        per: Per::Million,
    };
    payment::unit_charge(model, line)
}

impl PaidSpeech {
    /// Waits for the whole file.
    pub(super) async fn whole(self, request: Arc<SpeechRequest>) -> Result<Paid<Bytes>, Failure> {
        let PaidSpeech { funds, engine, charge } = self;
        let work = async move {
            let format = request.format;
            let collecting = async { collect(engine.speak(request).await?).await };
            let too_slow = Err(EngineError::Timeout { phase: Phase::Answer });
            let sound = timeout(WHOLE_WAIT_MAX, collecting).await.unwrap_or(too_slow)?;
            Ok(Produced { output: completed(sound, format), tokens: 0, charge })
        };
        funds.run(work).await
    }

    pub(super) async fn pay(self) -> Result<Receipt, Failure> {
        self.funds.pay(0, self.charge).await
    }
}

async fn collect(mut sound: SoundStream) -> Result<BytesMut, EngineError> {
    let mut whole = BytesMut::new();
    while let Some(piece) = sound.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole)
}

/// Writes the length into a WAV: engines that stream write its header before they know the length.
fn completed(mut sound: BytesMut, format: SoundFormat) -> Bytes {
    if format == SoundFormat::Wav {
        sound::complete_wav(&mut sound);
    }
    sound.freeze()
}

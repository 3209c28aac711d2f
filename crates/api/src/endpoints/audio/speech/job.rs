//! The paid work behind speech.
//!
//! A text has one price, however much of its sound is taken: whoever hangs up after the first bytes
//! pays for it, as for a whole file. Sound that breaks off costs nothing, because nobody can say
//! which part of the text it was.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use credits::Receipt;
use domain::catalogue::Model;
use engine::{EngineError, Phase, SoundFormat, SoundStream, SpeechEngine, SpeechRequest};
use futures_util::StreamExt;
use ledger::ChargeLine;
use money::{Per, Rate};
use tokio::time::timeout;

use crate::outlasting::Outlasting;
use crate::payment;
use crate::purse::Purse;
use crate::refusal::inference::Failure;

/// Nobody can see a file growing, so it must be there within this time, however steadily it grows.
const WHOLE_WAIT_MAX: Duration = Duration::from_secs(600);

/// A text whose money is held.
pub(super) struct Job {
    pub(super) purse: Purse,
    pub(super) model: Arc<Model>,
    /// Of one character.
    pub(super) rate: Rate,
    pub(super) engine: Arc<dyn SpeechEngine>,
    pub(super) characters: u64,
}

impl Job {
    /// The whole file. The work goes on, and is paid, even if nobody waits for it.
    pub(super) async fn whole(
        self,
        request: Arc<SpeechRequest>,
    ) -> Result<(Bytes, Receipt), Failure> {
        let tasks = self.purse.app.tasks.clone();
        let work = async move {
            let format = request.format;
            let engine = Arc::clone(&self.engine);
            let collecting = async { collect(engine.speak(request).await?).await };
            let too_slow = Err(EngineError::Timeout { phase: Phase::Answer });
            match timeout(WHOLE_WAIT_MAX, collecting).await.unwrap_or(too_slow) {
                Ok(sound) => Ok((completed(sound, format), self.pay().await?)),
                Err(error) => {
                    self.purse.release();
                    Err(Failure::Engine(error))
                }
            }
        };
        Outlasting::new(&tasks, work).await
    }

    pub(super) async fn pay(self) -> Result<Receipt, Failure> {
        let line = ChargeLine {
            sku: format!("{}-tts-input-mcharacter", self.model.id),
            units: self.characters,
            rate: self.rate,
            per: Per::Million,
        };
        let charge = |details| payment::unit_charge(&self.model, line, details);
        self.purse.pay(0, charge).await
    }
}

async fn collect(mut sound: SoundStream) -> Result<BytesMut, EngineError> {
    let mut whole = BytesMut::new();
    while let Some(piece) = sound.next().await {
        whole.extend_from_slice(&piece?);
    }
    Ok(whole)
}

/// Engines that stream write a WAV before they know how long it will be.
fn completed(mut sound: BytesMut, format: SoundFormat) -> Bytes {
    if format == SoundFormat::Wav {
        sound::complete_wav(&mut sound);
    }
    sound.freeze()
}

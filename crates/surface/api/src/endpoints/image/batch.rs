//! Generates several images concurrently, finishes them one by one, and charges for those made.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::catalogue::CatalogueModel;
use engine::{EngineError, ImageAnswer, ImageEngine, ImageRequest};
use futures_util::future::join_all;
use http_frame::paid_work::WorkResult;
use http_frame::payment;
use http_frame::reply::WithHeaders;
use ledger::{ChargeLine, WorkCharge};
use money::{PriceUnits, UnitRate};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::finish::{FinishOptions, FinishedImage, SafeMode};
use crate::image_processing::ImageProcessor;

/// Cancels the engine's work when the caller disconnects, which drops the guard. Only for engines
/// that do not charge for cancelled work.
pub(super) struct CancelOnDisconnect {
    gone: CancellationToken,
    stops: bool,
}

impl CancelOnDisconnect {
    pub(super) fn for_engine(engine: &dyn ImageEngine) -> (CancelOnDisconnect, DropGuard) {
        let gone = CancellationToken::new();
        let guard = gone.clone().drop_guard();
        (CancelOnDisconnect { gone, stops: engine.can_be_stopped() }, guard)
    }

    pub(super) async fn run_until_disconnect(
        &self,
        work: impl Future<Output = Result<ImageAnswer, EngineError>>,
    ) -> Result<ImageAnswer, EngineError> {
        if !self.stops {
            return work.await;
        }
        tokio::select! {
            biased;
            outcome = work => outcome,
            () = self.gone.cancelled() => {
                Err(EngineError::Rejected { message: "The caller has gone.".to_owned() })
            }
        }
    }
}

/// Images to generate.
pub(super) struct ImageBatch {
    pub(super) studio: ImageProcessor,
    pub(super) engine: Arc<dyn ImageEngine>,
    pub(super) model: Arc<CatalogueModel>,
    pub(super) requests: Vec<Arc<ImageRequest>>,
    /// One per request, in the same order.
    pub(super) finishes: Vec<FinishOptions>,
    pub(super) rate: UnitRate,
    /// Charged once if any image is charged, such as a web search.
    pub(super) extras: Vec<ChargeLine>,
}

/// The generated images.
#[derive(Debug)]
pub(super) struct GeneratedImages {
    pub(super) pictures: Vec<FinishedImage>,
    pub(super) inference: Duration,
    pub(super) waited: Duration,
}

impl ImageBatch {
    /// Generates as many images as possible. Images that the engine's policy forbids are replaced
    /// by black ones and are free; failed ones are left out, unless all failed.
    pub(super) async fn run(
        self,
        watch: CancelOnDisconnect,
    ) -> Result<WorkResult<GeneratedImages>, EngineError> {
        let asked_at = Instant::now();
        let answers = self
            .requests
            .iter()
            .map(|request| watch.run_until_disconnect(self.engine.generate(Arc::clone(request))));
        let answers = join_all(answers).await;
        let inference = asked_at.elapsed();
        let (mut pictures, mut waited, mut failure) = (Vec::new(), Duration::ZERO, None);
        for ((answer, finish), request) in
            answers.into_iter().zip(&self.finishes).zip(&self.requests)
        {
            let finished = match answer {
                Ok(answer) => {
                    waited = waited.max(answer.waited.unwrap_or_default());
                    finish.finish_image(&self.studio, answer).await
                }
                Err(EngineError::ContentPolicy { .. }) => {
                    finish.build_black_image(&self.studio, request.frame.size).await
                }
                Err(error) => Err(error),
            };
            match finished {
                Ok(finished) => pictures.push(finished),
                Err(error) => failure = Some(error),
            }
        }
        let failure = failure.filter(|_| pictures.is_empty());
        if let Some(failure) = failure {
            return Err(failure);
        }
        let paid = pictures.iter().filter(|it| !it.is_violation).count();
        let charge = build_charge(&self.model, paid as u64, self.rate, self.extras);
        let waited = waited.min(inference);
        Ok(WorkResult {
            output: GeneratedImages { pictures, inference, waited },
            tokens: 0,
            charge,
        })
    }
}

fn build_charge(
    model: &CatalogueModel,
    pictures: u64,
    rate: UnitRate,
    extras: Vec<ChargeLine>,
) -> WorkCharge {
    if pictures == 0 {
        return WorkCharge::default();
    }
    let sku = format!("{}-image-unit", model.id);
    let mut lines = vec![ChargeLine { sku, units: pictures, rate, per: PriceUnits::One }];
    lines.extend(extras);
    payment::lines_charge(model, lines)
}

/// Adds the headers about safe mode and content violations.
pub(super) fn add_safety_headers<T>(
    answer: WithHeaders<T>,
    pictures: &[FinishedImage],
) -> WithHeaders<T> {
    let is_blurred = pictures.iter().any(|it| it.is_blurred);
    let is_violation = pictures.iter().any(|it| it.is_violation);
    let modes = [SafeMode::Unavailable, SafeMode::Off];
    let least = modes.into_iter().find(|mode| pictures.iter().any(|it| it.safe_mode == *mode));
    answer
        .header("x-service-safe-mode", least.unwrap_or(SafeMode::On).name())
        .header("x-service-is-blurred", is_blurred)
        .header("x-service-is-content-violation", is_violation)
        .header("x-service-is-adult-model-content-violation", false)
}

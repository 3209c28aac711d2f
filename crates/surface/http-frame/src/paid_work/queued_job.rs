//! Paid work that is queued: the hold is stored with the job until the job ends.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::Bytes;
use domain::catalogue::CatalogueModel;
use domain::pricing::{QueuedLine, QueuedUnit};
use engine::{EngineError, MediaEngine, MediaRequest};
use futures_util::future::BoxFuture;
use jobs::{NewJob, QueueError};
use ledger::{ChargeLine, HoldRefused, WorkCharge};
use ledger_core::{HoldRange, OwnerId};
use money::PriceUnits;
use serde::Serialize;
use store::job::{JobId, JobKind};
use store::usage::UsageDetails;

use crate::app::AppState;
use crate::keyed_work::{BuildResponseRow, KeyedAnswer, KeyedFailure, KeyedWork};
use crate::paid_work::PaidCall;
use crate::payment;
use crate::refusal::Refusal;
use crate::settings::ApiSettings;

/// Retry delay for a caller whose queue is full.
const FULL_QUEUE_WAIT: Duration = Duration::from_secs(30);

/// A job whose request was counted, not yet paid for or queued.
pub struct JobOrder<T> {
    new: NewJob,
    opening: Option<PrepareFiles>,
    /// Builds the response once the job is queued.
    told: T,
}

/// Decodes the files of a request. Called after a check of the balance, because it is costly.
pub type PrepareFiles =
    Box<dyn FnOnce(MediaRequest) -> BoxFuture<'static, Result<MediaRequest, Refusal>> + Send>;

/// An endpoint's description of a job.
pub struct JobDescription {
    pub kind: JobKind,
    pub request: MediaRequest,
    pub opening: Option<PrepareFiles>,
    pub lines: Vec<QueuedLine>,
    pub alternative: Option<String>,
    pub has_link: bool,
}

impl PaidCall {
    /// Counts the request against the limits of the model. `told` builds the response.
    pub fn order_job<A, T>(
        &self,
        model: &CatalogueModel,
        wanted: JobDescription,
        told: T,
    ) -> Result<JobOrder<T>, Refusal>
    where
        A: Serialize,
        T: FnOnce(&AppState, JobId) -> A + Send + 'static,
    {
        if !self.terms.is_counted {
            self.app.admit_model(&self.holder, model, 0, &self.standing)?;
        }
        let request_id = self.request_id.as_str().to_owned();
        let session = self.session.find_id(None).map(|session| session.0);
        let details =
            UsageDetails { request_id: request_id.clone(), session, ..UsageDetails::default() };
        let line = |line: &QueuedLine| charge_line(model, wanted.kind, line);
        let charge = WorkCharge {
            lines: wanted.lines.iter().map(line).collect(),
            model: model.id.clone(),
            details,
            notes: "API Inference".to_owned(),
        };
        let new = NewJob {
            payer: self.holder.payer(),
            kind: wanted.kind,
            model: model.id.clone(),
            request: wanted.request,
            charge,
            request_id,
            alternative: wanted.alternative,
            has_link: wanted.has_link,
        };
        Ok(JobOrder { new, opening: wanted.opening, told })
    }
}

impl<A, T> KeyedWork for JobOrder<T>
where
    A: Serialize,
    T: FnOnce(&AppState, JobId) -> A + Send + 'static,
{
    fn owner(&self) -> OwnerId {
        self.new.payer.owner
    }

    async fn run_work(
        self,
        app: &AppState,
        also: BuildResponseRow,
    ) -> Result<Arc<KeyedAnswer>, KeyedFailure> {
        let JobOrder { mut new, opening, told } = self;
        if let Some(opening) = opening {
            let cost = new.charge.total().map_err(|error| {
                let cause = error.to_string();
                KeyedFailure::new(move |_, _| Refusal::internal(cause.clone()))
            })?;
            let hold = app.ledger.hold(new.payer, HoldRange::Exactly(cost));
            let unpaid = |refused: HoldRefused| {
                KeyedFailure::new(move |settings, _| {
                    payment::refuse_hold(settings, refused.clone())
                })
            };
            app.ledger.release(hold.map_err(unpaid)?);
            let refuse = |refusal: Refusal| KeyedFailure::new(move |_, _| refusal.duplicate());
            new.request = opening(new.request).await.map_err(refuse)?;
        }
        let owner = new.payer.owner;
        let mut body = Bytes::new();
        let for_body = &mut body;
        let queued = app.jobs.add(new, |id| {
            *for_body = serde_json::to_vec(&told(app, id)).unwrap_or_default().into();
            also(&HeaderMap::new(), for_body).into_iter().collect()
        });
        let queued = queued.await;
        queued.map_err(|refused| {
            KeyedFailure::new(move |settings, _| refuse_queueing(settings, refused.clone()))
        })?;
        // The hold of the job is not part of the remaining balance.
        let remaining = app.ledger.balances(owner).total().to_string();
        Ok(Arc::new(KeyedAnswer {
            body,
            headers: HeaderMap::new(),
            balance_remaining: Some(remaining),
        }))
    }
}

/// 400 for a request that the model's provider does not support.
pub fn check_media_request(
    engine: &dyn MediaEngine,
    request: &MediaRequest,
) -> Result<(), Refusal> {
    match engine.check(request) {
        Err(EngineError::Rejected { message }) => {
            Err(Refusal::bad_request("Invalid request parameters", message))
        }
        Err(EngineError::FieldMissing { field }) => Err(Refusal::field_missing(field)),
        _ => Ok(()),
    }
}

/// A random seed of 31 bits, so that two results of the same prompt differ.
pub fn draw_seed(app: &AppState) -> u64 {
    let mut bytes = [0; 8];
    app.entropy.fill_bytes(&mut bytes);
    // 31 bits fit into every engine's seed type.
    u64::from_le_bytes(bytes) >> 33
}

fn refuse_queueing(settings: &ApiSettings, refused: QueueError) -> Refusal {
    match refused {
        QueueError::Unpaid(refused) => payment::refuse_hold(settings, refused),
        QueueError::TooMany { most } => {
            let message = format!(
                "You have {most} jobs that have not ended, and no more are queued. Wait for some of \
                 them."
            );
            Refusal::rate_limited(message, FULL_QUEUE_WAIT)
        }
        QueueError::Unavailable(cause) => Refusal::unavailable(cause),
    }
}

fn charge_line(model: &CatalogueModel, kind: JobKind, line: &QueuedLine) -> ChargeLine {
    let kind = match kind {
        JobKind::Music => "music",
        JobKind::Video => "video",
    };
    let per = match line.unit {
        QueuedUnit::Generation | QueuedUnit::Second => PriceUnits::One,
        QueuedUnit::Character => PriceUnits::Thousand,
    };
    let sku = format!("{}-{kind}-{}", model.id, line.unit.name());
    ChargeLine { sku, units: line.units, rate: line.rate, per }
}

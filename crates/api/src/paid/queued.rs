//! Paid work that is queued: the hold is stored with the job until the job ends.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use bytes::Bytes;
use credits::{OwnerId, Want};
use domain::catalogue::Model;
use domain::pricing::{QueuedLine, QueuedUnit};
use engine::{EngineError, MediaEngine, MediaRequest};
use futures_util::future::BoxFuture;
use jobs::{NewJob, NotQueued};
use ledger::{Charge, ChargeLine, HoldRefused};
use money::Per;
use serde::Serialize;
use store::job::{JobId, JobKind};
use store::usage::UsageDetails;

use crate::app::App;
use crate::keyed::{Also, Failed, KeyedAnswer, KeyedWork};
use crate::paid::PaidCall;
use crate::payment;
use crate::refusal::Refusal;
use crate::settings::Settings;

/// Retry delay for a caller whose queue is full.
const FULL_QUEUE_WAIT: Duration = Duration::from_secs(30);

/// A job whose request was counted, not yet paid for or queued.
pub(crate) struct Order<T> {
    new: NewJob,
    opening: Option<Opening>,
    /// Builds the response once the job is queued.
    told: T,
}

/// Decodes the files of a request. Called after a check of the balance, because it is costly.
pub(crate) type Opening =
    Box<dyn FnOnce(MediaRequest) -> BoxFuture<'static, Result<MediaRequest, Refusal>> + Send>;

/// An endpoint's description of a job.
pub(crate) struct Wanted {
    pub(crate) kind: JobKind,
    pub(crate) request: MediaRequest,
    pub(crate) opening: Option<Opening>,
    pub(crate) lines: Vec<QueuedLine>,
    pub(crate) alternative: Option<String>,
    pub(crate) has_link: bool,
}

impl PaidCall {
    /// Counts the request against the limits of the model. `told` builds the response.
    pub(crate) fn order<A, T>(
        &self,
        model: &Model,
        wanted: Wanted,
        told: T,
    ) -> Result<Order<T>, Refusal>
    where
        A: Serialize,
        T: FnOnce(&App, JobId) -> A + Send + 'static,
    {
        self.app.admit_model(&self.holder, model, 0, &self.standing)?;
        let request_id = self.request_id.as_str().to_owned();
        let details = UsageDetails { request_id: request_id.clone(), ..UsageDetails::default() };
        let line = |line: &QueuedLine| charge_line(model, wanted.kind, line);
        let charge = Charge {
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
        Ok(Order { new, opening: wanted.opening, told })
    }
}

impl<A, T> KeyedWork for Order<T>
where
    A: Serialize,
    T: FnOnce(&App, JobId) -> A + Send + 'static,
{
    fn owner(&self) -> OwnerId {
        self.new.payer.owner
    }

    async fn run(self, app: &App, also: Also) -> Result<Arc<KeyedAnswer>, Failed> {
        let Order { mut new, opening, told } = self;
        if let Some(opening) = opening {
            let cost = new.charge.total().map_err(|error| {
                let cause = error.to_string();
                Failed::new(move |_, _| Refusal::internal(cause.clone()))
            })?;
            let hold = app.ledger.hold(new.payer, Want::Exactly(cost));
            let unpaid = |refused: HoldRefused| {
                Failed::new(move |settings, _| payment::refuse_hold(settings, refused.clone()))
            };
            app.ledger.release(hold.map_err(unpaid)?);
            let refuse = |refusal: Refusal| Failed::new(move |_, _| refusal.again());
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
        queued
            .map_err(|refused| Failed::new(move |settings, _| refuse(settings, refused.clone())))?;
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
pub(crate) fn check(engine: &dyn MediaEngine, request: &MediaRequest) -> Result<(), Refusal> {
    match engine.check(request) {
        Err(EngineError::Rejected { message }) => {
            Err(Refusal::bad_request("Invalid request parameters", message))
        }
        Err(EngineError::FieldMissing { field }) => Err(Refusal::field_missing(field)),
        _ => Ok(()),
    }
}

/// A random seed of 31 bits, so that two results of the same prompt differ.
pub(crate) fn seed(app: &App) -> u64 {
    let mut bytes = [0; 8];
    app.entropy.fill(&mut bytes);
    // 31 bits fit into every engine's seed type.
    u64::from_le_bytes(bytes) >> 33
}

fn refuse(settings: &Settings, refused: NotQueued) -> Refusal {
    match refused {
        NotQueued::Unpaid(refused) => payment::refuse_hold(settings, refused),
        NotQueued::TooMany { most } => {
            let message = format!(
                "You have {most} jobs that have not ended, and no more are queued. Wait for some of \
                 them."
            );
            Refusal::rate_limited(message, FULL_QUEUE_WAIT)
        }
        NotQueued::Unavailable(cause) => Refusal::unavailable(cause),
    }
}

fn charge_line(model: &Model, kind: JobKind, line: &QueuedLine) -> ChargeLine {
    let kind = match kind {
        JobKind::Music => "music",
        JobKind::Video => "video",
    };
    let per = match line.unit {
        QueuedUnit::Generation | QueuedUnit::Second => Per::One,
        QueuedUnit::Character => Per::Thousand,
    };
    let sku = format!("{}-{kind}-{}", model.id, line.unit.name());
    ChargeLine { sku, units: line.units, rate: line.rate, per }
}

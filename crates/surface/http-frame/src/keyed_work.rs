//! Idempotency keys: a request runs once, and its response is replayed.

use std::future::Future;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use ledger_core::OwnerId;
use rpc::idempotency::{
    ANSWERS_PER_OWNER_MAX, BYTES_PER_OWNER_MAX, IdempotencyDecision, IdempotencyKey, LIFETIME,
    RequestFingerprint, StoredFingerprint, decide_replay,
};
use single_flight::FlightRole;
use store::idempotency::{StoredResponse, StoredResponseKey, StoredResponseLookup};
use store::write::StoreWrite;

use crate::app::{AppState, SharedApp};
use crate::detach_on_drop::DetachOnDrop;
pub use crate::keyed_outcome::{AnswerOrReplay, KeyedAnswer, KeyedFailure};
use crate::keyed_outcome::{KeyedError, KeyedOutcome};
use crate::refusal::Refusal;

/// Work that runs once per key.
pub trait KeyedWork: Send + 'static {
    fn owner(&self) -> OwnerId;

    /// Does the work. The result of `also` is written in the transaction of the charge or hold.
    fn run_work(
        self,
        app: &AppState,
        also: BuildResponseRow,
    ) -> impl Future<Output = Result<Arc<KeyedAnswer>, KeyedFailure>> + Send;
}

/// Builds the row that stores the response.
pub type BuildResponseRow = Box<dyn FnOnce(&HeaderMap, &Bytes) -> Option<StoreWrite> + Send>;

/// Runs work, once per key if it has one. `fingerprint` identifies the request.
pub async fn run_keyed(
    app: &SharedApp,
    work: impl KeyedWork,
    key: Option<IdempotencyKey>,
    fingerprint: impl FnOnce() -> RequestFingerprint,
) -> Result<AnswerOrReplay, Refusal> {
    match key {
        None => run_alone(app, work).await,
        Some(key) => run_once(app, work, key, fingerprint()).await,
    }
}

/// Runs work without a key. It continues if its caller disconnects.
async fn run_alone(app: &SharedApp, work: impl KeyedWork) -> Result<AnswerOrReplay, Refusal> {
    let for_work = Arc::clone(app);
    let working = async move { work.run_work(&for_work, Box::new(|_, _| None)).await };
    let outcome = DetachOnDrop::new(&app.tasks, working).await;
    let answer = outcome.map_err(|failed| failed.into_refusal(&app.settings, app.clock.now()))?;
    Ok(AnswerOrReplay { answer, is_replay: false })
}

/// Runs the request, waits for the same one in progress, or replays the stored response.
async fn run_once(
    app: &SharedApp,
    work: impl KeyedWork,
    key: IdempotencyKey,
    fingerprint: RequestFingerprint,
) -> Result<AnswerOrReplay, Refusal> {
    let key = StoredResponseKey { owner: work.owner(), key: key.as_str().to_owned() };
    let outcome = loop {
        let follower = match app.proxy.keyed.join(key.clone()) {
            FlightRole::Lead(leader) => {
                let for_work = Arc::clone(app);
                // The first caller may disconnect while others wait.
                let answering = async move {
                    let outcome = answer_once(&for_work, work, key, fingerprint).await;
                    let ended = KeyedOutcome { fingerprint, outcome };
                    leader.finish(&ended);
                    ended.outcome
                };
                break DetachOnDrop::new(&app.tasks, answering).await;
            }
            FlightRole::Follow(follower) => follower,
        };
        match follower.wait_for_outcome().await {
            Some(ended) if ended.fingerprint == fingerprint => {
                break ended.outcome.map(|it| AnswerOrReplay { is_replay: true, ..it });
            }
            // It was another request, or it panicked: try again.
            _ => {}
        }
    };
    outcome.map_err(|unanswered| unanswered.into_refusal(&app.settings, app.clock.now()))
}

async fn answer_once(
    app: &AppState,
    work: impl KeyedWork,
    key: StoredResponseKey,
    fingerprint: RequestFingerprint,
) -> Result<AnswerOrReplay, KeyedError> {
    let kept = app.store.find_stored_response(key.clone()).await.map_err(KeyedError::Unreadable)?;
    let StoredResponseLookup { answer, answers, bytes } = kept;
    let stored = answer.as_ref().map(|it| StoredFingerprint {
        fingerprint: RequestFingerprint::from_bytes(it.fingerprint),
        expires_at: it.expires,
    });
    match (decide_replay(stored, fingerprint, app.clock.now()), answer) {
        (IdempotencyDecision::Replay, Some(kept)) => Ok(replay_stored(kept)),
        (IdempotencyDecision::Clash, _) => Err(KeyedError::Clash),
        _ if ANSWERS_PER_OWNER_MAX <= answers || BYTES_PER_OWNER_MAX <= bytes => {
            Err(KeyedError::Full)
        }
        _ => {
            let also = prepare_stored_response(key, fingerprint, app);
            let answer = work.run_work(app, also).await.map_err(KeyedError::Failed)?;
            Ok(AnswerOrReplay { answer, is_replay: false })
        }
    }
}

fn replay_stored(kept: StoredResponse) -> AnswerOrReplay {
    let read = |(name, value): (String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    let headers = kept.headers.into_iter().filter_map(read).collect();
    let body = Bytes::from(kept.body);
    let answer = Arc::new(KeyedAnswer { body, headers, balance_remaining: None });
    AnswerOrReplay { answer, is_replay: true }
}

/// Stores the response in the transaction of its charge.
fn prepare_stored_response(
    key: StoredResponseKey,
    fingerprint: RequestFingerprint,
    app: &AppState,
) -> BuildResponseRow {
    let clock = Arc::clone(&app.clock);
    Box::new(move |headers, body| {
        let told = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = headers.iter().map(|(name, value)| (name.to_string(), told(value)));
        let answer = StoredResponse {
            fingerprint: *fingerprint.as_bytes(),
            headers: headers.collect(),
            body: body.to_vec(),
            expires: clock.now().plus(LIFETIME),
        };
        Some(StoreWrite::KeepAnswer { key, answer })
    })
}

//! Idempotency keys: a request runs once, and its response is replayed.

pub(crate) mod outcome;

use std::future::Future;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use credits::OwnerId;
use rpc::idempotency::{
    ANSWERS_PER_OWNER_MAX, BYTES_PER_OWNER_MAX, Fingerprint, IdempotencyKey, LIFETIME, Recall,
    Stored, recall,
};
use single_flight::Role;
use store::idempotency::{AnswerKey, Kept, KeptAnswer};
use store::write::Write;

use crate::app::{App, Shared};
pub(crate) use crate::keyed::outcome::{AnswerOrReplay, Failed, KeyedAnswer};
use crate::keyed::outcome::{Ended, Unanswered};
use crate::outlasting::Outlasting;
use crate::refusal::Refusal;

/// Work that runs once per key.
pub(crate) trait KeyedWork: Send + 'static {
    fn owner(&self) -> OwnerId;

    /// Does the work. The result of `also` is written in the transaction of the charge or hold.
    fn run(
        self,
        app: &App,
        also: Also,
    ) -> impl Future<Output = Result<Arc<KeyedAnswer>, Failed>> + Send;
}

/// Builds the row that stores the response.
pub(crate) type Also = Box<dyn FnOnce(&HeaderMap, &Bytes) -> Option<Write> + Send>;

/// Runs work, once per key if it has one. `fingerprint` identifies the request.
pub(crate) async fn run(
    app: &Shared,
    work: impl KeyedWork,
    key: Option<IdempotencyKey>,
    fingerprint: impl FnOnce() -> Fingerprint,
) -> Result<AnswerOrReplay, Refusal> {
    match key {
        None => run_alone(app, work).await,
        Some(key) => run_once(app, work, key, fingerprint()).await,
    }
}

/// Runs work without a key. It continues if its caller disconnects.
async fn run_alone(app: &Shared, work: impl KeyedWork) -> Result<AnswerOrReplay, Refusal> {
    let for_work = Arc::clone(app);
    let working = async move { work.run(&for_work, Box::new(|_, _| None)).await };
    let outcome = Outlasting::new(&app.tasks, working).await;
    let answer = outcome.map_err(|failed| failed.into_refusal(&app.settings, app.clock.now()))?;
    Ok(AnswerOrReplay { answer, is_replay: false })
}

/// Runs the request, waits for the same one in progress, or replays the stored response.
async fn run_once(
    app: &Shared,
    work: impl KeyedWork,
    key: IdempotencyKey,
    fingerprint: Fingerprint,
) -> Result<AnswerOrReplay, Refusal> {
    let key = AnswerKey { owner: work.owner(), key: key.as_str().to_owned() };
    let outcome = loop {
        let follower = match app.proxy.keyed.join(key.clone()) {
            Role::Lead(leader) => {
                let for_work = Arc::clone(app);
                // The first caller may disconnect while others wait.
                let answering = async move {
                    let outcome = answer(&for_work, work, key, fingerprint).await;
                    let ended = Ended { fingerprint, outcome };
                    leader.finish(&ended);
                    ended.outcome
                };
                break Outlasting::new(&app.tasks, answering).await;
            }
            Role::Follow(follower) => follower,
        };
        match follower.outcome().await {
            Some(ended) if ended.fingerprint == fingerprint => {
                break ended.outcome.map(|it| AnswerOrReplay { is_replay: true, ..it });
            }
            // It was another request, or it panicked: try again.
            _ => {}
        }
    };
    outcome.map_err(|unanswered| unanswered.into_refusal(&app.settings, app.clock.now()))
}

async fn answer(
    app: &App,
    work: impl KeyedWork,
    key: AnswerKey,
    fingerprint: Fingerprint,
) -> Result<AnswerOrReplay, Unanswered> {
    let kept = app.store.kept_answer(key.clone()).await.map_err(Unanswered::Unreadable)?;
    let Kept { answer, answers, bytes } = kept;
    let stored = answer.as_ref().map(|it| Stored {
        fingerprint: Fingerprint::from_bytes(it.fingerprint),
        expires_at: it.expires,
    });
    match (recall(stored, fingerprint, app.clock.now()), answer) {
        (Recall::Replay, Some(kept)) => Ok(replay(kept)),
        (Recall::Clash, _) => Err(Unanswered::Clash),
        _ if ANSWERS_PER_OWNER_MAX <= answers || BYTES_PER_OWNER_MAX <= bytes => {
            Err(Unanswered::Full)
        }
        _ => {
            let also = keep(key, fingerprint, app);
            let answer = work.run(app, also).await.map_err(Unanswered::Failed)?;
            Ok(AnswerOrReplay { answer, is_replay: false })
        }
    }
}

fn replay(kept: KeptAnswer) -> AnswerOrReplay {
    let read = |(name, value): (String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    let headers = kept.headers.into_iter().filter_map(read).collect();
    let body = Bytes::from(kept.body);
    let answer = Arc::new(KeyedAnswer { body, headers, balance_remaining: None });
    AnswerOrReplay { answer, is_replay: true }
}

/// Stores the response in the transaction of its charge.
fn keep(key: AnswerKey, fingerprint: Fingerprint, app: &App) -> Also {
    let clock = Arc::clone(&app.clock);
    Box::new(move |headers, body| {
        let told = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let headers = headers.iter().map(|(name, value)| (name.to_string(), told(value)));
        let answer = KeptAnswer {
            fingerprint: *fingerprint.as_bytes(),
            headers: headers.collect(),
            body: body.to_vec(),
            expires: clock.now().plus(LIFETIME),
        };
        Some(Write::KeepAnswer { key, answer })
    })
}

//! Requests with an idempotency key: run once, answered as often as they are sent.

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use credits::OwnerId;
use rpc::idempotency::{
    ANSWERS_PER_OWNER_MAX, BYTES_PER_OWNER_MAX, Fingerprint, IdempotencyKey, LIFETIME, Recall,
    Stored, recall,
};
use single_flight::Role;
use store::error::StoreError;
use store::idempotency::{AnswerKey, Kept, KeptAnswer};
use store::write::Write;

use crate::app::{App, Shared};
use crate::outlasting::Outlasting;
use crate::payment::BALANCE_REMAINING;
use crate::refusal::Refusal;
use crate::refusal::proxy::Cap;

// Names that are checked once and not for every answer.
static REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
static REMAINING: HeaderName = HeaderName::from_static(BALANCE_REMAINING);

/// Work that is done once for a key.
pub(crate) trait KeyedWork: Send + 'static {
    fn owner(&self) -> OwnerId;

    /// Does the work. What `also` gives is written in one transaction with its charge or its hold.
    fn run(
        self,
        app: &App,
        also: Also,
    ) -> impl Future<Output = Result<Arc<KeyedAnswer>, Failed>> + Send;
}

/// What is to be written together with an answer.
pub(crate) type Also = Box<dyn FnOnce(&HeaderMap, &Bytes) -> Option<Write> + Send>;

/// Why there is no answer, for each who waits for it. Nothing was charged.
#[derive(Clone)]
pub(crate) struct Failed(Arc<dyn Fn(&App) -> Refusal + Send + Sync>);

impl Failed {
    pub(crate) fn new(refuse: impl Fn(&App) -> Refusal + Send + Sync + 'static) -> Failed {
        Failed(Arc::new(refuse))
    }

    pub(crate) fn into_refusal(self, app: &App) -> Refusal {
        (self.0)(app)
    }
}

/// An answer, and whether it is a replay.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) answer: Arc<KeyedAnswer>,
    /// Given before, and not charged for again.
    pub(crate) is_replay: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct KeyedAnswer {
    pub(crate) body: Bytes,
    /// Those that belong to the answer whenever it is given.
    pub(crate) headers: HeaderMap,
    /// Known only when the answer was charged for just now.
    pub(crate) balance_remaining: Option<String>,
}

impl Given {
    /// Always JSON, whatever a server behind us called it.
    pub(crate) fn into_response(self) -> Response {
        let answer = Arc::unwrap_or_clone(self.answer);
        let mut response = Response::new(Body::from(answer.body));
        *response.headers_mut() = answer.headers;
        let headers = response.headers_mut();
        let remaining = answer.balance_remaining.map(HeaderValue::try_from);
        match remaining {
            _ if self.is_replay => {
                headers.insert(&REPLAYED, HeaderValue::from_static("true"));
            }
            Some(Ok(remaining)) => {
                headers.insert(&REMAINING, remaining);
            }
            _ => {}
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// How a request under way ended, for all who sent it.
#[derive(Clone)]
pub(crate) struct Ended {
    fingerprint: Fingerprint,
    outcome: Result<Given, Unanswered>,
}

#[derive(Clone)]
enum Unanswered {
    /// The key was used for another request.
    Clash,
    /// The owner has as many answers kept as are allowed.
    Full,
    Unreadable(StoreError),
    Failed(Failed),
}

/// Runs work, once for a key if it has one. `fingerprint` is what the same request is known by.
pub(crate) async fn run(
    app: &Shared,
    work: impl KeyedWork,
    key: Option<IdempotencyKey>,
    fingerprint: impl FnOnce() -> Fingerprint,
) -> Result<Given, Refusal> {
    match key {
        None => run_alone(app, work).await,
        Some(key) => run_once(app, work, key, fingerprint()).await,
    }
}

/// Runs work that has no key. It goes on if its caller leaves.
async fn run_alone(app: &Shared, work: impl KeyedWork) -> Result<Given, Refusal> {
    let for_work = Arc::clone(app);
    let working = async move { work.run(&for_work, Box::new(|_, _| None)).await };
    let outcome = Outlasting::new(&app.tasks, working).await;
    let answer = outcome.map_err(|failed| failed.into_refusal(app))?;
    Ok(Given { answer, is_replay: false })
}

/// Runs the request, waits for the same one that is under way, or gives the kept answer.
async fn run_once(
    app: &Shared,
    work: impl KeyedWork,
    key: IdempotencyKey,
    fingerprint: Fingerprint,
) -> Result<Given, Refusal> {
    let key = AnswerKey { owner: work.owner(), key: key.as_str().to_owned() };
    let outcome = loop {
        let follower = match app.proxy.keyed.join(key.clone()) {
            Role::Lead(leader) => {
                let for_work = Arc::clone(app);
                // The first caller may leave; the others still wait.
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
                break ended.outcome.map(|it| Given { is_replay: true, ..it });
            }
            // It was another request, or it ended in a panic: look again.
            _ => {}
        }
    };
    outcome.map_err(|unanswered| unanswered.into_refusal(app))
}

async fn answer(
    app: &App,
    work: impl KeyedWork,
    key: AnswerKey,
    fingerprint: Fingerprint,
) -> Result<Given, Unanswered> {
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
            Ok(Given { answer, is_replay: false })
        }
    }
}

fn replay(kept: KeptAnswer) -> Given {
    let read = |(name, value): (String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    let headers = kept.headers.into_iter().filter_map(read).collect();
    let body = Bytes::from(kept.body);
    let answer = Arc::new(KeyedAnswer { body, headers, balance_remaining: None });
    Given { answer, is_replay: true }
}

/// Keeps the answer in the transaction of its charge.
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

impl Unanswered {
    fn into_refusal(self, app: &App) -> Refusal {
        match self {
            Unanswered::Clash => Refusal::bad_request(
                "Idempotency-Key reused",
                "This Idempotency-Key was used for another request within the last 24 hours. Use a \
                 new key, or send the same body to the same path.",
            ),
            Unanswered::Full => {
                let limit = ANSWERS_PER_OWNER_MAX;
                let message = format!(
                    "Idempotency limit exceeded: {limit} answers, or 1 GiB of them, are kept per 24 \
                     hours. Leave out the Idempotency-Key, or wait."
                );
                Refusal::cap_reached(&message, Cap { limit, remaining: 0, resets_in: LIFETIME })
            }
            Unanswered::Unreadable(error) => Refusal::unavailable(error),
            Unanswered::Failed(failed) => failed.into_refusal(app),
        }
    }
}

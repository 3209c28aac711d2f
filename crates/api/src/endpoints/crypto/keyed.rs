//! Requests with an idempotency key: run once, answered as often as they are sent.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue};
use bytes::Bytes;
use rpc::flights::Boarding;
use rpc::idempotency::{
    ANSWERS_PER_OWNER_MAX, BYTES_PER_OWNER_MAX, Fingerprint, IdempotencyKey, LIFETIME, Recall,
    Stored, recall,
};
use store::error::StoreError;
use store::idempotency::{AnswerKey, Kept, KeptAnswer};
use store::write::Write;

use crate::app::{App, Shared};
use crate::endpoints::crypto::relayed::{Answered, Relayed};
use crate::endpoints::crypto::work::{Also, Failed, Work};
use crate::outlasting::Outlasting;
use crate::refusal::Refusal;
use crate::refusal::proxy::Cap;

/// How a request under way ended, for all who sent it.
#[derive(Debug, Clone)]
pub(crate) struct Landed {
    fingerprint: Fingerprint,
    outcome: Result<Relayed, Unanswered>,
}

#[derive(Debug, Clone)]
enum Unanswered {
    /// The key was used for another request.
    Clash,
    /// The owner has as many answers kept as are allowed.
    Full,
    Unreadable(StoreError),
    Failed(Failed),
}

/// Runs the request, waits for the same one that is under way, or gives the kept answer.
pub(super) async fn run(
    app: &Shared,
    work: Work,
    key: IdempotencyKey,
    fingerprint: Fingerprint,
) -> Result<Relayed, Refusal> {
    let key = AnswerKey { owner: work.holder.owner.id, key: key.as_str().to_owned() };
    let outcome = loop {
        let follower = match app.proxy.keyed.board(key.clone()) {
            Boarding::Lead(leader) => {
                let for_work = Arc::clone(app);
                // The first caller may leave; the others still wait.
                let answering = async move {
                    let outcome = answer(&for_work, work, key, fingerprint).await;
                    let landed = Landed { fingerprint, outcome };
                    leader.land(&landed);
                    landed.outcome
                };
                break Outlasting::new(&app.tasks, answering).await;
            }
            Boarding::Follow(follower) => follower,
        };
        match follower.landed().await {
            Some(landed) if landed.fingerprint == fingerprint => {
                break landed.outcome.map(|it| Relayed { is_replay: true, ..it });
            }
            // It was another request, or it ended in a panic: look again.
            _ => {}
        }
    };
    outcome.map_err(|unanswered| unanswered.into_refusal(app))
}

async fn answer(
    app: &App,
    work: Work,
    key: AnswerKey,
    fingerprint: Fingerprint,
) -> Result<Relayed, Unanswered> {
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
            Ok(Relayed { answer, is_replay: false })
        }
    }
}

fn replay(kept: KeptAnswer) -> Relayed {
    let read = |(name, value): (String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    let headers = kept.headers.into_iter().filter_map(read).collect();
    let body = Bytes::from(kept.body);
    let answer = Arc::new(Answered { body, headers, balance_remaining: None });
    Relayed { answer, is_replay: true }
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
                 new key, or send the same body to the same network.",
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

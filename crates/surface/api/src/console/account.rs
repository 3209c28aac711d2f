//! Console routes about the signed-in account: refusals, remaining limits, jobs.
//!
//! An INFERENCE key sees only its own data; other sessions see all data of their owner.

use access::CredentialHolder;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use domain::access::KeyKind;
use domain::catalogue::ModelSelection;
use http_frame::app::{AppState, SharedApp};
use http_frame::base_paths::BASE_PATH;
use http_frame::recent_errors::{DayCount, RefusedCall};
use http_frame::refusal::Refusal;
use http_frame::session;
use ledger_core::{KeyId, LimitClass};
use moment::Timestamp;
use money::Nano;
use serde_json::{Value, json};
use store::job::{JobFilter, JobKind, QueuedJob};

use crate::console::sign_in::uncached_json;

const JOBS_MAX: usize = 100;

/// Recent refusals, newest first, and their number per day.
pub(super) async fn show_refused(State(app): State<SharedApp>, headers: HeaderMap) -> Response {
    respond_json(list_refused(&app, &headers).await)
}

/// The remaining limits of each model in this minute.
pub(super) async fn show_limits(State(app): State<SharedApp>, headers: HeaderMap) -> Response {
    respond_json(list_limits(&app, &headers).await)
}

/// Music and videos, newest first.
pub(super) async fn show_jobs(State(app): State<SharedApp>, headers: HeaderMap) -> Response {
    respond_json(list_jobs(&app, &headers).await)
}

/// The spending limits of the signed-in key.
pub(super) async fn show_key_limits(State(app): State<SharedApp>, headers: HeaderMap) -> Response {
    respond_json(show_key(&app, &headers).await)
}

async fn show_key(app: &AppState, headers: &HeaderMap) -> Result<Value, Refusal> {
    let now = app.clock.now();
    let holder = session::authenticate_session(app, headers, now).await?;
    let Some(key) = holder.key() else { return Ok(json!({ "limits": [] })) };
    let terms = key.terms();
    let line = |(class, limit): (LimitClass, Option<Nano>)| {
        let (limit, used) = (limit?, app.ledger.key_usage(&terms, class));
        let left = limit.saturating_sub(used.total()).max(Nano::ZERO);
        Some(json!({
            "currency": class.name(),
            "limit": limit.to_string(),
            "spent": used.spent.to_string(),
            "left": left.to_string(),
        }))
    };
    let limits = [(LimitClass::Usd, terms.limit_usd), (LimitClass::Diem, terms.limit_diem)];
    Ok(json!({
        "description": key.settings.description,
        "limits": limits.into_iter().filter_map(line).collect::<Vec<_>>(),
        "period": terms.period.name(),
        "resetsAt": terms.period.resets_at(now).map(|at| at.to_string()),
        "expiresAt": key.settings.expires.map(|at| at.to_string()),
    }))
}

async fn list_refused(app: &AppState, headers: &HeaderMap) -> Result<Value, Refusal> {
    let holder = session::authenticate_session(app, headers, app.clock.now()).await?;
    let calls = app.refused.list_by_owner(holder.owner.id);
    let calls = calls.into_iter().filter(|call| is_shown(&holder, call.key));
    let line = |call: RefusedCall| {
        json!({
            "at": call.at.to_string(),
            "requestId": call.request_id,
            "path": if call.path.is_empty() { "no endpoint" } else { call.path },
            "status": call.status,
            "message": call.words,
        })
    };
    let data = calls.map(line).collect::<Vec<_>>();
    Ok(json!({ "data": data, "counted": count_refusals(app, &holder) }))
}

/// Refusals per day; days without any are left out. Counted per owner, so None for INFERENCE keys.
fn count_refusals(app: &AppState, holder: &CredentialHolder) -> Option<Value> {
    if is_limited_to_itself(holder) {
        return None;
    }
    let counted = app.refused.count_by_day(holder.owner.id);
    let day = |(day, count): (&i64, &DayCount)| {
        let date = Timestamp::start_of_day(*day).date();
        json!({ "date": date, "refused": count.refused, "failed": count.failed })
    };
    let days = counted.days.iter().map(day).collect::<Vec<_>>();
    Some(json!({ "since": counted.since.to_string(), "days": days }))
}

async fn list_limits(app: &AppState, headers: &HeaderMap) -> Result<Value, Refusal> {
    let now = app.clock.now();
    let holder = session::authenticate_session(app, headers, now).await?;
    let catalogue = app.catalogue.get();
    let models = catalogue.list(ModelSelection::All, now);
    let lines = models.map(|model| {
        let standing = app.model_rate_limit(&holder, model, now);
        json!({
            "model": model.id,
            "requests": standing.allowed.requests,
            "requestsLeft": standing.requests_left,
            "tokens": standing.allowed.tokens,
            "tokensLeft": standing.tokens_left,
            "resetsAt": standing.resets_at.to_string(),
        })
    });
    Ok(json!({ "data": lines.collect::<Vec<_>>() }))
}

async fn list_jobs(app: &AppState, headers: &HeaderMap) -> Result<Value, Refusal> {
    let holder = session::authenticate_session(app, headers, app.clock.now()).await?;
    let owner = Some(holder.owner.id);
    let filter = JobFilter { owner, open_only: false, before: None, limit: JOBS_MAX };
    let jobs = app.store.list_jobs(filter).await.map_err(Refusal::unavailable)?;
    let mut data = Vec::with_capacity(jobs.len());
    for job in jobs.iter().filter(|job| is_shown(&holder, job.key)) {
        // The job's row still names its media after they were deleted.
        let media = app.jobs.find_media(job).await.map_err(Refusal::unavailable)?;
        data.push(job_line(app, job, media.is_some()));
    }
    Ok(json!({ "data": data }))
}

fn job_line(app: &AppState, job: &QueuedJob, has_result: bool) -> Value {
    // `/video/retrieve` does not send files that have a link, so the page uses a fresh link.
    let has_link = job.has_link && !job.is_link_revoked && has_result;
    let link = has_link.then(|| format!("{BASE_PATH}{}", app.jobs.sign_link(job.id)));
    let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "queueId": job.id.0,
        "kind": match job.kind {
            JobKind::Music => "audio",
            JobKind::Video => "video",
        },
        "model": job.model,
        "state": job.state.name(),
        "queuedAt": job.queued.to_string(),
        "startedAt": text(job.started),
        "doneAt": text(job.done),
        "hasResult": has_result,
        "url": link,
    })
}

/// True if the session may see data of this key.
pub(super) fn is_shown(holder: &CredentialHolder, key: Option<KeyId>) -> bool {
    !is_limited_to_itself(holder) || key == holder.key().map(|own| own.id)
}

pub(super) fn is_limited_to_itself(holder: &CredentialHolder) -> bool {
    holder.key().is_some_and(|own| own.kind == KeyKind::Inference)
}

fn respond_json(listed: Result<Value, Refusal>) -> Response {
    listed.map_or_else(IntoResponse::into_response, |it| uncached_json(&it))
}

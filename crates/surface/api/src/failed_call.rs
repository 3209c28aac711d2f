//! Counts failed calls towards the block of a caller with too many of them.

use access::CredentialHolder;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use moment::Timestamp;

use crate::app::AppState;
use crate::principal::Principal;
use crate::refusal::render::PriceDiscovery;
use crate::request_id::RequestId;

/// A caller that may be blocked, with the endpoint that it called.
pub(crate) struct BlockableCaller<'a> {
    pub(crate) principal: Principal,
    pub(crate) holder: Option<&'a CredentialHolder>,
    /// The endpoint's path; empty if none matched.
    pub(crate) path: &'static str,
    /// True if refusals of this endpoint count.
    pub(crate) counts_failures: bool,
    /// The digest of the request's body; None without one.
    pub(crate) body_digest: Option<u64>,
}

impl<'a> BlockableCaller<'a> {
    /// A caller of no endpoint.
    pub(crate) fn outside_endpoints(
        principal: Principal,
        holder: Option<&'a CredentialHolder>,
    ) -> BlockableCaller<'a> {
        BlockableCaller { principal, holder, path: "", counts_failures: true, body_digest: None }
    }
}

/// Counts a failure caused by the caller, and records the refusal for the console.
pub(crate) fn note_failure(
    app: &AppState,
    caller: &BlockableCaller<'_>,
    parts: &Parts,
    response: &Response,
    now: Timestamp,
) {
    match weigh_failure(caller, response) {
        FailureWeight::None => {}
        FailureWeight::Full => app.note_failure(caller.principal, now),
        FailureWeight::PerBody(digest) => app.note_bad_request(caller.principal, digest, now),
    }
    if let Some(holder) = caller.holder {
        let id = RequestId::from_extensions(&parts.extensions);
        app.refused.record_response(holder, caller.path, id, response, now);
    }
}

/// The way in which a response counts towards the block after too many failures.
enum FailureWeight {
    None,
    Full,
    /// Repetitions of the same body count less: agents repeat a refused request by themselves.
    PerBody(u64),
}

/// Callers with a valid credential are blocked for malformed requests and missing rights only. An
/// agent that is out of money, over a limit, or looks for what is not there goes on asking.
fn weigh_failure(caller: &BlockableCaller<'_>, response: &Response) -> FailureWeight {
    if !counts_as_failure(response) {
        return FailureWeight::None;
    }
    if caller.holder.is_none() {
        return FailureWeight::Full;
    }
    match (response.status(), caller.body_digest) {
        _ if !caller.counts_failures => FailureWeight::None,
        (StatusCode::PAYMENT_REQUIRED | StatusCode::NOT_FOUND, _) => FailureWeight::None,
        (StatusCode::BAD_REQUEST, Some(digest)) => FailureWeight::PerBody(digest),
        _ => FailureWeight::Full,
    }
}

/// True for client errors, except rate limits and requests for prices.
fn counts_as_failure(response: &Response) -> bool {
    let status = response.status();
    let is_discovery = response.extensions().get::<PriceDiscovery>().is_some();
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && !is_discovery
}

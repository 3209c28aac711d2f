//! One call from its first header to its last: the path that every request to the API takes.
//!
//! read the input → who calls → not blocked → within the limit → check the input → handle → reply

use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use access::{Holder, Proof};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use domain::catalogue::Country;
use domain::limits::tiers::LimitClass;
use domain::limits::window::{Standing, Subject};
use moment::Timestamp;

use crate::app::{App, Shared};
use crate::caller::{Arrival, Credential, Principal};
use crate::input::{BodyLimits, Input};
use crate::origin;
use crate::refusal::Refusal;
use crate::refusal::render::Discovery;
use crate::reply::Reply;
use crate::standing;
use crate::transport::RequestId;

/// What a handler is called with: the proof of who calls, and input that has passed its schema.
#[derive(Debug)]
pub struct Call<C, I> {
    pub caller: C,
    pub input: I,
    pub request_id: RequestId,
    pub now: Timestamp,
    /// Where the caller is, if the operator's proxy says so.
    pub country: Option<Country>,
    pub accepts_csv: bool,
    /// Filled by whoever admits the request; the headers are written from it at the end, so that
    /// refusals carry them too.
    pub standing: StandingCell,
}

/// Where a caller stands, once that is known.
pub type StandingCell = Arc<OnceLock<Standing>>;

/// What a request is counted against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Class(LimitClass),
    /// The model that the body names: the handler admits the request once it knows it.
    ByModel,
    /// Limits and headers of the endpoint's own: the handler admits the request.
    ByHandler,
}

/// What holds for an endpoint whoever calls it.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    pub limit: Limit,
    pub path: &'static str,
}

/// Runs one call. `E` is the envelope that the endpoint refuses in.
pub(crate) async fn run<C, I, R, E, H, F>(
    app: Shared,
    policy: Policy,
    request: Request,
    handler: H,
) -> Response
where
    C: Credential,
    I: Input,
    R: Reply,
    E: From<Refusal> + IntoResponse,
    H: FnOnce(Shared, Call<C, I>) -> F,
    F: Future<Output = Result<R, E>>,
{
    let (mut parts, body) = request.into_parts();
    let now = app.clock.now();
    let is_trusted = app.settings.is_trusted_proxy.as_ref();
    let address = origin::address(&parts.extensions, &parts.headers, is_trusted);
    let presented = C::present(&app, &arrival(&parts, address, now)).await;
    let holder = presented.as_ref().ok().and_then(|caller| caller.holder().cloned());
    let holder = holder.as_deref();
    let principal = principal(holder, address);

    let limits = if presented.is_ok() { BodyLimits::TRUSTED } else { BodyLimits::STRANGER };
    let raw = I::read(&mut parts, body, limits).await;
    let standing = StandingCell::default();
    let balance = holder.map(|holder| standing::balance(&app, holder));
    let outcome = async {
        let raw = match (raw, presented.is_err()) {
            // A stranger's body was cut off on purpose: what is missing is the credential.
            (Err(refusal), true) if refusal.status() == StatusCode::PAYLOAD_TOO_LARGE => None,
            (Err(refusal), _) => return Err(refusal.into()),
            (Ok(raw), _) => Some(raw),
        };
        let caller = presented.or_else(|refusal| {
            // Guessing ends here too. Whoever only asks what things cost is still told.
            if refusal.status() == StatusCode::UNAUTHORIZED {
                refuse_if_blocked(&app, principal, now)?;
            }
            Err(refusal)
        })?;
        refuse_if_blocked(&app, principal, now)?;
        if let Limit::Class(class) = policy.limit {
            let admitted = admit(&app, (class, policy.path), holder, address, now);
            let (Ok(known) | Err((known, _))) = &admitted;
            let _ = standing.set(*known);
            admitted.map_err(|(_, refusal)| refusal)?;
        }
        let input = I::check(raw.ok_or_else(Refusal::body_too_large)?).map_err(Refusal::from)?;
        let visit = caller.begin(&app, &arrival(&parts, address, now))?;
        let call = Call {
            caller,
            input,
            request_id: RequestId::of(&parts.extensions),
            now,
            country: country(&app, &parts),
            accepts_csv: accepts_csv(&parts.headers),
            standing: Arc::clone(&standing),
        };
        let reply = handler(app.clone(), call).await?;
        let response = reply.into_response()?;
        Ok(match visit {
            Some(visit) => visit.lasting(response),
            None => response,
        })
    };
    let outcome: Result<Response, E> = outcome.await;
    let mut response = outcome.unwrap_or_else(IntoResponse::into_response);
    if app.settings.blocks_failures && counts_as_failure(&response) {
        app.failures.count(principal, now);
    }
    let headers = response.headers_mut();
    if let Some(standing) = standing.get() {
        standing::write_limits(headers, standing, holder.is_some());
    }
    if let Some(balance) = balance {
        standing::write_balance(headers, balance);
    }
    response
}

fn arrival(parts: &Parts, address: IpAddr, now: Timestamp) -> Arrival<'_> {
    Arrival { headers: &parts.headers, uri: &parts.uri, address, now }
}

fn country(app: &App, parts: &Parts) -> Option<Country> {
    let header = app.settings.country_header.as_ref()?;
    let is_trusted = app.settings.is_trusted_proxy.as_ref();
    origin::country(&parts.extensions, &parts.headers, is_trusted, header)
}

fn principal(holder: Option<&Holder>, address: IpAddr) -> Principal {
    match holder.map(|holder| &holder.proof) {
        Some(Proof::Key(key)) => Principal::Key(key.id),
        Some(Proof::Wallet(wallet)) => Principal::Wallet(*wallet),
        None => Principal::Address(address),
    }
}

fn refuse_if_blocked(app: &App, principal: Principal, now: Timestamp) -> Result<(), Refusal> {
    let Some(until) = app.failures.blocked_until(&principal, now) else { return Ok(()) };
    let message = "Too many failed attempts (> 20) resulting in a non-success status code. \
                   Please wait 30s and try again.";
    Err(Refusal::rate_limited(message, until.since(now)))
}

/// Counts the request against its class, and remembers a refusal for the caller's log.
fn admit(
    app: &App,
    (class, path): (LimitClass, &'static str),
    holder: Option<&Holder>,
    address: IpAddr,
    now: Timestamp,
) -> Result<Standing, (Standing, Refusal)> {
    let tier = app.tier(holder);
    let subject = match holder {
        Some(holder) => Subject::new(holder.owner.id, class),
        None => Subject::new(address, class),
    };
    match app.limiter.admit(subject, tier.allowed(class), 0, now) {
        Ok(admission) => Ok(admission.standing),
        Err(exceeded) => {
            if let Some(holder) = holder {
                let counted = format!("endpoint:api/v1{path}");
                app.log_limit_hit(holder, tier, counted, &exceeded, now);
            }
            Err((*exceeded.standing(), standing::too_fast(&exceeded)))
        }
    }
}

/// A caller's own mistakes count; going too fast does not, nor does a failure of ours.
fn counts_as_failure(response: &Response) -> bool {
    let status = response.status();
    let is_discovery = response.extensions().get::<Discovery>().is_some();
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && !is_discovery
}

fn accepts_csv(headers: &axum::http::HeaderMap) -> bool {
    let accept = headers.get(axum::http::header::ACCEPT).and_then(|it| it.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/csv"))
}

//! The path that every request to the API takes.
//!
//! authenticate → forward to the home node → read the input → refuse if unauthenticated or blocked
//! → count against the limit → check the input → handle → reply

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use access::{CallerCredential, CredentialHolder};
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use domain::catalogue::CountryCode;
use domain::limits::tiers::LimitClass;
use domain::limits::window::{LimitSubject, RateLimitStatus};
use moment::Timestamp;
use store::owner::OwnerKind;

use crate::app::{AppState, SharedApp};
use crate::call_terms::CallTerms;
use crate::caller::{KeyHolder, RequiredCredential};
use crate::caller_limits::{self, BalanceBefore, RateLimitCell};
use crate::discovery;
use crate::failed_call::{BlockableCaller, note_failure};
use crate::home::{self, HomeOwner};
use crate::input::{
    BodyLimits, BodyOwner, BodyReservation, HandlerInput, LARGE_BYTES, run_blocking,
};
use crate::nodes::forwarded_identity::ForwardedRequest;
use crate::origin::CallerOrigin;
use crate::payment::can_consume;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::refusal::render::{InsufficientFunds, ServiceBusy};
use crate::reply::HandlerReply;
use crate::request_head::RequestHead;
use crate::request_id::RequestId;
use crate::transport::body_guard::keep_until_sent;
use crate::work_session::SessionHeaders;

/// The argument of a handler: an authenticated caller, and input that has passed its schema.
#[derive(Debug)]
pub struct ApiCall<C, I> {
    pub caller: C,
    pub input: I,
    pub request_id: RequestId,
    pub now: Timestamp,
    /// The caller's country, if the operator's proxy sends it.
    pub country: Option<CountryCode>,
    pub accepts_csv: bool,
    /// Set when the request is admitted. The headers are written from it at the end, so that
    /// refusals have them too.
    pub standing: RateLimitCell,
    /// The request's share of the memory for bodies.
    pub room: Arc<BodyReservation>,
    pub session: SessionHeaders,
    pub terms: CallTerms,
}

/// The limit that a request is counted against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointLimit {
    Class(LimitClass),
    /// The limit of the model named in the body; the handler admits the request.
    ByModel,
    /// The endpoint's own limits and headers; the handler admits the request.
    ByHandler,
}

/// The rules of an endpoint, the same for every caller.
#[derive(Debug, Clone, Copy)]
pub struct EndpointPolicy {
    pub limit: EndpointLimit,
    /// The class shown in the headers if nothing was counted, such as for an unknown model.
    pub usual_class: LimitClass,
    /// The node that handles the request, in a cluster.
    pub home: HomeOwner,
    pub path: &'static str,
    /// True if refusals count towards the block after too many failures.
    pub counts_failures: bool,
}

/// Runs one call. `E` is the error envelope of the endpoint.
pub(crate) async fn run_call<C, I, R, E, H, F>(
    app: SharedApp,
    policy: EndpointPolicy,
    request: Request,
    handler: H,
) -> Response
where
    C: RequiredCredential,
    I: HandlerInput,
    R: HandlerReply,
    E: From<Refusal> + IntoResponse,
    H: FnOnce(SharedApp, ApiCall<C, I>) -> F,
    F: Future<Output = Result<R, E>>,
{
    let entered = build_context::<C>(app, policy, request, I::IS_STREAMED).await;
    let (mut context, presented, body) = match entered {
        Ok(entered) => entered,
        Err(response) => return response,
    };
    let limits = context.limits;
    let raw = context.room.replace_by_fault(I::read(&mut context.parts, body, limits).await);
    let balance = context.balance();
    let outcome = async {
        let (raw, unread) = match raw {
            Ok(raw) => (Some(raw), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let caller = context.admit_caller(presented, unread).await?;
        let Some(raw) = raw else {
            // A wallet without a balance is asked to pay, whatever else is wrong with its request.
            caller.check_before_handler(&context.app, &context.request_head())?;
            return Err(Refusal::body_too_large().into());
        };
        let input = check_input::<I>(raw, context.room.bytes_read()).await?;
        let visit = if context.terms.is_counted {
            None
        } else {
            caller.check_before_handler(&context.app, &context.request_head())?
        };
        let reply = handler(Arc::clone(&context.app), context.build_call(caller, input)).await?;
        let response = reply.into_response()?;
        Ok(match visit {
            Some(visit) => keep_until_sent(visit, response),
            None => response,
        })
    };
    let outcome: Result<Response, E> = outcome.await;
    let response = outcome.unwrap_or_else(IntoResponse::into_response);
    context.finish_response(response, balance)
}

/// A call without its input. Everything that does not depend on the endpoint's types is done here,
/// so that it is compiled once and not for each endpoint.
struct CallContext {
    app: SharedApp,
    policy: EndpointPolicy,
    parts: Parts,
    origin: CallerOrigin,
    now: Timestamp,
    holder: Option<Arc<CredentialHolder>>,
    limits: BodyLimits,
    room: Arc<BodyReservation>,
    standing: RateLimitCell,
    terms: CallTerms,
}

/// Authenticates the caller. Returns the context, the credential or its refusal, and the body; or
/// the response of another node that handled the request.
async fn build_context<C: RequiredCredential>(
    app: SharedApp,
    policy: EndpointPolicy,
    request: Request,
    is_streamed: bool,
) -> Result<(CallContext, Result<C, Refusal>, Body), Response> {
    let (parts, body) = request.into_parts();
    let now = app.clock.now();
    let origin = CallerOrigin::from_parts(&app.settings, &parts);
    let address = origin.address;
    if C::NEEDS_STORE || policy.home == HomeOwner::OfPayments {
        let reached = app.store.confirm_reach().await;
        reached.map_err(|error| Refusal::unavailable(error).into_response())?;
    }
    let (presented, holder) =
        authenticate_caller::<C>(&app, &parts, &build_request_head(&parts, address, now)).await;
    let body =
        home::forward_to_home(&app, policy.home, &parts, origin, holder.as_deref(), body).await?;
    let has_balance = holder.as_deref().is_some_and(|holder| has_balance(&app, holder));
    let limits = body_limits(holder.as_deref(), has_balance);
    let caller = identify_principal(holder.as_deref(), address);
    let room = app.bodies.open_reservation(BodyOwner::new(caller, address, has_balance));
    let standing = RateLimitCell::default();
    let terms = parts.extensions.get::<ForwardedRequest>().map(|it| it.terms.clone());
    let terms = terms.unwrap_or_default();
    let context =
        CallContext { app, policy, parts, origin, now, holder, limits, room, standing, terms };
    let headers = &context.parts.headers;
    let body = if is_streamed {
        context.room.meter_stream(body, headers)
    } else {
        context.room.meter_body(body, headers, limits.pace)
    };
    Ok((context, presented, body))
}

impl CallContext {
    fn request_head(&self) -> RequestHead<'_> {
        build_request_head(&self.parts, self.origin.address, self.now)
    }

    fn caller(&self) -> BlockableCaller<'_> {
        let holder = self.holder.as_deref();
        let principal = identify_principal(holder, self.origin.address);
        BlockableCaller {
            principal,
            holder,
            path: self.policy.path,
            counts_failures: self.policy.counts_failures && !self.terms.is_counted,
            body_digest: self.room.body_digest(),
        }
    }

    fn balance(&self) -> Option<BalanceBefore> {
        self.holder.as_deref().map(|holder| caller_limits::read_balance(&self.app.ledger, holder))
    }

    /// Returns the caller if admitted. `unread` is the body's read error.
    async fn admit_caller<C>(
        &self,
        presented: Result<C, Refusal>,
        unread: Option<Refusal>,
    ) -> Result<C, Refusal> {
        if let Some(refusal) = unread {
            // A body of an unauthenticated caller or an empty wallet has a low size limit. Report
            // the missing credential or the missing money, not the size.
            let is_stranger = presented.is_err() || self.limits.is_strangers();
            let is_cut = refusal.status() == StatusCode::PAYLOAD_TOO_LARGE && is_stranger;
            if !is_cut {
                return Err(refusal);
            }
        }
        let caller = presented.or_else(|refusal| {
            // A blocked address may not try credentials. A request for prices (402) is still
            // answered.
            if refusal.status() == StatusCode::UNAUTHORIZED {
                refuse_if_blocked(&self.app, &self.caller(), self.now)?;
            }
            Err(refusal)
        })?;
        if self.terms.is_counted {
            return Ok(caller);
        }
        refuse_if_blocked(&self.app, &self.caller(), self.now)?;
        if let EndpointLimit::Class(class) = self.policy.limit {
            self.count_request(class).await?;
        }
        Ok(caller)
    }

    /// Counts the request against its class, and adds a refusal to the caller's log.
    async fn count_request(&self, class: LimitClass) -> Result<(), Refusal> {
        let (app, holder, now) = (&self.app, self.holder.as_deref(), self.now);
        let tier = app.tier(holder);
        let allowed = tier.limits_for(class);
        let admitted = match holder {
            Some(holder) => {
                let subject = LimitSubject::new(holder.owner.id, class);
                let admitted = app.limiter.admit(subject, allowed, 0, now);
                self.standing.set_counted(&admitted);
                admitted.map(|_| ())
            }
            None => {
                let subject = LimitSubject::new(self.origin.address, class);
                let admitted = app.admit_anonymous(subject, allowed, now).await;
                self.standing.set(match &admitted {
                    Ok(standing) => *standing,
                    Err(exceeded) => *exceeded.limit_status(),
                });
                admitted.map(|_| ())
            }
        };
        admitted.map_err(|exceeded| {
            if let Some(holder) = holder {
                let counted = limit_log_name(self.policy.path);
                app.log_limit_hit(holder, tier, counted, exceeded.kind(), now);
            }
            caller_limits::refuse_rate_limited(&exceeded)
        })
    }

    fn build_call<C, I>(&self, caller: C, input: I) -> ApiCall<C, I> {
        ApiCall {
            caller,
            input,
            request_id: RequestId::from_extensions(&self.parts.extensions),
            now: self.now,
            country: self.origin.country,
            accepts_csv: accepts_csv(&self.parts.headers),
            standing: self.standing.clone(),
            room: Arc::clone(&self.room),
            session: SessionHeaders::read(&self.parts.headers),
            terms: self.terms.clone(),
        }
    }

    /// Counts a failure, and writes the headers about the caller's limits and balance.
    fn finish_response(&self, response: Response, balance: Option<BalanceBefore>) -> Response {
        let (app, holder, now) = (&self.app, self.holder.as_deref(), self.now);
        let asked = top_up(app, &response, holder, &self.request_head());
        let mut response = asked.unwrap_or(response);
        note_failure(app, &self.caller(), &self.parts, &response, now);
        if response.extensions().get::<ServiceBusy>().is_some() {
            self.standing.return_request(&app.limiter);
        }
        let known = self.standing.get();
        let standing = known.unwrap_or_else(|| {
            current_rate_limit(app, holder, self.origin.address, self.policy.usual_class, now)
        });
        write_rate_limit_headers(&mut response, &standing, holder, now);
        if let Some(balance) = balance {
            caller_limits::write_balance(response.headers_mut(), balance);
        }
        response
    }
}

/// True if the owner's balance is enough to call anything that costs something.
fn has_balance(app: &AppState, holder: &CredentialHolder) -> bool {
    can_consume(app.ledger.balances(holder.owner.id).total())
}

/// Accounts are opened by the operator and may call free models. A wallet can be created by anyone,
/// so it gets the larger limits only with a balance.
fn body_limits(holder: Option<&CredentialHolder>, has_balance: bool) -> BodyLimits {
    let is_account = holder.is_some_and(|holder| holder.owner.kind == OwnerKind::Account);
    if is_account || has_balance { BodyLimits::TRUSTED } else { BodyLimits::STRANGER }
}

/// Returns the credential or its refusal, and the holder if known in spite of the refusal.
async fn authenticate_caller<C: RequiredCredential>(
    app: &AppState,
    parts: &Parts,
    arrival: &RequestHead<'_>,
) -> (Result<C, Refusal>, Option<Arc<CredentialHolder>>) {
    let presented = match home::find_forwarded_caller(app, parts).await {
        Some(proved) => proved.and_then(C::from_holder),
        None => C::authenticate(app, arrival).await,
    };
    let holder = match &presented {
        Ok(caller) => caller.holder().cloned(),
        Err(_) => C::find_known_holder(app, arrival).await,
    };
    (presented, holder)
}

/// Refuses a request that matches no endpoint. Counts as a failure of the caller.
pub async fn refuse_unmatched(app: SharedApp, request: Request, refusal: Refusal) -> Response {
    let (parts, _) = request.into_parts();
    let now = app.clock.now();
    let address = CallerOrigin::from_parts(&app.settings, &parts).address;
    let known = KeyHolder::authenticate(&app, &build_request_head(&parts, address, now)).await.ok();
    let holder = known.as_ref().map(|KeyHolder(holder)| holder.as_ref());
    let principal = identify_principal(holder, address);
    let subject = BlockableCaller::outside_endpoints(principal, holder);
    let refusal = refuse_if_blocked(&app, &subject, now).err().unwrap_or(refusal);
    let mut response = refusal.into_response();
    note_failure(&app, &subject, &parts, &response, now);
    let standing = current_rate_limit(&app, holder, address, LimitClass::General, now);
    write_rate_limit_headers(&mut response, &standing, holder, now);
    response
}

/// Responds to a request that is free and not counted, with the caller's limits in the headers.
/// An invalid credential does not change the response, and counts as a failure: a blocked address cannot
/// try keys here.
pub async fn respond_uncounted(
    app: SharedApp,
    request: Request,
    mut response: Response,
) -> Response {
    let (parts, _) = request.into_parts();
    let now = app.clock.now();
    let address = CallerOrigin::from_parts(&app.settings, &parts).address;
    let known = find_optional_key(&app, &build_request_head(&parts, address, now)).await;
    let holder = known.as_ref().map(|KeyHolder(holder)| holder.as_ref());
    let standing = current_rate_limit(&app, holder, address, LimitClass::General, now);
    write_rate_limit_headers(&mut response, &standing, holder, now);
    response
}

/// The holder of a key that was sent although none is needed.
async fn find_optional_key(app: &AppState, arrival: &RequestHead<'_>) -> Option<KeyHolder> {
    let is_key = arrival.headers.contains_key(AUTHORIZATION);
    if is_key && refuse_blocked_address(app, arrival.address, arrival.now).is_err() {
        return None;
    }
    let presented = KeyHolder::authenticate(app, arrival).await;
    if is_key && presented.as_ref().is_err_and(|it| it.status() == StatusCode::UNAUTHORIZED) {
        app.note_failure(Principal::Address(arrival.address), arrival.now);
    }
    presented.ok()
}

/// The current limits of a caller, or of its address, if the request was not counted.
fn current_rate_limit(
    app: &AppState,
    holder: Option<&CredentialHolder>,
    address: IpAddr,
    class: LimitClass,
    now: Timestamp,
) -> RateLimitStatus {
    match holder {
        Some(holder) => app.class_rate_limit(holder, class, now),
        None => app.anonymous_rate_limit(address, class, now),
    }
}

/// Writes the rate-limit headers.
fn write_rate_limit_headers(
    response: &mut Response,
    standing: &RateLimitStatus,
    holder: Option<&CredentialHolder>,
    now: Timestamp,
) {
    caller_limits::write_limits(response.headers_mut(), standing, holder.is_some());
    caller_limits::write_reset(response, now);
}

/// The 402 response with ways to top up, if a wallet has too little money.
fn top_up(
    app: &AppState,
    response: &Response,
    holder: Option<&CredentialHolder>,
    arrival: &RequestHead<'_>,
) -> Option<Response> {
    let InsufficientFunds(message) = response.extensions().get::<InsufficientFunds>()?;
    let holder = holder.filter(|holder| holder.wallet().is_some())?;
    let asked = discovery::ask_to_top_up(app, arrival, holder, message.clone())?;
    Some(asked.into_response())
}

/// Checks an input. A large one is checked on a blocking thread, so as not to delay other requests.
async fn check_input<I: HandlerInput>(raw: I::Raw, body_bytes: usize) -> Result<I, Refusal> {
    let checked = if LARGE_BYTES <= body_bytes {
        run_blocking(|| I::check(raw)).await?
    } else {
        I::check(raw)
    };
    checked.map_err(Refusal::from)
}

fn build_request_head(parts: &Parts, address: IpAddr, now: Timestamp) -> RequestHead<'_> {
    RequestHead { headers: &parts.headers, uri: &parts.uri, address, now }
}

fn identify_principal(holder: Option<&CredentialHolder>, address: IpAddr) -> Principal {
    match holder.map(|holder| &holder.proof) {
        Some(CallerCredential::Key(key)) => Principal::Key(key.id),
        Some(CallerCredential::Wallet(wallet)) => Principal::Wallet(*wallet),
        None => Principal::Address(address),
    }
}

/// Refuses a blocked address whose caller is not authenticated.
pub fn refuse_blocked_address(
    app: &AppState,
    address: IpAddr,
    now: Timestamp,
) -> Result<(), Refusal> {
    let caller = BlockableCaller::outside_endpoints(Principal::Address(address), None);
    refuse_if_blocked(app, &caller, now)
}

fn refuse_if_blocked(
    app: &AppState,
    caller: &BlockableCaller<'_>,
    now: Timestamp,
) -> Result<(), Refusal> {
    let Some(until) = app.failures.blocked_until(&caller.principal, now) else { return Ok(()) };
    if let Some(holder) = caller.holder {
        let (tier, counted) = (app.tier(Some(holder)), limit_log_name(caller.path));
        app.log_limit_hit(holder, tier, counted, FAILED_REQUESTS, now);
    }
    let message = "Too many failed attempts (> 20) resulting in a non-success status code. \
                   Please wait 30s and try again.";
    Err(Refusal::rate_limited(message, until.since(now)))
}

/// Kind of a block after too many failures, in the log of rate-limit refusals.
const FAILED_REQUESTS: &str = "FAILED_REQUESTS";

/// Name of an endpoint in the log of rate-limit refusals: its path up to the first parameter.
pub fn limit_log_name(path: &str) -> String {
    let path = path.split("/{").next().unwrap_or(path);
    format!("endpoint:api/v1{path}")
}

fn accepts_csv(headers: &axum::http::HeaderMap) -> bool {
    let accept = headers.get(axum::http::header::ACCEPT).and_then(|it| it.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/csv"))
}

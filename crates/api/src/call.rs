//! One call from its first header to its last: the path that every request to the API takes.
//!
//! read the input → who calls → not blocked → within the limit → check the input → handle → reply

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use access::{Holder, Proof};
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use domain::catalogue::Country;
use domain::limits::tiers::LimitClass;
use domain::limits::window::{Standing, Subject};
use moment::Timestamp;
use store::owner::OwnerKind;

use crate::app::{App, Shared};
use crate::arrival::Arrival;
use crate::caller::{Credential, KeyHolder};
use crate::discovery;
use crate::home::{self, Home};
use crate::input::{BodyLimits, BodyOwner, Input, LARGE_BYTES, Room, apart};
use crate::origin::CallerOrigin;
use crate::payment::can_consume;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::refusal::render::{Discovery, Shortfall};
use crate::reply::Reply;
use crate::request_id::RequestId;
use crate::standing::{self, BalanceBefore, StandingCell};
use crate::transport::lasting::keep_until_sent;

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
    /// Filled when the request is admitted; the headers are written from it at the end, so that
    /// refusals carry them too.
    pub standing: StandingCell,
    /// The memory that the request has of what all of them may hold.
    pub(crate) room: Arc<Room>,
}

/// What a request is counted against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Class(LimitClass),
    /// The model that the body names: the handler admits the request once it knows it.
    ByModel,
    /// Limits and headers of the endpoint's own: the handler admits the request.
    ByHandler,
}

/// What holds for an endpoint, for every caller.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    pub limit: Limit,
    /// The limits in the headers where nothing was counted, such as for a model that does not
    /// exist.
    pub usual_class: LimitClass,
    /// At whose home it is worked on, where there are several nodes.
    pub home: Home,
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
    let (mut context, presented, body) = match enter::<C>(app, policy, request).await {
        Ok(entered) => entered,
        Err(response) => return response,
    };
    let limits = context.limits;
    let raw = context.room.judge(I::read(&mut context.parts, body, limits).await);
    let balance = context.balance();
    let outcome = async {
        let (raw, unread) = match raw {
            Ok(raw) => (Some(raw), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let caller = context.admit(presented, unread).await?;
        let Some(raw) = raw else {
            // What a wallet without a balance lacks is the money, whatever else it sent.
            caller.begin(&context.app, &context.arrival())?;
            return Err(Refusal::body_too_large().into());
        };
        let input = check::<I>(raw, context.room.bytes()).await?;
        let visit = caller.begin(&context.app, &context.arrival())?;
        let reply = handler(Arc::clone(&context.app), context.call(caller, input)).await?;
        let response = reply.into_response()?;
        Ok(match visit {
            Some(visit) => keep_until_sent(visit, response),
            None => response,
        })
    };
    let outcome: Result<Response, E> = outcome.await;
    let response = outcome.unwrap_or_else(IntoResponse::into_response);
    context.finish(response, balance)
}

/// What is known of a call but for its input. Whatever does not depend on the endpoint is done here,
/// so that it is compiled once and not for each of them.
struct Context {
    app: Shared,
    policy: Policy,
    parts: Parts,
    origin: CallerOrigin,
    now: Timestamp,
    holder: Option<Arc<Holder>>,
    limits: BodyLimits,
    room: Arc<Room>,
    standing: StandingCell,
}

/// Finds out who calls. What comes with the context is what was presented, and the body, or the
/// response of the node that handled the request.
async fn enter<C: Credential>(
    app: Shared,
    policy: Policy,
    request: Request,
) -> Result<(Context, Result<C, Refusal>, Body), Response> {
    let (parts, body) = request.into_parts();
    let now = app.clock.now();
    let origin = CallerOrigin::of(&app.settings, &parts);
    let address = origin.address;
    if C::NEEDS_STORE || policy.home == Home::OfPayments {
        let reached = app.store.confirm_reach().await;
        reached.map_err(|error| Refusal::unavailable(error).into_response())?;
    }
    let (presented, holder) = who::<C>(&app, &parts, &arrival(&parts, address, now)).await;
    let from = (&parts, origin);
    let body = home::forward_to_home(&app, policy.home, from, holder.as_deref(), body).await?;
    let has_balance = holder.as_deref().is_some_and(|holder| has_balance(&app, holder));
    let limits = body_limits(holder.as_deref(), has_balance);
    let caller = principal(holder.as_deref(), address);
    let room = app.bodies.room(BodyOwner::new(caller, address, has_balance));
    let standing = StandingCell::default();
    let context = Context { app, policy, parts, origin, now, holder, limits, room, standing };
    let body = context.room.watch(body, &context.parts.headers, limits.pace);
    Ok((context, presented, body))
}

impl Context {
    fn arrival(&self) -> Arrival<'_> {
        arrival(&self.parts, self.origin.address, self.now)
    }

    fn caller(&self) -> Caller<'_> {
        let holder = self.holder.as_deref();
        let principal = principal(holder, self.origin.address);
        Caller { principal, holder, path: self.policy.path }
    }

    fn balance(&self) -> Option<BalanceBefore> {
        self.holder.as_deref().map(|holder| standing::balance(&self.app.ledger, holder))
    }

    /// Whoever may call. `unread` is why there is no input.
    async fn admit<C>(
        &self,
        presented: Result<C, Refusal>,
        unread: Option<Refusal>,
    ) -> Result<C, Refusal> {
        if let Some(refusal) = unread {
            // A stranger's body was cut off on purpose: what is missing is the credential, or the
            // money of a wallet.
            let is_stranger = presented.is_err() || self.limits.is_strangers();
            let is_cut = refusal.status() == StatusCode::PAYLOAD_TOO_LARGE && is_stranger;
            if !is_cut {
                return Err(refusal);
            }
        }
        let caller = presented.or_else(|refusal| {
            // A blocked address cannot guess here either. A request for the price is still
            // answered.
            if refusal.status() == StatusCode::UNAUTHORIZED {
                refuse_if_blocked(&self.app, &self.caller(), self.now)?;
            }
            Err(refusal)
        })?;
        refuse_if_blocked(&self.app, &self.caller(), self.now)?;
        if let Limit::Class(class) = self.policy.limit {
            let (holder, counted) = (self.holder.as_deref(), (class, self.policy.path));
            let admitted = admit(&self.app, counted, holder, self.origin.address, self.now).await;
            let (Ok(known) | Err((known, _))) = &admitted;
            self.standing.set(*known);
            admitted.map_err(|(_, refusal)| refusal)?;
        }
        Ok(caller)
    }

    fn call<C, I>(&self, caller: C, input: I) -> Call<C, I> {
        Call {
            caller,
            input,
            request_id: RequestId::of(&self.parts.extensions),
            now: self.now,
            country: self.origin.country,
            accepts_csv: accepts_csv(&self.parts.headers),
            standing: self.standing.clone(),
            room: Arc::clone(&self.room),
        }
    }

    /// Notes a failure, and writes what every response says of its caller.
    fn finish(&self, response: Response, balance: Option<BalanceBefore>) -> Response {
        let (app, holder, now) = (&self.app, self.holder.as_deref(), self.now);
        let asked = top_up(app, &response, holder, &self.arrival());
        let mut response = asked.unwrap_or(response);
        note_failure(app, &self.caller(), &self.parts, &response, now);
        let known = self.standing.get();
        let standing = known.unwrap_or_else(|| {
            usual_standing(app, holder, self.origin.address, self.policy.usual_class, now)
        });
        write_standing(&mut response, &standing, holder, now);
        if let Some(balance) = balance {
            standing::write_balance(response.headers_mut(), balance);
        }
        response
    }
}

/// Whether an owner has enough to call anything that costs something.
fn has_balance(app: &App, holder: &Holder) -> bool {
    can_consume(app.ledger.balances(holder.owner.id).total())
}

/// Accounts are opened by the operator and may call models that cost nothing; a wallet is made by
/// anyone, and shows that it is in earnest by its balance.
fn body_limits(holder: Option<&Holder>, has_balance: bool) -> BodyLimits {
    let is_account = holder.is_some_and(|holder| holder.owner.kind == OwnerKind::Account);
    if is_account || has_balance { BodyLimits::TRUSTED } else { BodyLimits::STRANGER }
}

/// What a caller presents, and who it is all the same where that was refused.
async fn who<C: Credential>(
    app: &App,
    parts: &Parts,
    arrival: &Arrival<'_>,
) -> (Result<C, Refusal>, Option<Arc<Holder>>) {
    let presented = match home::proved(app, parts).await {
        Some(proved) => proved.and_then(C::of),
        None => C::present(app, arrival).await,
    };
    let holder = match &presented {
        Ok(caller) => caller.holder().cloned(),
        Err(_) => C::known(app, arrival).await,
    };
    (presented, holder)
}

/// A request that no endpoint takes. It is a failure of its caller's like any other.
pub(crate) async fn stray(app: Shared, request: Request, refusal: Refusal) -> Response {
    let (parts, _) = request.into_parts();
    let now = app.clock.now();
    let address = CallerOrigin::of(&app.settings, &parts).address;
    let known = KeyHolder::present(&app, &arrival(&parts, address, now)).await.ok();
    let holder = known.as_ref().map(|KeyHolder(holder)| holder.as_ref());
    let principal = principal(holder, address);
    let subject = Caller { principal, holder, path: "" };
    let refusal = refuse_if_blocked(&app, &subject, now).err().unwrap_or(refusal);
    let mut response = refusal.into_response();
    note_failure(&app, &subject, &parts, &response, now);
    let standing = usual_standing(&app, holder, address, LimitClass::General, now);
    write_standing(&mut response, &standing, holder, now);
    response
}

/// Answers a request that costs nothing and is not counted, with the caller's limits in its headers.
/// A credential that is not good changes nothing of the answer, and is a failure as everywhere
/// else: a blocked address cannot try keys here.
pub(crate) async fn answer_freely(
    app: Shared,
    request: Request,
    mut response: Response,
) -> Response {
    let (parts, _) = request.into_parts();
    let now = app.clock.now();
    let address = CallerOrigin::of(&app.settings, &parts).address;
    let known = show_freely(&app, &arrival(&parts, address, now)).await;
    let holder = known.as_ref().map(|KeyHolder(holder)| holder.as_ref());
    let standing = usual_standing(&app, holder, address, LimitClass::General, now);
    write_standing(&mut response, &standing, holder, now);
    response
}

/// The holder of a key that came though none is needed.
async fn show_freely(app: &App, arrival: &Arrival<'_>) -> Option<KeyHolder> {
    let is_key = arrival.headers.contains_key(AUTHORIZATION);
    if is_key && refuse_blocked_address(app, arrival.address, arrival.now).is_err() {
        return None;
    }
    let presented = KeyHolder::present(app, arrival).await;
    if is_key && presented.as_ref().is_err_and(|it| it.status() == StatusCode::UNAUTHORIZED) {
        app.note_failure(Principal::Address(arrival.address), arrival.now);
    }
    presented.ok()
}

/// The limits of a caller where nothing was counted: its own, or those of its address.
fn usual_standing(
    app: &App,
    holder: Option<&Holder>,
    address: IpAddr,
    class: LimitClass,
    now: Timestamp,
) -> Standing {
    match holder {
        Some(holder) => app.standing_in(holder, class, now),
        None => app.stranger_standing(address, class, now),
    }
}

/// Where the caller stands, in the headers of whatever is answered.
fn write_standing(
    response: &mut Response,
    standing: &Standing,
    holder: Option<&Holder>,
    now: Timestamp,
) {
    standing::write_limits(response.headers_mut(), standing, holder.is_some());
    standing::write_reset(response, now);
}

/// How a wallet can pay for what it could not pay for, in place of the plain refusal.
fn top_up(
    app: &App,
    response: &Response,
    holder: Option<&Holder>,
    arrival: &Arrival<'_>,
) -> Option<Response> {
    let Shortfall(message) = response.extensions().get::<Shortfall>()?;
    let holder = holder.filter(|holder| holder.wallet().is_some())?;
    let asked = discovery::ask_to_top_up(app, arrival, holder, message.clone())?;
    Some(asked.into_response())
}

/// Somebody who may be blocked.
struct Caller<'a> {
    principal: Principal,
    holder: Option<&'a Holder>,
    /// What was called.
    path: &'static str,
}

/// Counts a failure of the caller's own, and keeps any refusal for the page that lists them.
fn note_failure(
    app: &App,
    caller: &Caller<'_>,
    parts: &Parts,
    response: &Response,
    now: Timestamp,
) {
    if counts_as_failure(response) {
        app.note_failure(caller.principal, now);
    }
    if let Some(holder) = caller.holder {
        let call = (caller.path, RequestId::of(&parts.extensions));
        app.console.refused.note(holder, call, response, now);
    }
}

/// A large body is checked where nobody else waits for it.
async fn check<I: Input>(raw: I::Raw, body_bytes: usize) -> Result<I, Refusal> {
    let checked =
        if LARGE_BYTES <= body_bytes { apart(|| I::check(raw)).await? } else { I::check(raw) };
    checked.map_err(Refusal::from)
}

fn arrival(parts: &Parts, address: IpAddr, now: Timestamp) -> Arrival<'_> {
    Arrival { headers: &parts.headers, uri: &parts.uri, address, now }
}

fn principal(holder: Option<&Holder>, address: IpAddr) -> Principal {
    match holder.map(|holder| &holder.proof) {
        Some(Proof::Key(key)) => Principal::Key(key.id),
        Some(Proof::Wallet(wallet)) => Principal::Wallet(*wallet),
        None => Principal::Address(address),
    }
}

/// For an address whose caller is not known.
pub(crate) fn refuse_blocked_address(
    app: &App,
    address: IpAddr,
    now: Timestamp,
) -> Result<(), Refusal> {
    let caller = Caller { principal: Principal::Address(address), holder: None, path: "" };
    refuse_if_blocked(app, &caller, now)
}

fn refuse_if_blocked(app: &App, caller: &Caller<'_>, now: Timestamp) -> Result<(), Refusal> {
    let Some(until) = app.failures.blocked_until(&caller.principal, now) else { return Ok(()) };
    if let Some(holder) = caller.holder {
        let (tier, counted) = (app.tier(Some(holder)), counted(caller.path));
        app.log_limit_hit(holder, tier, counted, FAILED_REQUESTS, now);
    }
    let message = "Too many failed attempts (> 20) resulting in a non-success status code. \
                   Please wait 30s and try again.";
    Err(Refusal::rate_limited(message, until.since(now)))
}

/// What the log of refusals calls a block after too many failures.
const FAILED_REQUESTS: &str = "FAILED_REQUESTS";

/// What the log of refusals calls an endpoint: its path, without what is different in each call.
pub(crate) fn counted(path: &str) -> String {
    let path = path.split("/{").next().unwrap_or(path);
    format!("endpoint:api/v1{path}")
}

/// Counts the request against its class, and remembers a refusal for the caller's log.
async fn admit(
    app: &App,
    (class, path): (LimitClass, &'static str),
    holder: Option<&Holder>,
    address: IpAddr,
    now: Timestamp,
) -> Result<Standing, (Standing, Refusal)> {
    let tier = app.tier(holder);
    let allowed = tier.allowed(class);
    let admitted = match holder {
        Some(holder) => {
            let subject = Subject::new(holder.owner.id, class);
            app.limiter.admit(subject, allowed, 0, now).map(|admission| admission.standing)
        }
        None => app.admit_stranger(Subject::new(address, class), allowed, now).await,
    };
    match admitted {
        Ok(standing) => Ok(standing),
        Err(exceeded) => {
            if let Some(holder) = holder {
                app.log_limit_hit(holder, tier, counted(path), exceeded.kind(), now);
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

//! Signs in with a key, a wallet or an operator's link; shows and ends the session.

use std::sync::Arc;

use access::{CredentialHolder, KeyRefusal};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use domain::access::KeyKind;
use domain::entropy::EntropySource;
use http_frame::app::{AppState, SharedApp};
use http_frame::call::refuse_blocked_address;
use http_frame::key_lookups::open_key;
use http_frame::origin::CallerOrigin;
use http_frame::principal::Principal;
use http_frame::refusal::Refusal;
use http_frame::refusal::key::refuse_key;
use http_frame::reply;
use http_frame::request_head::RequestHead;
use http_frame::session::{self, is_same_origin};
use http_frame::session_state::session_cookie::{ConsoleSession, SessionSubject};
use http_frame::wallet_sign_in;
use moment::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::console::small_body::read_small_body;
use crate::console::{ConsoleState, SESSION_LIFETIME};

const BODY_BYTES_MAX: usize = 4 * 1024;

/// The credential of a sign-in. A wallet sends a header and an empty object instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignInBody {
    key: Option<String>,
    link: Option<String>,
}

/// The current session. No session is not an error: each page asks this first.
pub(super) async fn show_session(
    State(app): State<SharedApp>,
    State(console): State<Arc<ConsoleState>>,
    headers: HeaderMap,
) -> Response {
    let now = app.clock.now();
    let Some(session) = session::read_session(&app, &headers, now) else {
        return uncached_json(&signed_out_json(&app));
    };
    match session::find_session_holder(&app, &session, now).await {
        Ok(holder) => uncached_json(&signed_in_json(&app, &console, &session, &holder)),
        Err(KeyRefusal::Unknowable(error)) => Refusal::unavailable(error).into_response(),
        Err(_) => with_cookie(uncached_json(&signed_out_json(&app)), &app, None),
    }
}

/// Starts a session.
pub(super) async fn start_session(
    State(app): State<SharedApp>,
    State(console): State<Arc<ConsoleState>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let now = app.clock.now();
    let address = CallerOrigin::from_parts(&app.settings, &parts).address;
    let arrival = RequestHead { headers: &parts.headers, uri: &parts.uri, address, now };
    match authenticate_sign_in(&app, &arrival, &parts, body).await {
        Ok((subject, holder)) => {
            let session = new_session(subject, now, app.entropy.as_ref());
            let cookie = app.sessions.signer.sign_session(&session);
            with_cookie(
                uncached_json(&signed_in_json(&app, &console, &session, &holder)),
                &app,
                Some(&cookie),
            )
        }
        Err(refusal) => {
            let status = refusal.status();
            if status.is_client_error() && status != 429 {
                app.note_failure(Principal::Address(address), now);
            }
            refusal.into_response()
        }
    }
}

/// Ends the session, including copies of its cookie.
pub(super) async fn end_session(State(app): State<SharedApp>, headers: HeaderMap) -> Response {
    let now = app.clock.now();
    match session::verify_session(&app, &headers, now) {
        Ok(session) => {
            app.sessions.end_session(session.id, session.expires, now);
            with_cookie(uncached_json(&signed_out_json(&app)), &app, None)
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn authenticate_sign_in(
    app: &AppState,
    arrival: &RequestHead<'_>,
    parts: &Parts,
    body: Body,
) -> Result<(SessionSubject, Arc<CredentialHolder>), Refusal> {
    refuse_blocked_address(app, arrival.address, arrival.now)?;
    // A page of another origin cannot send JSON without a preflight, and must not sign anyone in.
    let is_json = arrival.headers.get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
    if !is_json || !is_same_origin(arrival.headers) {
        return Err(Refusal::wrong_content_type("Send JSON, from a page of this service."));
    }
    let body = read_small_body(app, parts, body, BODY_BYTES_MAX).await?;
    let entry: SignInBody = serde_json::from_slice(&body).map_err(|_| Refusal::not_json())?;
    if wallet_sign_in::is_present(arrival.headers) {
        let holder = wallet_sign_in::sign_in(app, arrival).await;
        let holder = holder.map_err(|failed| failed.into_refusal(Refusal::invalid_sign_in))?;
        let wallet = holder.wallet().ok_or_else(Refusal::sign_in_to_read)?;
        return Ok((SessionSubject::Wallet(wallet), holder));
    }
    let holder = match (entry.key, entry.link) {
        (Some(secret), None) => open_key(app, arrival, secret.trim()).await?,
        (None, Some(token)) => {
            let ends = arrival.now.plus(SESSION_LIFETIME);
            app.keys.use_link(&token, ends).await.map_err(refuse_link)?
        }
        _ => return Err(Refusal::bad_request("Nothing to sign in with", "Send `key` or `link`.")),
    };
    let key = holder.key().ok_or_else(|| Refusal::unauthenticated("An API key is needed."))?;
    Ok((SessionSubject::Key(key.digest), Arc::clone(&holder)))
}

fn new_session(
    subject: SessionSubject,
    now: Timestamp,
    entropy: &dyn EntropySource,
) -> ConsoleSession {
    let mut id = [0; 16];
    entropy.fill_bytes(&mut id);
    ConsoleSession { id, expires: now.plus(SESSION_LIFETIME), subject }
}

fn refuse_link(refused: KeyRefusal) -> Refusal {
    match refused {
        KeyRefusal::Unknowable(_) | KeyRefusal::Frozen => refuse_key(refused),
        _ => Refusal::unauthenticated(
            "This link was used or is too old; `tollgate operator link` prints another.",
        ),
    }
}

/// True if the caller may use the operator's pages.
pub(super) fn is_operator(console: &ConsoleState, holder: &CredentialHolder) -> bool {
    let has_right = holder.key().is_some_and(|key| key.kind == KeyKind::Operator);
    console.operate.is_some() && has_right
}

fn signed_in_json(
    app: &AppState,
    console: &ConsoleState,
    session: &ConsoleSession,
    holder: &CredentialHolder,
) -> Value {
    let key = holder.key();
    json!({
        "signedIn": true,
        "account": holder.owner.name,
        "keyType": key.map(|key| key.kind.name()),
        "keyId": key.map(|key| key.id.0.to_string()),
        "last6Chars": key.map(|key| key.last6.clone()),
        "wallet": holder.wallet().map(|wallet| wallet.to_string()),
        "isOperator": is_operator(console, holder),
        "expiresAt": session.expires.to_string(),
        "proof": app.sessions.signer.csrf_token(session),
        "publicUrl": app.settings.public_url,
        "takesWallets": app.wallets.payments.is_some(),
        "servesRpc": app.proxy.chains.get().nodes.networks().next().is_some(),
    })
}

fn signed_out_json(app: &AppState) -> Value {
    json!({
        "signedIn": false,
        "publicUrl": app.settings.public_url,
        "takesWallets": app.wallets.payments.is_some(),
    })
}

pub(super) fn uncached_json(body: &Value) -> Response {
    ([(CACHE_CONTROL, "no-store")], reply::respond_json(body.to_string())).into_response()
}

/// Sets or deletes the session's cookie.
fn with_cookie(mut response: Response, app: &AppState, value: Option<&str>) -> Response {
    let secure = if session::is_secure(app) { "; Secure" } else { "" };
    let name = session::cookie_name(app);
    let age = value.map_or(0, |_| SESSION_LIFETIME.as_secs());
    let value = value.unwrap_or_default();
    let cookie =
        format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

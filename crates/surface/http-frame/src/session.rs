//! Finds the caller of a session cookie and its proof header.

use std::sync::Arc;

use access::{CallerCredential, CredentialHolder, KeyRefusal, wallets};
use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderName};
use moment::Timestamp;

use crate::app::AppState;
use crate::refusal::Refusal;
use crate::refusal::key::refuse_key;
use crate::session_state::session_cookie::{ConsoleSession, SessionSubject};

const COOKIE_NAME: &str = "tollgate_session";
/// Browsers accept the prefix `__Host-` only over TLS, for this host alone and all its paths:
/// another host of the same domain cannot replace our cookie.
const SECURE_COOKIE_NAME: &str = "__Host-tollgate_session";
/// Sent by our own pages with every request. A page of another origin would need a CORS preflight
/// that allows this header with cookies, and never gets one.
static PROOF: HeaderName = HeaderName::from_static("x-console-proof");
static FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// True if the caller uses its session: a cookie alone, without the proof header, does not count.
pub fn is_present(app: &AppState, headers: &HeaderMap) -> bool {
    headers.contains_key(&PROOF) && read_cookie(app, headers).is_some()
}

/// True if the service is reached over TLS.
pub fn is_secure(app: &AppState) -> bool {
    app.settings.public_url.starts_with("https://")
}

pub fn cookie_name(app: &AppState) -> &'static str {
    if is_secure(app) { SECURE_COOKIE_NAME } else { COOKIE_NAME }
}

/// The caller of a session.
pub async fn authenticate_session(
    app: &AppState,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<Arc<CredentialHolder>, Refusal> {
    let session = verify_session(app, headers, now)?;
    match find_session_holder(app, &session, now).await {
        Ok(holder) => Ok(holder),
        Err(refused) => Err(refuse_key(refused)),
    }
}

/// The session of a request from one of our own pages.
pub fn verify_session(
    app: &AppState,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<ConsoleSession, Refusal> {
    let shown = headers.get(&PROOF).and_then(|proof| proof.to_str().ok()).unwrap_or_default();
    let session =
        read_session(app, headers, now).filter(|it| app.sessions.signer.is_csrf_token(it, shown));
    match session {
        Some(session) if is_same_origin(headers) => Ok(session),
        _ => Err(Refusal::unauthenticated("The session has ended; sign in again.")),
    }
}

/// The session of a cookie, without a check of the page that sent it.
pub fn read_session(app: &AppState, headers: &HeaderMap, now: Timestamp) -> Option<ConsoleSession> {
    let session = app.sessions.signer.verify_cookie(read_cookie(app, headers)?, now)?;
    (!app.sessions.has_ended(&session.id)).then_some(session)
}

/// Looks the caller of a session up again.
pub async fn find_session_holder(
    app: &AppState,
    session: &ConsoleSession,
    now: Timestamp,
) -> Result<Arc<CredentialHolder>, KeyRefusal> {
    match session.subject {
        SessionSubject::Key(digest) => app.keys.authenticate_digest(digest).await,
        SessionSubject::Wallet(wallet) => {
            let owner = wallets::resolve_owner(app.store.as_ref(), wallet, now).await?;
            Ok(Arc::new(CredentialHolder { proof: CallerCredential::Wallet(wallet), owner }))
        }
    }
}

/// True if the browser says that the request began on our own page, or says nothing.
pub fn is_same_origin(headers: &HeaderMap) -> bool {
    headers.get(&FETCH_SITE).is_none_or(|site| site == "same-origin")
}

fn read_cookie<'a>(app: &AppState, headers: &'a HeaderMap) -> Option<&'a str> {
    let wanted = cookie_name(app);
    let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

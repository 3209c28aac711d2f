//! Finds the caller of a session cookie and its proof header.

use std::sync::Arc;

use access::{Holder, KeyRefused, Proof, wallets};
use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderName};
use moment::Timestamp;

use crate::app::App;
use crate::console::sealed::{Session, Subject};
use crate::refusal::Refusal;
use crate::refusal::key::refuse_key;

const COOKIE_NAME: &str = "tollgate_session";
/// Browsers accept the prefix `__Host-` only over TLS, for this host alone and all its paths:
/// another host of the same domain cannot replace our cookie.
const SECURE_COOKIE_NAME: &str = "__Host-tollgate_session";
/// Sent by our own pages with every request. A page of another origin would need a CORS preflight
/// that allows this header with cookies, and never gets one.
static PROOF: HeaderName = HeaderName::from_static("x-console-proof");
static FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// True if the caller uses its session: a cookie alone, without the proof header, does not count.
pub(crate) fn is_shown(app: &App, headers: &HeaderMap) -> bool {
    headers.contains_key(&PROOF) && cookie(app, headers).is_some()
}

/// True if the service is reached over TLS.
pub(super) fn is_secure(app: &App) -> bool {
    app.settings.public_url.starts_with("https://")
}

pub(super) fn cookie_name(app: &App) -> &'static str {
    if is_secure(app) { SECURE_COOKIE_NAME } else { COOKIE_NAME }
}

/// The caller of a session.
pub(crate) async fn holder(
    app: &App,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<Arc<Holder>, Refusal> {
    let session = proved(app, headers, now)?;
    match find(app, &session, now).await {
        Ok(holder) => Ok(holder),
        Err(refused) => Err(refuse_key(refused)),
    }
}

/// The session of a request from one of our own pages.
pub(super) fn proved(app: &App, headers: &HeaderMap, now: Timestamp) -> Result<Session, Refusal> {
    let shown = headers.get(&PROOF).and_then(|proof| proof.to_str().ok()).unwrap_or_default();
    let session = current(app, headers, now).filter(|it| app.console.sealer.is_proof(it, shown));
    match session {
        Some(session) if is_same_origin(headers) => Ok(session),
        _ => Err(Refusal::unauthenticated("The session has ended; sign in again.")),
    }
}

/// The session of a cookie, without a check of the page that sent it.
pub(super) fn current(app: &App, headers: &HeaderMap, now: Timestamp) -> Option<Session> {
    let session = app.console.sealer.open(cookie(app, headers)?, now)?;
    (!app.console.has_ended(&session.id)).then_some(session)
}

/// Looks the caller of a session up again.
pub(super) async fn find(
    app: &App,
    session: &Session,
    now: Timestamp,
) -> Result<Arc<Holder>, KeyRefused> {
    match session.subject {
        Subject::Key(digest) => app.keys.open_digest(digest).await,
        Subject::Wallet(wallet) => {
            let owner = wallets::owner(app.store.as_ref(), wallet, now).await?;
            Ok(Arc::new(Holder { proof: Proof::Wallet(wallet), owner }))
        }
    }
}

/// True if the browser says that the request began on our own page, or says nothing.
pub(super) fn is_same_origin(headers: &HeaderMap) -> bool {
    headers.get(&FETCH_SITE).is_none_or(|site| site == "same-origin")
}

fn cookie<'a>(app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
    let wanted = cookie_name(app);
    let cookies = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let mut pairs = cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

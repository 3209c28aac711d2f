//! Authenticated callers. A handler that takes one of these types needs no further check.

use std::future::Future;
use std::sync::Arc;

use access::CredentialHolder;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use domain::access::KeyKind;
use schemars::SchemaGenerator;
use serde_json::json;

use crate::app::AppState;
use crate::discovery;
use crate::input::PaymentHeader;
use crate::key_lookups::open_key;
use crate::operation::OpenApiOperation;
use crate::refusal::Refusal;
use crate::refusal::anthropic_error::is_messages_path;
use crate::request_head::RequestHead;
use crate::session;
use crate::wallet_sign_in as sign_in;
use crate::wallets::concurrency::{VISITS_MAX, WalletRequestSlot};

const API_KEY_HEADER: &str = "x-api-key";

/// The kind of credential that an endpoint requires.
pub trait RequiredCredential: Sized + Send + 'static {
    /// Set if a call is refused at once while the store is unreachable, because its work must be
    /// charged or recorded.
    const NEEDS_STORE: bool;

    fn authenticate(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> impl Future<Output = Result<Self, Refusal>> + Send;

    /// The same for a caller that another node has authenticated.
    fn from_holder(holder: Arc<CredentialHolder>) -> Result<Self, Refusal>;

    /// The caller of a refused credential that is valid elsewhere, for logs and limits.
    fn find_known_holder(
        _: &AppState,
        _: &RequestHead<'_>,
    ) -> impl Future<Output = Option<Arc<CredentialHolder>>> + Send {
        std::future::ready(None)
    }

    /// The authenticated caller; None for [`AnyCaller`].
    fn holder(&self) -> Option<&Arc<CredentialHolder>>;

    /// Conditions that are checked after the input has passed and before the handler runs.
    fn check_before_handler(
        &self,
        _: &AppState,
        _: &RequestHead<'_>,
    ) -> Result<Option<WalletRequestSlot>, Refusal> {
        Ok(None)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator);
}

/// Any caller. A credential, valid or not, is ignored.
#[derive(Debug)]
pub struct AnyCaller;

/// The holder of an API key.
#[derive(Debug)]
pub struct KeyHolder(pub Arc<CredentialHolder>);

/// The holder of an ADMIN key, or of an OPERATOR key, which may administer its account too.
#[derive(Debug)]
pub struct AdminCaller(pub Arc<CredentialHolder>);

/// The operator: the holder of an OPERATOR key, or a console session of one.
#[derive(Debug)]
pub struct OperatorCaller(pub Arc<CredentialHolder>);

/// A caller that can pay: the holder of an API key, or a wallet that signed in.
#[derive(Debug)]
pub struct PayingCaller(pub Arc<CredentialHolder>);

/// A caller that retrieves what it has paid for. Unlike [`PayingCaller`], a wallet may have no balance.
#[derive(Debug)]
pub struct JobCollector(pub Arc<CredentialHolder>);

/// A wallet that signed in to read its own data.
#[derive(Debug)]
pub struct SignedInWallet(pub Arc<CredentialHolder>);

impl RequiredCredential for AnyCaller {
    const NEEDS_STORE: bool = false;

    async fn authenticate(_: &AppState, _: &RequestHead<'_>) -> Result<AnyCaller, Refusal> {
        Ok(AnyCaller)
    }

    fn from_holder(_: Arc<CredentialHolder>) -> Result<AnyCaller, Refusal> {
        Ok(AnyCaller)
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        None
    }

    fn describe(operation: &mut OpenApiOperation, _: &mut SchemaGenerator) {
        operation.security(json!([{}, { "bearer": [] }]));
    }
}

impl RequiredCredential for KeyHolder {
    const NEEDS_STORE: bool = false;

    async fn authenticate(app: &AppState, arrival: &RequestHead<'_>) -> Result<KeyHolder, Refusal> {
        if is_session(app, arrival) {
            return KeyHolder::from_holder(
                session::authenticate_session(app, arrival.headers, arrival.now).await?,
            );
        }
        let secret = match read_api_key_header(arrival) {
            Some(secret) => secret,
            None => read_bearer_secret(arrival.headers)?,
        };
        open_key(app, arrival, secret).await.map(KeyHolder)
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<KeyHolder, Refusal> {
        match holder.key() {
            Some(_) => Ok(KeyHolder(holder)),
            None => Err(Refusal::unauthenticated("This operation requires an API key.")),
        }
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "The API key is missing or invalid", generator);
    }
}

impl RequiredCredential for AdminCaller {
    const NEEDS_STORE: bool = true;

    async fn authenticate(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Result<AdminCaller, Refusal> {
        let KeyHolder(holder) = KeyHolder::authenticate(app, arrival).await?;
        AdminCaller::from_holder(holder)
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<AdminCaller, Refusal> {
        match holder.key().map(|key| key.kind) {
            Some(KeyKind::Admin | KeyKind::Operator) => Ok(AdminCaller(holder)),
            _ => Err(Refusal::unauthenticated("Admin API key required")),
        }
    }

    async fn find_known_holder(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Option<Arc<CredentialHolder>> {
        KeyHolder::authenticate(app, arrival).await.ok().map(|KeyHolder(holder)| holder)
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "The ADMIN API key is missing or invalid", generator);
    }
}

impl RequiredCredential for OperatorCaller {
    const NEEDS_STORE: bool = true;

    async fn authenticate(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Result<OperatorCaller, Refusal> {
        if is_session(app, arrival) {
            return OperatorCaller::from_holder(
                session::authenticate_session(app, arrival.headers, arrival.now).await?,
            );
        }
        let KeyHolder(holder) = KeyHolder::authenticate(app, arrival).await?;
        OperatorCaller::from_holder(holder)
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<OperatorCaller, Refusal> {
        match holder.key().map(|key| key.kind) {
            Some(KeyKind::Operator) => Ok(OperatorCaller(holder)),
            _ => Err(Refusal::forbidden(
                "Only the operator may do this: sign in with the link that `tollgate operator link` \
                 prints, or send an OPERATOR key.",
            )),
        }
    }

    async fn find_known_holder(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Option<Arc<CredentialHolder>> {
        KeyHolder::authenticate(app, arrival).await.ok().map(|KeyHolder(holder)| holder)
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "The API key is missing or invalid", generator);
        operation.standard_refusal(403, "The key is not an OPERATOR key", generator);
    }
}

impl RequiredCredential for PayingCaller {
    const NEEDS_STORE: bool = true;

    /// A wallet's sign-in takes precedence over a key. A caller without any credential gets the
    /// ways to pay (402), not a request to log in (401).
    async fn authenticate(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Result<PayingCaller, Refusal> {
        if PaymentHeader::from_headers(arrival.headers).0.is_some() {
            return Err(Refusal::payment_not_taken_here());
        }
        if sign_in::is_present(arrival.headers) {
            let signed_in = sign_in::sign_in(app, arrival).await;
            let customer = signed_in.map(PayingCaller);
            return customer.map_err(|failed| failed.into_refusal(Refusal::invalid_sign_in));
        }
        if is_session(app, arrival) {
            return session::authenticate_session(app, arrival.headers, arrival.now)
                .await
                .map(PayingCaller);
        }
        if !arrival.headers.contains_key(AUTHORIZATION) && read_api_key_header(arrival).is_none() {
            return Err(discovery::refuse_without_credential(app, arrival));
        }
        KeyHolder::authenticate(app, arrival).await.map(|KeyHolder(holder)| PayingCaller(holder))
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<PayingCaller, Refusal> {
        Ok(PayingCaller(holder))
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        Some(&self.0)
    }

    /// A wallet needs a balance, and may have only a few requests in progress at once.
    fn check_before_handler(
        &self,
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Result<Option<WalletRequestSlot>, Refusal> {
        let Some(wallet) = self.0.wallet() else { return Ok(None) };
        discovery::refuse_low_balance(app, arrival, &self.0)?;
        let visit = app.wallets.visits.begin(wallet);
        visit.map(Some).ok_or_else(|| Refusal::too_many_wallet_requests(VISITS_MAX))
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }, { "signInWithX": [] }]));
        operation.standard_refusal(401, "The API key or the sign-in is invalid", generator);
        let meaning = "No credential, not enough credits, or the key's own limit is reached";
        operation.refusal::<wire::x402::PaymentDiscovery>(402, meaning, generator);
        operation.refusal::<wire::wallets::TopUpNeeded>(402, meaning, generator);
        operation.refusal::<wire::errors::SpendLimitError>(402, meaning, generator);
        operation.standard_refusal(402, meaning, generator);
    }
}

impl RequiredCredential for JobCollector {
    const NEEDS_STORE: bool = true;

    async fn authenticate(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Result<JobCollector, Refusal> {
        PayingCaller::authenticate(app, arrival)
            .await
            .map(|PayingCaller(holder)| JobCollector(holder))
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<JobCollector, Refusal> {
        Ok(JobCollector(holder))
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        PayingCaller::describe(operation, generator);
    }
}

impl RequiredCredential for SignedInWallet {
    const NEEDS_STORE: bool = true;

    async fn authenticate(
        app: &AppState,
        arrival: &RequestHead<'_>,
    ) -> Result<SignedInWallet, Refusal> {
        if !sign_in::is_present(arrival.headers) && is_session(app, arrival) {
            let holder = session::authenticate_session(app, arrival.headers, arrival.now).await?;
            return SignedInWallet::from_holder(holder);
        }
        if !sign_in::is_present(arrival.headers) {
            return Err(discovery::ask_to_sign_in(app, arrival));
        }
        let signed_in = sign_in::sign_in(app, arrival).await;
        let refuse = |_| Refusal::sign_in_to_read();
        signed_in.map(SignedInWallet).map_err(|failed| failed.into_refusal(refuse))
    }

    fn from_holder(holder: Arc<CredentialHolder>) -> Result<SignedInWallet, Refusal> {
        match holder.wallet() {
            Some(_) => Ok(SignedInWallet(holder)),
            None => Err(Refusal::sign_in_to_read()),
        }
    }

    fn holder(&self) -> Option<&Arc<CredentialHolder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut OpenApiOperation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "signInWithX": [] }]));
        for (status, meaning) in [
            (401, "The sign-in is invalid"),
            (403, "The data belongs to another wallet"),
            (500, "Internal error"),
            (503, "Temporarily unavailable"),
        ] {
            operation.refusal::<wire::errors::X402Error>(status, meaning, generator);
        }
        let meaning = "No sign-in";
        operation.refusal::<wire::x402::PaymentDiscovery>(402, meaning, generator);
    }
}

/// True if a console page calls: with a session cookie and without a key.
fn is_session(app: &AppState, arrival: &RequestHead<'_>) -> bool {
    let has_key =
        arrival.headers.contains_key(AUTHORIZATION) || read_api_key_header(arrival).is_some();
    !has_key && session::is_present(app, arrival.headers)
}

/// The key in the header `x-api-key`, which clients of Anthropic's API send. Read on its paths only,
/// and only without an Authorization header, which counts first.
fn read_api_key_header<'a>(arrival: &RequestHead<'a>) -> Option<&'a str> {
    let is_read = is_messages_path(arrival.uri.path());
    if !is_read || arrival.headers.contains_key(AUTHORIZATION) {
        return None;
    }
    arrival.headers.get(API_KEY_HEADER).map(|value| value.to_str().unwrap_or("").trim())
}

/// The secret in `Authorization: Bearer <secret>`.
fn read_bearer_secret(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(Refusal::unauthenticated("Authentication required"));
    };
    if values.next().is_some() {
        return Err(Refusal::unauthenticated("Send exactly one Authorization header."));
    }
    let text = value.to_str().unwrap_or("").trim();
    match text.split_once(' ') {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Ok(secret.trim()),
        _ => Err(Refusal::unauthenticated(
            "Authentication failed. Send the header Authorization: Bearer <API_KEY>.",
        )),
    }
}

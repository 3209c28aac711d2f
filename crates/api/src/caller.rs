//! Authenticated callers. A handler that takes one of these types needs no further check.

use std::future::Future;
use std::sync::Arc;

use access::Holder;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use domain::access::KeyKind;
use schemars::SchemaGenerator;
use serde_json::json;

use crate::app::App;
use crate::arrival::Arrival;
use crate::console::session;
use crate::discovery;
use crate::input::PaymentHeader;
use crate::key_lookups::open_key;
use crate::operation::Operation;
use crate::refusal::Refusal;
use crate::wallets::sign_in;
use crate::wallets::visits::Visit;

/// The kind of credential that an endpoint requires.
pub trait Credential: Sized + Send + 'static {
    /// Set if a call is refused at once while the store is unreachable, because its work must be
    /// charged or recorded.
    const NEEDS_STORE: bool;

    fn present(
        app: &App,
        arrival: &Arrival<'_>,
    ) -> impl Future<Output = Result<Self, Refusal>> + Send;

    /// The same for a caller that another node has authenticated.
    fn of(holder: Arc<Holder>) -> Result<Self, Refusal>;

    /// The caller of a refused credential that is valid elsewhere, for logs and limits.
    fn known(_: &App, _: &Arrival<'_>) -> impl Future<Output = Option<Arc<Holder>>> + Send {
        std::future::ready(None)
    }

    /// The authenticated caller; None for [`Anyone`].
    fn holder(&self) -> Option<&Arc<Holder>>;

    /// Conditions that are checked after the input has passed and before the handler runs.
    fn begin(&self, _: &App, _: &Arrival<'_>) -> Result<Option<Visit>, Refusal> {
        Ok(None)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator);
}

/// Any caller. A credential, valid or not, is ignored.
#[derive(Debug)]
pub struct Anyone;

/// The holder of an API key.
#[derive(Debug)]
pub struct KeyHolder(pub Arc<Holder>);

/// The holder of an ADMIN key, or of an OPERATOR key, which may administer its account too.
#[derive(Debug)]
pub struct Admin(pub Arc<Holder>);

/// The operator: the holder of an OPERATOR key, or a console session of one.
#[derive(Debug)]
pub struct Operator(pub Arc<Holder>);

/// A caller that can pay: the holder of an API key, or a wallet that signed in.
#[derive(Debug)]
pub struct Customer(pub Arc<Holder>);

/// A caller that retrieves what it has paid for. Unlike [`Customer`], a wallet may have no balance.
#[derive(Debug)]
pub struct Collector(pub Arc<Holder>);

/// A wallet that signed in to read its own data.
#[derive(Debug)]
pub struct SignedIn(pub Arc<Holder>);

impl Credential for Anyone {
    const NEEDS_STORE: bool = false;

    async fn present(_: &App, _: &Arrival<'_>) -> Result<Anyone, Refusal> {
        Ok(Anyone)
    }

    fn of(_: Arc<Holder>) -> Result<Anyone, Refusal> {
        Ok(Anyone)
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        None
    }

    fn describe(operation: &mut Operation, _: &mut SchemaGenerator) {
        operation.security(json!([{}, { "bearer": [] }]));
    }
}

impl Credential for KeyHolder {
    const NEEDS_STORE: bool = false;

    async fn present(app: &App, arrival: &Arrival<'_>) -> Result<KeyHolder, Refusal> {
        if is_session(app, arrival) {
            return KeyHolder::of(session::holder(app, arrival.headers, arrival.now).await?);
        }
        let secret = bearer(arrival.headers)?;
        open_key(app, arrival, secret).await.map(KeyHolder)
    }

    fn of(holder: Arc<Holder>) -> Result<KeyHolder, Refusal> {
        match holder.key() {
            Some(_) => Ok(KeyHolder(holder)),
            None => Err(Refusal::unauthenticated("Sign in with an API key for this.")),
        }
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "No API key, or not a valid one", generator);
    }
}

impl Credential for Admin {
    const NEEDS_STORE: bool = true;

    async fn present(app: &App, arrival: &Arrival<'_>) -> Result<Admin, Refusal> {
        let KeyHolder(holder) = KeyHolder::present(app, arrival).await?;
        Admin::of(holder)
    }

    fn of(holder: Arc<Holder>) -> Result<Admin, Refusal> {
        match holder.key().map(|key| key.kind) {
            Some(KeyKind::Admin | KeyKind::Operator) => Ok(Admin(holder)),
            _ => Err(Refusal::unauthenticated("Admin API key required")),
        }
    }

    async fn known(app: &App, arrival: &Arrival<'_>) -> Option<Arc<Holder>> {
        KeyHolder::present(app, arrival).await.ok().map(|KeyHolder(holder)| holder)
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "No ADMIN API key, or not a valid one", generator);
    }
}

impl Credential for Operator {
    const NEEDS_STORE: bool = true;

    async fn present(app: &App, arrival: &Arrival<'_>) -> Result<Operator, Refusal> {
        if is_session(app, arrival) {
            return Operator::of(session::holder(app, arrival.headers, arrival.now).await?);
        }
        let KeyHolder(holder) = KeyHolder::present(app, arrival).await?;
        Operator::of(holder)
    }

    fn of(holder: Arc<Holder>) -> Result<Operator, Refusal> {
        match holder.key().map(|key| key.kind) {
            Some(KeyKind::Operator) => Ok(Operator(holder)),
            _ => Err(Refusal::forbidden(
                "Only the operator may do this: sign in with the link that `tollgate operator link` \
                 prints, or send an OPERATOR key.",
            )),
        }
    }

    async fn known(app: &App, arrival: &Arrival<'_>) -> Option<Arc<Holder>> {
        KeyHolder::present(app, arrival).await.ok().map(|KeyHolder(holder)| holder)
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "No API key, or not a valid one", generator);
        operation.standard_refusal(403, "The key is no OPERATOR key", generator);
    }
}

impl Credential for Customer {
    const NEEDS_STORE: bool = true;

    /// A wallet's sign-in takes precedence over a key. A caller without any credential gets the
    /// ways to pay (402), not a request to log in (401).
    async fn present(app: &App, arrival: &Arrival<'_>) -> Result<Customer, Refusal> {
        if PaymentHeader::of(arrival.headers).0.is_some() {
            return Err(Refusal::payment_not_taken_here());
        }
        if sign_in::is_shown(arrival.headers) {
            let signed_in = sign_in::sign_in(app, arrival).await;
            let customer = signed_in.map(Customer);
            return customer.map_err(|failed| failed.into_refusal(Refusal::sign_in));
        }
        if is_session(app, arrival) {
            return session::holder(app, arrival.headers, arrival.now).await.map(Customer);
        }
        if !arrival.headers.contains_key(AUTHORIZATION) {
            return Err(discovery::refuse(app, arrival));
        }
        KeyHolder::present(app, arrival).await.map(|KeyHolder(holder)| Customer(holder))
    }

    fn of(holder: Arc<Holder>) -> Result<Customer, Refusal> {
        Ok(Customer(holder))
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    /// A wallet needs a balance, and may have only a few requests in progress at once.
    fn begin(&self, app: &App, arrival: &Arrival<'_>) -> Result<Option<Visit>, Refusal> {
        let Some(wallet) = self.0.wallet() else { return Ok(None) };
        discovery::refuse_if_poor(app, arrival, &self.0)?;
        let visit = app.wallets.visits.begin(wallet);
        visit.map(Some).ok_or_else(Refusal::too_many_visits)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }, { "signInWithX": [] }]));
        operation.standard_refusal(401, "The API key or the sign-in is not valid", generator);
        let meaning = "No credential, not enough credits, or the key's own limit is reached";
        operation.refusal::<wire::x402::PaymentDiscovery>(402, meaning, generator);
        operation.refusal::<wire::wallets::TopUpNeeded>(402, meaning, generator);
        operation.refusal::<wire::errors::SpendLimitError>(402, meaning, generator);
        operation.standard_refusal(402, meaning, generator);
    }
}

impl Credential for Collector {
    const NEEDS_STORE: bool = true;

    async fn present(app: &App, arrival: &Arrival<'_>) -> Result<Collector, Refusal> {
        Customer::present(app, arrival).await.map(|Customer(holder)| Collector(holder))
    }

    fn of(holder: Arc<Holder>) -> Result<Collector, Refusal> {
        Ok(Collector(holder))
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        Customer::describe(operation, generator);
    }
}

impl Credential for SignedIn {
    const NEEDS_STORE: bool = true;

    async fn present(app: &App, arrival: &Arrival<'_>) -> Result<SignedIn, Refusal> {
        if !sign_in::is_shown(arrival.headers) && is_session(app, arrival) {
            let holder = session::holder(app, arrival.headers, arrival.now).await?;
            return SignedIn::of(holder);
        }
        if !sign_in::is_shown(arrival.headers) {
            return Err(discovery::ask_to_sign_in(app, arrival));
        }
        let signed_in = sign_in::sign_in(app, arrival).await;
        let refuse = |_| Refusal::sign_in_to_read();
        signed_in.map(SignedIn).map_err(|failed| failed.into_refusal(refuse))
    }

    fn of(holder: Arc<Holder>) -> Result<SignedIn, Refusal> {
        match holder.wallet() {
            Some(_) => Ok(SignedIn(holder)),
            None => Err(Refusal::sign_in_to_read()),
        }
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "signInWithX": [] }]));
        for (status, meaning) in [
            (401, "The sign-in is not valid"),
            (403, "Another wallet's"),
            (500, "A fault of the service"),
            (503, "Temporarily unavailable"),
        ] {
            operation.refusal::<wire::errors::X402Error>(status, meaning, generator);
        }
        let meaning = "No sign-in";
        operation.refusal::<wire::x402::PaymentDiscovery>(402, meaning, generator);
    }
}

/// True if a console page calls: with a session cookie and without an Authorization header.
fn is_session(app: &App, arrival: &Arrival<'_>) -> bool {
    !arrival.headers.contains_key(AUTHORIZATION) && session::is_shown(app, arrival.headers)
}

/// The secret in `Authorization: Bearer <secret>`.
fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
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

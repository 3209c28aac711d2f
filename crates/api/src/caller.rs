//! Who calls. A handler that takes one of these types has its proof.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use access::{Holder, KeyRefused};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use credits::KeyId;
use domain::access::KeyKind;
use schemars::SchemaGenerator;
use serde_json::json;
use wallet::WalletAddress;

use crate::app::App;
use crate::discovery;
use crate::operation::Operation;
use crate::refusal::Refusal;

/// A credential that an endpoint asks for.
pub trait Credential: Sized + Send + 'static {
    fn present(
        app: &App,
        headers: &HeaderMap,
    ) -> impl Future<Output = Result<Self, Refusal>> + Send;

    /// The key behind the call, where there is one.
    fn holder(&self) -> Option<&Arc<Holder>>;

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator);
}

/// Whom failures and limits are counted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    Key(KeyId),
    Wallet(WalletAddress),
    Address(IpAddr),
}

/// Anyone at all; a credential, good or bad, is not looked at.
#[derive(Debug)]
pub struct Anyone;

/// Whoever holds an API key.
#[derive(Debug)]
pub struct KeyHolder(pub Arc<Holder>);

/// Whoever holds an ADMIN key.
#[derive(Debug)]
pub struct Admin(pub Arc<Holder>);

/// Whoever can pay: today the holder of an API key.
#[derive(Debug)]
pub struct Customer(pub Arc<Holder>);

impl Credential for Anyone {
    async fn present(_: &App, _: &HeaderMap) -> Result<Anyone, Refusal> {
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
    async fn present(app: &App, headers: &HeaderMap) -> Result<KeyHolder, Refusal> {
        let secret = bearer(headers)?;
        app.keys.open(secret).await.map(KeyHolder).map_err(refuse)
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
    async fn present(app: &App, headers: &HeaderMap) -> Result<Admin, Refusal> {
        let KeyHolder(holder) = KeyHolder::present(app, headers).await?;
        match holder.key().map(|key| key.kind) {
            Some(KeyKind::Admin) => Ok(Admin(holder)),
            _ => Err(Refusal::unauthenticated("Admin API key required")),
        }
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "No ADMIN API key, or not a valid one", generator);
    }
}

impl Credential for Customer {
    /// A caller without any credential is told how to pay, not how to log in.
    async fn present(app: &App, headers: &HeaderMap) -> Result<Customer, Refusal> {
        if !headers.contains_key(AUTHORIZATION) {
            return Err(discovery::refuse(app));
        }
        KeyHolder::present(app, headers).await.map(|KeyHolder(holder)| Customer(holder))
    }

    fn holder(&self) -> Option<&Arc<Holder>> {
        Some(&self.0)
    }

    fn describe(operation: &mut Operation, generator: &mut SchemaGenerator) {
        operation.security(json!([{ "bearer": [] }]));
        operation.standard_refusal(401, "The API key is not a valid one", generator);
        let meaning = "No credential, not enough credits, or the key's own limit is reached";
        operation.refusal::<wire::x402::PaymentDiscovery>(402, meaning, generator);
        operation.refusal::<wire::errors::SpendLimitError>(402, meaning, generator);
        operation.standard_refusal(402, meaning, generator);
    }
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

fn refuse(refused: KeyRefused) -> Refusal {
    match refused {
        KeyRefused::Mistyped => Refusal::unauthenticated(
            "Authentication failed. The API key is mistyped or cut short; copy it again.",
        ),
        KeyRefused::Unknown => Refusal::unauthenticated("Authentication failed"),
        KeyRefused::Revoked => {
            Refusal::unauthenticated("Authentication failed. This API key has been revoked.")
        }
        KeyRefused::Expired => {
            Refusal::unauthenticated("Authentication failed. This API key has expired.")
        }
        // Only a store that answered "no such key" may refuse a caller; a store that did not
        // answer must not turn good keys away.
        KeyRefused::Unknowable(error) => Refusal::unavailable(error),
    }
}

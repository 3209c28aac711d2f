//! Serves calls for a caller that is known from stored facts only, without a connection.
//!
//! The caller is looked up again for each call: a key may have been revoked or changed, an account
//! frozen, a wallet linked to another account. From there the call takes the whole path of a request.
//! It is served at the owner's home only, where the worker runs that serves it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use access::{CallerCredential, CredentialHolder, wallets};
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::{IntoResponse, Response};
use domain::catalogue::CountryCode;
use ledger_core::{KeyId, OwnerId};
use logging::request::with_request_id;
use uuid::Uuid;
use wallet::WalletAddress;

use crate::app::{AppState, SharedApp};
use crate::base_paths::BASE_PATH;
use crate::call_terms::CallTerms;
use crate::home::SENT_ON_MAX;
use crate::inner_call::InnerEndpoint;
use crate::nodes::forwarded_identity::{ForwardedIdentity, ForwardedRequest};
use crate::origin::CallerOrigin;
use crate::refusal::Refusal;
use crate::refusal::key::refuse_key;
use crate::request_id::RequestId;

/// A caller as it is stored with its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredCaller {
    pub owner: OwnerId,
    pub credential: StoredCredential,
    /// The country from which the work was ordered.
    pub country: Option<CountryCode>,
}

/// The credential with which work was ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredCredential {
    Key(KeyId),
    Wallet(WalletAddress),
}

/// A call with a JSON body.
#[derive(Debug)]
pub struct StoredCall {
    /// Path and query after the base path.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub request_id: RequestId,
    pub terms: CallTerms,
}

impl StoredCaller {
    pub fn new(holder: &CredentialHolder, country: Option<CountryCode>) -> StoredCaller {
        let credential = match &holder.proof {
            CallerCredential::Key(key) => StoredCredential::Key(key.id),
            CallerCredential::Wallet(wallet) => StoredCredential::Wallet(*wallet),
        };
        StoredCaller { owner: holder.owner.id, credential, country }
    }

    /// The text form for the store: owner, kind and id of the credential, country.
    pub fn to_text(self) -> String {
        let StoredCaller { owner: OwnerId(owner), credential, country } = self;
        let credential = match credential {
            StoredCredential::Key(KeyId(key)) => format!("key {key}"),
            StoredCredential::Wallet(wallet) => format!("wallet {wallet}"),
        };
        match country {
            Some(country) => format!("{owner} {credential} {country}"),
            None => format!("{owner} {credential}"),
        }
    }

    pub fn parse(text: &str) -> Option<StoredCaller> {
        let mut words = text.split(' ');
        let owner = OwnerId(words.next()?.parse().ok()?);
        let credential = match (words.next()?, words.next()?) {
            ("key", id) => StoredCredential::Key(KeyId(id.parse::<Uuid>().ok()?)),
            ("wallet", address) => StoredCredential::Wallet(WalletAddress::parse(address)?),
            _ => return None,
        };
        let country = match words.next() {
            Some(country) => Some(CountryCode::parse(country)?),
            None => None,
        };
        words.next().is_none().then_some(StoredCaller { owner, credential, country })
    }

    /// The caller as it is now, if it may still call and spends the same owner's balance.
    pub async fn find_holder(&self, app: &AppState) -> Result<Arc<CredentialHolder>, Refusal> {
        match self.credential {
            StoredCredential::Key(id) => {
                let key = app.store.key(self.owner, id).await.map_err(Refusal::unavailable)?;
                let key = key.ok_or_else(|| {
                    Refusal::unauthenticated("Authentication failed. There is no such API key.")
                })?;
                app.keys.authenticate_digest(key.digest).await.map_err(refuse_key)
            }
            StoredCredential::Wallet(wallet) => {
                let now = app.clock.now();
                let owner = wallets::resolve_owner(app.store.as_ref(), wallet, now).await;
                let owner = owner.map_err(Refusal::unavailable)?;
                if owner.frozen.is_some() {
                    return Err(Refusal::frozen());
                }
                if owner.id != self.owner {
                    return Err(Refusal::unauthenticated(
                        "Authentication failed. This wallet spends another account's balance now.",
                    ));
                }
                Ok(Arc::new(CredentialHolder { proof: CallerCredential::Wallet(wallet), owner }))
            }
        }
    }

    /// Serves one call. Refuses with 503 if the owner's home has moved to another node.
    pub async fn serve(
        &self,
        app: &SharedApp,
        endpoint: &InnerEndpoint,
        call: StoredCall,
    ) -> Response {
        let request_id = call.request_id.as_str().to_owned();
        with_request_id(request_id, async {
            match self.build_request(app, endpoint, call).await {
                Ok(request) => endpoint.serve(app, request).await,
                Err(refusal) => refusal.into_response(),
            }
        })
        .await
    }

    async fn build_request(
        &self,
        app: &AppState,
        endpoint: &InnerEndpoint,
        call: StoredCall,
    ) -> Result<Request, Refusal> {
        let holder = self.find_holder(app).await?;
        let proved = Some(ForwardedIdentity::from_holder(&holder));
        let StoredCall { path, headers, body, request_id, terms } = call;
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = endpoint.method().clone();
        *request.uri_mut() =
            Uri::try_from(format!("{BASE_PATH}{path}")).map_err(Refusal::internal)?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let extensions = request.extensions_mut();
        extensions.insert(request_id);
        // The caller is authenticated, so nothing is counted for this address.
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        extensions.insert(CallerOrigin { address, country: self.country });
        extensions.insert(ForwardedRequest { proved, times: SENT_ON_MAX, terms });
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_caller_is_read_as_it_was_written() {
        let owner = OwnerId(Uuid::from_u128(7));
        let wallet = WalletAddress::parse("0x00000000000000000000000000000000000000aa").unwrap();
        for credential in
            [StoredCredential::Key(KeyId(Uuid::from_u128(9))), StoredCredential::Wallet(wallet)]
        {
            for country in [None, CountryCode::parse("KP")] {
                let caller = StoredCaller { owner, credential, country };
                assert_eq!(StoredCaller::parse(&caller.to_text()), Some(caller));
            }
        }
        let id = Uuid::nil();
        for wrong in [
            String::new(),
            format!("{id} key"),
            format!("{id} key x"),
            format!("{id} wallet 0x1"),
            format!("{id} key {id} KP more"),
            format!("{id} key {id} K"),
        ] {
            assert_eq!(StoredCaller::parse(&wrong), None, "{wrong}");
        }
    }
}

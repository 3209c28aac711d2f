//! The client of Stripe's API.

use std::fmt;
use std::time::Duration;

use card_payments::{STRIPE_ANSWER_BYTES_MAX, STRIPE_VERSION, StripeCall, StripeMethod};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use outbound::{
    BodyReadError, ConnectSettings, ConnectVia, OutboundClient, RequestContent, RequestTarget,
};
use thiserror::Error;
use tokio::time::timeout;
use url::Url;

use crate::ports::{CardFuture, StripeAnswer, StripeApi, StripeUnreached};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Stripe's own limit of a request is 80 seconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);
/// Time that an idle connection is kept: longer than the pause between two polls.
const IDLE_MAX: Duration = Duration::from_secs(90);

const VERSION: HeaderName = HeaderName::from_static("stripe-version");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Stripe's API at an address, with a secret key.
pub struct StripeClient {
    client: OutboundClient,
    target: RequestTarget,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StripeClientFault {
    #[error("the secret key has characters that no key has")]
    Key,
    #[error("the address of the API is not usable: {0}")]
    Address(String),
}

impl StripeClient {
    pub fn new(api_url: &str, secret_key: &str) -> Result<StripeClient, StripeClientFault> {
        let address = |error: &dyn fmt::Display| StripeClientFault::Address(error.to_string());
        let url = Url::parse(api_url).map_err(|error| address(&error))?;
        let reach = ConnectSettings {
            way: ConnectVia::ByEnvironment,
            connect_timeout: CONNECT_TIMEOUT,
            idle_max: IDLE_MAX,
        };
        let client = OutboundClient::new(reach).map_err(|error| address(&error))?;
        let mut key = HeaderValue::try_from(format!("Bearer {secret_key}"))
            .map_err(|_| StripeClientFault::Key)?;
        key.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, key);
        headers.insert(VERSION, HeaderValue::from_static(STRIPE_VERSION));
        let target = RequestTarget::new(&client, &url, headers).map_err(|error| address(&error))?;
        Ok(StripeClient { client, target })
    }

    async fn send_once(&self, call: &StripeCall) -> Result<StripeAnswer, StripeUnreached> {
        let failed = |error: &dyn fmt::Display| StripeUnreached(error.to_string());
        let mut target = self.target.with_path(&call.path).map_err(|error| failed(&error))?;
        if let Some(key) = &call.idempotency_key {
            let key = HeaderValue::try_from(key).map_err(|error| failed(&error))?;
            target.set_headers(HeaderMap::from_iter([(IDEMPOTENCY_KEY, key)]));
        }
        let form = call.form.clone().unwrap_or_default();
        let answer = match call.method {
            StripeMethod::Get => self.client.get(&target, "").await,
            StripeMethod::Post => {
                self.client.post(&target, RequestContent::encoded_form(form)).await
            }
            StripeMethod::Delete => self.client.delete(&target).await,
        };
        let answer = answer.map_err(|error| failed(&error))?;
        let status = answer.status();
        let body =
            answer.read_whole(STRIPE_ANSWER_BYTES_MAX).await.map_err(|unread| match unread {
                BodyReadError::TooLong => StripeUnreached("the answer is too long".to_owned()),
                BodyReadError::Broken(error) => failed(&error),
            })?;
        Ok(StripeAnswer { status, body })
    }
}

impl StripeApi for StripeClient {
    fn send<'a>(&'a self, call: &'a StripeCall) -> CardFuture<'a, StripeAnswer, StripeUnreached> {
        Box::pin(async move {
            let in_time = timeout(ANSWER_TIMEOUT, self.send_once(call)).await;
            in_time.unwrap_or_else(|_| Err(StripeUnreached("it took too long".to_owned())))
        })
    }
}

impl fmt::Debug for StripeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripeClient").finish_non_exhaustive()
    }
}

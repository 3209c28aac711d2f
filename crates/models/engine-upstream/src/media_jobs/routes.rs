//! Several providers of one model as one media engine.

use std::sync::Arc;

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, MediaStatus, MediaTicket};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// One provider of a model.
pub struct MediaRoute {
    pub provider: String,
    pub engine: Arc<dyn MediaEngine>,
}

/// The providers of a model, in the order in which they are tried. A ticket names its provider.
pub struct MediaRoutes(pub Vec<MediaRoute>);

/// A ticket with the provider that issued it.
#[derive(Serialize, Deserialize)]
struct ProviderTicket {
    provider: String,
    ticket: String,
}

impl MediaRoutes {
    /// The engine and ticket of the provider. Fails with a retryable error if the operator removed
    /// the provider, because it may come back.
    fn find(&self, ticket: &MediaTicket) -> Result<(&dyn MediaEngine, MediaTicket), EngineError> {
        let held: ProviderTicket = serde_json::from_str(&ticket.0).map_err(|_| {
            EngineError::BadAnswer { cause: "the ticket was written by another release".to_owned() }
        })?;
        let route = self.0.iter().find(|route| route.provider == held.provider);
        let route = route.ok_or_else(|| EngineError::Unreachable {
            cause: format!("provider {} is not configured any more", held.provider),
        })?;
        Ok((route.engine.as_ref(), MediaTicket(held.ticket)))
    }
}

impl MediaEngine for MediaRoutes {
    /// Rejects a request only if every provider does.
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        let mut outcome = Ok(());
        for route in &self.0 {
            outcome = route.engine.check(request);
            if outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    fn submit<'a>(
        &'a self,
        name: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<MediaTicket, EngineError>> {
        Box::pin(async move {
            let mut last = EngineError::Unreachable { cause: "it has no provider".to_owned() };
            for route in &self.0 {
                if let Err(error) = route.engine.check(request) {
                    last = error;
                    continue;
                }
                match route.engine.submit(name, request).await {
                    Ok(ticket) => {
                        let provider = route.provider.clone();
                        let held = ProviderTicket { provider, ticket: ticket.0 };
                        let written = serde_json::to_string(&held).unwrap_or_default();
                        return Ok(MediaTicket(written));
                    }
                    Err(error) if may_try_next_route(&error) => last = error,
                    Err(error) => return Err(error),
                }
            }
            Err(last)
        })
    }

    fn poll_status<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaStatus, EngineError>> {
        Box::pin(async move {
            let (engine, ticket) = self.find(ticket)?;
            engine.poll_status(&ticket).await
        })
    }

    fn download<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let (engine, ticket) = self.find(ticket)?;
            engine.download(&ticket).await
        })
    }

    fn cancel<'a>(&'a self, ticket: &'a MediaTicket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            let (engine, ticket) = self.find(ticket)?;
            engine.cancel(&ticket).await
        })
    }

    /// With several providers it is unknown which one received a request before a crash.
    fn has_idempotent_submit(&self) -> bool {
        matches!(self.0.as_slice(), [only] if only.engine.has_idempotent_submit())
    }

    fn accepts_urls(&self) -> bool {
        self.0.iter().all(|route| route.engine.accepts_urls())
    }
}

/// True if another provider can be tried without being billed twice.
fn may_try_next_route(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Unreachable { .. }
            | EngineError::Overloaded { .. }
            | EngineError::ServiceOverloaded { .. }
            | EngineError::NotReady { .. }
            | EngineError::Misconfigured { .. }
    )
}

//! Several providers of one model as one media engine.

use std::sync::Arc;

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket};
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
    fn find(&self, ticket: &Ticket) -> Result<(&dyn MediaEngine, Ticket), EngineError> {
        let held: ProviderTicket = serde_json::from_str(&ticket.0).map_err(|_| {
            EngineError::BadAnswer { cause: "the ticket was written by another release".to_owned() }
        })?;
        let route = self.0.iter().find(|route| route.provider == held.provider);
        let route = route.ok_or_else(|| EngineError::Unreachable {
            cause: format!("provider {} is not configured any more", held.provider),
        })?;
        Ok((route.engine.as_ref(), Ticket(held.ticket)))
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
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
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
                        return Ok(Ticket(written));
                    }
                    Err(error) if never_began(&error) => last = error,
                    Err(error) => return Err(error),
                }
            }
            Err(last)
        })
    }

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(async move {
            let (engine, ticket) = self.find(ticket)?;
            engine.look(&ticket).await
        })
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(async move {
            let (engine, ticket) = self.find(ticket)?;
            engine.fetch(&ticket).await
        })
    }

    fn cancel<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(async move {
            let (engine, ticket) = self.find(ticket)?;
            engine.cancel(&ticket).await
        })
    }

    /// With several providers it is unknown which one received a request before a crash.
    fn knows_names(&self) -> bool {
        matches!(self.0.as_slice(), [only] if only.engine.knows_names())
    }

    fn takes_addresses(&self) -> bool {
        self.0.iter().all(|route| route.engine.takes_addresses())
    }
}

/// True if another provider can be tried without being billed twice.
fn never_began(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Unreachable { .. }
            | EngineError::Overloaded { .. }
            | EngineError::NotReady { .. }
            | EngineError::Misconfigured { .. }
    )
}

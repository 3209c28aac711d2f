//! Adapts a provider's protocol, written as plain async functions, to the [`MediaEngine`] trait.

use std::future::Future;

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, Progress, Ticket};
use futures_util::future::BoxFuture;

use super::{file, plain_name};
use crate::transport::Endpoint;

/// The protocol of one provider. The methods are those of [`MediaEngine`].
pub(crate) trait Driver: Send + Sync {
    const KNOWS_NAMES: bool = false;
    const TAKES_ADDRESSES: bool = false;

    fn check(&self, request: &MediaRequest) -> Result<(), EngineError>;

    fn submit(
        &self,
        name: &str,
        request: &MediaRequest,
    ) -> impl Future<Output = Result<Ticket, EngineError>> + Send;

    fn look(&self, ticket: &Ticket) -> impl Future<Output = Result<Progress, EngineError>> + Send;

    fn fetch(&self, ticket: &Ticket)
    -> impl Future<Output = Result<MediaFile, EngineError>> + Send;

    /// Default for the many protocols that cannot cancel.
    fn cancel(&self, _: &Ticket) -> impl Future<Output = Result<bool, EngineError>> + Send {
        std::future::ready(Ok(false))
    }
}

/// The engine of a driver.
pub(crate) struct Driven<D>(pub(crate) D);

impl<D: Driver> MediaEngine for Driven<D> {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        self.0.check(request)
    }

    fn submit<'a>(
        &'a self,
        name: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<Ticket, EngineError>> {
        Box::pin(self.0.submit(name, request))
    }

    fn look<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<Progress, EngineError>> {
        Box::pin(self.0.look(ticket))
    }

    fn fetch<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(self.0.fetch(ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a Ticket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(self.0.cancel(ticket))
    }

    fn knows_names(&self) -> bool {
        D::KNOWS_NAMES
    }

    fn takes_addresses(&self) -> bool {
        D::TAKES_ADDRESSES
    }
}

/// Polls work that has its own URL under `at`.
pub(super) async fn look_at(
    at: &Endpoint,
    ticket: &Ticket,
    progress: fn(&[u8]) -> Result<Progress, EngineError>,
) -> Result<Progress, EngineError> {
    match at.fetch_known(&format!("/{}", plain_name(&ticket.0)?)).await? {
        Some(answer) => progress(&answer),
        None => Ok(Progress::Lost),
    }
}

/// Downloads the file of such work.
pub(super) async fn content_of(at: &Endpoint, ticket: &Ticket) -> Result<MediaFile, EngineError> {
    let answer = at.open_file(&format!("/{}/content", plain_name(&ticket.0)?)).await?;
    Ok(file::of_answer(answer, at.timeouts))
}

/// Cancels such work.
pub(super) async fn cancel_at(at: &Endpoint, ticket: &Ticket) -> Result<bool, EngineError> {
    let path = format!("{}/cancel", plain_name(&ticket.0)?);
    at.beneath(&path)?.ask(b"{}".to_vec()).await?;
    Ok(true)
}

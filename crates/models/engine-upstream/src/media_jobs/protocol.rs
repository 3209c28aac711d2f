//! Adapts a provider's protocol, written as plain async functions, to the [`MediaEngine`] trait.

use std::future::Future;

use engine::{EngineError, MediaEngine, MediaFile, MediaRequest, MediaStatus, MediaTicket};
use futures_util::future::BoxFuture;

use super::{file, plain_name};
use crate::transport::UpstreamEndpoint;

/// The protocol of one provider. The methods are those of [`MediaEngine`].
pub(crate) trait MediaProtocol: Send + Sync {
    const KNOWS_NAMES: bool = false;
    const TAKES_ADDRESSES: bool = false;

    fn check(&self, request: &MediaRequest) -> Result<(), EngineError>;

    fn submit(
        &self,
        name: &str,
        request: &MediaRequest,
    ) -> impl Future<Output = Result<MediaTicket, EngineError>> + Send;

    fn poll_status(
        &self,
        ticket: &MediaTicket,
    ) -> impl Future<Output = Result<MediaStatus, EngineError>> + Send;

    fn download(
        &self,
        ticket: &MediaTicket,
    ) -> impl Future<Output = Result<MediaFile, EngineError>> + Send;

    /// Default for the many protocols that cannot cancel.
    fn cancel(&self, _: &MediaTicket) -> impl Future<Output = Result<bool, EngineError>> + Send {
        std::future::ready(Ok(false))
    }
}

/// The engine of a driver.
pub(crate) struct ProtocolEngine<D>(pub(crate) D);

impl<D: MediaProtocol> MediaEngine for ProtocolEngine<D> {
    fn check(&self, request: &MediaRequest) -> Result<(), EngineError> {
        self.0.check(request)
    }

    fn submit<'a>(
        &'a self,
        name: &'a str,
        request: &'a MediaRequest,
    ) -> BoxFuture<'a, Result<MediaTicket, EngineError>> {
        Box::pin(self.0.submit(name, request))
    }

    fn poll_status<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaStatus, EngineError>> {
        Box::pin(self.0.poll_status(ticket))
    }

    fn download<'a>(
        &'a self,
        ticket: &'a MediaTicket,
    ) -> BoxFuture<'a, Result<MediaFile, EngineError>> {
        Box::pin(self.0.download(ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a MediaTicket) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(self.0.cancel(ticket))
    }

    fn has_idempotent_submit(&self) -> bool {
        D::KNOWS_NAMES
    }

    fn accepts_urls(&self) -> bool {
        D::TAKES_ADDRESSES
    }
}

/// Polls work that has its own URL under `at`.
pub(super) async fn poll_at(
    at: &UpstreamEndpoint,
    ticket: &MediaTicket,
    progress: fn(&[u8]) -> Result<MediaStatus, EngineError>,
) -> Result<MediaStatus, EngineError> {
    match at.get_if_exists(&format!("/{}", plain_name(&ticket.0)?)).await? {
        Some(answer) => progress(&answer),
        None => Ok(MediaStatus::Lost),
    }
}

/// Downloads the file of such work.
pub(super) async fn download_at(
    at: &UpstreamEndpoint,
    ticket: &MediaTicket,
) -> Result<MediaFile, EngineError> {
    let answer = at.open_file(&format!("/{}/content", plain_name(&ticket.0)?)).await?;
    Ok(file::file_from_answer(answer, at.timeouts))
}

/// Cancels such work.
pub(super) async fn cancel_at(
    at: &UpstreamEndpoint,
    ticket: &MediaTicket,
) -> Result<bool, EngineError> {
    let path = format!("{}/cancel", plain_name(&ticket.0)?);
    at.at_subpath(&path)?.post_json(b"{}".to_vec()).await?;
    Ok(true)
}

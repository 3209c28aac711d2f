//! The lease of a response that a worker has.

use std::time::Duration;

use http_frame::app::SharedApp;
use moment::Timestamp;
use store::model_response::{ResponseId, ResponseRecord, ResponseState, ResponseWrite};
use store::write::WriteGroup;
use tokio::time::sleep;

use super::run::{ResponseRunStop, RunResult};

/// A worker that is silent for longer loses its response to another.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// The record with the lease that it was claimed with.
pub(super) fn with_lease(record: ResponseRecord, lease_until: Timestamp) -> ResponseRecord {
    ResponseRecord { state: ResponseState::InProgress, lease_until, ..record }
}

/// The id and fence of a claimed response, for its lease.
pub(super) struct ClaimedId {
    pub(super) id: ResponseId,
    pub(super) fence: u64,
}

/// Extends the lease after each third of its duration. Returns when it is lost.
pub(super) async fn extend_lease(app: &SharedApp, claimed: &ClaimedId) -> ResponseRunStop {
    loop {
        sleep(LEASE / 3).await;
        match beat(app, claimed, app.clock.now().plus(LEASE)).await {
            Ok(()) => {}
            Err(ResponseRunStop::Fenced) => return ResponseRunStop::Fenced,
            Err(error) => {
                tracing::warn!(response = %claimed.id.0, ?error, "a lease was not extended");
            }
        }
    }
}

pub(super) async fn beat(
    app: &SharedApp,
    claimed: &ClaimedId,
    lease_until: Timestamp,
) -> RunResult<()> {
    let ClaimedId { id, fence } = *claimed;
    let write = ResponseWrite::Beat { id, fence, lease_until };
    app.store.commit(WriteGroup::from_write(write.into())).await.map_err(ResponseRunStop::from)
}

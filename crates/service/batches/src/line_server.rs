//! The interface to whatever serves the call of a line.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use ledger::{RequestHold, WorkCharge};
use store::batch::{BatchCost, StoredBatch};

/// Serves the calls of lines, without charging for them.
pub trait LineServer: Send + Sync {
    fn serve(&self, line: LineRequest) -> BoxFuture<'static, LineReply>;
}

/// The call of a line.
pub struct LineRequest {
    pub batch: Arc<StoredBatch>,
    /// The JSON of the body.
    pub body: Bytes,
    /// The same for every try of a line.
    pub request_id: String,
}

/// The reply to the call of a line.
pub struct LineReply {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Bytes,
    /// The charge for the reply. It is written with the line's result; dropping it charges nothing.
    pub charge: Option<PendingCharge>,
}

/// A charge that is decided and not written.
#[derive(Debug)]
pub struct PendingCharge {
    pub hold: RequestHold,
    pub charge: WorkCharge,
    pub cost: BatchCost,
}

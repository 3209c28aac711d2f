//! Runs one line: calls the endpoint, tries again where that may help, and writes the result together
//! with its charge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ledger::OwnerHome;
use media_store::{NONCE_BYTES, RecordCipher};
use moment::Timestamp;
use sha2::{Digest, Sha256};
use store::batch::{BatchCost, BatchId, BatchLine, BatchWrite, StoredBatch};
use store::write::{StoreWrite, WriteGroup};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::line_result::LineNames;
use crate::line_server::{LineReply, LineRequest, LineServer};
use crate::retry::{NextTry, decide_next_try};
use crate::run::BatchRunStop;
use crate::service::BatchService;

/// Interval at which a line that waits for its next try looks whether its batch has ended.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The state that all lines of a run share.
pub(crate) struct RunContext {
    pub(crate) service: Arc<BatchService>,
    pub(crate) batch: Arc<StoredBatch>,
    pub(crate) server: Arc<dyn LineServer>,
    pub(crate) cipher: RecordCipher,
    pub(crate) is_cancelled: Arc<AtomicBool>,
    pub(crate) stop: CancellationToken,
    /// Bytes of all results so far.
    pub(crate) result_bytes: AtomicU64,
    /// Set when an upstream was busy, and cleared by the run, which then runs fewer lines at once.
    pub(crate) is_upstream_busy: AtomicBool,
}

/// A line to run.
pub(crate) struct PendingLine {
    pub(crate) number: u32,
    pub(crate) custom_id: String,
    pub(crate) body: Bytes,
}

/// The end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Done,
    /// The batch ended before it had a result.
    NotRun,
}

impl RunContext {
    pub(crate) async fn run_line(&self, line: PendingLine) -> Result<LineEnd, BatchRunStop> {
        let request_id = name_request(self.batch.id, line.number);
        let names = LineNames { custom_id: &line.custom_id, request_id: &request_id };
        if self.service.settings.output_bytes_max <= self.result_bytes.load(Ordering::Relaxed) {
            let message = "The results of this batch have reached their largest size.";
            let result = names.write_error("output_too_large", message);
            return self.keep_uncharged(line.number, true, &result).await;
        }
        let mut tries = 0;
        loop {
            let request = LineRequest {
                batch: Arc::clone(&self.batch),
                body: line.body.clone(),
                request_id: request_id.clone(),
            };
            let reply = self.server.serve(request).await;
            tries += 1;
            let first = self.service.settings.retry_pause;
            match decide_next_try(reply.status, reply.retry_after, tries, first) {
                NextTry::Keep => return self.keep_reply(line.number, &names, reply).await,
                NextTry::After { pause, is_overload } => {
                    drop(reply);
                    if is_overload {
                        self.is_upstream_busy.store(true, Ordering::Relaxed);
                        self.check_home().await?;
                    }
                    if !self.wait_for_next_try(pause).await {
                        return Ok(LineEnd::NotRun);
                    }
                }
            }
        }
    }

    /// True if no more lines may begin.
    pub(crate) fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
            || self.stop.is_cancelled()
            || self.batch.expires <= self.now()
    }

    fn now(&self) -> Timestamp {
        self.service.now()
    }

    /// Returns false if the batch ended meanwhile.
    async fn wait_for_next_try(&self, pause: Duration) -> bool {
        let mut left = pause;
        while !left.is_zero() {
            if self.is_over() {
                return false;
            }
            let part = left.min(LOOK_EVERY);
            sleep(part).await;
            left -= part;
        }
        !self.is_over()
    }

    /// Another node runs the batch if it is the owner's home now.
    async fn check_home(&self) -> Result<(), BatchRunStop> {
        match self.service.parts.ledger.home_of(self.batch.owner).await {
            Ok(OwnerHome::Here) => Ok(()),
            Ok(OwnerHome::At { .. }) => Err(BatchRunStop::Moved),
            Err(error) => Err(BatchRunStop::Unwritable(error.to_string())),
        }
    }

    /// Writes the reply as the result. A successful one is written in the transaction of its charge.
    async fn keep_reply(
        &self,
        number: u32,
        names: &LineNames<'_>,
        reply: LineReply,
    ) -> Result<LineEnd, BatchRunStop> {
        let result = names.write_reply(reply.status, &reply.body);
        let is_failed = !(200..300).contains(&reply.status);
        let Some(pending) = reply.charge.filter(|_| !is_failed) else {
            return self.keep_uncharged(number, is_failed, &result).await;
        };
        let is_free = pending.charge.total().is_ok_and(|cost| cost.is_free());
        let charge = (!is_free).then(|| pending.hold.charge_id());
        let sealed = self.seal(number, &result)?;
        self.count_bytes(&sealed);
        let line = BatchLine {
            batch: self.batch.id,
            line: number,
            charge,
            is_failed,
            cost: if is_free { BatchCost::default() } else { pending.cost },
            result: sealed,
        };
        let also: Vec<StoreWrite> = vec![BatchWrite::FinishLine(Box::new(line)).into()];
        let ledger = &self.service.parts.ledger;
        ledger.settle_with(pending.hold, pending.charge, also).await?;
        metrics::counter!("batch_lines_total", "outcome" => "completed").increment(1);
        Ok(LineEnd::Done)
    }

    async fn keep_uncharged(
        &self,
        number: u32,
        is_failed: bool,
        result: &[u8],
    ) -> Result<LineEnd, BatchRunStop> {
        let sealed = self.seal(number, result)?;
        self.count_bytes(&sealed);
        let line = BatchLine {
            batch: self.batch.id,
            line: number,
            charge: None,
            is_failed,
            cost: BatchCost::default(),
            result: sealed,
        };
        let write = BatchWrite::FinishLine(Box::new(line)).into();
        self.service.parts.store.commit(WriteGroup::from_write(write)).await?;
        let outcome = if is_failed { "failed" } else { "completed" };
        metrics::counter!("batch_lines_total", "outcome" => outcome).increment(1);
        Ok(LineEnd::Done)
    }

    fn count_bytes(&self, sealed: &[u8]) {
        self.result_bytes.fetch_add(sealed.len() as u64, Ordering::Relaxed);
    }

    fn seal(&self, number: u32, result: &[u8]) -> Result<Vec<u8>, BatchRunStop> {
        let mut nonce = [0; NONCE_BYTES];
        self.service.parts.entropy.fill_bytes(&mut nonce);
        Ok(self.cipher.seal(number, nonce, result)?)
    }
}

/// The id of a line's request: derived, so that a line has the same one after a crash.
pub(crate) fn name_request(batch: BatchId, line: u32) -> String {
    let mut digest = Sha256::new();
    digest.update(b"tollgate batch line");
    digest.update(batch.0.as_bytes());
    digest.update(line.to_le_bytes());
    hex::encode(&digest.finalize()[..16])
}

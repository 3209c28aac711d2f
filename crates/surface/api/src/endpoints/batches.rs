//! `/batches`: lists of calls that run when there is room for them.

pub(super) mod cancel;
pub(super) mod create;
pub(super) mod get;
pub(super) mod list;

use access::CredentialHolder;
use batches::{BatchFault, OrderError};
use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use moment::Timestamp;
use std::time::Duration;
use store::batch::{BatchId, BatchState, StoredBatch};
use uuid::Uuid;
use wire::batches::{
    BatchFaultList, BatchFaultObject, BatchObject, BatchObjectKind, BatchRequestCounts,
    BatchStatus, CompletionWindow,
};
use wire::chat::Cost;
use wire::files::ListKind;

use super::files;

const ID_PREFIX: &str = "batch_";
/// Retry delay for a caller who has the maximum number of open batches.
const FULL_WAIT: Duration = Duration::from_secs(60);

/// The batch's name for callers.
pub(super) fn write_id(id: BatchId) -> String {
    format!("{ID_PREFIX}{}", id.0.simple())
}

pub(super) fn parse_id(text: &str) -> Option<BatchId> {
    let id = text.strip_prefix(ID_PREFIX).filter(|id| id.len() == 32)?;
    Uuid::try_parse(id).ok().map(BatchId)
}

/// The caller's batch. Another's is refused with the same words as one that does not exist.
pub(super) async fn find_batch(
    app: &AppState,
    holder: &CredentialHolder,
    id: &str,
) -> Result<StoredBatch, Refusal> {
    let Some(known) = parse_id(id) else { return Err(refuse_unknown(id)) };
    let found = app.batches.find_batch(holder.owner.id, known).await;
    found.map_err(Refusal::unavailable)?.ok_or_else(|| refuse_unknown(id))
}

pub(super) fn refuse_unknown(id: &str) -> Refusal {
    Refusal::not_found("Batch not found", format!("No batch found with id '{id}'."))
}

pub(super) fn refuse_order(error: OrderError) -> Refusal {
    match error {
        OrderError::TooMany { most } => {
            let message = format!(
                "You have {most} batches that have not ended, and no more are taken. Wait for some \
                 of them."
            );
            Refusal::rate_limited(message, FULL_WAIT)
        }
        OrderError::NoFile => {
            Refusal::not_found("File not found", "The input file was deleted meanwhile.")
        }
        OrderError::Ended(batch) => {
            let message = format!("Cannot cancel a batch with status '{}'.", batch.state.name());
            Refusal::conflict("Batch has ended", message)
        }
        OrderError::Unavailable(cause) => Refusal::unavailable(cause),
    }
}

pub(super) fn to_wire(batch: StoredBatch) -> BatchObject {
    let ended = |state| {
        let ended = batch.ended.filter(|_| batch.state == state);
        ended.map(Timestamp::seconds)
    };
    let errors = batch.errors.as_deref().map(|errors| BatchFaultList {
        object: ListKind::List,
        data: BatchFault::read_list(errors).into_iter().map(to_wire_fault).collect(),
    });
    BatchObject {
        id: write_id(batch.id),
        object: BatchObjectKind::Batch,
        errors,
        input_file_id: files::write_id(batch.input_file),
        completion_window: CompletionWindow::Day,
        status: to_wire_status(batch.state),
        output_file_id: batch.output_file.map(files::write_id),
        error_file_id: batch.error_file.map(files::write_id),
        created_at: batch.created.seconds(),
        in_progress_at: batch.started.map(Timestamp::seconds),
        expires_at: batch.expires.seconds(),
        finalizing_at: batch.finalizing.map(Timestamp::seconds),
        completed_at: ended(BatchState::Completed),
        failed_at: ended(BatchState::Failed),
        expired_at: ended(BatchState::Expired),
        cancelling_at: batch.cancelling.map(Timestamp::seconds),
        cancelled_at: ended(BatchState::Cancelled),
        request_counts: BatchRequestCounts {
            total: batch.counts.lines,
            completed: batch.counts.completed,
            failed: batch.counts.failed,
        },
        metadata: batch.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        cost: Cost { usd: batch.counts.cost.usd.as_f64(), diem: batch.counts.cost.diem.as_f64() },
        endpoint: batch.endpoint,
    }
}

fn to_wire_fault(fault: BatchFault) -> BatchFaultObject {
    let BatchFault { code, line, message, param } = fault;
    BatchFaultObject { code, line, message, param }
}

fn to_wire_status(state: BatchState) -> BatchStatus {
    match state {
        BatchState::Validating => BatchStatus::Validating,
        BatchState::InProgress => BatchStatus::InProgress,
        BatchState::Finalizing => BatchStatus::Finalizing,
        BatchState::Cancelling => BatchStatus::Cancelling,
        BatchState::Completed => BatchStatus::Completed,
        BatchState::Failed => BatchStatus::Failed,
        BatchState::Expired => BatchStatus::Expired,
        BatchState::Cancelled => BatchStatus::Cancelled,
    }
}

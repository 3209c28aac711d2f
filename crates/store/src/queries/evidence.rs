//! Queries for verifying the books.

use crate::StoreFuture;
use crate::audit::AuditRow;
use crate::evidence::{Evidence, UsageMark};

pub trait EvidenceStore: Send + Sync {
    /// What the journal is held against. It reads all of the database, and takes its time.
    fn evidence(&self) -> StoreFuture<'_, Evidence>;

    /// The audit trail after a sequence number, oldest first.
    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>>;

    /// The rows of usage after a sequence number, of all owners, as they were added.
    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>>;
}

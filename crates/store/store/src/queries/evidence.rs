//! Queries for verifying the books.

use crate::StoreFuture;
use crate::audit::AuditRow;
use crate::evidence::{UsageMark, VerificationEvidence};

pub trait EvidenceStore: Send + Sync {
    /// The data that the journal is compared with. Reads the whole database, which takes long.
    fn read_evidence(&self) -> StoreFuture<'_, VerificationEvidence>;

    /// The audit trail after a sequence number, oldest first.
    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>>;

    /// The usage rows of all owners after a sequence number, in the order they were added.
    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>>;
}

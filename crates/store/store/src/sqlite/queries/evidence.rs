//! Queries for verifying the books.

use crate::audit::AuditRow;
use crate::evidence::{UsageMark, VerificationEvidence};
use crate::sql::{ReadMode, SqlStore, audit};
use crate::sqlite::{SqliteStore, evidence};
use crate::{EvidenceStore, StoreFuture};

impl EvidenceStore for SqliteStore {
    fn read_evidence(&self) -> StoreFuture<'_, VerificationEvidence> {
        self.query_posted(evidence::read_evidence)
    }

    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        self.read(ReadMode::SETTLED, move |db| {
            Box::pin(async move { audit::rows_after(db, after_seq, limit).await })
        })
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>> {
        self.query_posted(move |connection| evidence::usage_marks(connection, after_seq, limit))
    }
}

//! Queries for verifying the books.

use crate::audit::AuditRow;
use crate::evidence::{Evidence, UsageMark};
use crate::sqlite::{Sqlite, audit, evidence};
use crate::{EvidenceStore, StoreFuture};

impl EvidenceStore for Sqlite {
    fn evidence(&self) -> StoreFuture<'_, Evidence> {
        self.ask_posted(evidence::evidence)
    }

    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        self.ask(move |connection| audit::rows_after(connection, after_seq, limit))
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>> {
        self.ask_posted(move |connection| evidence::usage_marks(connection, after_seq, limit))
    }
}

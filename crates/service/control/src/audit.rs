//! The audit trail: every command that moved money, and its author.

use store::audit::{AuditEntry, AuditRow};
use store::write::StoreWrite;

use crate::actor::AuditActor;
use crate::operation::OperationError;
use crate::reply::{AuditLine, AuditPage};
use crate::service::ControlService;

const PAGE_ROWS: usize = 500;
/// Maximum length of a reason.
pub(crate) const REASON_CHARS_MAX: usize = 500;

impl ControlService {
    /// Returns the audit row of a command, to be written in the same group as its effects.
    pub(crate) fn build_audit_row(
        &self,
        by: &AuditActor,
        action: &str,
        subject: &str,
        detail: String,
    ) -> StoreWrite {
        StoreWrite::AddAudit(AuditEntry {
            at: self.clock.now(),
            actor: by.name().to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            detail,
        })
    }

    pub(crate) async fn audit_trail(&self, after_seq: i64) -> Result<AuditPage, OperationError> {
        let rows = self.store.audit_after(after_seq, PAGE_ROWS).await?;
        let is_last = rows.len() < PAGE_ROWS;
        let next_seq = rows.last().filter(|_| !is_last).map(|row| row.seq);
        Ok(AuditPage { rows: rows.into_iter().map(to_audit_line).collect(), next_seq })
    }
}

/// Checks that a reason is not empty and not too long.
pub(crate) fn check_reason(reason: &str) -> Result<String, OperationError> {
    let reason = reason.trim();
    let is_sound = !reason.is_empty()
        && reason.chars().count() <= REASON_CHARS_MAX
        && !reason.chars().any(char::is_control);
    if is_sound {
        return Ok(reason.to_owned());
    }
    Err(OperationError::Refused(format!(
        "give a reason of 1 to {REASON_CHARS_MAX} characters on one line, for the audit trail"
    )))
}

fn to_audit_line(row: AuditRow) -> AuditLine {
    let AuditRow { seq, entry } = row;
    AuditLine {
        seq,
        at: entry.at.to_string(),
        by: entry.actor,
        action: entry.action,
        subject: entry.subject,
        detail: entry.detail,
    }
}

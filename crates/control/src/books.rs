//! The operator's dealings with the ledger: grants, allowances, verification and export.

use credits::{AllowanceKind, EntryId, OwnerId};
use ledger::{LedgerError, csv_line, json_line};
use money::{Currency, Nano};
use store::Store;
use store::write::Write;

use crate::operation::{ExportFormat, OperationError};
use crate::reply::{JournalPage, Verification};
use crate::service::Service;

/// Entries on a page of the export: some hundred kilobytes.
const PAGE_ENTRIES: usize = 1000;

/// Recomputes the ledger from its journal. It needs the store alone: a ledger that is too damaged
/// to start can still be looked into.
pub async fn verify(store: &dyn Store) -> Result<Verification, OperationError> {
    let report = ledger::verify(store).await?;
    let differences = report.violations.iter().map(ToString::to_string).collect();
    Ok(Verification { transfers: report.transfers, differences })
}

impl Service {
    /// Gives money away. The same entry counts once, however often it is sent.
    pub(crate) async fn grant(
        &self,
        entry: EntryId,
        owner: OwnerId,
        amount: (Currency, Nano),
        also: Vec<Write>,
    ) -> Result<(), OperationError> {
        self.ledger.grant(entry, owner, amount, None, also).await?;
        Ok(())
    }

    pub(crate) async fn set_allowance(
        &self,
        entry: EntryId,
        owner: OwnerId,
        (kind, amount): (AllowanceKind, Nano),
        also: Vec<Write>,
    ) -> Result<(), OperationError> {
        self.ledger.set_allowance(entry, owner, kind, amount, also).await?;
        Ok(())
    }

    pub(crate) async fn export_ledger(
        &self,
        after_seq: i64,
        format: ExportFormat,
    ) -> Result<JournalPage, OperationError> {
        let entries = self.store.journal(after_seq, PAGE_ENTRIES).await?;
        let is_last = entries.len() < PAGE_ENTRIES;
        let next_seq = entries.last().filter(|_| !is_last).map(|entry| entry.seq);
        let write = match format {
            ExportFormat::Csv => csv_line,
            ExportFormat::Json => json_line,
        };
        Ok(JournalPage { lines: entries.iter().map(write).collect(), next_seq })
    }
}

impl From<LedgerError> for OperationError {
    fn from(error: LedgerError) -> OperationError {
        match error {
            LedgerError::Rejected(rejection) => OperationError::Refused(rejection.to_string()),
            other => OperationError::Failed(other.to_string()),
        }
    }
}

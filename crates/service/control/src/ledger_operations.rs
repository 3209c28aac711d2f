//! Operations on the ledger: grants, verification and export.

use ledger::{LedgerError, csv_line, json_line};
use ledger_core::{EntryId, LedgerAccount, LedgerTransfer, OwnerId, TransferCode};
use money::{BalanceCurrency, Nano};
use store::Store;
use store::write::StoreWrite;

use crate::actor::AuditActor;
use crate::audit::check_reason;
use crate::operation::{ExportFormat, OperationError};
use crate::reply::{JournalPage, LedgerVerification, TimeMendReport};
use crate::service::ControlService;

/// Journal entries per page of the export: some hundred kilobytes.
const PAGE_ENTRIES: usize = 1000;

/// Recomputes the ledger from its journal. Needs only the store, so it also works on a ledger that
/// is too damaged to start.
pub async fn verify_ledger(store: &dyn Store) -> Result<LedgerVerification, OperationError> {
    let report = ledger::verify_books(store).await?;
    let differences = report.violations.iter().map(ToString::to_string).collect();
    Ok(LedgerVerification {
        transfers: report.transfers,
        differences,
        differences_total: report.violations_total,
        undigested_usage_rows: report.undigested_rows,
    })
}

impl ControlService {
    /// Grants money. Idempotent: the same entry counts once.
    pub(crate) async fn grant(
        &self,
        entry: EntryId,
        owner: OwnerId,
        currency: BalanceCurrency,
        amount: Nano,
        also: Vec<StoreWrite>,
    ) -> Result<(), OperationError> {
        let granted = self.ledger.grant(entry, owner, (currency, amount), None, also).await?;
        if granted.is_repeat {
            self.check_repeat(entry, TransferCode::Grant, owner, currency, amount).await?;
        }
        Ok(())
    }

    /// Refuses an entry id that the journal already has for a different transfer.
    pub(crate) async fn check_repeat(
        &self,
        entry: EntryId,
        code: TransferCode,
        owner: OwnerId,
        currency: BalanceCurrency,
        amount: Nano,
    ) -> Result<(), OperationError> {
        let transfers = self.store.find_transfers(entry).await?;
        let is_same = transfers.first().is_some_and(|recorded| {
            let LedgerTransfer { debit, credit, .. } = &recorded.transfer;
            let account = if code == TransferCode::Grant { credit } else { debit };
            let is_owners = matches!(account, LedgerAccount::Lot(lot) if lot.owner == owner);
            recorded.transfer.code == code
                && is_owners
                && account.currency() == currency
                && recorded.transfer.amount == amount
        });
        if is_same {
            return Ok(());
        }
        Err(OperationError::Refused(format!(
            "the entry {} is in the journal as another movement; nothing was done: leave the id out \
             to make a new entry",
            entry.0
        )))
    }

    pub(crate) async fn mend_time(
        &self,
        by: &AuditActor,
        reason: &str,
    ) -> Result<TimeMendReport, OperationError> {
        let reason = check_reason(reason)?;
        let audit = vec![self.build_audit_row(by, "ledger mend-time", "ledger", reason)];
        let mended = self.ledger.reset_time(audit).await?;
        let mended = mended.ok_or_else(|| {
            OperationError::Refused(
                "the journal is not ahead of the clock: there is nothing to change".to_owned(),
            )
        })?;
        Ok(TimeMendReport { from: mended.from.to_string(), to: mended.to.to_string() })
    }

    pub(crate) async fn export_ledger(
        &self,
        after_seq: i64,
        format: ExportFormat,
    ) -> Result<JournalPage, OperationError> {
        let entries = self.store.read_journal(after_seq, PAGE_ENTRIES).await?;
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
            // The store does not know the outcome of this write: it may have been written.
            LedgerError::Unavailable => OperationError::Unknown(error.to_string()),
            other => OperationError::Failed(other.to_string()),
        }
    }
}

//! Debits: take back credit that the operator granted.

use ledger_core::{EntryId, TransferCode};
use money::{BalanceCurrency, Nano};
use uuid::Uuid;

use crate::actor::AuditActor;
use crate::audit::check_reason;
use crate::operation::{CreditCurrency, OperationError};
use crate::reply::AccountReport;
use crate::service::ControlService;

/// A requested debit.
pub(crate) struct DebitRequest {
    pub(crate) entry: Uuid,
    pub(crate) name: String,
    pub(crate) amount: String,
    pub(crate) currency: CreditCurrency,
    pub(crate) reason: String,
}

impl ControlService {
    /// Takes back at most the granted credit that is not spent yet. Idempotent: the same entry
    /// counts once.
    pub(crate) async fn debit_account(
        &self,
        by: &AuditActor,
        debit: DebitRequest,
    ) -> Result<AccountReport, OperationError> {
        let DebitRequest { entry, name, amount, currency, reason } = debit;
        let (entry, reason) = (EntryId(entry), check_reason(&reason)?);
        let currency = match currency {
            CreditCurrency::Usd => BalanceCurrency::Usd,
            CreditCurrency::Vcu => BalanceCurrency::Vcu,
            CreditCurrency::Diem | CreditCurrency::Bundled => {
                return Err(OperationError::Refused(
                    "diem and bundled are allowances: set a lower amount with `accounts credit`"
                        .to_owned(),
                ));
            }
        };
        let amount = Nano::parse_positive(&amount)
            .map_err(|error| OperationError::Refused(error.to_string()))?;
        let owner = self.find_account(&name).await?;
        let detail = format!("{amount} {currency}, entry {}: {reason}", entry.0);
        let audit = vec![self.build_audit_row(by, "accounts debit", &name, detail)];
        let debited = self.ledger.debit(entry, owner.id, (currency, amount), audit).await?;
        if debited.is_repeat {
            self.check_repeat(entry, TransferCode::TakeBack, owner.id, currency, amount).await?;
        }
        self.report_moved(&owner).await
    }
}

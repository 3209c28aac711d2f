//! Debits: take back credit that the operator granted.

use credits::{EntryId, TransferCode};
use money::{Currency, Nano};
use uuid::Uuid;

use crate::actor::Actor;
use crate::audit::check_reason;
use crate::operation::{CreditCurrency, OperationError};
use crate::reply::AccountReport;
use crate::service::Service;

/// A requested debit.
pub(crate) struct Debit {
    pub(crate) entry: Uuid,
    pub(crate) name: String,
    pub(crate) amount: String,
    pub(crate) currency: CreditCurrency,
    pub(crate) reason: String,
}

impl Service {
    /// Takes back at most the granted credit that is not spent yet. Idempotent: the same entry
    /// counts once.
    pub(crate) async fn debit_account(
        &self,
        by: &Actor,
        debit: Debit,
    ) -> Result<AccountReport, OperationError> {
        let Debit { entry, name, amount, currency, reason } = debit;
        let (entry, reason) = (EntryId(entry), check_reason(&reason)?);
        let currency = match currency {
            CreditCurrency::Usd => Currency::Usd,
            CreditCurrency::Vcu => Currency::Vcu,
            CreditCurrency::Diem | CreditCurrency::Bundled => {
                return Err(OperationError::Refused(
                    "diem and bundled are allowances: set a lower amount with `accounts credit`"
                        .to_owned(),
                ));
            }
        };
        let amount = Nano::parse_positive(&amount)
            .map_err(|error| OperationError::Refused(error.to_string()))?;
        let owner = self.account(&name).await?;
        let detail = format!("{amount} {currency}, entry {}: {reason}", entry.0);
        let audit = vec![self.audit(by, "accounts debit", &name, detail)];
        let debited = self.ledger.debit(entry, owner.id, (currency, amount), audit).await?;
        if debited.is_repeat {
            let amount = (currency, amount);
            self.check_repeat(entry, TransferCode::TakeBack, owner.id, amount).await?;
        }
        self.report_moved(&owner).await
    }
}

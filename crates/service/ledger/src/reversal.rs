//! Payments that are taken back, and the debts that this makes.

use ledger_core::{
    BeyondPaid, CommandOutcome, CreditCommand, EntryId, OwnerId, PaidFunds, PaymentNetwork,
    ReversalReceipt,
};
use money::{BalanceCurrency, Nano};
use store::write::StoreWrite;

use crate::entry::CreditOutcome;
use crate::error::LedgerError;
use crate::state::Ledger;

/// A payment to take back, in part or whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReversalOrder {
    pub owner: OwnerId,
    pub network: PaymentNetwork,
    pub amount: Nano,
    pub beyond: BeyondPaid,
}

/// The result of taking back a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReversalOutcome {
    Now(ReversalReceipt),
    /// The same command was carried out before, so nothing changed.
    Before,
}

impl Ledger {
    /// Takes back a payment: from the paid credit that is left, and the rest becomes a debt, or the
    /// whole is refused. Runs one at a time with [`Ledger::debit`], for the same reason.
    pub async fn reverse(
        &self,
        entry: EntryId,
        order: ReversalOrder,
        also: Vec<StoreWrite>,
    ) -> Result<ReversalOutcome, LedgerError> {
        let _alone = self.shared.debiting.lock().await;
        let ReversalOrder { owner, network, amount, beyond } = order;
        let given = self.given_dollars(owner).await?;
        let command = CreditCommand::Reverse { entry, owner, network, amount, given, beyond };
        let entered = self.apply_once(entry, command, also, |_, _| Vec::new()).await?;
        Ok(match entered {
            Some(CommandOutcome::Reversed(receipt)) => ReversalOutcome::Now(receipt),
            _ => ReversalOutcome::Before,
        })
    }

    /// Credits money of a payment that was taken back and came in again; repays the debt first.
    pub async fn restore(
        &self,
        entry: EntryId,
        owner: OwnerId,
        network: PaymentNetwork,
        amount: Nano,
        also: Vec<StoreWrite>,
    ) -> Result<CreditOutcome, LedgerError> {
        let command = CreditCommand::Restore { entry, owner, network, amount };
        self.credit(owner, entry, command, also).await
    }

    /// The paid credit and the debt of an owner.
    pub async fn paid_funds(&self, owner: OwnerId) -> Result<PaidFunds, LedgerError> {
        let given = self.given_dollars(owner).await?;
        Ok(self.shared.lock().core.paid_funds(owner, given))
    }

    /// Repays debts from paid credit that a hold has left since the payment was taken back. Returns
    /// the amount collected.
    pub async fn collect_debts(&self) -> Result<Nano, LedgerError> {
        let debtors = self.shared.lock().core.debtors();
        let mut sum = Nano::ZERO;
        for owner in debtors {
            let _alone = self.shared.debiting.lock().await;
            let given = self.given_dollars(owner).await?;
            let has_credit = self.shared.lock().core.paid_funds(owner, given).left.is_positive();
            if !has_credit {
                continue;
            }
            let entry = EntryId(self.shared.fresh_id());
            let command = CreditCommand::CollectDebt { entry, owner, given };
            let entered = self.apply_once(entry, command, Vec::new(), |_, _| Vec::new()).await?;
            if let Some(CommandOutcome::Collected(receipt)) = entered {
                sum = sum.saturating_add(receipt.collected);
            }
        }
        Ok(sum)
    }

    async fn given_dollars(&self, owner: OwnerId) -> Result<Nano, LedgerError> {
        self.move_owner_here(owner).await?;
        Ok(self.shared.store.given_credit(owner, BalanceCurrency::Usd).await?)
    }
}

//! Credits and refunds: durable commands with an id of their own, so that each is applied once.

use ledger_core::{
    AllowanceKind, ChargeSource, CommandOutcome, CommandRejection, CreditCommand, CurrencyBalances,
    EntryId, KeyId, LedgerAccount, OwnerId, PaymentLeg, PaymentNetwork, RefundReceipt, SystemKind,
    TransferCode,
};
use moment::Timestamp;
use money::{BalanceCurrency, Nano, Price, PriceUnits};
use store::usage::{REFUND_SKU, USAGE_ROWS_MAX, UsageDetails, UsageFilter, UsageRow};
use store::write::{StoreWrite, WriteGroup};

use crate::error::{HoldRefused, LedgerError};
use crate::homes::owner_of;
use crate::state::Ledger;

/// The result of a durable command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditOutcome {
    /// The available balances after the command.
    pub balances: CurrencyBalances,
    /// True if the same command was carried out before, so nothing changed.
    pub is_repeat: bool,
}

/// The result of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundOutcome {
    Now(RefundReceipt),
    /// The charge was refunded before.
    Before,
}

impl Ledger {
    /// Credits money that was paid in over a payment network.
    pub async fn top_up(
        &self,
        entry: EntryId,
        owner: OwnerId,
        network: PaymentNetwork,
        amount: Nano,
        also: Vec<StoreWrite>,
    ) -> Result<CreditOutcome, LedgerError> {
        self.credit(owner, entry, CreditCommand::TopUp { entry, owner, network, amount }, also)
            .await
    }

    /// Credits money that was not paid in: an operator's credit, or a grant with an expiry.
    pub async fn grant(
        &self,
        entry: EntryId,
        owner: OwnerId,
        amount: (BalanceCurrency, Nano),
        expires_at: Option<Timestamp>,
        also: Vec<StoreWrite>,
    ) -> Result<CreditOutcome, LedgerError> {
        let (currency, amount) = amount;
        let command = CreditCommand::Grant { entry, owner, currency, amount, expires_at };
        self.credit(owner, entry, command, also).await
    }

    /// Takes back at most the remainder of the operator's credit. Runs one at a time: the store's
    /// sum of credits does not yet include a debit that is being written.
    pub async fn debit(
        &self,
        entry: EntryId,
        owner: OwnerId,
        amount: (BalanceCurrency, Nano),
        also: Vec<StoreWrite>,
    ) -> Result<CreditOutcome, LedgerError> {
        let _alone = self.shared.debiting.lock().await;
        let (currency, amount) = amount;
        self.move_owner_here(owner).await?;
        let given = self.shared.store.given_credit(owner, currency).await?;
        let command = CreditCommand::Debit { entry, owner, currency, amount, given };
        self.credit(owner, entry, command, also).await
    }

    /// Sets the daily or monthly allowance of an owner from now on.
    pub async fn set_allowance(
        &self,
        entry: EntryId,
        owner: OwnerId,
        kind: AllowanceKind,
        amount: Nano,
        also: Vec<StoreWrite>,
    ) -> Result<CreditOutcome, LedgerError> {
        self.credit(owner, entry, CreditCommand::SetAllowance { entry, owner, kind, amount }, also)
            .await
    }

    /// The owner that was charged; None if there is no such charge.
    pub async fn payer_of(&self, charge: EntryId) -> Result<Option<OwnerId>, LedgerError> {
        let found = self.find_charge(charge).await?;
        Ok(found.and_then(|found| found.legs.first().map(|leg| leg.lot.owner)))
    }

    /// Refunds a charge once, regardless of its age: `amount` of it, or all of it if None.
    pub async fn refund(
        &self,
        charge: EntryId,
        amount: Option<Nano>,
        notes: &str,
        also: Vec<StoreWrite>,
    ) -> Result<RefundOutcome, LedgerError> {
        let found = self.find_charge(charge).await?.ok_or(CommandRejection::NoSuchCharge)?;
        let of = self.usage_of(charge, &found).await?;
        let key = found.key.map(|stamp| stamp.key);
        let source = match amount {
            None => ChargeSource::Journal(found),
            Some(amount) => ChargeSource::Part(
                found.refundable_part(amount).ok_or(CommandRejection::InvalidAmount)?,
            ),
        };
        let command = CreditCommand::Refund { charge, source };
        let told = |outcome: &CommandOutcome, at| match outcome {
            CommandOutcome::Refunded(refund) => {
                let row = |leg: &PaymentLeg| refund_row(charge, key, *leg, at, notes, &of);
                refund.returned.iter().chain(&refund.lapsed).map(row).collect()
            }
            _ => Vec::new(),
        };
        let entered = self.apply_once(charge.refund_entry(), command, also, told).await?;
        Ok(match entered {
            Some(CommandOutcome::Refunded(refund)) => RefundOutcome::Now(refund),
            _ => RefundOutcome::Before,
        })
    }

    pub(crate) async fn credit(
        &self,
        owner: OwnerId,
        entry: EntryId,
        command: CreditCommand,
        also: Vec<StoreWrite>,
    ) -> Result<CreditOutcome, LedgerError> {
        let entered = self.apply_once(entry, command, also, |_, _| Vec::new()).await?;
        let is_repeat = entered.is_none();
        Ok(CreditOutcome { balances: self.balances(owner), is_repeat })
    }

    /// Carries out a command that may be a repeat; `None` if it was carried out before.
    ///
    /// The core remembers recent commands only, so the journal is checked first. If the core knows
    /// the command, it may still be being committed; then this waits for that commit.
    pub(crate) async fn apply_once(
        &self,
        entry: EntryId,
        command: CreditCommand,
        also: Vec<StoreWrite>,
        told: impl FnOnce(&CommandOutcome, Timestamp) -> Vec<UsageRow> + Send,
    ) -> Result<Option<CommandOutcome>, LedgerError> {
        let store = &self.shared.store;
        if store.is_recorded(entry).await? {
            return Ok(None);
        }
        if let Some(owner) = owner_of(&command) {
            self.move_owner_here(owner).await?;
        }
        let carried_out = {
            let mut live = self.shared.lock();
            self.shared.apply_and_write(&mut live, &command, Vec::new(), |applied, now, writes| {
                writes.extend(also);
                writes.extend(told(&applied.outcome, now).into_iter().map(StoreWrite::AddUsage));
            })
        };
        match carried_out {
            Ok((applied, watched)) => {
                if let Some(watched) = watched {
                    watched.await?;
                }
                Ok(Some(applied.outcome))
            }
            Err(HoldRefused::Rejected(
                CommandRejection::Duplicate { .. } | CommandRejection::AlreadyRefunded { .. },
            )) => {
                // Groups are written in order, so this empty one ends after all that were handed in
                // before it.
                store.commit(WriteGroup::default()).await.map_err(|_| LedgerError::Unavailable)?;
                if store.is_recorded(entry).await? {
                    Ok(None)
                } else {
                    Err(LedgerError::Unavailable)
                }
            }
            Err(refused) => Err(refused.into()),
        }
    }

    /// A usage row of the charge, so that the refund counts for the same model; None if its rows
    /// were pruned. The rows are looked up by the time of the charge.
    async fn usage_of(
        &self,
        charge: EntryId,
        found: &ledger_core::SettledCharge,
    ) -> Result<Option<UsageRow>, LedgerError> {
        let transfers = self.shared.store.find_transfers(charge).await?;
        let (Some(entry), Some(leg)) = (transfers.first(), found.legs.first()) else {
            return Ok(None);
        };
        let at = entry.transfer.at;
        let (owner, until) = (leg.lot.owner, Timestamp::from_ms(at.ms() + 1));
        let filter = UsageFilter { owner, currency: None, from: at, until };
        let mut after = None;
        loop {
            let rows = self.shared.store.usage_after(filter, after, USAGE_ROWS_MAX).await?;
            let Some((place, _)) = rows.last() else { return Ok(None) };
            after = Some(*place);
            let found = rows.into_iter().find(|(_, row)| row.charge == charge);
            if let Some((_, row)) = found {
                return Ok(Some(row));
            }
        }
    }

    /// Returns a charge from the journal, or from memory while it is still being committed.
    async fn find_charge(
        &self,
        charge: EntryId,
    ) -> Result<Option<ledger_core::SettledCharge>, LedgerError> {
        let entries = self.shared.store.find_transfers(charge).await?;
        if entries.is_empty() {
            return Ok(self.shared.lock().core.recent_charge(charge).cloned());
        }
        let mut found = ledger_core::SettledCharge::default();
        for entry in entries {
            let transfer = entry.transfer;
            match (transfer.code, transfer.debit) {
                (TransferCode::Charge, LedgerAccount::Lot(lot)) => {
                    found.legs.push(PaymentLeg { lot, amount: transfer.amount });
                    found.key = found.key.or(transfer.key);
                }
                (TransferCode::Writeoff, LedgerAccount::System(from))
                    if from.kind == SystemKind::Writeoff =>
                {
                    found.written_off = found.written_off.saturating_add(transfer.amount);
                }
                _ => {}
            }
        }
        Ok(Some(found))
    }
}

/// One usage row for each refunded leg, so that usage adds up to the amount paid.
fn refund_row(
    charge: EntryId,
    key: Option<KeyId>,
    leg: PaymentLeg,
    at: Timestamp,
    notes: &str,
    of: &Option<UsageRow>,
) -> UsageRow {
    let request_id = of.as_ref().map(|row| row.details.request_id.clone()).unwrap_or_default();
    let session = of.as_ref().and_then(|row| row.details.session);
    UsageRow {
        charge,
        owner: leg.lot.owner,
        key,
        at,
        sku: REFUND_SKU.into(),
        model: of.as_ref().map(|row| row.model.clone()).unwrap_or_default(),
        currency: leg.lot.currency,
        units: 0,
        price: Price::FREE,
        per: PriceUnits::One,
        amount: Nano::ZERO.saturating_sub(leg.amount),
        details: UsageDetails { request_id, session, ..UsageDetails::default() },
        notes: notes.to_owned(),
    }
}

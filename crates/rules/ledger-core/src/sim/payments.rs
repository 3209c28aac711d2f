//! The oracle's part for money that comes in and is taken back: debts and grants of owners.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use money::{BalanceCurrency, Nano};

use crate::account::{LedgerAccount, LotKey};
use crate::command::{BeyondPaid, CreditCommand};
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::CommandOutcome;
use crate::record::TransferCode;
use crate::sim::disk::SimulatedDisk;

#[derive(Debug, Default)]
pub(crate) struct PaymentOracle {
    /// The debt of each owner.
    owed: BTreeMap<OwnerId, i64>,
    /// The sum of each owner's grants to the main lot of dollars.
    given: HashMap<OwnerId, i64>,
}

/// The amount that the transfers of an entry should add up to.
pub(crate) struct AskedAmount {
    pub(crate) entry: EntryId,
    pub(crate) amount: Nano,
}

impl PaymentOracle {
    pub(crate) fn given(&self, owner: OwnerId) -> Nano {
        self.given.get(&owner).map_or(Nano::ZERO, |nanos| Nano::from_nanos(*nanos))
    }

    /// Checks the result of a command that moves money in or out, and records it.
    pub(crate) fn check_applied(
        &mut self,
        command: &CreditCommand,
        outcome: &CommandOutcome,
    ) -> Result<Option<AskedAmount>, String> {
        let (entry, amount) = match (command, outcome) {
            (
                CreditCommand::TopUp { entry, owner, amount, .. }
                | CreditCommand::Restore { entry, owner, amount, .. },
                _,
            ) => {
                let owed = self.owed.entry(*owner).or_default();
                *owed = (*owed - amount.nanos()).max(0);
                (entry, *amount)
            }
            (CreditCommand::Grant { entry, owner, currency, amount, expires_at }, _) => {
                if *currency == BalanceCurrency::Usd && expires_at.is_none() {
                    *self.given.entry(*owner).or_default() += amount.nanos();
                }
                (entry, *amount)
            }
            (
                CreditCommand::Reverse { entry, owner, amount, beyond, .. },
                CommandOutcome::Reversed(receipt),
            ) => {
                if receipt.owed.is_positive() && *beyond == BeyondPaid::Refuse {
                    return Err(format!("a refund made a debt of {}", receipt.owed));
                }
                let owed = amount.saturating_sub(receipt.taken).nanos();
                *self.owed.entry(*owner).or_default() += owed;
                (entry, *amount)
            }
            (
                CreditCommand::CollectDebt { entry, owner, .. },
                CommandOutcome::Collected(receipt),
            ) if receipt.collected.is_positive() => {
                *self.owed.entry(*owner).or_default() -= receipt.collected.nanos();
                (entry, receipt.collected)
            }
            _ => return Ok(None),
        };
        Ok(Some(AskedAmount { entry: *entry, amount }))
    }

    pub(crate) fn check_debts(&self, ledger: &CreditLedger) -> Result<(), String> {
        for (owner, owed) in &self.owed {
            let debt = ledger.debt(*owner).nanos();
            if debt != *owed {
                return Err(format!("{} owes {debt} instead of {owed}", owner.0));
            }
        }
        Ok(())
    }

    /// Recounts the debts and grants that survived a crash.
    pub(crate) fn recount(&mut self, disk: &SimulatedDisk) {
        self.owed.values_mut().for_each(|owed| *owed = 0);
        self.given.clear();
        for transfer in disk.transfers() {
            let nanos = transfer.amount.nanos();
            match (transfer.code, &transfer.debit, &transfer.credit) {
                (TransferCode::Shortfall, LedgerAccount::Lot(lot), _) => {
                    *self.owed.entry(lot.owner).or_default() += nanos;
                }
                (
                    TransferCode::Repayment | TransferCode::Collection,
                    _,
                    LedgerAccount::Lot(lot),
                ) => {
                    *self.owed.entry(lot.owner).or_default() -= nanos;
                }
                (TransferCode::Grant, _, LedgerAccount::Lot(lot))
                    if *lot == LotKey::main_usd(lot.owner) =>
                {
                    *self.given.entry(lot.owner).or_default() += nanos;
                }
                _ => {}
            }
        }
    }
}

//! Credits that are decided and not yet durable. Balances leave them out: if the process ends before
//! they are written, the money is not in the books, and must not have been shown to a caller.

use ledger_core::{CurrencyBalances, JournalRecord, LedgerAccount, OwnerId, TransferCode};
use money::{BalanceCurrency, Nano};
use store::write::StoreWrite;

/// Allowances are not among them: they follow from the date, whether they are written or not.
const CREDITING: [TransferCode; 4] =
    [TransferCode::TopUp, TransferCode::Grant, TransferCode::Refund, TransferCode::Restoration];

/// The credits of one group, by which [`UnconfirmedCredits`] finds them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CreditGroup(u64);

#[derive(Debug, Default)]
pub(crate) struct UnconfirmedCredits {
    groups: u64,
    /// Few at any time: a group is durable within milliseconds.
    credits: Vec<UnconfirmedCredit>,
}

#[derive(Debug, Clone, Copy)]
struct UnconfirmedCredit {
    group: CreditGroup,
    owner: OwnerId,
    currency: BalanceCurrency,
    amount: Nano,
}

impl UnconfirmedCredits {
    /// Adds what the transfers of a group give to owners; none if that is nothing.
    pub(crate) fn add(&mut self, writes: &[StoreWrite]) -> Option<CreditGroup> {
        let group = CreditGroup(self.groups);
        let known = self.credits.len();
        for write in writes {
            let StoreWrite::Journal(JournalRecord::Transfer(transfer)) = write else { continue };
            if !CREDITING.contains(&transfer.code) {
                continue;
            }
            if let LedgerAccount::Lot(lot) = &transfer.credit {
                let (owner, currency, amount) = (lot.owner, lot.currency, transfer.amount);
                self.credits.push(UnconfirmedCredit { group, owner, currency, amount });
            }
        }
        let has_any = known < self.credits.len();
        self.groups += u64::from(has_any);
        has_any.then_some(group)
    }

    /// Removes the credits of a group that is durable.
    pub(crate) fn confirm(&mut self, group: CreditGroup) {
        self.credits.retain(|credit| credit.group != group);
    }

    /// Removes all, after the balances were read from the store.
    pub(crate) fn clear(&mut self) {
        self.credits.clear();
    }

    /// Returns what is left of an owner's balances without these credits. What of them is spent
    /// already cannot be taken off again.
    pub(crate) fn subtract_from(
        &self,
        owner: OwnerId,
        mut balances: CurrencyBalances,
    ) -> CurrencyBalances {
        for credit in self.credits.iter().filter(|credit| credit.owner == owner) {
            let balance = match credit.currency {
                BalanceCurrency::Usd => &mut balances.usd,
                BalanceCurrency::Diem => &mut balances.diem,
                BalanceCurrency::Bundled => &mut balances.bundled,
                BalanceCurrency::Vcu => &mut balances.vcu,
            };
            *balance = balance.saturating_sub(credit.amount).max(Nano::ZERO);
        }
        balances
    }
}

//! Money in: top-ups and grants.

use moment::Timestamp;
use money::{BalanceCurrency, Nano};

use crate::account::{LotKey, LotTag, PaymentNetwork, SystemKind};
use crate::charge::PaymentLeg;
use crate::command::AMOUNT_MAX;
use crate::group::RecordGroup;
use crate::id::{EntryId, OwnerId};
use crate::ledger::CreditLedger;
use crate::outcome::{AppliedCommand, CommandOutcome};
use crate::owner_lots::LOTS_PER_OWNER_MAX;
use crate::record::TransferCode;
use crate::rejection::CommandRejection;

/// The largest balance of one lot: a billion units, far from where sums overflow.
pub const LOT_BALANCE_MAX: Nano = Nano::from_units(1_000_000_000);

impl CreditLedger {
    pub(crate) fn top_up(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        network: &PaymentNetwork,
        amount: Nano,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let lot = LotKey { owner, currency: BalanceCurrency::Usd, tag: LotTag::Main };
        let from = SystemKind::Cash(network.clone());
        self.credit_lot(entry, PaymentLeg { lot, amount }, from, None, now)
    }

    pub(crate) fn grant_credit(
        &mut self,
        entry: EntryId,
        leg: PaymentLeg,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let has_passed = expires_at.is_some_and(|expires_at| expires_at <= now);
        if has_passed {
            return Err(CommandRejection::ExpiryPassed);
        }
        self.credit_lot(entry, leg, SystemKind::Issuance, expires_at, now)
    }

    fn credit_lot(
        &mut self,
        entry: EntryId,
        leg: PaymentLeg,
        from: SystemKind,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<AppliedCommand, CommandRejection> {
        let is_sound = leg.amount.is_positive() && leg.amount <= AMOUNT_MAX;
        if !is_sound {
            return Err(CommandRejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let owner = leg.lot.owner;
        let mut group = RecordGroup::new(entry, now);
        match self.lot(&leg.lot) {
            Some(lot) if LOT_BALANCE_MAX < lot.balance().saturating_add(leg.amount) => {
                return Err(CommandRejection::BalanceTooLarge);
            }
            Some(_) => {}
            None => {
                let open = self.purses.get(&owner).map_or(0, |purse| purse.lots().len());
                if LOTS_PER_OWNER_MAX <= open {
                    return Err(CommandRejection::TooManyLots);
                }
                group.open_lot(leg.lot, expires_at);
            }
        }
        let code = match from {
            SystemKind::Cash(_) => TransferCode::TopUp,
            _ => TransferCode::Grant,
        };
        group.credit_lot(code, leg, from);
        let records = self.apply_records(group.into_records());
        let outcome = CommandOutcome::Credited(self.balances(owner, now));
        Ok(self.finish_entry(entry, records, outcome))
    }
}

/// The lot that a grant goes to: a new one if it expires, otherwise the owner's main lot.
pub(crate) fn choose_grant_lot(
    entry: EntryId,
    owner: OwnerId,
    currency: BalanceCurrency,
    expires_at: Option<Timestamp>,
) -> LotKey {
    let tag = match expires_at {
        Some(_) => LotTag::Grant(entry),
        None => LotTag::Main,
    };
    LotKey { owner, currency, tag }
}

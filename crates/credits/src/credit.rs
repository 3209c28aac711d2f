//! Money in: top-ups and grants.

use moment::Timestamp;
use money::{Currency, Nano};

use crate::account::{LotKey, LotTag, Network, SystemKind};
use crate::charge::Leg;
use crate::command::AMOUNT_MAX;
use crate::group::Group;
use crate::id::{EntryId, OwnerId};
use crate::ledger::Ledger;
use crate::outcome::{Applied, Outcome};
use crate::purse::LOTS_PER_OWNER_MAX;
use crate::record::TransferCode;
use crate::rejection::Rejection;

/// The largest balance of one lot: a billion units, far from where sums overflow.
pub const LOT_BALANCE_MAX: Nano = Nano::from_units(1_000_000_000);

impl Ledger {
    pub(crate) fn top_up(
        &mut self,
        entry: EntryId,
        owner: OwnerId,
        network: &Network,
        amount: Nano,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        let lot = LotKey { owner, currency: Currency::Usd, tag: LotTag::Main };
        let from = SystemKind::Cash(network.clone());
        self.credit(entry, Leg { lot, amount }, from, None, now)
    }

    pub(crate) fn grant(
        &mut self,
        entry: EntryId,
        leg: Leg,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        let has_passed = expires_at.is_some_and(|expires_at| expires_at <= now);
        if has_passed {
            return Err(Rejection::ExpiryPassed);
        }
        self.credit(entry, leg, SystemKind::Issuance, expires_at, now)
    }

    fn credit(
        &mut self,
        entry: EntryId,
        leg: Leg,
        from: SystemKind,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Applied, Rejection> {
        let is_sound = leg.amount.is_positive() && leg.amount <= AMOUNT_MAX;
        if !is_sound {
            return Err(Rejection::InvalidAmount);
        }
        self.refuse_duplicate(entry)?;
        let owner = leg.lot.owner;
        let mut group = Group::new(entry, now);
        match self.lot(&leg.lot) {
            Some(lot) if LOT_BALANCE_MAX < lot.balance().saturating_add(leg.amount) => {
                return Err(Rejection::BalanceTooLarge);
            }
            Some(_) => {}
            None => {
                let open = self.purses.get(&owner).map_or(0, |purse| purse.lots().len());
                if LOTS_PER_OWNER_MAX <= open {
                    return Err(Rejection::TooManyLots);
                }
                group.open(leg.lot, expires_at);
            }
        }
        let code = match from {
            SystemKind::Cash(_) => TransferCode::TopUp,
            _ => TransferCode::Grant,
        };
        group.give(code, leg, from);
        let records = self.commit(group.into_records());
        let outcome = Outcome::Credited(self.balances(owner, now));
        Ok(self.applied(entry, records, outcome))
    }
}

/// The lot that a grant goes to: a new one if it expires, otherwise the owner's main lot.
pub(crate) fn granted_lot(
    entry: EntryId,
    owner: OwnerId,
    currency: Currency,
    expires_at: Option<Timestamp>,
) -> LotKey {
    let tag = match expires_at {
        Some(_) => LotTag::Grant(entry),
        None => LotTag::Main,
    };
    LotKey { owner, currency, tag }
}

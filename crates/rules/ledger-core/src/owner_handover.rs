//! Moves one owner's part of the books between ledgers.
//!
//! If several ledgers share the books, each owner is in one of them. System accounts are then in
//! none: a ledger knows only its own transfers to and from them.

use crate::command::HoldKind;
use crate::id::OwnerId;
use crate::invariant::check_part;
use crate::ledger::CreditLedger;
use crate::snapshot::LedgerSnapshot;
use crate::violation::InvariantViolation;

impl CreditLedger {
    /// Takes over an owner's part, replacing everything known of the owner. No write for it may be
    /// in flight, and no request may hold any of its money.
    pub fn take_over_owner(
        &mut self,
        owner: OwnerId,
        part: LedgerSnapshot,
    ) -> Result<(), InvariantViolation> {
        let mut adopted = CreditLedger::from_snapshot_unchecked(
            self.rules,
            LedgerSnapshot { systems: Vec::new(), ..part },
        )?;
        check_part(&adopted)?;
        self.forget_owner(owner);
        self.purses.extend(adopted.purses);
        self.expiries.append(&mut adopted.expiries);
        self.holds.extend(adopted.holds);
        // Counters of an earlier stay may still be here; those just read are newer.
        self.keys.extend(adopted.keys);
        Ok(())
    }

    /// Gives up an owner; false, without any change, if requests hold some of its money.
    pub fn release_owner(&mut self, owner: OwnerId) -> bool {
        if self.has_requests(owner) {
            return false;
        }
        self.forget_owner(owner);
        true
    }

    /// True if requests hold money of an owner.
    pub fn has_requests(&self, owner: OwnerId) -> bool {
        let mut holds = self.holds.values();
        holds.any(|hold| hold.owner == owner && hold.kind == HoldKind::Request)
    }

    fn forget_owner(&mut self, owner: OwnerId) {
        self.holds.retain(|_, hold| hold.owner != owner);
        let Some(purse) = self.purses.remove(&owner) else { return };
        for lot in purse.lots() {
            if let Some(expires_at) = lot.expires_at {
                self.expiries.remove(&(expires_at, lot.key));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use moment::Timestamp;
    use money::{BalanceCurrency, Nano, WorkCost};
    use uuid::Uuid;

    use super::*;
    use crate::command::{CreditCommand, HoldPayer, HoldRange};
    use crate::id::{EntryId, HoldId};
    use crate::ledger::LedgerRules;

    const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    fn owner(number: u128) -> OwnerId {
        OwnerId(Uuid::from_u128(number))
    }

    fn grant(ledger: &mut CreditLedger, to: OwnerId, entry: u128, dollars: i64) {
        let command = CreditCommand::Grant {
            entry: EntryId(Uuid::from_u128(entry)),
            owner: to,
            currency: BalanceCurrency::Usd,
            amount: Nano::from_nanos(dollars * 1_000_000_000),
            expires_at: Some(NOW.plus(std::time::Duration::from_secs(60))),
        };
        ledger.apply(&command, NOW).unwrap();
    }

    fn hold(ledger: &mut CreditLedger, of: OwnerId, id: u128, kind: HoldKind) -> HoldId {
        let hold = HoldId(Uuid::from_u128(id));
        let payer = HoldPayer { owner: of, key: None };
        let want = HoldRange::Exactly(WorkCost::at_par(Nano::from_nanos(1_000_000_000)));
        ledger.apply(&CreditCommand::Hold { hold, payer, want, kind }, NOW).unwrap();
        hold
    }

    fn part_of(ledger: &CreditLedger, owner: OwnerId) -> LedgerSnapshot {
        let mut part = ledger.to_snapshot();
        part.systems.clear();
        part.recent.clear();
        part.lots.retain(|row| row.lot.owner == owner);
        part.allowances.retain(|row| row.owner == owner);
        part.job_holds.retain(|job| job.owner == owner);
        part
    }

    #[test]
    fn an_owner_moves_with_its_lots_and_jobs_and_is_the_same_there() {
        let (mut one, mut two) =
            (CreditLedger::new(LedgerRules::default()), CreditLedger::new(LedgerRules::default()));
        let (moved, stays) = (owner(1), owner(2));
        for (number, who) in [(10, moved), (11, stays)] {
            grant(&mut one, who, number, 5);
        }
        let job = hold(&mut one, moved, 20, HoldKind::Job);
        let part = part_of(&one, moved);
        assert!(one.release_owner(moved));
        assert_eq!(one.balances(moved, NOW).usd, Nano::ZERO);
        assert_eq!(one.balances(stays, NOW).usd, Nano::from_nanos(5_000_000_000));
        two.take_over_owner(moved, part.clone()).unwrap();
        assert_eq!(part_of(&two, moved), part);
        assert_eq!(two.balances(moved, NOW).usd, Nano::from_nanos(4_000_000_000));
        assert_eq!(two.held_amount(job), Some(Nano::from_nanos(1_000_000_000)));
        // Adopting the same part twice does not double it.
        two.take_over_owner(moved, part.clone()).unwrap();
        assert_eq!(part_of(&two, moved), part);
        assert_eq!(two.open_holds(), 1);
    }

    #[test]
    fn an_owner_whose_money_a_request_holds_is_not_given_up() {
        let mut ledger = CreditLedger::new(LedgerRules::default());
        grant(&mut ledger, owner(1), 10, 5);
        let request = hold(&mut ledger, owner(1), 20, HoldKind::Request);
        assert!(!ledger.release_owner(owner(1)));
        ledger.apply(&CreditCommand::Release { hold: request }, NOW).unwrap();
        assert!(ledger.release_owner(owner(1)));
        assert_eq!(ledger.next_expiry(), None);
    }
}

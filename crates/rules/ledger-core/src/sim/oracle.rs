//! The simulator's own books: the commands, the acknowledgements, and what must follow from them.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use moment::Timestamp;
use money::{CurrencyFunds, Nano, WorkCost};

use crate::account::{LedgerAccount, LotKey};
use crate::charge::{PaymentLeg, SettledCharge, sum_by_currency, sum_in_class, sum_legs};
use crate::command::{CreditCommand, HoldKind, HoldPayer};
use crate::hold::OpenHold;
use crate::id::{EntryId, HoldId, KeyId, OwnerId};
use crate::ledger::CreditLedger;
use crate::limit::{KeyStamp, KeyTerms, LimitClass};
use crate::outcome::{AppliedCommand, ChargeReceipt, CommandOutcome};
use crate::record::{JournalRecord, TransferCode};
use crate::sim::disk::SimulatedDisk;
use crate::sim::payments::PaymentOracle;
use crate::sim::random::SplitMixRandom;

#[derive(Debug, Default)]
pub(crate) struct SimulationOracle {
    holds: BTreeMap<HoldId, GrantedHold>,
    ended: HashSet<HoldId>,
    /// The amount that each applied entry should move.
    asked: HashMap<EntryId, Nano>,
    acknowledged: HashSet<EntryId>,
    charges: BTreeMap<EntryId, SettledCharge>,
    /// The spending of each key in each of its periods, by the time its holds were made.
    spent: HashMap<(KeyId, LimitClass, i64), i64>,
    terms: HashMap<KeyId, KeyTerms>,
    /// Commands that may be repeated.
    sent: Vec<CreditCommand>,
    expiries: HashMap<LotKey, Timestamp>,
    payments: PaymentOracle,
}

/// A hold that the ledger granted.
#[derive(Debug, Clone)]
struct GrantedHold {
    payer: HoldPayer,
    means: CurrencyFunds,
    made_at: Timestamp,
}

impl SimulationOracle {
    pub(crate) fn any_hold(&self, random: &mut SplitMixRandom) -> Option<(HoldId, CurrencyFunds)> {
        let ids: Vec<HoldId> = self.holds.keys().copied().collect();
        random.pick(&ids).map(|id| (id, self.holds[&id].means))
    }

    pub(crate) fn any_charge(&self, random: &mut SplitMixRandom) -> Option<EntryId> {
        let entries: Vec<EntryId> = self.charges.keys().copied().collect();
        random.pick(&entries)
    }

    pub(crate) fn charge(&self, entry: EntryId) -> Option<SettledCharge> {
        self.charges.get(&entry).cloned()
    }

    pub(crate) fn pick_retry(&self, random: &mut SplitMixRandom) -> Option<CreditCommand> {
        random.pick(&self.sent)
    }

    /// The sum of an owner's grants to the main lot of dollars.
    pub(crate) fn given(&self, owner: OwnerId) -> Nano {
        self.payments.given(owner)
    }

    /// Checks the result of a command, and records it.
    pub(crate) fn check_applied(
        &mut self,
        command: &CreditCommand,
        applied: &AppliedCommand,
        now: Timestamp,
    ) -> Result<(), String> {
        self.note_expiries(&applied.records);
        match (command, &applied.outcome) {
            (CreditCommand::Hold { hold, payer, .. }, CommandOutcome::Held(held)) => {
                let promise = GrantedHold { payer: *payer, means: held.means, made_at: now };
                self.holds.insert(*hold, promise);
                self.terms.extend(payer.key.map(|terms| (terms.key, terms)));
            }
            (CreditCommand::Raise { hold, .. }, CommandOutcome::Held(held)) => {
                let promise = self.holds.get_mut(hold).ok_or("a raise of no hold")?;
                let (before, after) = (promise.means, held.means);
                if after.usd < before.usd || after.diem < before.diem {
                    return Err(format!("a raise from {before:?} to {after:?}"));
                }
                promise.means = after;
            }
            (CreditCommand::Settle { entry, hold, cost }, CommandOutcome::Settled(receipt)) => {
                let promise = self.end_hold(*hold)?;
                self.check_receipt(receipt, &promise, *cost)?;
                check_stamps(&applied.records, &promise)?;
                self.asked.insert(*entry, sum_charged(receipt));
                let key = promise.stamp();
                self.count_spending(key, &receipt.legs, 1);
                let (legs, written_off) = (receipt.legs.clone(), receipt.written_off);
                if !cost.is_free() {
                    self.charges.insert(*entry, SettledCharge { legs, written_off, key });
                }
            }
            (CreditCommand::Release { hold }, CommandOutcome::Released) => {
                self.end_hold(*hold)?;
            }
            (CreditCommand::Refund { charge, .. }, CommandOutcome::Refunded(refund)) => {
                let charged = self.charges.get(charge).ok_or("a refund of no charge")?;
                let back = sum_legs(&refund.returned).saturating_add(sum_legs(&refund.lapsed));
                if back != sum_legs(&charged.legs) {
                    return Err(format!("{back} given back of {}", sum_legs(&charged.legs)));
                }
                self.asked.insert(refund.entry, back.saturating_add(charged.written_off));
                let (key, legs) = (charged.key, charged.legs.clone());
                self.count_spending(key, &legs, -1);
            }
            (_, outcome) => {
                if let Some(moved) = self.payments.check_applied(command, outcome)? {
                    self.asked.insert(moved.entry, moved.amount);
                }
            }
        }
        // A request's hold is never repeated: its caller is gone.
        let is_request = matches!(
            command,
            CreditCommand::Hold { kind: HoldKind::Request, .. } | CreditCommand::Raise { .. }
        );
        if !is_request {
            self.sent.push(command.clone());
        }
        Ok(())
    }

    pub(crate) fn note_acknowledged(&mut self, command: &CreditCommand, applied: &AppliedCommand) {
        let entry = match (command, &applied.outcome) {
            (CreditCommand::Settle { entry, cost, .. }, _) if !cost.is_free() => *entry,
            (
                CreditCommand::TopUp { entry, .. }
                | CreditCommand::Grant { entry, .. }
                | CreditCommand::Reverse { entry, .. }
                | CreditCommand::Restore { entry, .. },
                _,
            ) => *entry,
            (CreditCommand::CollectDebt { entry, .. }, CommandOutcome::Collected(receipt))
                if receipt.collected.is_positive() =>
            {
                *entry
            }
            (_, CommandOutcome::Refunded(refund)) => refund.entry,
            _ => return,
        };
        self.acknowledged.insert(entry);
    }

    /// Updates the books after a crash: request holds are lost, and so is everything that was
    /// neither acknowledged nor synced.
    pub(crate) fn note_recovery(&mut self, ledger: &CreditLedger, disk: &SimulatedDisk) {
        let known: HashSet<EntryId> = disk.transfers().map(|it| it.entry).collect();
        self.holds =
            ledger.holds.iter().map(|(id, hold)| (*id, GrantedHold::from_hold(hold))).collect();
        let records = disk.groups().iter().flatten();
        let ended = records.filter_map(|record| match record {
            JournalRecord::JobHoldEnded { hold, .. } => Some(*hold),
            _ => None,
        });
        self.ended = ended.collect();
        self.charges.retain(|entry, _| known.contains(entry));
        // A charge that the journal lost cannot be refunded.
        let charges = &self.charges;
        self.sent.retain(|command| match command {
            CreditCommand::Refund { charge, .. } => charges.contains_key(charge),
            _ => true,
        });
        self.recount_spending(disk);
        self.payments.recount(disk);
    }

    /// The debts follow from the commands and their receipts.
    pub(crate) fn check_debts(&self, ledger: &CreditLedger) -> Result<(), String> {
        self.payments.check_debts(ledger)
    }

    /// I8: no key is above its limit in any period.
    pub(crate) fn check_limits(&self, ledger: &CreditLedger) -> Result<(), String> {
        let mut used = self.spent.clone();
        for hold in ledger.holds.values() {
            let Some(key) = &hold.key else { continue };
            let stamp = KeyStamp::at(key.terms.key, hold.made_at);
            for class in LimitClass::ALL {
                let number = stamp.period_number(key.terms.period);
                let reserved = sum_in_class(&hold.legs, class).nanos();
                *used.entry((stamp.key, class, number)).or_default() += reserved;
            }
        }
        for ((key, class, number), used) in used {
            let limit = self.terms.get(&key).and_then(|terms| terms.limit(class));
            if limit.is_some_and(|limit| limit.nanos() < used) {
                return Err(format!("key {} is above its limit in {number}: {used}", key.0));
            }
        }
        Ok(())
    }

    /// I9 and I10: every entry in the journal is complete, and every acknowledged one is in it.
    pub(crate) fn check_journal(&self, disk: &SimulatedDisk) -> Result<(), String> {
        let mut moved: HashMap<EntryId, i64> = HashMap::new();
        for transfer in disk.transfers() {
            // A refund into an expired lot moves the same money once more.
            let is_counted = transfer.code != TransferCode::Expiry;
            let amount = if is_counted { transfer.amount.nanos() } else { 0 };
            *moved.entry(transfer.entry).or_default() += amount;
        }
        for (entry, amount) in &self.asked {
            let Some(moved) = moved.get(entry) else {
                if self.acknowledged.contains(entry) {
                    return Err(format!("acknowledged entry {} was lost", entry.0));
                }
                continue;
            };
            if *moved != amount.nanos() {
                return Err(format!("entry {} moved {moved} instead of {amount}", entry.0));
            }
        }
        Ok(())
    }

    /// I5: a hold ends once.
    fn end_hold(&mut self, hold: HoldId) -> Result<GrantedHold, String> {
        let promise = self.holds.remove(&hold);
        if !self.ended.insert(hold) {
            return Err(format!("hold {} ended twice", hold.0));
        }
        promise.ok_or_else(|| format!("hold {} ended but was never made", hold.0))
    }

    /// I6 and I11: the charge equals the cost, and is paid from lots that had not expired at the
    /// hold.
    fn check_receipt(
        &self,
        receipt: &ChargeReceipt,
        promise: &GrantedHold,
        cost: WorkCost,
    ) -> Result<(), String> {
        let surplus = compute_surplus(receipt, cost);
        if !(0..=compute_surplus_max(receipt, cost)).contains(&surplus) {
            return Err(format!("charged {receipt:?} for work that cost {cost:?}"));
        }
        let rounded = if cost.usd == cost.diem { 0 } else { receipt.legs.len() as i64 };
        if rounded < receipt.written_off.nanos() && cost.is_within(promise.means) {
            return Err(format!("wrote off {} below the hold", receipt.written_off));
        }
        for leg in &receipt.legs {
            let expires_at = self.expiries.get(&leg.lot);
            if expires_at.is_some_and(|expires_at| *expires_at <= promise.made_at) {
                return Err(format!("{} was spent after it expired", leg.lot));
            }
        }
        Ok(())
    }

    fn count_spending(&mut self, stamp: Option<KeyStamp>, legs: &[PaymentLeg], sign: i64) {
        let Some(stamp) = stamp else { return };
        let number = stamp.period_number(self.terms[&stamp.key].period);
        for class in LimitClass::ALL {
            let nanos = sign * sum_in_class(legs, class).nanos();
            *self.spent.entry((stamp.key, class, number)).or_default() += nanos;
        }
    }

    /// Recounts the spending of the charges that survived.
    fn recount_spending(&mut self, disk: &SimulatedDisk) {
        self.spent.clear();
        for transfer in disk.transfers() {
            let (lot, sign) = match (transfer.code, &transfer.debit, &transfer.credit) {
                (TransferCode::Charge, LedgerAccount::Lot(lot), _) => (*lot, 1),
                (TransferCode::Refund, _, LedgerAccount::Lot(lot)) => (*lot, -1),
                _ => continue,
            };
            self.count_spending(transfer.key, &[PaymentLeg { lot, amount: transfer.amount }], sign);
        }
    }

    fn note_expiries(&mut self, records: &[JournalRecord]) {
        for record in records {
            if let JournalRecord::LotOpened { lot, expires_at: Some(expires_at), .. } = record {
                self.expiries.insert(*lot, *expires_at);
            }
        }
    }
}

fn sum_charged(receipt: &ChargeReceipt) -> Nano {
    sum_legs(&receipt.legs).saturating_add(receipt.written_off)
}

/// The amount by which the paid shares exceed the whole work, in units of the product of its two
/// costs. Work that is free in dollars is free, whatever it costs in DIEM.
fn compute_surplus(receipt: &ChargeReceipt, cost: WorkCost) -> i128 {
    let (usd, diem) = (i128::from(cost.usd.nanos()), i128::from(cost.diem.nanos()));
    if cost.usd == cost.diem || cost.is_free() || diem == 0 {
        return i128::from(sum_charged(receipt).nanos()) - usd;
    }
    let paid = sum_by_currency(&receipt.legs);
    let in_usd = i128::from(paid.usd.saturating_add(receipt.written_off).nanos());
    in_usd * diem + i128::from(paid.diem.nanos()) * usd - usd * diem
}

/// The largest allowed surplus: each change from one currency to the other rounds up once.
fn compute_surplus_max(receipt: &ChargeReceipt, cost: WorkCost) -> i128 {
    if cost.usd == cost.diem || cost.is_free() || !cost.diem.is_positive() {
        return 0;
    }
    let dearer = i128::from(cost.usd.max(cost.diem).nanos());
    dearer * (receipt.legs.len() as i128 + 1)
}

/// Checks that a charge counts in the periods in which its hold was made, however late it is.
fn check_stamps(records: &[JournalRecord], promise: &GrantedHold) -> Result<(), String> {
    for record in records {
        let stamp = match record {
            JournalRecord::KeySpent { stamp, .. } => Some(*stamp),
            JournalRecord::Transfer(transfer) if transfer.code == TransferCode::Charge => {
                transfer.key
            }
            _ => continue,
        };
        if stamp != promise.stamp() {
            return Err(format!("counted in {stamp:?} instead of {:?}", promise.stamp()));
        }
    }
    Ok(())
}

impl GrantedHold {
    fn from_hold(hold: &OpenHold) -> GrantedHold {
        let payer = HoldPayer { owner: hold.owner, key: hold.key.map(|key| key.terms) };
        GrantedHold { payer, means: sum_by_currency(&hold.legs), made_at: hold.made_at }
    }

    fn stamp(&self) -> Option<KeyStamp> {
        self.payer.key.map(|terms| KeyStamp::at(terms.key, self.made_at))
    }
}

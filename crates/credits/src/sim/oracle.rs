//! The simulator's own books: the commands, the acknowledgements, and what must follow from them.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use moment::Timestamp;
use money::{Cost, Means, Nano};

use crate::account::{Account, LotKey};
use crate::charge::{Charge, Leg, means, paid_in_class, total};
use crate::command::{Command, HoldKind, Payer};
use crate::hold::Hold;
use crate::id::{EntryId, HoldId, KeyId};
use crate::ledger::Ledger;
use crate::limit::{KeyStamp, KeyTerms, LimitClass};
use crate::outcome::{Applied, Outcome, Receipt};
use crate::record::{Record, TransferCode};
use crate::sim::disk::Disk;
use crate::sim::random::Random;

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    holds: BTreeMap<HoldId, Promise>,
    ended: HashSet<HoldId>,
    /// The amount that each applied entry should move.
    asked: HashMap<EntryId, Nano>,
    acknowledged: HashSet<EntryId>,
    charges: BTreeMap<EntryId, Charge>,
    /// The spending of each key in each of its periods, by the time its holds were made.
    spent: HashMap<(KeyId, LimitClass, i64), i64>,
    terms: HashMap<KeyId, KeyTerms>,
    /// Commands that may be repeated.
    sent: Vec<Command>,
    expiries: HashMap<LotKey, Timestamp>,
}

/// A hold that the ledger granted.
#[derive(Debug, Clone)]
struct Promise {
    payer: Payer,
    means: Means,
    made_at: Timestamp,
}

impl Oracle {
    pub(crate) fn any_hold(&self, random: &mut Random) -> Option<(HoldId, Means)> {
        let ids: Vec<HoldId> = self.holds.keys().copied().collect();
        random.pick(&ids).map(|id| (id, self.holds[&id].means))
    }

    pub(crate) fn any_charge(&self, random: &mut Random) -> Option<EntryId> {
        let entries: Vec<EntryId> = self.charges.keys().copied().collect();
        random.pick(&entries)
    }

    pub(crate) fn charge(&self, entry: EntryId) -> Option<Charge> {
        self.charges.get(&entry).cloned()
    }

    pub(crate) fn retry(&self, random: &mut Random) -> Option<Command> {
        random.pick(&self.sent)
    }

    /// Checks the result of a command, and records it.
    pub(crate) fn applied(
        &mut self,
        command: &Command,
        applied: &Applied,
        now: Timestamp,
    ) -> Result<(), String> {
        self.note_expiries(&applied.records);
        match (command, &applied.outcome) {
            (Command::Hold { hold, payer, .. }, Outcome::Held(held)) => {
                let promise = Promise { payer: *payer, means: held.means, made_at: now };
                self.holds.insert(*hold, promise);
                self.terms.extend(payer.key.map(|terms| (terms.key, terms)));
            }
            (Command::Settle { entry, hold, cost }, Outcome::Settled(receipt)) => {
                let promise = self.end(*hold)?;
                self.check_receipt(receipt, &promise, *cost)?;
                check_stamps(&applied.records, &promise)?;
                self.asked.insert(*entry, charged(receipt));
                let key = promise.stamp();
                self.count(key, &receipt.legs, 1);
                let (legs, written_off) = (receipt.legs.clone(), receipt.written_off);
                if !cost.is_nothing() {
                    self.charges.insert(*entry, Charge { legs, written_off, key });
                }
            }
            (Command::Release { hold }, Outcome::Released) => {
                self.end(*hold)?;
            }
            (Command::Refund { charge, .. }, Outcome::Refunded(refund)) => {
                let charged = self.charges.get(charge).ok_or("a refund of no charge")?;
                let back = total(&refund.returned).saturating_add(total(&refund.lapsed));
                if back != total(&charged.legs) {
                    return Err(format!("{back} given back of {}", total(&charged.legs)));
                }
                self.asked.insert(refund.entry, back.saturating_add(charged.written_off));
                let (key, legs) = (charged.key, charged.legs.clone());
                self.count(key, &legs, -1);
            }
            (Command::TopUp { entry, amount, .. } | Command::Grant { entry, amount, .. }, _) => {
                self.asked.insert(*entry, *amount);
            }
            _ => {}
        }
        // A request's hold is never repeated: its caller is gone.
        let is_request = matches!(command, Command::Hold { kind: HoldKind::Request, .. });
        if !is_request {
            self.sent.push(command.clone());
        }
        Ok(())
    }

    pub(crate) fn acknowledged(&mut self, command: &Command, applied: &Applied) {
        let entry = match (command, &applied.outcome) {
            (Command::Settle { entry, cost, .. }, _) if !cost.is_nothing() => *entry,
            (Command::TopUp { entry, .. } | Command::Grant { entry, .. }, _) => *entry,
            (_, Outcome::Refunded(refund)) => refund.entry,
            _ => return,
        };
        self.acknowledged.insert(entry);
    }

    /// Updates the books after a crash: request holds are lost, and so is everything that was
    /// neither acknowledged nor synced.
    pub(crate) fn recovered(&mut self, ledger: &Ledger, disk: &Disk) {
        let known: HashSet<EntryId> = disk.transfers().map(|it| it.entry).collect();
        self.holds = ledger.holds.iter().map(|(id, hold)| (*id, Promise::of(hold))).collect();
        let records = disk.groups().iter().flatten();
        let ended = records.filter_map(|record| match record {
            Record::JobHoldEnded { hold, .. } => Some(*hold),
            _ => None,
        });
        self.ended = ended.collect();
        self.charges.retain(|entry, _| known.contains(entry));
        // A charge that the journal lost cannot be refunded.
        let charges = &self.charges;
        self.sent.retain(|command| match command {
            Command::Refund { charge, .. } => charges.contains_key(charge),
            _ => true,
        });
        self.recount(disk);
    }

    /// I8: no key is above its limit in any period.
    pub(crate) fn check_limits(&self, ledger: &Ledger) -> Result<(), String> {
        let mut used = self.spent.clone();
        for hold in ledger.holds.values() {
            let Some(key) = &hold.key else { continue };
            let stamp = KeyStamp::at(key.terms.key, hold.made_at);
            for class in LimitClass::ALL {
                let number = stamp.period_number(key.terms.period);
                let reserved = paid_in_class(&hold.legs, class).nanos();
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
    pub(crate) fn check_journal(&self, disk: &Disk) -> Result<(), String> {
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
    fn end(&mut self, hold: HoldId) -> Result<Promise, String> {
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
        receipt: &Receipt,
        promise: &Promise,
        cost: Cost,
    ) -> Result<(), String> {
        let surplus = surplus(receipt, cost);
        if !(0..=slack(receipt, cost)).contains(&surplus) {
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

    fn count(&mut self, stamp: Option<KeyStamp>, legs: &[Leg], sign: i64) {
        let Some(stamp) = stamp else { return };
        let number = stamp.period_number(self.terms[&stamp.key].period);
        for class in LimitClass::ALL {
            let nanos = sign * paid_in_class(legs, class).nanos();
            *self.spent.entry((stamp.key, class, number)).or_default() += nanos;
        }
    }

    /// Recounts the spending of the charges that survived.
    fn recount(&mut self, disk: &Disk) {
        self.spent.clear();
        for transfer in disk.transfers() {
            let (lot, sign) = match (transfer.code, &transfer.debit, &transfer.credit) {
                (TransferCode::Charge, Account::Lot(lot), _) => (*lot, 1),
                (TransferCode::Refund, _, Account::Lot(lot)) => (*lot, -1),
                _ => continue,
            };
            self.count(transfer.key, &[Leg { lot, amount: transfer.amount }], sign);
        }
    }

    fn note_expiries(&mut self, records: &[Record]) {
        for record in records {
            if let Record::LotOpened { lot, expires_at: Some(expires_at), .. } = record {
                self.expiries.insert(*lot, *expires_at);
            }
        }
    }
}

fn charged(receipt: &Receipt) -> Nano {
    total(&receipt.legs).saturating_add(receipt.written_off)
}

/// The amount by which the paid shares exceed the whole work, in units of the product of its two
/// costs. Work that is free in dollars is free, whatever it costs in DIEM.
fn surplus(receipt: &Receipt, cost: Cost) -> i128 {
    let (usd, diem) = (i128::from(cost.usd.nanos()), i128::from(cost.diem.nanos()));
    if cost.usd == cost.diem || cost.is_nothing() || diem == 0 {
        return i128::from(charged(receipt).nanos()) - usd;
    }
    let paid = means(&receipt.legs);
    let in_usd = i128::from(paid.usd.saturating_add(receipt.written_off).nanos());
    in_usd * diem + i128::from(paid.diem.nanos()) * usd - usd * diem
}

/// The largest allowed surplus: each change from one currency to the other rounds up once.
fn slack(receipt: &Receipt, cost: Cost) -> i128 {
    if cost.usd == cost.diem || cost.is_nothing() || !cost.diem.is_positive() {
        return 0;
    }
    let dearer = i128::from(cost.usd.max(cost.diem).nanos());
    dearer * (receipt.legs.len() as i128 + 1)
}

/// Checks that a charge counts in the periods in which its hold was made, however late it is.
fn check_stamps(records: &[Record], promise: &Promise) -> Result<(), String> {
    for record in records {
        let stamp = match record {
            Record::KeySpent { stamp, .. } => Some(*stamp),
            Record::Transfer(transfer) if transfer.code == TransferCode::Charge => transfer.key,
            _ => continue,
        };
        if stamp != promise.stamp() {
            return Err(format!("counted in {stamp:?} instead of {:?}", promise.stamp()));
        }
    }
    Ok(())
}

impl Promise {
    fn of(hold: &Hold) -> Promise {
        let payer = Payer { owner: hold.owner, key: hold.key.map(|key| key.terms) };
        Promise { payer, means: means(&hold.legs), made_at: hold.made_at }
    }

    fn stamp(&self) -> Option<KeyStamp> {
        self.payer.key.map(|terms| KeyStamp::at(terms.key, self.made_at))
    }
}

//! What a piece of work cost, and the usage rows that tell its owner.

use credits::{EntryId, Payer, Receipt};
use moment::Timestamp;
use money::{Bill, BillLine, BillTooLarge, Currency, Nano, Per, Price, spread};
use store::usage::{UsageDetails, UsageRow};
use uuid::Uuid;

/// The bill for one piece of work and what is worth remembering about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Charge {
    pub lines: Vec<ChargeLine>,
    pub model: String,
    pub details: UsageDetails,
    pub notes: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeLine {
    pub sku: String,
    pub units: u64,
    /// The price of a single unit.
    pub price: Price,
    /// How many units the price is shown for.
    pub per: Per,
}

impl Charge {
    /// The sum of the lines, rounded once.
    pub fn total(&self) -> Result<Nano, BillTooLarge> {
        self.bill().total()
    }

    /// The rows that this charge will come to if one currency pays for all of it, made before the
    /// ledger is locked: nobody else should wait while names are copied.
    pub(crate) fn draft(&self, payer: &Payer) -> Result<Draft, BillTooLarge> {
        let amounts = self.bill().amounts()?;
        let row = |(line, amount): (&ChargeLine, &Nano)| UsageRow {
            charge: EntryId(Uuid::nil()),
            owner: payer.owner,
            key: payer.key.map(|terms| terms.key),
            at: Timestamp::default(),
            sku: line.sku.clone(),
            model: self.model.clone(),
            currency: Currency::Usd,
            units: line.units,
            price: line.price,
            per: line.per,
            amount: *amount,
            details: self.details.clone(),
            notes: self.notes.clone(),
        };
        let rows = self.lines.iter().zip(&amounts).map(row).collect();
        Ok(Draft { rows, amounts })
    }

    fn bill(&self) -> Bill {
        let lines = self.lines.iter();
        Bill::new(lines.map(|line| BillLine { units: line.units, price: line.price }).collect())
    }
}

/// A row for each line, waiting to be told who paid.
#[derive(Debug)]
pub(crate) struct Draft {
    rows: Vec<UsageRow>,
    amounts: Vec<Nano>,
}

impl Draft {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn total(&self) -> Nano {
        // The amounts add up to the total of the bill, which fits.
        Nano::sum(self.amounts.iter().copied()).unwrap_or(Nano::MAX)
    }

    /// The rows of the settled charge: each line, in each currency that paid for it. Their amounts
    /// add up to what was paid, to the nano; the units of a line add up to its units. Lines that
    /// nobody paid for have no row.
    pub(crate) fn paid(mut self, receipt: &Receipt, at: Timestamp) -> Vec<UsageRow> {
        for row in &mut self.rows {
            (row.charge, row.at) = (receipt.charge, at);
        }
        if let Some(currency) = only_currency(receipt) {
            self.rows.retain(|row| row.amount.is_positive());
            for row in &mut self.rows {
                row.currency = currency;
            }
            return self.rows;
        }
        let (currencies, paid) = paid_by_currency(receipt);
        let shares = spread(&self.amounts, &paid);
        let mut rows: Vec<UsageRow> = Vec::with_capacity(shares.len());
        for (index, share) in shares.iter().enumerate() {
            let line = &self.rows[share.row];
            let is_last = shares.get(index + 1).is_none_or(|next| next.row != share.row);
            let told = shares[..index].iter().filter(|earlier| earlier.row == share.row);
            let told: u64 =
                told.map(|earlier| part_of(line.units, earlier.amount, line.amount)).sum();
            // The last share takes what rounding left over, and the units of what was written off.
            let units = if is_last {
                line.units.saturating_sub(told)
            } else {
                part_of(line.units, share.amount, line.amount)
            };
            let (currency, amount) = (currencies[share.column], share.amount);
            rows.push(UsageRow { currency, units, amount, ..line.clone() });
        }
        rows
    }
}

/// The currency that paid for all of it, if one did.
fn only_currency(receipt: &Receipt) -> Option<Currency> {
    let currency = receipt.legs.first()?.lot.currency;
    let is_only = receipt.legs.iter().all(|leg| leg.lot.currency == currency);
    (is_only && receipt.written_off == Nano::ZERO).then_some(currency)
}

/// Lots of the same currency count together, in the order in which they paid.
fn paid_by_currency(receipt: &Receipt) -> (Vec<Currency>, Vec<Nano>) {
    let (mut currencies, mut paid) = (Vec::new(), Vec::new());
    for leg in &receipt.legs {
        if !currencies.contains(&leg.lot.currency) {
            currencies.push(leg.lot.currency);
            paid.push(receipt.paid(leg.lot.currency));
        }
    }
    (currencies, paid)
}

fn part_of(units: u64, amount: Nano, whole: Nano) -> u64 {
    let part = u128::try_from(amount.nanos()).unwrap_or(0);
    let whole = u128::try_from(whole.nanos()).unwrap_or(0).max(1);
    u64::try_from(u128::from(units) * part / whole).unwrap_or(units)
}

//! The usage rows that show an owner what a charge was for.

use ledger_core::ChargeReceipt;
use moment::Timestamp;
use money::{BalanceCurrency, Nano, Price, WorkCost, distribute_amounts};
use store::usage::UsageRow;

/// One usage row per line of a bill, before it is known which lots pay.
#[derive(Debug)]
pub(crate) struct UsageDraft {
    /// The rows, priced in dollars.
    pub(super) rows: Vec<UsageRow>,
    pub(super) amounts: Vec<Nano>,
    /// The price and amount of each line in DIEM; None if the same as in dollars.
    pub(super) in_diem: Option<Vec<(Price, Nano)>>,
}

impl UsageDraft {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn total(&self) -> WorkCost {
        // Cannot overflow: the amounts add up to the total of the bill, which fits.
        let sum = |amounts: &mut dyn Iterator<Item = Nano>| Nano::sum(amounts).unwrap_or(Nano::MAX);
        let usd = sum(&mut self.amounts.iter().copied());
        let diem = self.in_diem.as_ref().map(|lines| sum(&mut lines.iter().map(|line| line.1)));
        WorkCost { usd, diem: diem.unwrap_or(usd) }
    }

    /// The usage rows of the settled charge: each line, in each currency that paid for it. Their
    /// amounts add up to the amount paid, to the nano, and their units to the units of the line.
    /// Lines that were not paid have no row.
    pub(crate) fn into_paid_rows(
        mut self,
        receipt: &ChargeReceipt,
        at: Timestamp,
    ) -> Vec<UsageRow> {
        for row in &mut self.rows {
            (row.charge, row.at) = (receipt.charge, at);
        }
        if self.in_diem.is_some() {
            return self.into_rows_by_price(receipt);
        }
        if let Some(currency) = only_currency(receipt) {
            self.rows.retain(|row| row.amount.is_positive());
            for row in &mut self.rows {
                row.currency = currency;
            }
            return self.rows;
        }
        let (currencies, paid) = paid_by_currency(receipt);
        let shares = distribute_amounts(&self.amounts, &paid);
        let mut rows: Vec<UsageRow> = Vec::with_capacity(shares.len());
        for (index, share) in shares.iter().enumerate() {
            let line = &self.rows[share.row];
            let is_last = shares.get(index + 1).is_none_or(|next| next.row != share.row);
            let told = shares[..index].iter().filter(|earlier| earlier.row == share.row);
            let told: u64 =
                told.map(|earlier| part_of(line.units, earlier.amount, line.amount)).sum();
            // The last share takes the rounding difference, and the units that were written off.
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

    /// The rows where prices differ by currency: each currency paid for its share of the work, and
    /// so for the same share of each line.
    fn into_rows_by_price(self, receipt: &ChargeReceipt) -> Vec<UsageRow> {
        let total = self.total();
        let (currencies, paid) = paid_by_currency(receipt);
        let shares: Vec<Vec<Nano>> = currencies
            .iter()
            .zip(&paid)
            .map(|(currency, paid)| in_proportion(*paid, &self.amounts_in(*currency)))
            .collect();
        let mut rows = Vec::with_capacity(self.rows.len() * currencies.len());
        for (index, line) in self.rows.iter().enumerate() {
            let mut units_left = line.units;
            let first = rows.len();
            for ((currency, paid), share) in currencies.iter().zip(&paid).zip(&shares) {
                if !share[index].is_positive() {
                    continue;
                }
                let units = part_of(line.units, *paid, total.amount_in(*currency)).min(units_left);
                units_left -= units;
                let (currency, amount) = (*currency, share[index]);
                let price = self.price_in(index, currency);
                rows.push(UsageRow { currency, units, amount, price, ..line.clone() });
            }
            // The last share takes the rounding difference, and the units that were written off.
            if let Some(last) = rows[first..].last_mut() {
                last.units += units_left;
            }
        }
        rows
    }

    fn amounts_in(&self, currency: BalanceCurrency) -> Vec<Nano> {
        match &self.in_diem {
            Some(lines) if currency == BalanceCurrency::Diem => {
                lines.iter().map(|line| line.1).collect()
            }
            _ => self.amounts.clone(),
        }
    }

    fn price_in(&self, index: usize, currency: BalanceCurrency) -> Price {
        match &self.in_diem {
            Some(lines) if currency == BalanceCurrency::Diem => lines[index].0,
            _ => self.rows[index].price,
        }
    }
}

/// Splits an amount in proportion to the lines. The parts add up to it exactly, unless all lines
/// are zero.
fn in_proportion(amount: Nano, lines: &[Nano]) -> Vec<Nano> {
    let whole: i128 = lines.iter().map(|line| i128::from(line.nanos())).sum();
    let (mut so_far, mut laid) = (0_i128, 0_i128);
    let part = |line: &Nano| {
        so_far += i128::from(line.nanos());
        let up_to_here = i128::from(amount.nanos()) * so_far / whole.max(1);
        let part = up_to_here - laid;
        laid = up_to_here;
        i64::try_from(part).map_or(Nano::MAX, Nano::from_nanos)
    };
    lines.iter().map(part).collect()
}

/// The currency that paid for the whole charge, if only one did.
fn only_currency(receipt: &ChargeReceipt) -> Option<BalanceCurrency> {
    let currency = receipt.legs.first()?.lot.currency;
    let is_only = receipt.legs.iter().all(|leg| leg.lot.currency == currency);
    (is_only && receipt.written_off == Nano::ZERO).then_some(currency)
}

/// The currencies and their sums, in the order in which they first paid.
fn paid_by_currency(receipt: &ChargeReceipt) -> (Vec<BalanceCurrency>, Vec<Nano>) {
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

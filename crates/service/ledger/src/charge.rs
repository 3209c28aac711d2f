//! The bill for a piece of work.

mod draft;

use std::iter::repeat_n;

use ledger_core::{EntryId, HoldPayer};
use moment::Timestamp;
use money::{BalanceCurrency, Bill, BillLine, BillTooLarge, Nano, PriceUnits, UnitRate, WorkCost};
use store::usage::{UsageDetails, UsageRow};
use uuid::Uuid;

pub(crate) use draft::UsageDraft;

/// The bill for one piece of work, and the details kept in its usage rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkCharge {
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
    pub rate: UnitRate,
    /// The number of units that the price is shown for.
    pub per: PriceUnits,
}

impl WorkCharge {
    /// The sum of the lines, rounded once in each currency.
    pub fn total(&self) -> Result<WorkCost, BillTooLarge> {
        let usd = self.build_bill(BalanceCurrency::Usd).total()?;
        let diem =
            if self.is_at_par() { usd } else { self.build_bill(BalanceCurrency::Diem).total()? };
        Ok(WorkCost { usd, diem })
    }

    /// Builds the usage rows as if one currency paid for everything. Runs before the ledger is
    /// locked, so that no other task waits while strings are copied; the last row takes them
    /// without a copy.
    pub(crate) fn into_usage_draft(self, payer: &HoldPayer) -> Result<UsageDraft, BillTooLarge> {
        let amounts = self.build_bill(BalanceCurrency::Usd).line_amounts()?;
        let in_diem = if self.is_at_par() {
            None
        } else {
            let prices = self.lines.iter().map(|line| line.rate.diem);
            Some(prices.zip(self.build_bill(BalanceCurrency::Diem).line_amounts()?).collect())
        };
        let described = repeat_n((self.model, self.details, self.notes), self.lines.len());
        let row = |((line, amount), (model, details, notes)): ((ChargeLine, &Nano), _)| UsageRow {
            charge: EntryId(Uuid::nil()),
            owner: payer.owner,
            key: payer.key.map(|terms| terms.key),
            at: Timestamp::default(),
            sku: line.sku,
            model,
            currency: BalanceCurrency::Usd,
            units: line.units,
            price: line.rate.usd,
            per: line.per,
            amount: *amount,
            details,
            notes,
        };
        let rows = self.lines.into_iter().zip(&amounts).zip(described).map(row).collect();
        Ok(UsageDraft { rows, amounts, in_diem })
    }

    fn is_at_par(&self) -> bool {
        self.lines.iter().all(|line| line.rate.is_at_par())
    }

    fn build_bill(&self, currency: BalanceCurrency) -> Bill {
        let line =
            |line: &ChargeLine| BillLine { units: line.units, price: line.rate.price_in(currency) };
        Bill::new(self.lines.iter().map(line).collect())
    }
}

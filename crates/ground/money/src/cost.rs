//! The cost of work in dollars and in DIEM, and paying it with either.

use crate::bill::{Bill, BillLine};
use crate::currency::BalanceCurrency;
use crate::nano::Nano;
use crate::price::Price;

/// The price of one unit: a token, a character, a second, an image or a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitRate {
    pub usd: Price,
    pub diem: Price,
}

/// The cost of the same work in either currency. Bundled credits and VCU count as dollars.
///
/// It may be paid in part with each: a third of the DIEM amount pays for a third of the work, and
/// two thirds of the dollar amount for the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkCost {
    pub usd: Nano,
    pub diem: Nano,
}

/// The funds available in each currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CurrencyFunds {
    pub usd: Nano,
    pub diem: Nano,
}

impl UnitRate {
    pub const FREE: UnitRate = UnitRate { usd: Price::FREE, diem: Price::FREE };

    /// The same price in DIEM as in dollars: the default.
    pub const fn at_par(price: Price) -> UnitRate {
        UnitRate { usd: price, diem: price }
    }

    pub const fn price_in(self, currency: BalanceCurrency) -> Price {
        if is_diem(currency) { self.diem } else { self.usd }
    }

    pub fn is_at_par(self) -> bool {
        self.usd == self.diem
    }

    /// The higher price of the two, in each currency.
    pub fn or_dearer(self, other: UnitRate) -> UnitRate {
        UnitRate { usd: self.usd.max(other.usd), diem: self.diem.max(other.diem) }
    }

    /// The cost of `units` at this rate.
    pub fn cost(self, units: u64) -> WorkCost {
        WorkCost::sum_lines(&[(units, self)])
    }
}

impl WorkCost {
    pub const ZERO: WorkCost = WorkCost::at_par(Nano::ZERO);

    pub const fn at_par(amount: Nano) -> WorkCost {
        WorkCost { usd: amount, diem: amount }
    }

    /// The sum of units times rates, rounded once in each currency; `Nano::MAX` if it overflows.
    pub fn sum_lines(lines: &[(u64, UnitRate)]) -> WorkCost {
        let total = |currency| {
            let line = |(units, rate): &(u64, UnitRate)| BillLine {
                units: *units,
                price: rate.price_in(currency),
            };
            Bill::new(lines.iter().map(line).collect()).total().unwrap_or(Nano::MAX)
        };
        let usd = total(BalanceCurrency::Usd);
        let is_at_par = lines.iter().all(|(_, rate)| rate.is_at_par());
        WorkCost { usd, diem: if is_at_par { usd } else { total(BalanceCurrency::Diem) } }
    }

    pub const fn amount_in(self, currency: BalanceCurrency) -> Nano {
        if is_diem(currency) { self.diem } else { self.usd }
    }

    /// True if nothing is left to pay. Work that is free in dollars is free.
    pub const fn is_free(self) -> bool {
        !self.usd.is_positive()
    }

    /// The cost that remains after `paid` in `currency`, which pays for a share of the work. The
    /// remaining share is rounded up in the other currency, so that no fraction of a nano is given
    /// away.
    pub fn after_payment(self, paid: Nano, currency: BalanceCurrency) -> WorkCost {
        let whole = self.amount_in(currency);
        let left = whole.saturating_sub(paid);
        if !left.is_positive() {
            return WorkCost::ZERO;
        }
        let other = if is_diem(currency) { self.usd } else { self.diem };
        let other = share_up(other, left, whole);
        if is_diem(currency) {
            WorkCost { usd: other, diem: left }
        } else {
            WorkCost { usd: left, diem: other }
        }
    }

    pub fn is_within(self, means: CurrencyFunds) -> bool {
        let pays_diem = means.diem.is_positive() && self.diem.is_positive();
        let left =
            if pays_diem { self.after_payment(means.diem, BalanceCurrency::Diem) } else { self };
        left.is_free() || left.usd <= means.usd
    }

    /// The sum in each currency, saturating.
    pub fn plus(self, other: WorkCost) -> WorkCost {
        WorkCost {
            usd: self.usd.saturating_add(other.usd),
            diem: self.diem.saturating_add(other.diem),
        }
    }

    /// At most `most` in each currency.
    pub fn capped(self, most: Nano) -> WorkCost {
        WorkCost { usd: self.usd.min(most), diem: self.diem.min(most) }
    }

    /// The smaller of two in each currency.
    pub fn or_less(self, other: WorkCost) -> WorkCost {
        WorkCost { usd: self.usd.min(other.usd), diem: self.diem.min(other.diem) }
    }

    /// The larger of two in each currency.
    pub fn or_more(self, other: WorkCost) -> WorkCost {
        WorkCost { usd: self.usd.max(other.usd), diem: self.diem.max(other.diem) }
    }
}

/// Takes the amount as the cost in dollars and in DIEM alike.
impl From<Nano> for WorkCost {
    fn from(amount: Nano) -> WorkCost {
        WorkCost::at_par(amount)
    }
}

impl CurrencyFunds {
    pub fn add(&mut self, amount: Nano, currency: BalanceCurrency) {
        let sum = if is_diem(currency) { &mut self.diem } else { &mut self.usd };
        *sum = sum.saturating_add(amount);
    }

    pub fn total(self) -> Nano {
        self.usd.saturating_add(self.diem)
    }
}

const fn is_diem(currency: BalanceCurrency) -> bool {
    matches!(currency, BalanceCurrency::Diem)
}

/// `amount * part / whole`, rounded up. `part` is at most `whole`, which is above zero.
fn share_up(amount: Nano, part: Nano, whole: Nano) -> Nano {
    let product = i128::from(amount.nanos()) * i128::from(part.nanos());
    let whole = i128::from(whole.nanos());
    let share = product.div_euclid(whole) + i128::from(product.rem_euclid(whole) != 0);
    i64::try_from(share).map_or(Nano::MAX, Nano::from_nanos)
}

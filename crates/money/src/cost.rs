//! What a piece of work costs: so much in dollars, or so much in DIEM.

use crate::bill::{Bill, BillLine};
use crate::currency::Currency;
use crate::nano::Nano;
use crate::price::Price;

/// What one unit costs: one token, one character, one second, one image or one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub usd: Price,
    pub diem: Price,
}

/// What the same work costs in either currency. Bundled credits and VCU pay as dollars do.
///
/// It may be paid in part with one and in part with the other: a third of the DIEM pay for a third
/// of the work, and two thirds of the dollars for the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub usd: Nano,
    pub diem: Nano,
}

/// What there is to pay with, of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Means {
    pub usd: Nano,
    pub diem: Nano,
}

impl Rate {
    pub const FREE: Rate = Rate { usd: Price::FREE, diem: Price::FREE };

    /// A DIEM buys what a dollar buys, unless the operator says otherwise.
    pub const fn at_par(price: Price) -> Rate {
        Rate { usd: price, diem: price }
    }

    pub const fn price_in(self, currency: Currency) -> Price {
        if is_diem(currency) { self.diem } else { self.usd }
    }

    pub fn is_at_par(self) -> bool {
        self.usd == self.diem
    }

    /// The dearer of two in each currency.
    pub fn or_dearer(self, other: Rate) -> Rate {
        Rate { usd: self.usd.max(other.usd), diem: self.diem.max(other.diem) }
    }

    /// What so many units cost.
    pub fn cost(self, units: u64) -> Cost {
        Cost::of(&[(units, self)])
    }
}

impl Cost {
    pub const ZERO: Cost = Cost::at_par(Nano::ZERO);

    pub const fn at_par(amount: Nano) -> Cost {
        Cost { usd: amount, diem: amount }
    }

    /// Units at their rates, rounded once in each currency; the largest amount if it is beyond.
    pub fn of(lines: &[(u64, Rate)]) -> Cost {
        let total = |currency| {
            let line = |(units, rate): &(u64, Rate)| BillLine {
                units: *units,
                price: rate.price_in(currency),
            };
            Bill::new(lines.iter().map(line).collect()).total().unwrap_or(Nano::MAX)
        };
        let usd = total(Currency::Usd);
        let is_at_par = lines.iter().all(|(_, rate)| rate.is_at_par());
        Cost { usd, diem: if is_at_par { usd } else { total(Currency::Diem) } }
    }

    pub const fn amount_in(self, currency: Currency) -> Nano {
        if is_diem(currency) { self.diem } else { self.usd }
    }

    /// Nothing is left to pay. What is free in dollars is free.
    pub const fn is_nothing(self) -> bool {
        !self.usd.is_positive()
    }

    /// What is left after `paid`, which is a share of the work. The share that is left is rounded
    /// up in the other currency, so that no part of a nano is given away.
    pub fn less(self, paid: Nano, currency: Currency) -> Cost {
        let whole = self.amount_in(currency);
        let left = whole.saturating_sub(paid);
        if !left.is_positive() {
            return Cost::ZERO;
        }
        let other = if is_diem(currency) { self.usd } else { self.diem };
        let other = share_up(other, left, whole);
        if is_diem(currency) {
            Cost { usd: other, diem: left }
        } else {
            Cost { usd: left, diem: other }
        }
    }

    pub fn is_within(self, means: Means) -> bool {
        let pays_diem = means.diem.is_positive() && self.diem.is_positive();
        let left = if pays_diem { self.less(means.diem, Currency::Diem) } else { self };
        left.is_nothing() || left.usd <= means.usd
    }

    /// The sum in each currency.
    pub fn plus(self, other: Cost) -> Cost {
        Cost { usd: self.usd.saturating_add(other.usd), diem: self.diem.saturating_add(other.diem) }
    }

    /// At most `most` in each currency.
    pub fn capped(self, most: Nano) -> Cost {
        Cost { usd: self.usd.min(most), diem: self.diem.min(most) }
    }

    /// The smaller of two in each currency.
    pub fn or_less(self, other: Cost) -> Cost {
        Cost { usd: self.usd.min(other.usd), diem: self.diem.min(other.diem) }
    }

    /// The larger of two in each currency.
    pub fn or_more(self, other: Cost) -> Cost {
        Cost { usd: self.usd.max(other.usd), diem: self.diem.max(other.diem) }
    }
}

/// A DIEM buys what a dollar buys.
impl From<Nano> for Cost {
    fn from(amount: Nano) -> Cost {
        Cost::at_par(amount)
    }
}

impl Means {
    pub fn add(&mut self, amount: Nano, currency: Currency) {
        let sum = if is_diem(currency) { &mut self.diem } else { &mut self.usd };
        *sum = sum.saturating_add(amount);
    }

    pub fn total(self) -> Nano {
        self.usd.saturating_add(self.diem)
    }
}

const fn is_diem(currency: Currency) -> bool {
    matches!(currency, Currency::Diem)
}

/// `part` of `whole` of an amount, rounded up. `part` is not above `whole`, which is above zero.
fn share_up(amount: Nano, part: Nano, whole: Nano) -> Nano {
    let product = i128::from(amount.nanos()) * i128::from(part.nanos());
    let whole = i128::from(whole.nanos());
    let share = product.div_euclid(whole) + i128::from(product.rem_euclid(whole) != 0);
    i64::try_from(share).map_or(Nano::MAX, Nano::from_nanos)
}

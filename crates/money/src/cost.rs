//! The cost of work in dollars and in DIEM, and paying it with either.

use crate::bill::{Bill, BillLine};
use crate::currency::Currency;
use crate::nano::Nano;
use crate::price::Price;

/// The price of one unit: a token, a character, a second, an image or a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub usd: Price,
    pub diem: Price,
}

/// The cost of the same work in either currency. Bundled credits and VCU count as dollars.
///
/// It may be paid in part with each: a third of the DIEM amount pays for a third of the work, and
/// two thirds of the dollar amount for the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub usd: Nano,
    pub diem: Nano,
}

/// The funds available in each currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Means {
    pub usd: Nano,
    pub diem: Nano,
}

impl Rate {
    pub const FREE: Rate = Rate { usd: Price::FREE, diem: Price::FREE };

    /// The same price in DIEM as in dollars: the default.
    pub const fn at_par(price: Price) -> Rate {
        Rate { usd: price, diem: price }
    }

    pub const fn price_in(self, currency: Currency) -> Price {
        if is_diem(currency) { self.diem } else { self.usd }
    }

    pub fn is_at_par(self) -> bool {
        self.usd == self.diem
    }

    /// The higher price of the two, in each currency.
    pub fn or_dearer(self, other: Rate) -> Rate {
        Rate { usd: self.usd.max(other.usd), diem: self.diem.max(other.diem) }
    }

    /// The cost of `units` at this rate.
    pub fn cost(self, units: u64) -> Cost {
        Cost::of(&[(units, self)])
    }
}

impl Cost {
    pub const ZERO: Cost = Cost::at_par(Nano::ZERO);

    pub const fn at_par(amount: Nano) -> Cost {
        Cost { usd: amount, diem: amount }
    }

    /// The sum of units times rates, rounded once in each currency; `Nano::MAX` if it overflows.
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

    /// True if nothing is left to pay. Work that is free in dollars is free.
    pub const fn is_nothing(self) -> bool {
        !self.usd.is_positive()
    }

    /// The cost that remains after `paid` in `currency`, which pays for a share of the work. The
    /// remaining share is rounded up in the other currency, so that no fraction of a nano is given
    /// away.
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

    /// The sum in each currency, saturating.
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

/// Takes the amount as the cost in dollars and in DIEM alike.
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

/// `amount * part / whole`, rounded up. `part` is at most `whole`, which is above zero.
fn share_up(amount: Nano, part: Nano, whole: Nano) -> Nano {
    let product = i128::from(amount.nanos()) * i128::from(part.nanos());
    let whole = i128::from(whole.nanos());
    let share = product.div_euclid(whole) + i128::from(product.rem_euclid(whole) != 0);
    i64::try_from(share).map_or(Nano::MAX, Nano::from_nanos)
}

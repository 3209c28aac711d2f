//! A charge: the lots that paid it, and the amount of each.

use money::{Currency, Means, Nano};

use crate::account::LotKey;
use crate::limit::{KeyStamp, LimitClass};

/// A part of a hold or a charge that one lot pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leg {
    pub lot: LotKey,
    pub amount: Nano,
}

/// A settled hold, as recorded by the transfers of its entry with code [`Charge`] and [`Writeoff`].
///
/// [`Charge`]: crate::TransferCode::Charge
/// [`Writeoff`]: crate::TransferCode::Writeoff
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Charge {
    pub legs: Vec<Leg>,
    pub written_off: Nano,
    pub key: Option<KeyStamp>,
}

impl Charge {
    /// The part of this charge to refund, taken from the last legs first, because those lots expire
    /// latest. None if `amount` is zero, negative or above the charge. A part has no write-off; the
    /// whole charge keeps its own.
    pub fn part(&self, amount: Nano) -> Option<Charge> {
        let whole = total(&self.legs);
        if !amount.is_positive() || whole < amount {
            return None;
        }
        if amount == whole {
            return Some(self.clone());
        }
        let (mut left, mut legs) = (amount, Vec::new());
        for leg in self.legs.iter().rev() {
            let amount = leg.amount.min(left);
            if amount.is_positive() {
                legs.push(Leg { lot: leg.lot, amount });
            }
            left = left.saturating_sub(amount);
        }
        legs.reverse();
        Some(Charge { legs, written_off: Nano::ZERO, key: self.key })
    }
}

/// The sum of the legs in `currency`.
pub fn paid(legs: &[Leg], currency: Currency) -> Nano {
    sum(legs.iter().filter(|leg| leg.lot.currency == currency))
}

/// The sum of the legs that a limit class covers.
pub(crate) fn paid_in_class(legs: &[Leg], class: LimitClass) -> Nano {
    sum(legs.iter().filter(|leg| LimitClass::of(leg.lot.currency) == class))
}

/// The sum of the legs by kind of currency.
pub(crate) fn means(legs: &[Leg]) -> Means {
    let mut means = Means::default();
    for leg in legs {
        means.add(leg.amount, leg.lot.currency);
    }
    means
}

/// The sum of all legs.
pub(crate) fn total(legs: &[Leg]) -> Nano {
    sum(legs.iter())
}

fn sum<'a>(legs: impl Iterator<Item = &'a Leg>) -> Nano {
    legs.fold(Nano::ZERO, |sum, leg| sum.saturating_add(leg.amount))
}

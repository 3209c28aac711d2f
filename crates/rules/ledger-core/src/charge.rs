//! A charge: the lots that paid it, and the amount of each.

use money::{BalanceCurrency, CurrencyFunds, Nano};

use crate::account::LotKey;
use crate::limit::{KeyStamp, LimitClass};

/// A part of a hold or a charge that one lot pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentLeg {
    pub lot: LotKey,
    pub amount: Nano,
}

/// A settled hold, as recorded by the transfers of its entry with code [`SettledCharge`] and [`Writeoff`].
///
/// [`SettledCharge`]: crate::TransferCode::Charge
/// [`Writeoff`]: crate::TransferCode::Writeoff
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettledCharge {
    pub legs: Vec<PaymentLeg>,
    pub written_off: Nano,
    pub key: Option<KeyStamp>,
}

impl SettledCharge {
    /// The part of this charge to refund, taken from the last legs first, because those lots expire
    /// latest. None if `amount` is zero, negative or above the charge. A part has no write-off; the
    /// whole charge keeps its own.
    pub fn refundable_part(&self, amount: Nano) -> Option<SettledCharge> {
        let whole = sum_legs(&self.legs);
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
                legs.push(PaymentLeg { lot: leg.lot, amount });
            }
            left = left.saturating_sub(amount);
        }
        legs.reverse();
        Some(SettledCharge { legs, written_off: Nano::ZERO, key: self.key })
    }
}

/// The sum of the legs in `currency`.
pub fn sum_in_currency(legs: &[PaymentLeg], currency: BalanceCurrency) -> Nano {
    sum_amounts(legs.iter().filter(|leg| leg.lot.currency == currency))
}

/// The sum of the legs that a limit class covers.
pub(crate) fn sum_in_class(legs: &[PaymentLeg], class: LimitClass) -> Nano {
    sum_amounts(legs.iter().filter(|leg| LimitClass::from_currency(leg.lot.currency) == class))
}

/// The sum of the legs by kind of currency.
pub(crate) fn sum_by_currency(legs: &[PaymentLeg]) -> CurrencyFunds {
    let mut means = CurrencyFunds::default();
    for leg in legs {
        means.add(leg.amount, leg.lot.currency);
    }
    means
}

/// The sum of all legs.
pub(crate) fn sum_legs(legs: &[PaymentLeg]) -> Nano {
    sum_amounts(legs.iter())
}

fn sum_amounts<'a>(legs: impl Iterator<Item = &'a PaymentLeg>) -> Nano {
    legs.fold(Nano::ZERO, |sum, leg| sum.saturating_add(leg.amount))
}

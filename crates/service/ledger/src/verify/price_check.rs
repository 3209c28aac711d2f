//! Checks that the amount of a usage row is its units times its price.

use ledger_core::{InvariantViolation, LedgerAccount, LedgerInvariant, TransferCode};
use money::BalanceCurrency;
use store::Store;
use store::evidence::UsageMark;

use crate::error::LedgerError;

const PICOS_PER_NANO: i128 = 1000;
/// A bill rounds once, so each of its lines may be off by less than this.
const ROUNDING_PICOS: i128 = PICOS_PER_NANO;
/// If several currencies pay, each row's units are rounded down and the last takes the rest.
const UNITS_ROUNDED_MAX: i128 = 4;

/// Returns a violation if a row does not cost what it says. Most rows are exact; only for the
/// others is the charge read, to see if it was split or partly written off.
pub(super) async fn check_row_price(
    store: &dyn Store,
    mark: &UsageMark,
) -> Result<Option<InvariantViolation>, LedgerError> {
    // Refunds have no units.
    if mark.amount.is_negative() {
        return Ok(None);
    }
    let price = i128::from(mark.price.picos());
    let priced = i128::from(mark.units) * price;
    let beyond = i128::from(mark.amount.nanos()) * PICOS_PER_NANO - priced;
    if beyond.abs() <= ROUNDING_PICOS {
        return Ok(None);
    }
    let payment = PaymentShape::read(store, mark).await?;
    let slack = ROUNDING_PICOS * UNITS_ROUNDED_MAX + price * UNITS_ROUNDED_MAX;
    let is_right = match payment {
        PaymentShape::Whole => false,
        PaymentShape::Split => beyond.abs() <= slack,
        PaymentShape::WrittenOff => beyond <= slack,
    };
    if is_right {
        return Ok(None);
    }
    let words = format!(
        "row {} of usage, charge {}: {} units at {price} pico are {} nano, and {} nano were charged",
        mark.seq,
        mark.charge.0,
        mark.units,
        priced / PICOS_PER_NANO,
        mark.amount.nanos()
    );
    Ok(Some(LedgerInvariant::Bill.violation(words)))
}

/// The way in which a charge was paid.
enum PaymentShape {
    /// Paid in one currency.
    Whole,
    /// Paid in several currencies.
    Split,
    /// Paid in part; the rest was written off.
    WrittenOff,
}

impl PaymentShape {
    async fn read(store: &dyn Store, mark: &UsageMark) -> Result<PaymentShape, LedgerError> {
        let mut currencies: Vec<BalanceCurrency> = Vec::new();
        for recorded in store.find_transfers(mark.charge).await? {
            match (recorded.transfer.code, recorded.transfer.debit) {
                (TransferCode::Writeoff, _) => return Ok(PaymentShape::WrittenOff),
                (TransferCode::Charge, LedgerAccount::Lot(lot)) => currencies.push(lot.currency),
                _ => {}
            }
        }
        currencies.sort_unstable();
        currencies.dedup();
        Ok(if currencies.len() < 2 { PaymentShape::Whole } else { PaymentShape::Split })
    }
}

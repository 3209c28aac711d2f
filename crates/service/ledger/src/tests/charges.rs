//! Usage rows add up to the charge, whichever currencies paid for it.

use ledger_core::{ChargeReceipt, CurrencyBalances, LotKey, LotTag, PaymentLeg};
use money::{BalanceCurrency, Nano, Price, PriceUnits, UnitRate};
use proptest::prelude::*;

use super::fixture::{cost, entry, nanos, owner, through, wallet};
use crate::{ChargeLine, WorkCharge};

fn receipt(legs: &[(BalanceCurrency, i64)], written_off: Nano) -> ChargeReceipt {
    let lot = |currency| LotKey { owner: owner(1), currency, tag: LotTag::Main };
    let legs = legs.iter();
    let legs =
        legs.map(|(currency, amount)| PaymentLeg { lot: lot(*currency), amount: nanos(*amount) });
    let remaining = CurrencyBalances::default();
    ChargeReceipt { charge: entry(1), legs: legs.collect(), written_off, remaining }
}

fn line(units: u64, picos: i64) -> ChargeLine {
    let price = Price::from_picos(picos).unwrap();
    let rate = UnitRate::at_par(price);
    ChargeLine { sku: format!("sku-{picos}"), units, rate, per: PriceUnits::Million }
}

/// Splits a total over three currencies, leaving part of it unpaid.
fn legs_of(total: i64, cuts: [u8; 3]) -> Vec<(BalanceCurrency, i64)> {
    let mut left = total;
    let mut legs = Vec::new();
    for (currency, cut) in
        [BalanceCurrency::Diem, BalanceCurrency::Usd, BalanceCurrency::Vcu].into_iter().zip(cuts)
    {
        let part = i64::try_from(i128::from(left) * i128::from(cut) / 255).unwrap();
        if 0 < part {
            legs.push((currency, part));
            left -= part;
        }
    }
    legs
}

proptest! {
    #[test]
    fn rows_add_up_to_what_each_currency_paid_and_to_the_units_of_each_line(
        lines in proptest::collection::vec((0u64..5_000_000, 0i64..50_000_000), 1..6),
        cuts in any::<[u8; 3]>(),
    ) {
        let lines: Vec<ChargeLine> =
            lines.into_iter().map(|(units, picos)| line(units, picos)).collect();
        let charge = WorkCharge { lines, ..cost(0) };
        let total = charge.total().unwrap().usd.nanos();
        let legs = legs_of(total, cuts);
        let paid: i64 = legs.iter().map(|(_, amount)| amount).sum();
        let receipt = receipt(&legs, nanos(total - paid));
        let at = moment::Timestamp::from_ms(5);
        let rows = charge.clone().into_usage_draft(&through(1)).unwrap().into_paid_rows(&receipt, at);

        for (currency, amount) in legs {
            let told = rows.iter().filter(|row| row.currency == currency);
            prop_assert_eq!(told.map(|row| row.amount.nanos()).sum::<i64>(), amount);
        }
        prop_assert_eq!(rows.iter().map(|row| row.amount.nanos()).sum::<i64>(), paid);
        for line in &charge.lines {
            let of_line: Vec<_> = rows.iter().filter(|row| row.sku == line.sku).collect();
            let is_alone = charge.lines.iter().filter(|other| other.sku == line.sku).count() == 1;
            if is_alone && !of_line.is_empty() {
                prop_assert_eq!(of_line.iter().map(|row| row.units).sum::<u64>(), line.units);
            }
        }
    }
}

/// A line at one price in dollars and another in DIEM.
fn line_at(sku: &str, units: u64, usd: i64, diem: i64) -> ChargeLine {
    let price = |picos| Price::from_picos(picos).unwrap();
    let rate = UnitRate { usd: price(usd), diem: price(diem) };
    ChargeLine { sku: sku.to_owned(), units, rate, per: PriceUnits::Million }
}

/// Each row as sku, currency, units, nanos and picos.
fn rows(
    charge: &WorkCharge,
    receipt: &ChargeReceipt,
) -> Vec<(String, BalanceCurrency, u64, i64, i64)> {
    let rows = charge
        .clone()
        .into_usage_draft(&wallet())
        .unwrap()
        .into_paid_rows(receipt, moment::Timestamp::from_ms(5));
    let row = |row: store::usage::UsageRow| {
        (row.sku, row.currency, row.units, row.amount.nanos(), row.price.picos())
    };
    rows.into_iter().map(row).collect()
}

#[test]
fn each_row_is_at_the_price_of_its_currency() {
    let lines = vec![line_at("in", 1_000, 5_000, 4_000), line_at("out", 100, 15_000, 15_000)];
    let charge = WorkCharge { lines, ..cost(0) };
    let total = charge.total().unwrap();
    assert_eq!((total.usd, total.diem), (nanos(6_500), nanos(5_500)));
    assert_eq!(
        rows(&charge, &receipt(&[(BalanceCurrency::Diem, 5_500)], Nano::ZERO)),
        [
            ("in".to_owned(), BalanceCurrency::Diem, 1_000, 4_000, 4_000),
            ("out".to_owned(), BalanceCurrency::Diem, 100, 1_500, 15_000),
        ],
    );
    assert_eq!(
        rows(&charge, &receipt(&[(BalanceCurrency::Usd, 6_500)], Nano::ZERO)),
        [
            ("in".to_owned(), BalanceCurrency::Usd, 1_000, 5_000, 5_000),
            ("out".to_owned(), BalanceCurrency::Usd, 100, 1_500, 15_000),
        ],
    );
    // Two fifths in DIEM, and three fifths in dollars.
    assert_eq!(
        rows(
            &charge,
            &receipt(&[(BalanceCurrency::Diem, 2_200), (BalanceCurrency::Usd, 3_900)], Nano::ZERO)
        ),
        [
            ("in".to_owned(), BalanceCurrency::Diem, 400, 1_600, 4_000),
            ("in".to_owned(), BalanceCurrency::Usd, 600, 3_000, 5_000),
            ("out".to_owned(), BalanceCurrency::Diem, 40, 600, 15_000),
            ("out".to_owned(), BalanceCurrency::Usd, 60, 900, 15_000),
        ],
    );
}

proptest! {
    #[test]
    fn rows_at_several_prices_add_up_too(
        lines in proptest::collection::vec((1_u64..5_000_000, 1_i64..9_000_000, 1_i64..9_000_000), 1..6),
        share in 0_i64..=255,
        written_off in 0_i64..=255,
    ) {
        let lines = lines.iter().enumerate();
        let lines = lines.map(|(index, (units, usd, diem))| line_at(&index.to_string(), *units, *usd, *diem));
        let charge = WorkCharge { lines: lines.collect(), ..cost(0) };
        let total = charge.total().unwrap();
        let part = |amount: i64, part: i64| i64::try_from(i128::from(amount) * i128::from(part) / 255).unwrap();
        let diem = part(total.diem.nanos(), share);
        let left = total.after_payment(nanos(diem), BalanceCurrency::Diem).usd.nanos();
        let unpaid = part(left, written_off);
        let legs: Vec<(BalanceCurrency, i64)> = [(BalanceCurrency::Diem, diem), (BalanceCurrency::Usd, left - unpaid)]
            .into_iter().filter(|(_, amount)| 0 < *amount).collect();
        let rows = rows(&charge, &receipt(&legs, nanos(unpaid)));
        for (currency, amount) in legs {
            let told = rows.iter().filter(|row| row.1 == currency);
            prop_assert_eq!(told.map(|row| row.3).sum::<i64>(), amount);
        }
        for line in &charge.lines {
            let of_line: Vec<_> = rows.iter().filter(|row| row.0 == line.sku).collect();
            if !of_line.is_empty() {
                prop_assert_eq!(of_line.iter().map(|row| row.2).sum::<u64>(), line.units);
            }
        }
    }
}

#[test]
fn lots_of_one_currency_are_one_row() {
    let legs =
        [(BalanceCurrency::Vcu, 300), (BalanceCurrency::Vcu, 200), (BalanceCurrency::Usd, 500)];
    let draft = cost(1_000).into_usage_draft(&wallet()).unwrap();
    let rows: Vec<_> = draft
        .into_paid_rows(&receipt(&legs, Nano::ZERO), moment::Timestamp::from_ms(5))
        .into_iter()
        .map(|row| (row.currency, row.amount, row.units))
        .collect();
    assert_eq!(
        rows,
        [(BalanceCurrency::Vcu, nanos(500), 500), (BalanceCurrency::Usd, nanos(500), 500)]
    );
}

//! Usage rows add up to the charge, whatever paid for it.

use credits::{Balances, Leg, LotKey, LotTag, Receipt};
use money::{Currency, Nano, Per, Price};
use proptest::prelude::*;

use super::fixture::{cost, entry, nanos, owner, through, wallet};
use crate::{Charge, ChargeLine};

fn receipt(legs: &[(Currency, i64)], written_off: Nano) -> Receipt {
    let lot = |currency| LotKey { owner: owner(1), currency, tag: LotTag::Main };
    let legs = legs.iter();
    let legs = legs.map(|(currency, amount)| Leg { lot: lot(*currency), amount: nanos(*amount) });
    let remaining = Balances::default();
    Receipt { charge: entry(1), legs: legs.collect(), written_off, remaining }
}

fn line(units: u64, picos: i64) -> ChargeLine {
    let price = Price::from_picos(picos).unwrap();
    ChargeLine { sku: format!("sku-{picos}"), units, price, per: Per::Million }
}

/// Splits a total over three currencies, leaving part of it unpaid.
fn legs_of(total: i64, cuts: [u8; 3]) -> Vec<(Currency, i64)> {
    let mut left = total;
    let mut legs = Vec::new();
    for (currency, cut) in [Currency::Diem, Currency::Usd, Currency::Vcu].into_iter().zip(cuts) {
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
        let charge = Charge { lines, ..cost(0) };
        let total = charge.total().unwrap().nanos();
        let legs = legs_of(total, cuts);
        let paid: i64 = legs.iter().map(|(_, amount)| amount).sum();
        let receipt = receipt(&legs, nanos(total - paid));
        let at = moment::Timestamp::from_ms(5);
        let rows = charge.draft(&through(1)).unwrap().paid(&receipt, at);

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

#[test]
fn lots_of_one_currency_are_one_row() {
    let legs = [(Currency::Vcu, 300), (Currency::Vcu, 200), (Currency::Usd, 500)];
    let draft = cost(1_000).draft(&wallet()).unwrap();
    let rows: Vec<_> = draft
        .paid(&receipt(&legs, Nano::ZERO), moment::Timestamp::from_ms(5))
        .into_iter()
        .map(|row| (row.currency, row.amount, row.units))
        .collect();
    assert_eq!(rows, [(Currency::Vcu, nanos(500), 500), (Currency::Usd, nanos(500), 500)]);
}

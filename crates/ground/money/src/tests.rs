//! Tests of amounts, prices and bills: examples at the edges, and properties in between.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn nano(text: &str) -> Nano {
    Nano::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn check_refused(text: &str, message: &str) {
    let error = Nano::parse_positive(text).expect_err(text);
    assert_eq!(error.to_string(), message, "{text:?}");
}

#[track_caller]
fn check_bill(lines: &[(u64, i64)], total: i64, amounts: &[i64]) {
    let mut bill = Bill::default();
    for &(units, picos) in lines {
        bill.add(units, Price::from_picos(picos).expect("a price is not negative"));
    }
    assert_eq!(bill.total(), Ok(Nano::from_nanos(total)));
    let split: Vec<i64> =
        bill.line_amounts().unwrap().iter().map(|amount| amount.nanos()).collect();
    assert_eq!(split, amounts);
}

#[test]
fn an_amount_is_read_exactly() {
    assert_eq!(nano("10"), Nano::from_units(10));
    assert_eq!(nano("10.00"), Nano::from_units(10));
    assert_eq!(nano("007.5"), Nano::from_nanos(7_500_000_000));
    assert_eq!(nano("0.000000001"), Nano::from_nanos(1));
    assert_eq!(nano("0"), Nano::ZERO);
    assert_eq!(nano("9223372036.854775807"), Nano::MAX);
}

#[test]
fn what_is_not_an_amount_is_refused_with_what_to_write() {
    let plain = "write the amount as a plain decimal, such as 10 or 10.50";
    let not_decimals =
        ["", " 1", "1 ", "1e5", "NaN", "inf", ".5", "5.", "1.2.3", "+1", "1,5", "--1", "-", "١"];
    for text in not_decimals {
        check_refused(text, plain);
    }
    for text in ["-1", "-0", "-0.0000000001"] {
        check_refused(text, "write an amount without a sign, zero or more");
    }
    check_refused("0.00", "write an amount above zero");
    check_refused("1.0000000000", "write at most 9 digits after the point");
    let too_large = "the amount is too large";
    check_refused("9223372036.854775808", too_large);
    check_refused(&"9".repeat(10_000), too_large);
}

#[test]
fn an_amount_prints_every_digit_and_no_more() {
    for text in ["0", "10", "0.7", "0.000000001", "9223372036.854775807"] {
        assert_eq!(nano(text).to_string(), text);
    }
    assert_eq!(Nano::from_nanos(-1_500_000_000).to_string(), "-1.5");
    assert_eq!(Nano::from_nanos(i64::MIN).to_string(), "-9223372036.854775808");
}

#[test]
fn fixed_digits_round_half_to_even_and_only_for_show() {
    let shown = |nanos, decimals| Nano::from_nanos(nanos).to_fixed(decimals).to_string();
    assert_eq!(shown(12_500, 8), "0.00001250");
    assert_eq!(shown(3_125, 8), "0.00000312");
    assert_eq!(shown(3_135, 8), "0.00000314");
    assert_eq!(shown(3_126, 8), "0.00000313");
    assert_eq!(shown(1_250_050_000, 4), "1.2500");
    assert_eq!(shown(1_250_150_000, 4), "1.2502");
    assert_eq!(shown(-1_250_150_001, 4), "-1.2502");
    assert_eq!(shown(999_999_999, 2), "1.00");
    assert_eq!(shown(1_500_000_000, 0), "2");
    assert_eq!(shown(1, 12), "0.000000001000");
    assert_eq!(shown(-1, 2), "0.00");
    assert_eq!(shown(i64::MIN, 4), "-9223372036.8548");
}

#[test]
fn arithmetic_that_does_not_fit_is_none() {
    assert_eq!(Nano::MAX.checked_add(Nano::from_nanos(1)), None);
    assert_eq!(Nano::from_nanos(i64::MIN).checked_sub(Nano::from_nanos(1)), None);
    assert_eq!(Nano::from_nanos(i64::MIN).checked_neg(), None);
    assert_eq!(Nano::sum([Nano::MAX, Nano::MAX]), None);
    // The sum fits although a part of it does not.
    assert_eq!(Nano::sum([Nano::MAX, Nano::MAX, Nano::from_nanos(-i64::MAX)]), Some(Nano::MAX));
}

#[test]
fn a_price_is_exact_per_one_thousand_and_million() {
    let price = |text, per| Price::parse(text, per).map(Price::picos);
    assert_eq!(price("0.70", PriceUnits::Million), Ok(700_000));
    assert_eq!(price("0.000001", PriceUnits::Million), Ok(1));
    assert_eq!(
        price("0.0000001", PriceUnits::Million),
        Err(AmountError::TooManyDecimals { most: 6 })
    );
    assert_eq!(price("0.01", PriceUnits::Thousand), Ok(10_000_000));
    assert_eq!(price("0.0001", PriceUnits::One), Ok(100_000_000));
    assert_eq!(price("-1", PriceUnits::One), Err(AmountError::Negative));
    assert_eq!(price("9223372.036854775808", PriceUnits::One), Err(AmountError::TooLarge));
    assert_eq!(Price::from_nanos(625).map(Price::picos), Some(625_000));
    assert_eq!(Price::from_nanos(-1), None);
    assert_eq!(Price::from_nanos(i64::MAX), None);
    let input = Price::parse("0.70", PriceUnits::Million).unwrap();
    assert_eq!(input.to_text(PriceUnits::Million), "0.7");
    assert_eq!(input.to_text(PriceUnits::One), "0.0000007");
    assert_eq!(input.as_f64(PriceUnits::Million).to_string(), "0.7");
}

#[test]
fn a_bill_rounds_once_and_its_lines_add_up() {
    check_bill(&[], 0, &[]);
    check_bill(&[(20, 625_000)], 12_500, &[12_500]);
    // Three thirds of a nano make one, which goes to the line with the largest remainder.
    check_bill(&[(1, 333), (1, 333), (1, 334)], 1, &[0, 0, 1]);
    // Half a nano rounds to even: down in the first case, up in the second.
    check_bill(&[(1, 500)], 0, &[0]);
    check_bill(&[(1, 1_500)], 2, &[2]);
    check_bill(&[(1, 250), (1, 250)], 0, &[0, 0]);
    check_bill(&[(1, 1_250), (1, 250)], 2, &[2, 0]);
    // A million lines of half a nano are not free.
    let many = vec![(1, 500); 1_000_000];
    let bill = Bill::new(
        many.iter()
            .map(|&(units, picos)| BillLine { units, price: Price::from_picos(picos).unwrap() })
            .collect(),
    );
    assert_eq!(bill.total(), Ok(Nano::from_nanos(500_000)));
}

#[test]
fn a_bill_beyond_all_amounts_is_refused() {
    let mut bill = Bill::default();
    for _ in 0..3 {
        bill.add(u64::MAX, Price::from_picos(i64::MAX).unwrap());
    }
    assert_eq!(bill.total(), Err(BillTooLarge));
    assert_eq!(bill.line_amounts(), Err(BillTooLarge));
}

#[test]
fn lines_are_paid_by_the_first_purse_that_has_something_left() {
    let amounts = |nanos: &[i64]| -> Vec<Nano> {
        nanos.iter().map(|&nanos| Nano::from_nanos(nanos)).collect()
    };
    let shares: Vec<(usize, usize, i64)> =
        distribute_amounts(&amounts(&[5, 0, 7]), &amounts(&[8, 0, 4]))
            .iter()
            .map(|share| (share.row, share.column, share.amount.nanos()))
            .collect();
    assert_eq!(shares, [(0, 0, 5), (2, 0, 3), (2, 2, 4)]);
    assert_eq!(distribute_amounts(&amounts(&[3]), &amounts(&[-3])), []);
}

#[test]
fn a_currency_is_known_by_its_name() {
    for currency in BalanceCurrency::ALL {
        assert_eq!(BalanceCurrency::from_name(currency.name()), Some(currency));
        assert_eq!(currency.to_string(), currency.name());
    }
    assert_eq!(BalanceCurrency::from_name("usd"), None);
}

proptest! {
    #[test]
    fn any_amount_is_read_as_it_was_printed(nanos in 0..=i64::MAX) {
        let amount = Nano::from_nanos(nanos);
        prop_assert_eq!(Nano::parse(&amount.to_string()), Ok(amount));
        prop_assert_eq!(Nano::parse(&amount.to_fixed(9).to_string()), Ok(amount));
    }

    #[test]
    fn any_price_is_read_as_it_was_printed(picos in 0..=i64::MAX) {
        let price = Price::from_picos(picos).unwrap();
        for per in [PriceUnits::One, PriceUnits::Thousand, PriceUnits::Million] {
            prop_assert_eq!(Price::parse(&price.to_text(per), per), Ok(price));
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}|[-0-9.e+ ]{0,40}", shown in 0_u32..40) {
        if let Ok(amount) = Nano::parse(&text) {
            prop_assert!(!amount.is_negative());
            let _ = amount.to_fixed(shown).to_string();
        }
        let _ = Price::parse(&text, PriceUnits::Million);
    }

    #[test]
    fn json_numbers_show_every_digit_below_eight_million(nanos in -(1_i64 << 23) * 1_000_000_000..(1_i64 << 23) * 1_000_000_000) {
        let amount = Nano::from_nanos(nanos);
        prop_assert_eq!(amount.as_f64().to_string(), amount.to_string());
    }

    #[test]
    fn showing_fewer_digits_is_off_by_half_a_step_at_most(nanos: i64, shown in 0_u32..9) {
        let text = Nano::from_nanos(nanos).to_fixed(shown).to_string();
        let digits: i128 = text.replace('.', "").parse().unwrap();
        let step = 10_i128.pow(9 - shown);
        prop_assert!(2 * (digits * step - i128::from(nanos)).abs() <= step);
    }

    #[test]
    fn adding_is_associative_where_it_fits(a: i64, b: i64, c: i64) {
        let [a, b, c] = [a, b, c].map(Nano::from_nanos);
        let left = a.checked_add(b).and_then(|sum| sum.checked_add(c));
        let right = b.checked_add(c).and_then(|sum| a.checked_add(sum));
        if let (Some(left), Some(right)) = (left, right) {
            prop_assert_eq!(left, right);
        }
        prop_assert_eq!(Nano::sum([a, b, c]), Nano::sum([c, b, a]));
    }

    #[test]
    fn the_lines_of_any_bill_add_up_to_its_total(lines in bill_lines()) {
        let bill = Bill::new(lines);
        match bill.total() {
            Ok(total) => {
                let amounts = bill.line_amounts().unwrap();
                prop_assert_eq!(Nano::sum(amounts.iter().copied()), Some(total));
                for (amount, line) in amounts.iter().zip(bill.lines()) {
                    let exact = i128::from(line.units) * i128::from(line.price.picos());
                    let off = i128::from(amount.nanos()) * 1000 - exact;
                    prop_assert!(-1000 < off && off <= 1000);
                    prop_assert!(!amount.is_negative());
                }
            }
            Err(BillTooLarge) => prop_assert_eq!(bill.line_amounts(), Err(BillTooLarge)),
        }
    }

    #[test]
    fn splitting_a_line_does_not_change_the_total(units in 0_u64..1 << 40, parts in 1_u64..9, picos in 0_i64..1 << 20) {
        let price = Price::from_picos(picos).unwrap();
        let whole = Bill::new(vec![BillLine { units, price }]);
        let mut split = Bill::default();
        for part in 0..parts {
            split.add(units / parts + u64::from(part < units % parts), price);
        }
        prop_assert_eq!(whole.total(), split.total());
    }

    #[test]
    fn shares_add_up_to_rows_and_columns(rows in amounts(), cuts in amounts()) {
        let total = Nano::sum(rows.iter().copied()).unwrap();
        let mut columns = Vec::new();
        let mut left = total;
        for cut in cuts {
            let column = cut.min(left);
            left = left.checked_sub(column).unwrap();
            columns.push(column);
        }
        columns.push(left);
        let shares = distribute_amounts(&rows, &columns);
        for (index, row) in rows.iter().enumerate() {
            let paid = shares.iter().filter(|share| share.row == index).map(|share| share.amount);
            prop_assert_eq!(Nano::sum(paid), Some(*row));
        }
        for (index, column) in columns.iter().enumerate() {
            let paid = shares.iter().filter(|it| it.column == index).map(|share| share.amount);
            prop_assert_eq!(Nano::sum(paid), Some(*column));
        }
    }
}

#[test]
fn what_one_currency_pays_is_a_share_of_the_work() {
    let cost = WorkCost { usd: Nano::from_nanos(700), diem: Nano::from_nanos(600) };
    let check = |paid, currency, usd, diem| {
        let left = cost.after_payment(Nano::from_nanos(paid), currency);
        let expected = WorkCost { usd: Nano::from_nanos(usd), diem: Nano::from_nanos(diem) };
        assert_eq!(left, expected, "{paid} {currency}");
    };
    check(200, BalanceCurrency::Diem, 467, 400); // 466⅔ is rounded up
    check(350, BalanceCurrency::Usd, 350, 300);
    check(350, BalanceCurrency::Bundled, 350, 300);
    check(599, BalanceCurrency::Diem, 2, 1);
    check(600, BalanceCurrency::Diem, 0, 0);
    check(700, BalanceCurrency::Usd, 0, 0);
    check(0, BalanceCurrency::Usd, 700, 600);
}

#[test]
fn costs_are_within_means_that_add_up_to_the_work() {
    let cost = WorkCost { usd: Nano::from_nanos(700), diem: Nano::from_nanos(600) };
    for (usd, diem, is_within) in [
        (700, 0, true),
        (699, 0, false),
        (0, 600, true),
        (0, 599, false),
        (350, 300, true),
        (349, 300, false),
        (467, 200, true),
        (466, 200, false),
    ] {
        let means = CurrencyFunds { usd: Nano::from_nanos(usd), diem: Nano::from_nanos(diem) };
        assert_eq!(cost.is_within(means), is_within, "{usd} and {diem}");
    }
    assert!(WorkCost::ZERO.is_within(CurrencyFunds::default()));
}

proptest! {
    #[test]
    fn at_par_a_currency_pays_what_it_is(amount in 0..i64::MAX, paid in 0..i64::MAX) {
        let (amount, paid) = (Nano::from_nanos(amount), Nano::from_nanos(paid));
        for currency in BalanceCurrency::ALL {
            let left = amount.saturating_sub(paid).max(Nano::ZERO);
            prop_assert_eq!(WorkCost::at_par(amount).after_payment(paid, currency), WorkCost::at_par(left));
        }
    }

    /// Means that pay for a cost also pay for each smaller one, after every partial payment.
    #[test]
    fn a_smaller_cost_never_leaves_more(
        usd in 1_i64..1 << 50, diem in 1_i64..1 << 50,
        less_usd in 0_i64..1 << 50, less_diem in 0_i64..1 << 50,
        paid in prop::collection::vec((0_usize..4, 0_i64..1 << 49), 0..5),
    ) {
        let mut larger = WorkCost { usd: Nano::from_nanos(usd), diem: Nano::from_nanos(diem) };
        let smaller = |amount: i64, less: i64| Nano::from_nanos((amount - less).max(0));
        let mut smaller = WorkCost { usd: smaller(usd, less_usd), diem: smaller(diem, less_diem) };
        for (index, nanos) in paid {
            let (paid, currency) = (Nano::from_nanos(nanos), BalanceCurrency::ALL[index]);
            larger = larger.after_payment(paid, currency);
            smaller = smaller.after_payment(paid, currency);
            prop_assert!(smaller.usd <= larger.usd && smaller.diem <= larger.diem);
        }
    }
}

fn bill_lines() -> impl Strategy<Value = Vec<BillLine>> {
    let units = prop_oneof![0_u64..2_000_000, any::<u64>()];
    let picos = prop_oneof![0_i64..5_000_000, 0_i64..=i64::MAX];
    let line = (units, picos)
        .prop_map(|(units, picos)| BillLine { units, price: Price::from_picos(picos).unwrap() });
    prop::collection::vec(line, 0..12)
}

fn amounts() -> impl Strategy<Value = Vec<Nano>> {
    prop::collection::vec((0_i64..1_000_000).prop_map(Nano::from_nanos), 0..8)
}

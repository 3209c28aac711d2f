//! Tests of token bills: each token is billed once at its own price, never above the quote.

use money::{Price, PriceUnits};
use proptest::prelude::*;

use super::*;
use crate::pricing::{ExtendedPrice, UnitRate};

fn rate(usd: &str) -> UnitRate {
    UnitRate::at_par(Price::parse(usd, PriceUnits::Million).expect("tests write valid prices"))
}

/// Prices of a model with all rates: $1.40 input, $4.40 output, $0.26 cached, $1.75 cache write and
/// $1.60 one-hour cache write.
fn price() -> TokenPrice {
    let base = TokenRates {
        input: rate("1.40"),
        output: rate("4.40"),
        cache_input: Some(rate("0.26")),
        cache_write: Some(rate("1.75")),
        cache_write_1h: Some(rate("1.60")),
    };
    let long = TokenRates { input: rate("2.80"), output: rate("8.80"), ..base };
    let extended = ExtendedPrice { above_context_tokens: 200_000, rates: long };
    TokenPrice { base, extended: Some(extended) }
}

#[track_caller]
fn check(counts: TokenCounts, expected: &[(TokenClass, u64, &str)]) {
    let found: Vec<_> = price()
        .lines(counts)
        .into_iter()
        .map(|line| (line.class, line.tokens, line.rate.usd.to_text(PriceUnits::Million)))
        .collect();
    let expected =
        expected.iter().map(|(class, tokens, price)| (*class, *tokens, (*price).to_owned()));
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn a_cached_token_is_billed_once_and_at_its_own_price() {
    check(
        TokenCounts { prompt: 100, cached: 60, cache_write: 30, cache_write_1h: 20, completion: 5 },
        &[
            (TokenClass::Input, 10, "1.4"),
            (TokenClass::CacheInput, 60, "0.26"),
            (TokenClass::CacheWrite, 10, "1.75"),
            (TokenClass::CacheWriteHour, 20, "1.6"),
            (TokenClass::Output, 5, "4.4"),
        ],
    );
    check(
        TokenCounts { prompt: 100, cached: 100, ..TokenCounts::default() },
        &[(TokenClass::CacheInput, 100, "0.26")],
    );
}

#[test]
fn details_beyond_the_prompt_are_not_billed_twice() {
    check(
        TokenCounts { prompt: 10, cached: 8, cache_write: 8, cache_write_1h: 9, completion: 0 },
        &[(TokenClass::CacheInput, 8, "0.26"), (TokenClass::CacheWriteHour, 2, "1.6")],
    );
}

#[test]
fn a_long_context_changes_the_price_of_the_whole_request() {
    check(
        TokenCounts { prompt: 200_001, completion: 1, ..TokenCounts::default() },
        &[(TokenClass::Input, 200_001, "2.8"), (TokenClass::Output, 1, "8.8")],
    );
}

#[test]
fn funds_buy_whole_tokens_after_the_prompt() {
    let funds = usd(Nano::parse("0.001").expect("tests write valid amounts"));
    // 100 prompt tokens cost at most 175,000 nanos; each completion token costs 4,400.
    assert_eq!(price().completion_within(100, funds), Some(187));
    assert_eq!(price().completion_within(10_000, funds), Some(0));
    let free =
        TokenPrice { base: TokenRates { output: rate("0"), ..price().base }, extended: None };
    assert_eq!(free.completion_within(100, funds), None);
}

#[test]
fn both_currencies_together_buy_what_each_pays_of() {
    let rate = |usd: i64, diem: i64| {
        let price = |picos| Price::from_picos(picos).expect("a price is not negative");
        UnitRate { usd: price(usd), diem: price(diem) }
    };
    let base = TokenRates {
        input: rate(5_000, 4_000),
        output: rate(15_000, 10_000),
        cache_input: None,
        cache_write: None,
        cache_write_1h: None,
    };
    let price = TokenPrice { base, extended: None };
    let check = |usd: i64, diem: i64, tokens| {
        let means = CurrencyFunds { usd: Nano::from_nanos(usd), diem: Nano::from_nanos(diem) };
        assert_eq!(price.completion_within(100, means), Some(tokens), "{usd} and {diem}");
    };
    // The prompt costs 500 or 400, and each completion token 15 or 10.
    check(2_000, 0, 100);
    check(0, 1_400, 100);
    check(1_000, 700, 100);
    check(1_000, 699, 99);
    check(0, 399, 0);
    check(0, 0, 0);
}

fn usd(usd: Nano) -> CurrencyFunds {
    CurrencyFunds { usd, diem: Nano::ZERO }
}

fn cost(counts: TokenCounts) -> Nano {
    let lines = price().lines(counts);
    let lines: Vec<_> = lines.iter().map(|it| (it.tokens, it.rate)).collect();
    WorkCost::sum_lines(&lines).usd
}

proptest! {
    #[test]
    fn no_bill_is_above_its_quote(
        prompt_max in 0..400_000_u64,
        completion_max in 0..100_000_u64,
        parts in prop::array::uniform4(0.0..=1.0_f64),
    ) {
        let [used, cached, written, produced] = parts;
        let prompt = part(prompt_max, used);
        let cached = part(prompt, cached);
        let cache_write = part(prompt - cached, written);
        let completion = part(completion_max, produced);
        let counts = TokenCounts { prompt, cached, cache_write, cache_write_1h: cache_write / 2, completion };
        prop_assert!(cost(counts) <= price().max_cost(prompt_max, completion_max).usd);
    }

    #[test]
    fn what_funds_buy_is_not_dearer_than_the_funds(
        prompt_max in 0..400_000_u64,
        nanos in 0..5_000_000_000_i64,
    ) {
        let funds = Nano::from_nanos(nanos);
        let means = CurrencyFunds { usd: funds, diem: Nano::ZERO };
        let completion = price().completion_within(prompt_max, means).expect("output has a price");
        if 0 < completion {
            prop_assert!(price().max_cost(prompt_max, completion).is_within(means));
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a test may choose a part of a small number by any means"
)]
fn part(whole: u64, share: f64) -> u64 {
    ((whole as f64) * share) as u64
}

//! Tests of timestamps at the edges of days, months and the calendar.

use super::*;

#[track_caller]
fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or_else(|| panic!("{text} should parse"))
}

#[test]
fn a_moment_prints_as_it_was_read() {
    for text in ["1970-01-01T00:00:00.000Z", "2026-11-15T03:18:34.007Z", "9999-12-30T21:59:59.999Z"]
    {
        assert_eq!(at(text).to_string(), text);
    }
    assert_eq!(at("2026-11-15").to_string(), "2026-11-15T00:00:00.000Z");
    assert_eq!(at("2026-11-15T03:18:34+02:00").to_string(), "2026-11-15T01:18:34.000Z");
}

#[test]
fn what_is_not_a_moment_is_refused() {
    for text in ["", "yesterday", "2026-13-01", "2026-02-30", "2026-11-15T25:00:00Z", "20261115"] {
        assert_eq!(Timestamp::parse(text), None, "{text}");
    }
}

#[test]
fn days_and_months_change_at_midnight_utc() {
    let last = at("2026-11-30T23:59:59.999Z");
    let first = at("2026-12-01T00:00:00.000Z");
    assert_eq!(last.unix_day() + 1, first.unix_day());
    assert_eq!(last.unix_month() + 1, first.unix_month());
    assert_eq!(Timestamp::start_of_day(first.unix_day()), first);
    assert_eq!(Timestamp::start_of_month(first.unix_month()), first);
    assert_eq!(Timestamp::start_of_month(last.unix_month()), at("2026-11-01"));
}

#[test]
fn moments_before_1970_and_beyond_the_calendar_do_not_panic() {
    assert_eq!(Timestamp::from_ms(-1).unix_day(), -1);
    assert_eq!(Timestamp::from_ms(-1).unix_month(), -1);
    assert_eq!(Timestamp::from_ms(i64::MAX).to_string(), "9999-12-30T21:59:59.999Z");
    assert_eq!(Timestamp::start_of_month(i64::MAX / 32), Timestamp::start_of_month(i64::MAX / 32));
}

#[test]
fn a_version_is_digits_and_a_dot() {
    assert_eq!(at("2026-11-15T03:18:34Z").to_version(), "20261115.031834");
}

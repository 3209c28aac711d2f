//! Tests of the text formats: accepted and refused texts.

use serde_json::json;

use crate::CompiledSchema;

#[track_caller]
fn check(format: &str, good: &[&str], bad: &[&str]) {
    let shape = CompiledSchema::from_schema(&json!({"type": "string", "format": format})).unwrap();
    for text in good {
        assert!(shape.check(&json!(text)).is_ok(), "{text:?} is a {format}");
    }
    for text in bad {
        assert!(shape.check(&json!(text)).is_err(), "{text:?} is not a {format}");
    }
}

#[test]
fn urls_are_absolute_and_escaped() {
    check(
        "uri",
        &["https://a.b/c?d=%20#e", "data:image/png;base64,AA==", "ftp://[::1]/"],
        &["", "a.b/c", "//a.b", "https:", "http://a b", "1a:b", "a:%zz", "a:%2", "http://ä.b"],
    );
}

#[test]
fn uuids_have_their_dashes_in_place() {
    check(
        "uuid",
        &["123e4567-e89b-42d3-a456-426614174000"],
        &["123e4567e89b42d3a456426614174000", "123e4567-e89b-42d3-a456-42661417400g", "é"],
    );
}

#[test]
fn dates_exist_in_the_calendar() {
    check(
        "date",
        &["2024-02-29", "2000-02-29", "2026-12-31"],
        &[
            "2023-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-1-1",
            "ééééé",
        ],
    );
}

#[test]
fn times_have_a_zone() {
    check(
        "date-time",
        &["2026-01-31T12:00:00Z", "2026-01-31t23:59:59.123+02:00"],
        &[
            "2026-01-31",
            "2026-01-31T12:00:00",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00+2",
            "2026-01-31T12:60:00Z",
            "2026-01-31T12é00:00Z",
        ],
    );
}

#[test]
fn addresses_have_two_sides() {
    check("email", &["a@b", "a.b+c@d.example"], &["a", "@b", "a@", "a b@c", "a@b@c"]);
}

//! Tests of the TOML tree: parsing never panics, and line numbers are right.

use proptest::prelude::*;

use super::ConfigFixture;
use crate::fault::{FaultList, find_nearest};
use crate::node::{ConfigValue, parse_toml};

#[test]
fn lines_are_counted_from_one_through_any_line_break() {
    let faults = FaultList::default();
    let table = parse_toml(
        "f",
        "a = 1\r\n\r\nb = [\n  1,\n  2,\n]\n\"c.d\".e = '''\n\n'''\nf = 0x10\n",
        &faults,
    );
    assert!(faults.is_empty());
    let shown: Vec<String> =
        table.entries().map(|(name, node)| format!("{name}@{}", node.origin)).collect();
    assert_eq!(shown, ["a@f:1", "b@f:3", "c.d@f:7", "f@f:10"]);
    assert_eq!(table.get("f").unwrap().value, ConfigValue::Integer(16));
    let ConfigValue::List(items) = &table.get("b").unwrap().value else { panic!("b is a list") };
    assert_eq!(items[1].origin.to_string(), "f:5");
}

#[test]
fn an_integer_beyond_64_bits_is_a_fault() {
    let faults = FaultList::default();
    parse_toml("f", "a = 99999999999999999999\n", &faults);
    assert_eq!(faults.into_sorted()[0].to_string(), "f:1: `99999999999999999999` is too large");
}

#[test]
fn only_a_near_name_is_suggested() {
    let names = ["listen", "admin_listen", "public_url", "domains"];
    assert_eq!(find_nearest("lisen", names), Some("listen"));
    assert_eq!(find_nearest("Listen", names), Some("listen"));
    assert_eq!(find_nearest("public-url", names), Some("public_url"));
    assert_eq!(find_nearest("adminlisten", names), Some("admin_listen"));
    assert_eq!(find_nearest("port", names), None);
    assert_eq!(find_nearest("", names), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_a_configuration_or_a_list_of_faults(text in "(\\PC|\n){0,200}") {
        if let Err(invalid) = ConfigFixture::with_config(&text).read() {
            prop_assert!(!invalid.0.is_empty());
        }
    }

    #[test]
    fn any_value_for_any_key_is_read_or_reported(
        section in prop::sample::select(vec!["server", "store", "x402", "rpc", "engine"]),
        key in prop::sample::select(vec!["url", "listen", "networks", "threads", "chain_id", "domains"]),
        value in prop::sample::select(vec!["1", "-1", "''", "'x'", "[]", "[[]]", "{}", "{a={}}", "1.5", "nan", "true", "2020-01-01"]),
    ) {
        let text = format!("[{section}]\n{key} = {value}\n");
        if let Err(invalid) = ConfigFixture::with_config(&text).read() {
            prop_assert!(!invalid.0.is_empty());
        }
    }
}

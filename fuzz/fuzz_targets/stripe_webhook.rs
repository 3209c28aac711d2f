//! Feeds the fuzzer's inputs to the property of the same name.

#![no_main]

#[path = "../../crates/rules/card-payments/tests/properties/mod.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    properties::stripe_webhook(bytes);
});

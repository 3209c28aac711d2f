//! Tests of options appended to a model's name.

use super::*;

#[track_caller]
fn check(asked: &str, model: &str, options: &[(&str, &str)]) {
    let options = options.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    assert_eq!(split_suffix(asked), SuffixedName { model, options });
}

#[test]
fn options_follow_a_colon() {
    check(
        "default:enable_web_search=on&include_service_system_prompt=false",
        "default",
        &[("enable_web_search", "on"), ("include_service_system_prompt", "false")],
    );
}

#[test]
fn a_name_without_options_is_left_as_it_is() {
    for name in ["llama-3.3-70b", "qwen3:4b", "", ":", "a:b:c", "a=b", "a:=b", "a:b c=d"] {
        check(name, name, &[]);
    }
}

#[test]
fn a_name_may_contain_colons_itself() {
    check("qwen3:4b:disable_thinking=true", "qwen3:4b", &[("disable_thinking", "true")]);
    check("m:character_slug=a:b=c", "m", &[("character_slug", "a:b=c")]);
}

#[test]
fn values_are_decoded_and_broken_escapes_stay() {
    check("m:character_slug=alan%20watts%26co", "m", &[("character_slug", "alan watts&co")]);
    check(
        "m:character_slug=50%&strip_thinking_response=%zz",
        "m",
        &[("character_slug", "50%"), ("strip_thinking_response", "%zz")],
    );
    check("m:character_slug=%ff", "m", &[("character_slug", "%ff")]);
    check("m:character_slug=a+b", "m", &[("character_slug", "a+b")]);
}

#[test]
fn pieces_that_are_no_options_are_dropped() {
    check("m:a=1&&b&=2&c=", "m", &[("a", "1"), ("c", "")]);
}

//! Tests of the rewriting of other APIs' requests.

use serde_json::json;

use super::*;

#[track_caller]
fn check(mut sent: Value, expected: Value) {
    rewrite_request(&mut sent);
    assert_eq!(sent, expected);
}

#[test]
fn names_of_related_apis_are_understood() {
    check(
        json!({"input": "Hi", "max_output_tokens": 5, "promptCacheKey": "k",
            "venice_parameters": {"include_venice_system_prompt": false}}),
        json!({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5,
            "prompt_cache_key": "k",
            "service_parameters": {"include_service_system_prompt": false}}),
    );
}

#[test]
fn our_own_names_win() {
    check(
        json!({"max_output_tokens": 5, "max_tokens": 7, "venice_parameters": {"a": 1},
            "service_parameters": {}}),
        json!({"max_tokens": 7, "service_parameters": {}}),
    );
}

#[test]
fn a_flag_for_search_becomes_the_option() {
    check(json!({"web_search": true}), json!({"service_parameters": {"enable_web_search": "on"}}));
    check(json!({"web_search": false}), json!({}));
}

#[test]
fn flat_and_foreign_tools_are_nested() {
    let expected = json!({"tools": [{"type": "function",
        "function": {"name": "f", "parameters": {"type": "object"}, "description": "d"}}]});
    check(
        json!({"tools": [{"type": "function", "name": "f", "description": "d",
            "parameters": {"type": "object"}}]}),
        expected.clone(),
    );
    check(
        json!({"tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]}),
        expected,
    );
}

#[test]
fn calls_and_results_inside_turns_move_to_where_they_belong() {
    check(
        json!({"messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "ok"},
                {"type": "text", "text": "Go on"}]},
        ]}),
        json!({"messages": [
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"role": "user", "content": [{"type": "text", "text": "Go on"}]},
        ]}),
    );
}

#[test]
fn images_in_other_words_are_images() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    check(
        json!({"messages": [{"role": "user", "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,AA"}]}]}),
        json!({"messages": [{"role": "user", "content": [image]}]}),
    );
}

#[test]
fn documents_in_other_words_are_files() {
    let file = |data: &str, name: Value| {
        json!({"messages": [{"role": "user", "content": [{"type": "file",
            "file": {"file_data": data, "filename": name}, "cache_control": null}]}]})
    };
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": "AA=="});
    for (part, expected) in [
        (
            json!({"type": "document", "source": source, "title": "a.pdf"}),
            file("data:application/pdf;base64,AA==", json!("a.pdf")),
        ),
        (
            json!({"type": "document", "source": {"type": "url", "url": "https://a.b/c.pdf"}}),
            file("https://a.b/c.pdf", Value::Null),
        ),
        (
            json!({"type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}}),
            file("data:text/plain;base64,SGk=", Value::Null),
        ),
        (
            json!({"type": "input_file", "file_data": "data:text/plain;base64,SGk=",
                "filename": "a.txt"}),
            file("data:text/plain;base64,SGk=", json!("a.txt")),
        ),
    ] {
        check(json!({"messages": [{"role": "user", "content": [part]}]}), expected);
    }
}

#[test]
fn nonsense_is_left_for_the_check() {
    check(json!({"messages": 7, "tools": "x"}), json!({"messages": 7, "tools": "x"}));
    check(json!([1]), json!([1]));
}

//! One test per row of the protocol's fields, towards a model that gets a translated chat.

use engine::{ChatContent, ChatMessage, PartKind, ToolChoicePolicy};
use serde_json::json;

use super::*;
use crate::endpoints::messages::thinking_seal::tests::seal;

const SEARCHES: RunnableTools = RunnableTools { search: true, mcp: false };

fn parse(more: Value) -> MessagesRequest {
    let mut body =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    serde_json::from_value(body).unwrap()
}

fn translate_by(policy: BlockPolicy, more: Value) -> TranslatedMessages {
    translate_request(parse(more), policy, &seal("m", 1), SEARCHES)
}

/// The translation of a request without faults.
#[track_caller]
fn translate(more: Value) -> TranslatedMessages {
    let translated = translate_by(BlockPolicy::Strict, more);
    assert!(translated.faults.is_empty(), "{}", translated.faults.issues());
    translated
}

/// The faults, each as `path: message`.
fn find_faults(more: Value) -> Vec<String> {
    let issues = translate_by(BlockPolicy::Strict, more).faults.issues();
    let write = |issue: &Value| {
        let path = issue["path"].as_array().unwrap().iter();
        let path: Vec<String> =
            path.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect();
        format!("{}: {}", path.join("."), issue["message"].as_str().unwrap())
    };
    issues.as_array().unwrap().iter().map(write).collect()
}

fn write_content(content: &ChatContent) -> String {
    match content {
        ChatContent::Text(text) => format!("{text:?}"),
        ChatContent::Parts(parts) => {
            let part = |part: &engine::ChatContentPart| {
                let mark = part.cache.map(|it| format!(" {it:?}")).unwrap_or_default();
                match &part.kind {
                    PartKind::Text(text) => format!("{text:?}{mark}"),
                    PartKind::Image { url, .. } => format!("image {url}{mark}"),
                    PartKind::Document { url, name } => format!("document {url} {name:?}{mark}"),
                    other => format!("{other:?}"),
                }
            };
            format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The messages of a chat, one line each.
fn list_lines(translated: &TranslatedMessages) -> Vec<String> {
    let line = |message: &ChatMessage| match message {
        ChatMessage::System { content, .. } => format!("system {}", write_content(content)),
        ChatMessage::User { content, .. } => format!("user {}", write_content(content)),
        ChatMessage::Tool { call_id, content } => {
            format!("tool {call_id} {}", write_content(content))
        }
        ChatMessage::Assistant(turn) => {
            let text = turn.content.as_ref().map(write_content).unwrap_or_default();
            let calls =
                turn.tool_calls.iter().map(|it| format!("{}:{}{}", it.id, it.name, it.arguments));
            let calls: Vec<String> = calls.collect();
            format!("assistant {text} {} {:?}", calls.join(","), turn.reasoning)
        }
        ChatMessage::Prompt(_) => "prompt".to_owned(),
    };
    translated.chat.messages.iter().map(line).collect()
}

fn list_messages(messages: Value) -> Vec<String> {
    list_lines(&translate(json!({"messages": messages})))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn the_system_prompt_is_one_message_without_the_billing_header() {
    let lines = |system: Value| list_lines(&translate(json!({"system": system})))[0].clone();
    assert_eq!(lines(json!("Be kind")), r#"system "Be kind""#);
    let billing = text("x-anthropic-billing-header: cc_version=2.1;");
    assert_eq!(lines(json!([billing, text("a"), text("b")])), r#"system "a\n\nb""#);
    let marked = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    assert_eq!(lines(json!([marked, text("b")])), r#"system ["a" FiveMinutes, "b"]"#);
    assert_eq!(lines(json!("")), r#"user "Hi""#);
}

#[test]
fn a_system_message_in_the_middle_stays_where_it_is_in_the_users_message() {
    let reminder = r#""<system-reminder>\n# Env\n</system-reminder>""#;
    let first = list_messages(json!([
        {"role": "user", "content": [text("Hi")]},
        {"role": "system", "content": [text("# Env")], "output_config": {"effort": "low"}},
    ]));
    assert_eq!(first, [format!(r#"user ["Hi", {reminder}]"#)]);
    let later = list_messages(json!([
        {"role": "user", "content": [text("Hi")]},
        {"role": "system", "content": "# Env"},
        {"role": "assistant", "content": "Ho"},
    ]));
    assert_eq!(later[0], first[0], "the same text, so that a cached prefix stays valid");
    let after_result = list_messages(json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]},
        {"role": "system", "content": "# Env"},
    ]));
    assert_eq!(after_result[1..], [r#"tool 1 "ok""#.to_owned(), format!("user {reminder}")]);
}

#[test]
fn a_system_message_in_a_wrong_place_is_refused() {
    let turn = |role: &str| json!({"role": role, "content": "a"});
    for (roles, expected) in [
        (vec!["system", "user"], "messages.0.role: a system message may not be the first"),
        (vec!["user", "assistant", "system"], "messages.2.role: a system message must follow"),
        (vec!["user", "system", "system"], "messages.2.role: two system messages"),
        (vec!["user", "system", "user"], "messages.2.role: a system message must be the last"),
        (vec!["user", "tool"], "messages.1.role: Input should be 'user'"),
    ] {
        let messages: Vec<Value> = roles.iter().map(|role| turn(role)).collect();
        let faults = find_faults(json!({"messages": messages}));
        assert!(faults[0].starts_with(expected), "{faults:?}");
    }
}

#[test]
fn tools_are_added_removed_and_loaded_by_the_conversation() {
    let tool = |name: &str, deferred: bool| json!({"name": name, "input_schema": {}, "defer_loading": deferred});
    let change = |kind: &str, tool: Value| json!({"type": kind, "tool": tool});
    let name = |name: &str| json!({"type": "tool_reference", "name": name});
    let definition =
        json!({"type": "tool_definition", "definition": {"name": "New", "input_schema": {}}});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]});
    let found = json!({"type": "tool_result", "tool_use_id": "1",
        "content": [{"type": "tool_reference", "tool_name": "Found"}]});
    let translated = translate(json!({
        "tools": [tool("a", false), tool("Lazy", true), tool("Never", true), tool("Found", true), tool("Gone", false)],
        "messages": [
            call,
            {"role": "user", "content": [found]},
            {"role": "system", "content": [
                change("tool_addition", name("Lazy")), change("tool_addition", definition),
                change("tool_removal", name("Gone"))]},
        ],
    }));
    let names: Vec<&str> = translated.chat.tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "Lazy", "Found", "New"]);
    let bad = find_faults(
        json!({"messages": [{"role": "user", "content": [{"type": "tool_addition"}]}]}),
    );
    assert_eq!(bad, ["messages.0.content.0.tool: Field required"]);
}

#[test]
fn texts_images_documents_and_search_results_become_parts() {
    let lines = list_messages(json!([{"role": "user", "content": [
        text("a"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
        {"type": "document", "title": "p", "source": {"type": "base64", "media_type": "application/pdf", "data": "QQ=="}},
        {"type": "document", "source": {"type": "content", "content": [text("n")]}},
        {"type": "search_result", "source": "s", "title": "r", "content": [text("c")]},
    ]}]));
    let expected = r#"user ["a", image data:image/png;base64,QQ==, image https://example.com/a.png, "[File: t]\nd", document data:application/pdf;base64,QQ== Some("p"), "n", "r\ns\nc"]"#;
    assert_eq!(lines, [expected]);
}

#[test]
fn results_come_before_the_rest_of_their_message_and_their_images_in_it() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {"a": 1}});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}});
    let lines = list_messages(json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [text("So"), call("1"), call("2"), call("3")]},
        {"role": "user", "content": [
            text("And"),
            {"type": "tool_result", "tool_use_id": "1", "content": [text("x"), image, text("y")]},
            {"type": "tool_result", "tool_use_id": "2", "content": "bad", "is_error": true},
            {"type": "tool_result", "tool_use_id": "3"},
        ]},
    ]));
    assert_eq!(
        lines[1..],
        [
            r#"assistant "So" 1:f{"a":1},2:f{"a":1},3:f{"a":1} None"#,
            r#"tool 1 "x\ny""#,
            r#"tool 2 "Error: bad""#,
            r#"tool 3 """#,
            r#"user ["And", image data:image/png;base64,QQ==]"#,
        ]
    );
}

#[test]
fn a_result_without_its_call_is_refused() {
    let result = json!({"type": "tool_result", "tool_use_id": "7", "content": "x"});
    let faults = find_faults(json!({"messages": [{"role": "user", "content": [result]}]}));
    assert!(
        faults[0].starts_with(
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: 7."
        ),
        "{faults:?}"
    );
}

#[test]
fn thinking_goes_back_only_with_our_own_signature() {
    let signature = seal("m", 1).sign("why", ThinkingDisplay::Shown);
    let hidden = seal("m", 1).sign("why", ThinkingDisplay::Omitted);
    let lines = |thinking: &str, signature: &str| {
        let block = json!({"type": "thinking", "thinking": thinking, "signature": signature});
        let redacted = json!({"type": "redacted_thinking", "data": "x"});
        list_messages(json!([{"role": "assistant", "content": [block, redacted, text("a")]}]))
    };
    assert_eq!(lines("why", &signature), [r#"assistant "a"  Some("why")"#]);
    assert_eq!(lines("", &hidden), [r#"assistant "a"  Some("why")"#]);
    for (thinking, signature) in [("changed", signature.as_str()), ("why", "EqoBfor"), ("why", "")]
    {
        assert_eq!(lines(thinking, signature), [r#"assistant "a"  None"#]);
    }
}

#[test]
fn tools_are_functions_and_foreign_server_tools_are_named() {
    let translated = translate(json!({"tools": [
        {"name": "f", "description": "d", "input_schema": {"type": "object"}, "strict": true},
        {"type": "custom", "name": "g", "input_schema": {}, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
    ]}));
    let tools = &translated.chat.tools;
    assert_eq!((tools.len(), tools[0].strict), (2, Some(true)));
    assert_eq!(tools[0].parameters.as_ref().unwrap().get(), r#"{"type":"object"}"#);
    let faults = find_faults(json!({"tools": [
        {"type": "computer_20250124", "name": "computer"}, {"name": "f"},
        {"input_schema": []}, {"name": "", "input_schema": {}}]}));
    assert_eq!(
        faults,
        [
            "tools.0: Input tag 'computer_20250124' found using 'type' does not match any of the expected tags: 'custom', 'web_search_20250305'",
            "tools.1.input_schema: Field required",
            "tools.2.name: Field required",
            "tools.2.input_schema: Input should be a valid dictionary",
            "tools.3.name: Field required",
        ]
    );
}

#[test]
fn a_search_tool_is_refused_where_nothing_searches() {
    let request = parse(json!({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}));
    let none = RunnableTools { search: false, mcp: false };
    let translated = translate_request(request, BlockPolicy::Strict, &seal("m", 1), none);
    let issues = translated.faults.issues().to_string();
    assert!(issues.contains("Input tag 'web_search_20250305'"), "{issues}");
}

#[test]
fn schemas_of_many_megabytes_are_refused() {
    let tools = vec![json!({"name": "f", "input_schema": {"d": "x".repeat(1024 * 1024)}}); 5];
    let faults = find_faults(json!({"tools": tools}));
    assert!(faults[0].starts_with("tools: The names, descriptions and schemas have"), "{faults:?}");
}

#[test]
fn the_choice_of_tools_is_translated() {
    for (choice, expected, parallel) in [
        (json!({"type": "auto"}), ToolChoicePolicy::Auto, None),
        (json!({"type": "any"}), ToolChoicePolicy::Required, None),
        (json!({"type": "none"}), ToolChoicePolicy::None, None),
        (json!({"type": "tool", "name": "f"}), ToolChoicePolicy::Function("f".to_owned()), None),
        (
            json!({"type": "any", "disable_parallel_tool_use": true}),
            ToolChoicePolicy::Required,
            Some(false),
        ),
    ] {
        let tools = json!([{"name": "f", "input_schema": {}}]);
        let chat = translate(json!({"tools": tools, "tool_choice": choice})).chat;
        assert_eq!((chat.tool_choice, chat.parallel_tool_calls), (Some(expected), parallel));
    }
    assert_eq!(translate(json!({"tool_choice": {"type": "auto"}})).chat.tool_choice, None);
    assert_eq!(
        find_faults(json!({"tool_choice": {"type": "tool"}})),
        ["tool_choice.name: Field required"]
    );
    assert!(
        find_faults(json!({"tool_choice": {"type": "x"}}))[0]
            .starts_with("tool_choice: Input tag 'x'")
    );
}

#[test]
fn thinking_is_effort_and_its_text_is_shown_as_asked() {
    use EffortLevel::{High, Low, Medium};
    use ThinkingDisplay::{Absent, Omitted, Shown};
    for (thinking, effort, enabled, display) in [
        (json!({"type": "adaptive"}), Some(Medium), None, Shown),
        (json!({"type": "adaptive", "display": "omitted"}), Some(Medium), None, Omitted),
        (json!({"type": "adaptive", "display": "updates"}), Some(Medium), None, Omitted),
        (json!({"type": "enabled", "budget_tokens": 1024}), Some(Medium), Some(true), Shown),
        (json!({"type": "disabled"}), None, Some(false), Absent),
    ] {
        let more = json!({"thinking": thinking, "output_config": {"effort": "medium"}});
        let translated = translate(more);
        let reasoning = &translated.chat.reasoning;
        assert_eq!(
            (reasoning.effort, reasoning.enabled, translated.display),
            (effort, enabled, display)
        );
    }
    for (budget, expected) in [(1024, Low), (4096, Medium), (32000, High)] {
        let thinking = json!({"type": "enabled", "budget_tokens": budget});
        assert_eq!(translate(json!({"thinking": thinking})).chat.reasoning.effort, Some(expected));
    }
    let faults = find_faults(json!({"thinking": {"type": "deep"}}));
    assert!(faults[0].starts_with("thinking: Input tag 'deep'"), "{faults:?}");
}

#[test]
fn the_effort_of_the_last_message_counts() {
    let translated = translate(json!({
        "output_config": {"effort": "low"},
        "messages": [
            {"role": "user", "content": "a", "output_config": {"effort": "max"}},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c", "output_config": {"effort": "high"}},
        ],
    }));
    assert_eq!(translated.chat.reasoning.effort, Some(EffortLevel::High));
    let faults = find_faults(json!({"output_config": {"effort": "utmost"}}));
    assert!(faults[0].starts_with("output_config.effort: Input should be 'low'"), "{faults:?}");
}

#[test]
fn a_schema_of_the_answer_is_read_from_both_places() {
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    for more in [json!({"output_config": {"format": format}}), json!({"output_format": format})] {
        let ChatResponseFormat::JsonSchema { schema, .. } = translate(more).chat.response_format
        else {
            panic!("no schema");
        };
        assert_eq!(schema.get(), r#"{"type":"object"}"#);
    }
    let faults = find_faults(json!({"output_config": {"format": {"type": "json_schema"}}}));
    assert_eq!(faults, ["output_config.format.schema: Field required"]);
}

#[test]
fn bounds_and_sampling_are_as_named() {
    let chat =
        translate(json!({"stop_sequences": ["END"], "temperature": 0.5, "top_p": 0.9, "top_k": 4}))
            .chat;
    assert_eq!(chat.completion_tokens_max, Some(9));
    assert_eq!(chat.stop, ["END"]);
    let sampling = (chat.sampling.temperature, chat.sampling.top_p, chat.sampling.top_k);
    assert_eq!(sampling, (Some(0.5), Some(0.9), Some(4)));
    let faults = find_faults(json!({"max_tokens": 0}));
    assert_eq!(faults, ["max_tokens: Input should be greater than or equal to 1"]);
}

#[test]
fn cache_markers_stay_with_their_blocks() {
    let marked =
        json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}});
    let lines = list_messages(json!([{"role": "user", "content": [text("b"), marked]}]));
    assert_eq!(lines, [r#"user ["b", "a" OneHour]"#]);
}

#[test]
fn what_is_for_anthropics_own_service_goes_nowhere() {
    let chat = translate(json!({
        "metadata": {"user_id": "{\"device_id\":\"secret\"}"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "service_tier": "auto", "container": "c", "speed": "fast", "inference_geo": "us",
        "fallbacks": [{"model": "x"}], "diagnostics": {}, "cache_control": {"type": "ephemeral"},
    }))
    .chat;
    assert!(!format!("{chat:?}").contains("secret"));
    assert!(chat.rest.is_empty());
}

#[test]
fn unknown_blocks_are_refused_where_they_are() {
    let faults = find_faults(json!({
        "system": [{"type": "video"}],
        "messages": [
            {"role": "user", "content": [{"type": "container_upload"}, {"type": "text"},
                {"type": "image"}, {"type": "image", "source": {"type": "file", "file_id": "f"}},
                {"type": "image", "source": {"type": "base64", "data": 7}}]},
            {"role": "assistant", "content": [{"type": "video_use"}, {"type": "tool_use", "id": "1"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [7]}]},
        ],
    }));
    let places: Vec<&str> = faults.iter().map(|it| it.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "system.0",
            "messages.0.content.0",
            "messages.0.content.1.text",
            "messages.0.content.2.source",
            "messages.0.content.3.source",
            "messages.0.content.4.source.media_type",
            "messages.0.content.4.source.data",
            "messages.1.content.0",
            "messages.1.content.1.name",
            "messages.2.content.0.content.0",
            "messages.2.content.0",
        ]
    );
}

#[test]
fn a_provider_of_the_same_protocol_may_know_what_we_do_not() {
    let translated = translate_by(
        BlockPolicy::Lenient,
        json!({
            "max_tokens": 0,
            "system": [{"type": "new"}],
            "messages": [
                {"role": "system", "content": [{"type": "new", "long": "text"}]},
                {"role": "user", "content": [{"type": "new", "long": "text"}, {"type": "image"},
                    {"type": "tool_result", "tool_use_id": "9"}]},
                {"role": "assistant", "content": [{"type": "new"}]},
                {"role": "narrator", "content": "x"},
            ],
            "tools": [{"type": "computer_20250124", "name": "computer"}, {"name": "f"}],
            "tool_choice": {"type": "new"}, "thinking": {"type": "new"},
            "output_config": {"effort": {"new": 1}, "format": {"type": "new"}},
            "mcp_servers": [{"name": "a", "url": "https://example.com"}],
        }),
    );
    assert!(translated.faults.is_empty(), "{}", translated.faults.issues());
    assert_eq!(translated.chat.tools.len(), 2, "counted");
    assert!(format!("{:?}", translated.chat.messages).contains("long"), "counted");
}

//! Tests with templates of real models.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::request::PromptTool;

/// Similar to Qwen2.5's: tools as JSON, calls and results between tags.
const WITH_TOOLS: &str = r"{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- for tool in tools %}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '\nAnswer with <tool_call></tool_call>.<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'assistant' and message.tool_calls %}
        {{- '<|im_start|>assistant' }}
        {%- for call in message.tool_calls %}
            {%- set call = call.function %}
            {{- '\n<tool_call>\n' + (call.arguments | tojson) + '\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response>' }}
        {{- '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\n' + message.content.strip() + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
";

#[track_caller]
fn check(source: Option<&str>, chat: &ChatPrompt, expected: Expect) {
    let special = SpecialTokens { begin: "<s>".to_owned(), end: "</s>".to_owned() };
    let template = ChatTemplate::new(source, special).unwrap();
    let written = template.render(chat, 1_790_000_000);
    expected.assert_eq(&written.unwrap_or_else(|refusal| refusal.to_string()));
}

fn chat(messages: Value) -> ChatPrompt {
    ChatPrompt { messages: messages.as_array().unwrap().clone(), ..ChatPrompt::default() }
}

#[test]
fn a_file_without_a_template_gets_chatml() {
    check(
        None,
        &chat(json!([{"role": "system", "content": "Be <b>."}, {"role": "user", "content": "Hi"}])),
        expect![[r#"
            <|im_start|>system
            Be <b>.<|im_end|>
            <|im_start|>user
            Hi<|im_end|>
            <|im_start|>assistant
        "#]],
    );
}

#[test]
fn tools_and_calls_are_written_as_python_writes_json() {
    let function = json!({"name": "add", "arguments": "{\"a\":1,\"b\":[2,3]}"});
    let messages = json!([
        {"role": "user", "content": " add <1> \n"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": function}]},
    ]);
    let tool = PromptTool { name: "add".to_owned(), description: None, parameters: None };
    check(
        Some(WITH_TOOLS),
        &ChatPrompt { tools: vec![tool], ..chat(messages) },
        expect![[r#"
            <|im_start|>system
            {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
            Answer with <tool_call></tool_call>.<|im_end|>
            <|im_start|>user
            add <1><|im_end|>
            <|im_start|>assistant
            <tool_call>
            {"a": 1, "b": [2, 3]}
            </tool_call><|im_end|>
            <|im_start|>assistant
        "#]],
    );
}

#[test]
fn a_result_of_a_tool_is_written_after_its_call() {
    let function = json!({"name": "add", "arguments": "{}"});
    let messages = json!([
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "5"}]},
    ]);
    check(
        Some(WITH_TOOLS),
        &chat(messages),
        expect![[r#"
            <|im_start|>assistant
            <tool_call>
            {}
            </tool_call><|im_end|>
            <|im_start|>user
            <tool_response>
            5
            </tool_response><|im_end|>
            <|im_start|>assistant
        "#]],
    );
}

#[test]
fn a_template_that_shows_tools_is_told_from_one_that_does_not() {
    let has =
        |source| ChatTemplate::new(source, SpecialTokens::default()).unwrap().has_tool_calls();
    assert!(has(Some(WITH_TOOLS)));
    assert!(!has(None));
}

#[test]
fn a_template_may_refuse_and_its_words_reach_the_caller() {
    check(
        Some("{{ raise_exception('Roles must alternate') }}"),
        &chat(json!([])),
        expect!["The model's template refuses this chat: Roles must alternate"],
    );
}

#[test]
fn a_template_may_ask_for_the_date_and_the_special_tokens() {
    check(
        Some("{{ bos_token }}{{ strftime_now('%d %b %Y') }}{{ eos_token }}"),
        &chat(json!([])),
        expect!["<s>21 Sep 2026</s>"],
    );
}

#[test]
fn switches_reach_the_template_and_cannot_replace_the_messages() {
    let switches = json!({"enable_thinking": false, "messages": [], "bos_token": "x"});
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let source = "{{ bos_token }} {{ messages | length }} {{ enable_thinking }}";
    let switches = switches.as_object().unwrap().clone();
    check(Some(source), &ChatPrompt { switches, ..chat(messages) }, expect!["<s> 1 False"]);
}

#[test]
fn marks_for_training_are_left_out() {
    let source = "{% generation %}{{ messages[0].content }}{%- endgeneration -%}!";
    check(Some(source), &chat(json!([{"role": "user", "content": "Hi"}])), expect!["Hi!"]);
}

#[test]
fn a_template_that_is_no_jinja_is_found_when_it_is_read() {
    let error = ChatTemplate::new(Some("{% for %}"), SpecialTokens::default()).unwrap_err();
    assert!(error.contains("syntax error"), "{error}");
}

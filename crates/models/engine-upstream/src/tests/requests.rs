//! Chat requests that together use every field.

use engine::{
    AssistantTurn, CacheControl, ChatContent, ChatContentPart, ChatMessage, ChatRequest,
    ChatResponseFormat, ChatTool, EffortLevel, LogprobParameters, PartKind, ReasoningParameters,
    SamplingParameters, ToolCall, ToolChoicePolicy,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub(super) fn all() -> Vec<(&'static str, ChatRequest)> {
    vec![
        ("plain", user("Hello")),
        ("sampling", sampling()),
        ("vision", vision()),
        ("tools", tools()),
        ("tool-forced", tool_forced()),
        ("json-schema", json_schema()),
        ("json-object", json_object()),
        ("logprobs", logprobs()),
        ("thinking", thinking()),
        ("thinking-off", thinking_off()),
        ("thinking-without-room", thinking_without_room()),
        ("thoughts-returned", thoughts_returned()),
        ("audio", audio()),
        ("documents", documents()),
    ]
}

pub(super) fn user(text: &str) -> ChatRequest {
    let content = ChatContent::Text(text.to_owned());
    let messages = vec![ChatMessage::User { content, name: None }];
    ChatRequest { messages, ..ChatRequest::default() }
}

fn sampling() -> ChatRequest {
    let rest = json!({
        "mirostat": 2, "model": "another", "stream": false, "user": "eve",
        "chat_template_kwargs": {"enable_thinking": true},
    });
    ChatRequest {
        completion_tokens_max: Some(100),
        sampling: SamplingParameters {
            temperature: Some(1.5),
            temperature_min: Some(0.5),
            temperature_max: Some(1.9),
            top_p: Some(0.5),
            top_k: Some(40),
            min_p: Some(0.25),
            frequency_penalty: Some(-1.5),
            presence_penalty: Some(0.5),
            repetition_penalty: Some(1.25),
            seed: Some(7),
        },
        stop: vec!["END".to_owned(), "\n\n".to_owned()],
        stop_token_ids: vec![2, 128_009],
        choices: Some(2),
        verbosity: Some("low".to_owned()),
        prompt_cache_key: Some("thread-1".to_owned()),
        prompt_cache_retention: Some("extended".to_owned()),
        rest: object(rest),
        ..user("Hello")
    }
}

fn vision() -> ChatRequest {
    let inline = "data:image/png;base64,iVBORw0KGgo=";
    let parts = vec![
        part(PartKind::Text("What is this?".to_owned()), Some(CacheControl::OneHour)),
        part(image(inline), None),
        part(image("https://example.com/cat.jpg"), Some(CacheControl::FiveMinutes)),
    ];
    let system =
        vec![part(PartKind::Text("Be brief.".to_owned()), Some(CacheControl::FiveMinutes))];
    let messages = vec![
        ChatMessage::System { content: ChatContent::Parts(system), name: None },
        ChatMessage::User { content: ChatContent::Parts(parts), name: Some("ann".to_owned()) },
    ];
    ChatRequest { messages, ..ChatRequest::default() }
}

/// A turn with two calls, their two results, and a further user message.
fn tools() -> ChatRequest {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        arguments: arguments.to_owned(),
        extra: Map::new(),
    };
    let result = |id: &str, text: &str| ChatMessage::Tool {
        call_id: id.to_owned(),
        content: ChatContent::Text(text.to_owned()),
    };
    let turn = AssistantTurn {
        tool_calls: vec![call("a", r#"{"city": "Bern"}"#), call("b", "")],
        ..AssistantTurn::default()
    };
    let mut request = user("Weather?");
    request.messages.push(ChatMessage::Assistant(turn));
    request.messages.extend([result("a", "sunny"), result("b", "rain")]);
    request.messages.extend(user("And tomorrow?").messages);
    request.tools = vec![weather(), ChatTool { name: "clock".to_owned(), ..bare_tool() }];
    request.parallel_tool_calls = Some(false);
    request.tool_choice = Some(ToolChoicePolicy::Auto);
    request
}

fn tool_forced() -> ChatRequest {
    ChatRequest {
        tools: vec![weather()],
        tool_choice: Some(ToolChoicePolicy::Function("weather".to_owned())),
        ..user("Weather?")
    }
}

fn json_schema() -> ChatRequest {
    let schema = raw(json!({"type": "object", "properties": {"city": {"type": "string"}}}));
    let response_format =
        ChatResponseFormat::JsonSchema { name: "place".to_owned(), schema, strict: Some(true) };
    ChatRequest { response_format, ..user("Where?") }
}

fn json_object() -> ChatRequest {
    ChatRequest { response_format: ChatResponseFormat::JsonObject, ..user("Where?") }
}

fn logprobs() -> ChatRequest {
    ChatRequest { logprobs: Some(LogprobParameters { top: Some(3) }), ..user("Where?") }
}

fn thinking() -> ChatRequest {
    let reasoning = ReasoningParameters {
        effort: Some(EffortLevel::ExtraHigh),
        summary: Some("auto".to_owned()),
        enabled: Some(true),
    };
    let sampling = SamplingParameters { temperature: Some(0.5), ..SamplingParameters::default() };
    ChatRequest { reasoning, sampling, completion_tokens_max: Some(20_000), ..user("Why?") }
}

fn thinking_off() -> ChatRequest {
    let reasoning = ReasoningParameters { enabled: Some(false), ..ReasoningParameters::default() };
    let rest = object(json!({"chat_template_kwargs": {"enable_thinking": true}}));
    ChatRequest { reasoning, rest, ..user("Why?") }
}

fn thinking_without_room() -> ChatRequest {
    let reasoning =
        ReasoningParameters { effort: Some(EffortLevel::Low), ..ReasoningParameters::default() };
    ChatRequest { reasoning, completion_tokens_max: Some(1024), ..user("Why?") }
}

/// Reasoning of an earlier answer, of which only signed and encrypted entries can be returned.
fn thoughts_returned() -> ChatRequest {
    let details = raw(json!([
        {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "index": 0},
        {"type": "reasoning.text", "text": "unsigned", "index": 1},
        {"type": "reasoning.encrypted", "data": "ZW5j", "index": 2},
        {"type": "reasoning.summary", "summary": "another maker's"},
        {"type": "reasoning.encrypted", "data": "Zm9y", "format": "google-gemini-v1"},
        7,
    ]));
    let turn = AssistantTurn {
        content: Some(ChatContent::Text("Because.".to_owned())),
        reasoning: Some("Hm.".to_owned()),
        reasoning_details: Some(details),
        thought_signature: Some("sig".to_owned()),
        ..AssistantTurn::default()
    };
    let mut request = user("Why?");
    request.messages.push(ChatMessage::Assistant(turn));
    request.messages.extend(user("Really?").messages);
    request
}

fn audio() -> ChatRequest {
    let heard = PartKind::Audio { data: "UklGRg==".to_owned(), format: "wav".to_owned() };
    let seen = PartKind::Video { url: "https://example.com/cat.mp4".to_owned() };
    let content = ChatContent::Parts(vec![part(heard, None), part(seen, None)]);
    let messages = vec![ChatMessage::User { content, name: None }];
    ChatRequest { messages, ..ChatRequest::default() }
}

fn documents() -> ChatRequest {
    let document = |url: &str, name: Option<&str>| PartKind::Document {
        url: url.to_owned(),
        name: name.map(str::to_owned),
    };
    let inline = document("data:application/pdf;base64,JVBERi0=", Some("a.pdf"));
    let public = document("https://example.com/b.pdf", None);
    let content =
        ChatContent::Parts(vec![part(inline, Some(CacheControl::FiveMinutes)), part(public, None)]);
    let messages = vec![ChatMessage::User { content, name: None }];
    ChatRequest { messages, ..ChatRequest::default() }
}

fn part(kind: PartKind, cache: Option<CacheControl>) -> ChatContentPart {
    ChatContentPart { kind, cache }
}

fn image(url: &str) -> PartKind {
    PartKind::Image { url: url.to_owned(), detail: None }
}

fn weather() -> ChatTool {
    let parameters = raw(json!({"type": "object", "properties": {"city": {"type": "string"}}}));
    ChatTool {
        name: "weather".to_owned(),
        description: Some("The weather of a city".to_owned()),
        parameters: Some(parameters),
        strict: Some(true),
    }
}

fn bare_tool() -> ChatTool {
    ChatTool { name: String::new(), description: None, parameters: None, strict: None }
}

fn raw(value: Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}

//! Tests that constrained answers always conform.

use engine_text::{
    ChatPrompt, FinishCause, GenerationFormat, PromptTool, SamplingSettings, TextPrompt,
    TextRefusal, TextRequest,
};
use serde_json::{Value, json};

use crate::harness::{MODEL, answer, ask};

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 20},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "likes": {"type": "array", "items": {"enum": ["tea", "coffee"]}, "maxItems": 3},
        },
        "required": ["name", "age", "likes"],
        "additionalProperties": false,
    })
}

#[test]
fn an_answer_of_a_schema_parses_and_fits_for_any_seed() {
    for seed in 0..8 {
        let mut request = ask("Invent a person.");
        request.format = GenerationFormat::JsonSchema(person());
        request.completion_tokens_max = Some(200);
        request.sampling =
            SamplingSettings { temperature: Some(1.5), ..SamplingSettings::default() };
        request.seed = seed;
        let answer = answer(&request);
        assert_eq!(answer.finish, Some(FinishCause::Stop), "seed {seed}: {}", answer.text);
        let value: Value = serde_json::from_str(&answer.text)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}: {}", answer.text));
        let age = value["age"].as_u64().unwrap();
        assert!(age <= 120, "seed {seed}: {value}");
        assert!(value["name"].as_str().unwrap().chars().count() <= 20, "seed {seed}: {value}");
        let likes = value["likes"].as_array().unwrap();
        assert!(likes.iter().all(|it| it == "tea" || it == "coffee"), "seed {seed}: {value}");
    }
}

#[test]
fn json_mode_gives_an_object() {
    let mut request = ask("Give me a JSON object with one key.");
    request.format = GenerationFormat::JsonObject;
    request.completion_tokens_max = Some(300);
    let answer = answer(&request);
    if answer.finish == Some(FinishCause::Stop) {
        let value: Value = serde_json::from_str(&answer.text).unwrap();
        assert!(value.is_object(), "{value}");
    } else {
        // A truncated answer is at least the start of an object.
        assert!(answer.text.starts_with('{'), "{}", answer.text);
    }
}

#[test]
fn a_schema_that_cannot_be_enforced_is_refused() {
    let mut request = ask("Hello");
    request.format = GenerationFormat::JsonSchema(json!({"type": "nothing"}));
    let refusal = MODEL.generate(&request).unwrap_err();
    assert!(matches!(refusal, TextRefusal::Invalid { param: "response_format", .. }), "{refusal}");
}

#[test]
fn a_model_that_was_not_trained_for_tools_says_so() {
    let tool = PromptTool { name: "add".to_owned(), description: None, parameters: None };
    let messages = vec![json!({"role": "user", "content": "Add 1 and 2."})];
    let chat = ChatPrompt { messages, tools: vec![tool], ..ChatPrompt::default() };
    let refusal =
        MODEL.generate(&TextRequest { prompt: TextPrompt::Chat(chat), ..ask("") }).unwrap_err();
    assert!(matches!(refusal, TextRefusal::Invalid { param: "tools", .. }), "{refusal}");
}

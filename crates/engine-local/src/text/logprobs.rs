//! Log probabilities in the formats of both endpoints.

use engine_text::{Logprob, TokenLogprob};
use serde_json::{Map, Value, json};

use super::Shape;

/// Null if none were requested.
pub(super) fn body(shape: Shape, tokens: &[TokenLogprob]) -> Value {
    match (tokens.is_empty(), shape) {
        (true, _) => Value::Null,
        (false, Shape::Chat) => json!({"content": tokens.iter().map(of_chat).collect::<Value>()}),
        (false, Shape::Text) => of_text(tokens),
    }
}

fn of_chat(token: &TokenLogprob) -> Value {
    let Value::Object(mut body) = with_bytes(&token.token) else { return Value::Null };
    body.insert("top_logprobs".to_owned(), token.alternatives.iter().map(with_bytes).collect());
    Value::Object(body)
}

fn with_bytes(logprob: &Logprob) -> Value {
    json!({"token": text(logprob), "logprob": finite(logprob), "bytes": logprob.bytes})
}

/// The format of `/completions`: parallel lists.
fn of_text(tokens: &[TokenLogprob]) -> Value {
    let alternatives = |token: &TokenLogprob| -> Map<String, Value> {
        token.alternatives.iter().map(|it| (text(it), finite(it).into())).collect()
    };
    json!({
        "tokens": tokens.iter().map(|it| text(&it.token)).collect::<Vec<_>>(),
        "token_logprobs": tokens.iter().map(|it| finite(&it.token)).collect::<Vec<_>>(),
        "top_logprobs": tokens.iter().map(alternatives).collect::<Vec<_>>(),
    })
}

fn text(logprob: &Logprob) -> String {
    String::from_utf8_lossy(&logprob.bytes).into_owned()
}

/// JSON has no infinity; OpenAI uses this value for impossible tokens.
fn finite(logprob: &Logprob) -> f32 {
    logprob.logprob.max(-9999.0)
}

//! Log probabilities in the formats of both endpoints.

use engine_text::{CandidateLogprob, TokenLogprob};
use serde_json::{Map, Value, json};

use super::CompletionEndpoint;

/// Null if none were requested.
pub(super) fn encode_logprobs(shape: CompletionEndpoint, tokens: &[TokenLogprob]) -> Value {
    match (tokens.is_empty(), shape) {
        (true, _) => Value::Null,
        (false, CompletionEndpoint::Chat) => {
            json!({"content": tokens.iter().map(encode_chat_logprob).collect::<Value>()})
        }
        (false, CompletionEndpoint::Text) => encode_text_logprobs(tokens),
    }
}

fn encode_chat_logprob(token: &TokenLogprob) -> Value {
    let Value::Object(mut body) = with_bytes(&token.token) else { return Value::Null };
    body.insert("top_logprobs".to_owned(), token.alternatives.iter().map(with_bytes).collect());
    Value::Object(body)
}

fn with_bytes(logprob: &CandidateLogprob) -> Value {
    json!({"token": token_text(logprob), "logprob": finite_logprob(logprob), "bytes": logprob.bytes})
}

/// The format of `/completions`: parallel lists.
fn encode_text_logprobs(tokens: &[TokenLogprob]) -> Value {
    let alternatives = |token: &TokenLogprob| -> Map<String, Value> {
        token.alternatives.iter().map(|it| (token_text(it), finite_logprob(it).into())).collect()
    };
    json!({
        "tokens": tokens.iter().map(|it| token_text(&it.token)).collect::<Vec<_>>(),
        "token_logprobs": tokens.iter().map(|it| finite_logprob(&it.token)).collect::<Vec<_>>(),
        "top_logprobs": tokens.iter().map(alternatives).collect::<Vec<_>>(),
    })
}

fn token_text(logprob: &CandidateLogprob) -> String {
    String::from_utf8_lossy(&logprob.bytes).into_owned()
}

/// JSON has no infinity; OpenAI uses this value for impossible tokens.
fn finite_logprob(logprob: &CandidateLogprob) -> f32 {
    logprob.logprob.max(-9999.0)
}

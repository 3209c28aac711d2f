//! Embeddings over a real socket: batches are split, joined in order and checked.

use std::sync::Arc;

use engine::{EmbeddingAnswer, EmbeddingInput, EmbeddingRequest, EngineError};
use serde_json::{Value, json};

use super::stub::{StubAction, StubServer, json as answer};

/// A server that returns each numeric text's value as its vector, in reverse order.
fn server(usage: Value) -> StubServer {
    StubServer::start(move |request| {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        let input = body["input"].as_array().unwrap();
        assert!(input.len() <= 2, "a batch of {}", input.len());
        assert_eq!(body["encoding_format"], "float");
        let entry = |(index, it): (usize, &Value)| {
            let value: f32 = it
                .as_str()
                .map_or_else(|| it[0].as_f64().unwrap() as f32, |text| text.parse().unwrap());
            json!({"object": "embedding", "index": index, "embedding": [value, 0.5]})
        };
        let data: Vec<Value> = input.iter().enumerate().map(entry).rev().collect();
        let reply = json!({"object": "list", "data": data, "usage": usage});
        vec![StubAction::Say(answer("200 OK", &reply.to_string()))]
    })
}

async fn embed(stub: &StubServer, input: EmbeddingInput) -> Result<EmbeddingAnswer, EngineError> {
    let request = EmbeddingRequest { input, dimensions: None };
    stub.upstream().create_embedding_engine("e").unwrap().embed(Arc::new(request)).await
}

fn texts(count: usize) -> EmbeddingInput {
    EmbeddingInput::Texts((0..count).map(|it| it.to_string()).collect())
}

#[tokio::test]
async fn batches_are_split_and_joined_in_order() {
    let stub = server(json!({"prompt_tokens": 3, "total_tokens": 3}));
    let answer = embed(&stub, texts(11)).await.unwrap();
    let firsts: Vec<f32> = answer.vectors.iter().map(|vector| vector[0]).collect();
    assert_eq!(firsts, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    let usage = answer.usage.unwrap();
    assert_eq!((usage.prompt(), usage.completion()), (18, 0));
    assert_eq!(stub.requests_seen(), 6);
}

#[tokio::test]
async fn tokens_are_sent_as_tokens() {
    let stub = server(json!({"prompt_tokens": 3, "total_tokens": 3}));
    let answer = embed(&stub, EmbeddingInput::Tokens(vec![vec![4, 2], vec![9]])).await.unwrap();
    assert_eq!(answer.vectors, [vec![4.0, 0.5], vec![9.0, 0.5]]);
}

#[tokio::test]
async fn a_missing_usage_stays_missing() {
    let stub = server(Value::Null);
    assert_eq!(embed(&stub, texts(3)).await.unwrap().usage, None);
}

//! Reranking over a real socket: TEI's batches are split, joined in order, checked and metered.

use std::sync::Arc;

use engine::{EngineError, EngineUsage, RerankAnswer, RerankRequest};
use serde_json::{Value, json};

use super::stub::{StubAction, StubServer, json as answer, patient};
use crate::ProviderProtocol;

/// A TEI server that gives each numeric text its value as score, in reverse order.
fn server(tokens: Option<&'static str>) -> StubServer {
    StubServer::start(move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /v1/rerank "), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["query"], &body["truncate"]), (&json!("q"), &json!(true)));
        assert_eq!((&body["raw_scores"], &body["return_text"]), (&json!(false), &json!(false)));
        let texts = body["texts"].as_array().unwrap();
        let rank = |(index, text): (usize, &Value)| {
            let score: f64 = text.as_str().unwrap().parse().unwrap();
            json!({"index": index, "score": score})
        };
        let ranks: Value = texts.iter().enumerate().map(rank).rev().collect();
        let mut said = String::from_utf8(answer("200 OK", &ranks.to_string())).unwrap();
        if let Some(tokens) = tokens {
            said = said.replacen("\r\n", &format!("\r\nx-compute-tokens: {tokens}\r\n"), 1);
        }
        vec![StubAction::Say(said.into_bytes())]
    })
}

async fn rank(stub: &StubServer, documents: usize) -> Result<RerankAnswer, EngineError> {
    let documents = (0..documents).map(|it| it.to_string()).collect();
    let request = RerankRequest { query: "q".to_owned(), documents, truncate: true };
    let upstream = stub.upstream_with(ProviderProtocol::Tei, patient());
    upstream.create_rerank_engine("").unwrap().rerank(Arc::new(request)).await
}

#[tokio::test]
async fn documents_are_split_to_the_limit_of_the_server_and_joined_in_order() {
    let stub = server(Some("7"));
    let answer = rank(&stub, 5).await.unwrap();
    assert_eq!(answer.scores, [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(answer.usage, Some(EngineUsage::from_counts(21, 0)));
    assert_eq!(stub.requests_seen(), 3);
}

#[tokio::test]
async fn tokens_that_are_missing_or_no_number_stay_missing() {
    for tokens in [None, Some("many"), Some("-3"), Some("1.5")] {
        let stub = server(tokens);
        assert_eq!(rank(&stub, 1).await.unwrap().usage, None, "{tokens:?}");
    }
}

#[tokio::test]
async fn a_batch_that_is_too_short_is_an_error() {
    let ranks = json!([{"index": 0, "score": 0.5}]).to_string();
    let stub = StubServer::saying(answer("200 OK", &ranks));
    let error = rank(&stub, 2).await.unwrap_err();
    assert!(matches!(error, EngineError::BadAnswer { .. }), "{error:?}");
}

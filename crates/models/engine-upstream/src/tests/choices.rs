//! Tests several choices from servers that return one at a time.

use std::sync::Arc;

use engine::{ChatEngine, ChatEvent, ChatRequest, EngineError, SamplingParameters};
use futures_util::StreamExt;

use super::stub::{StubAction, StubRecord, StubServer, json, patient, sse};
use super::{requests, tell};
use crate::{ProviderProtocol, ServerQuirks};

const ANSWER: &str = r#"{"id":"1","choices":[{"index":0,"message":{"content":"Hi"},
    "finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2}}"#;
const HI: &str =
    r#"{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}"#;
const STOP: &str = r#"{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2}}"#;

fn three() -> Arc<ChatRequest> {
    let sampling = SamplingParameters { seed: Some(7), ..SamplingParameters::default() };
    Arc::new(ChatRequest { choices: Some(3), sampling, ..requests::user("Hello") })
}

fn chat(stub: &StubServer) -> Arc<dyn ChatEngine> {
    stub.upstream_with(ProviderProtocol::OpenAi(ServerQuirks::OLLAMA), patient())
        .create_chat_engine("m", 100)
        .unwrap()
}

#[tokio::test]
async fn whole_answers_are_numbered_and_the_prompt_counts_once() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    let answer = chat(&stub).complete_chat(three()).await.unwrap();
    let indexes: Vec<u32> = answer.choices.iter().map(|it| it.index).collect();
    assert_eq!(indexes, [0, 1, 2]);
    let usage = tell::usage(answer.usage.unwrap());
    assert_eq!(usage, "prompt 10 (cached 0, written 0) completion 6 (reasoning 0)");
}

#[tokio::test]
async fn each_choice_is_asked_for_with_its_own_seed() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    chat(&stub).complete_chat(three()).await.unwrap();
    let mut bodies: Vec<String> = (0..3)
        .map(|_| match stub.next_seen() {
            StubRecord::Request(request) => request.split_once("\r\n\r\n").unwrap().1.to_owned(),
            StubRecord::Close => panic!("a connection was closed"),
        })
        .collect();
    bodies.sort();
    let expected = [7, 8, 9].map(|seed| {
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":"Hello"}}],"seed":{seed}}}"#)
    });
    assert_eq!(bodies, expected);
}

#[tokio::test]
async fn streams_are_woven_and_end_with_one_usage() {
    let stub = StubServer::saying(sse(&[HI, STOP, USAGE, "[DONE]"]));
    let mut stream = chat(&stub).stream_chat(three()).await.unwrap();
    let mut finished = Vec::new();
    let mut told = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        if let ChatEvent::Chunk(chunk) = &event {
            let ended = chunk.deltas.iter().filter(|it| it.finish.is_some());
            finished.extend(ended.map(|it| it.index));
            let is_first = chunk.deltas.iter().all(|it| it.index == 0);
            assert_eq!(chunk.verbatim.is_some(), is_first, "only choice 0 keeps its bytes");
        }
        told.push(tell::event(&event));
    }
    finished.sort_unstable();
    assert_eq!(finished, [0, 1, 2]);
    let usage = "usage prompt 10 (cached 0, written 0) completion 6 (reasoning 0)";
    assert_eq!(told.last().map(String::as_str), Some(usage));
    assert_eq!(told.iter().filter(|it| it.starts_with("usage")).count(), 1);
    assert_eq!(told.iter().filter(|it| it.starts_with("id")).count(), 1);
}

#[tokio::test]
async fn one_broken_stream_breaks_them_all() {
    let stub = StubServer::start(|request| {
        let is_second = request.contains(r#""seed":8"#);
        vec![StubAction::Say(if is_second { sse(&[HI]) } else { sse(&[HI, STOP, "[DONE]"]) })]
    });
    let stream = chat(&stub).stream_chat(three()).await.unwrap();
    let outcomes: Vec<bool> = stream.map(|it| it.is_ok()).collect().await;
    assert_eq!(outcomes.iter().filter(|is_ok| !**is_ok).count(), 1);
    assert_eq!(outcomes.last(), Some(&false));
}

#[tokio::test]
async fn too_many_choices_are_refused_before_anything_is_asked() {
    let stub = StubServer::saying(json("200 OK", ANSWER));
    let many = ChatRequest { choices: Some(17), ..requests::user("Hello") };
    let error = chat(&stub).complete_chat(Arc::new(many)).await.unwrap_err();
    assert!(matches!(error, EngineError::Rejected { .. }), "{error:?}");
    assert_eq!(stub.requests_seen(), 0);
}

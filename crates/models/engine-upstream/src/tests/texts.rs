//! Text completions over a real socket: encoded, decoded whole and streamed, and truncated at every
//! byte.

use std::sync::Arc;

use engine::{
    ChatEvent, ChatMessage, ChatRequest, CompletionPrompt, EngineError, FinishReason, PromptText,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::stub::{StubRecord, StubServer, json as reply, patient, sse};
use crate::{ProviderProtocol, ServerQuirks, ThinkingStyle};

fn request() -> Arc<ChatRequest> {
    let text = PromptText::Text("fn add(".to_owned());
    let prompt = CompletionPrompt { texts: vec![text], suffix: Some("}".to_owned()) };
    Arc::new(ChatRequest {
        messages: vec![ChatMessage::Prompt(prompt)],
        completion_tokens_max: Some(7),
        stop: vec!["\n".to_owned()],
        ..ChatRequest::default()
    })
}

/// Two choices for each text.
fn several(texts: Vec<PromptText>) -> Arc<ChatRequest> {
    let messages = vec![ChatMessage::Prompt(CompletionPrompt { texts, suffix: None })];
    Arc::new(ChatRequest { messages, choices: Some(2), ..ChatRequest::default() })
}

fn words() -> Vec<PromptText> {
    ["a", "b"].map(|text| PromptText::Text(text.to_owned())).to_vec()
}

fn body(seen: StubRecord) -> String {
    let StubRecord::Request(seen) = seen else { panic!("no request") };
    seen.split_once("\r\n\r\n").unwrap().1.to_owned()
}

const EVENTS: [&str; 4] = [
    r#"{"id":"t1","choices":[{"index":0,"text":"a, ","finish_reason":null}]}"#,
    r#"{"id":"t1","choices":[{"index":0,"text":"b)","finish_reason":"stop"}]}"#,
    r#"{"id":"t1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#,
    "[DONE]",
];

/// The text and its finish reason, or the error that ended it.
async fn stream(stub: &StubServer) -> Result<(String, Option<FinishReason>), EngineError> {
    let mut stream =
        stub.upstream().create_chat_engine("m", 16).unwrap().stream_chat(request()).await?;
    let (mut text, mut finish) = (String::new(), None);
    while let Some(event) = stream.next().await {
        if let ChatEvent::Chunk(chunk) = event? {
            for delta in chunk.deltas {
                text.push_str(&delta.content);
                finish = delta.finish.or(finish);
            }
        }
    }
    Ok((text, finish))
}

#[tokio::test]
async fn a_text_goes_to_its_own_endpoint_as_it_stands() {
    let answer = r#"{"id":"t1","choices":[{"index":0,"text":"a, b)","finish_reason":"length"}],
        "usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#;
    let stub = StubServer::saying(reply("200 OK", answer));
    let answer = stub
        .upstream()
        .create_chat_engine("m", 16)
        .unwrap()
        .complete_chat(request())
        .await
        .unwrap();
    assert_eq!(answer.choices[0].content.as_deref(), Some("a, b)"));
    assert_eq!(answer.choices[0].finish, FinishReason::Length);
    assert_eq!(answer.usage.unwrap().completion(), 2);
    let StubRecord::Request(seen) = stub.next_seen() else { panic!("no request") };
    assert!(seen.starts_with("POST /v1/completions "), "{seen}");
    let body: Value = serde_json::from_str(seen.split_once("\r\n\r\n").unwrap().1).unwrap();
    let expected = r#"{"model":"m","prompt":"fn add(","suffix":"}","max_tokens":7,"stop":["\n"]}"#;
    assert_eq!(body.to_string(), expected);
}

#[tokio::test]
async fn several_texts_go_as_a_list_to_servers_that_give_several_choices() {
    let choice = |index| json!({"index": index, "text": "x", "finish_reason": "stop"});
    let answer = json!({"choices": [choice(0), choice(1), choice(2), choice(3)]}).to_string();
    let stub = StubServer::saying(reply("200 OK", &answer));
    let tokens = vec![PromptText::Tokens(vec![1, 2]), PromptText::Tokens(vec![3])];
    for (texts, expected) in [
        (words(), r#"{"model":"m","prompt":["a","b"],"n":2}"#),
        (tokens.clone(), r#"{"model":"m","prompt":[[1,2],[3]],"n":2}"#),
        (tokens[..1].to_vec(), r#"{"model":"m","prompt":[1,2],"n":2}"#),
    ] {
        let answer = stub
            .upstream()
            .create_chat_engine("m", 16)
            .unwrap()
            .complete_chat(several(texts))
            .await
            .unwrap();
        assert_eq!(answer.choices.len(), 4);
        assert_eq!(body(stub.next_seen()), expected);
    }
}

#[tokio::test]
async fn several_texts_go_one_by_one_to_servers_that_give_one_choice() {
    let choice = json!({"index": 0, "text": "x", "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 2});
    let stub = StubServer::saying(reply(
        "200 OK",
        &json!({"choices": [choice], "usage": usage}).to_string(),
    ));
    let upstream = stub.upstream_with(ProviderProtocol::OpenAi(ServerQuirks::OLLAMA), patient());
    let answer = upstream
        .create_chat_engine("m", 16)
        .unwrap()
        .complete_chat(several(words()))
        .await
        .unwrap();
    let indexes: Vec<u32> = answer.choices.iter().map(|it| it.index).collect();
    assert_eq!(indexes, [0, 1, 2, 3]);
    let usage = answer.usage.unwrap();
    assert_eq!((usage.prompt(), usage.completion()), (10, 8), "each prompt counts once");
    let mut bodies: Vec<String> = (0..4).map(|_| body(stub.next_seen())).collect();
    bodies.sort();
    let [a, b] = ["a", "b"].map(|text| format!(r#"{{"model":"m","prompt":"{text}"}}"#));
    assert_eq!(bodies, [a.clone(), a, b.clone(), b]);
}

#[tokio::test]
async fn several_texts_go_one_by_one_to_the_built_in_engine_with_all_their_choices() {
    let choice = |index, text| json!({"index": index, "text": text, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 4});
    let answer = json!({"choices": [choice(1, "y"), choice(0, "x")], "usage": usage});
    let stub = StubServer::saying(reply("200 OK", &answer.to_string()));
    let upstream = stub.upstream_with(ProviderProtocol::OpenAi(ServerQuirks::BUILT_IN), patient());
    let answer = upstream
        .create_chat_engine("m", 16)
        .unwrap()
        .complete_chat(several(words()))
        .await
        .unwrap();
    let told = answer.choices.iter().map(|it| (it.index, it.content.as_deref().unwrap()));
    assert_eq!(told.collect::<Vec<_>>(), [(0, "x"), (1, "y"), (2, "x"), (3, "y")]);
    let usage = answer.usage.unwrap();
    assert_eq!((usage.prompt(), usage.completion()), (10, 8));
    let mut bodies = [body(stub.next_seen()), body(stub.next_seen())];
    bodies.sort();
    let expected = ["a", "b"].map(|text| format!(r#"{{"model":"m","prompt":"{text}","n":2}}"#));
    assert_eq!(bodies, expected);
}

#[tokio::test]
async fn streams_of_several_texts_are_woven_with_all_their_choices() {
    let piece = |index, text, finish: Option<&str>| {
        json!({"choices": [{"index": index, "text": text, "finish_reason": finish}]}).to_string()
    };
    let events = [piece(0, "x", None), piece(1, "y", Some("stop")), piece(0, "", Some("stop"))];
    let events: Vec<&str> = events.iter().map(String::as_str).chain(["[DONE]"]).collect();
    let stub = StubServer::saying(sse(&events));
    let upstream = stub.upstream_with(ProviderProtocol::OpenAi(ServerQuirks::BUILT_IN), patient());
    let mut stream =
        upstream.create_chat_engine("m", 16).unwrap().stream_chat(several(words())).await.unwrap();
    let mut texts = vec![String::new(); 4];
    while let Some(event) = stream.next().await {
        let ChatEvent::Chunk(chunk) = event.unwrap() else { continue };
        for delta in chunk.deltas {
            texts[usize::try_from(delta.index).unwrap()].push_str(&delta.content);
        }
    }
    assert_eq!(texts, ["x", "y", "x", "y"]);
}

#[tokio::test]
async fn a_stream_of_text_adds_up() {
    let stub = StubServer::saying(sse(&EVENTS));
    assert_eq!(stream(&stub).await, Ok(("a, b)".to_owned(), Some(FinishReason::Stop))));
}

#[tokio::test]
async fn a_stream_that_is_cut_before_its_finish_is_an_error_wherever_it_is_cut() {
    let whole = sse(&EVENTS);
    let begins = sse(&[]).len();
    let finishes = sse(&EVENTS[..2]).len();
    for cut in begins..finishes - 2 {
        let stub = StubServer::saying(&whole[..cut]);
        let outcome = stream(&stub).await;
        assert!(matches!(outcome, Err(EngineError::BadAnswer { .. })), "{cut}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_protocol_without_plain_texts_says_so() {
    let stub = StubServer::saying(reply("200 OK", "{}"));
    let upstream = stub.upstream_with(
        ProviderProtocol::Anthropic { thinking: ThinkingStyle::Budget, caches_system_prompt: true },
        patient(),
    );
    let outcome = upstream.create_chat_engine("m", 16).unwrap().complete_chat(request()).await;
    assert!(matches!(outcome, Err(EngineError::Rejected { .. })), "{outcome:?}");
}

//! Golden files, one folder per direction. `UPDATE_EXPECT=1` rewrites them.
//!
//! - `golden/request/<chat>.<provider>.json`: the encoded request for each provider.
//! - `golden/answer/<provider>-<case>.json` → `.txt`: a provider's complete answer, decoded.
//! - `golden/stream/<provider>-<case>.sse` → `.txt`: a provider's stream, decoded to events.
//! - `golden/speech/<case>.<dialect>.json`: the encoded speech request for each dialect.
//! - `golden/transcription/<provider>-<case>.json` → `.txt`: a provider's transcript, decoded.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{
    CacheControl, ChatContent, ChatContentPart, ChatEvent, ChatMessage, ChatRequest, EngineError,
    PartKind,
};
use expect_test::expect_file;

use super::{requests, tell};
use crate::anthropic::{MessageDecoder, MessageEncoder, ThinkingStyle, read_message};
use crate::event_stream::{EventDecoder, SseEventDecoder, StreamState};
use crate::openai::{self, ChunkDecoder};
use crate::openai_responses::{ResponseDecoder, ResponsesEncoder, read_response};
use crate::quirks::ServerQuirks;

#[test]
fn every_chat_is_written_as_each_provider_reads_it() {
    for (chat, request) in requests::all() {
        for (provider, body) in providers(&request) {
            let path = folder("request").join(format!("{chat}.{provider}.json"));
            expect_file![path].assert_eq(&pretty(body));
        }
    }
}

#[test]
fn every_whole_answer_is_read() {
    for path in files("answer", "json") {
        let body = fs::read(&path).unwrap();
        let answer = match protocol_of(&path) {
            "anthropic" => read_message(&body),
            "responses" => read_response(&body),
            _ => openai::read_answer(&body),
        };
        let told = match answer {
            Ok(answer) => tell::answer(&answer),
            Err(error) => tell::error(&error) + "\n",
        };
        expect_file![path.with_extension("txt")].assert_eq(&told);
    }
}

#[test]
fn every_stream_is_read() {
    for path in files("stream", "sse") {
        let bytes = fs::read(&path).unwrap();
        let (events, outcome) = decode_as(&path, &[&bytes]);
        let told = tell::events(&events, &outcome);
        expect_file![path.with_extension("txt")].assert_eq(&told);
    }
}

/// Decodes a provider's stream that arrives in these chunks.
pub(super) fn decode_as(
    path: &Path,
    pieces: &[&[u8]],
) -> (Vec<ChatEvent>, Result<(), EngineError>) {
    match protocol_of(path) {
        "anthropic" => return decode(MessageDecoder::default(), pieces),
        "responses" => return decode(ResponseDecoder::default(), pieces),
        _ => {}
    }
    let has_two = path.to_string_lossy().contains("two-choices");
    decode(ChunkDecoder::new(if has_two { 2 } else { 1 }), pieces)
}

/// All recorded streams and their bytes.
pub(super) fn streams() -> Vec<(PathBuf, Vec<u8>)> {
    files("stream", "sse").into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

pub(super) fn decode<D: EventDecoder>(
    decoder: D,
    pieces: &[&[u8]],
) -> (Vec<ChatEvent>, Result<(), EngineError>) {
    let mut decoding = SseEventDecoder::new(decoder);
    let mut ready = VecDeque::new();
    for piece in pieces {
        match decoding.push(piece, &mut ready) {
            Ok(StreamState::GoesOn) => {}
            Ok(StreamState::Over) => return (ready.into(), Ok(())),
            Err(error) => return (ready.into(), Err(error)),
        }
    }
    let outcome = decoding.finish(&mut ready);
    (ready.into(), outcome)
}

pub(super) type EncodedRequest = Result<Vec<u8>, EngineError>;

fn providers(request: &ChatRequest) -> Vec<(&'static str, EncodedRequest)> {
    let anthropic = |thinking| MessageEncoder {
        model: "claude",
        thinking,
        caches_system_prompt: true,
        completion_tokens_max: 8192,
    };
    let responses = |has_reasoning, output_tokens_min| ResponsesEncoder {
        model: "gpt",
        has_reasoning,
        output_tokens_min,
    };
    vec![
        ("vllm", openai::write_whole(request, "m", ServerQuirks::VLLM)),
        ("openai", openai::write_streamed(request, "m", ServerQuirks::OPENAI)),
        ("ollama", openai::write_streamed(request, "m", ServerQuirks::OLLAMA)),
        ("openrouter", openai::write_streamed(request, "m", ServerQuirks::OPENROUTER)),
        ("anthropic-budget", anthropic(ThinkingStyle::Budget).encode_whole(request)),
        ("anthropic-adaptive", anthropic(ThinkingStyle::Adaptive).encode_streamed(request)),
        ("responses", responses(false, 1).encode_whole(request)),
        ("responses-reasoning", responses(true, 16).encode_streamed(request)),
    ]
}

#[test]
fn a_bound_that_may_exceed_the_context_is_told_only_to_engines_that_end_there() {
    let bound = |may_exceed_context, quirks| {
        let completion_tokens_max = Some(100);
        let chat = requests::user("Hello");
        let chat = ChatRequest { completion_tokens_max, may_exceed_context, ..chat };
        let written = openai::write_whole(&chat, "m", quirks).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&written).unwrap();
        body.get("max_tokens").or(body.get("max_completion_tokens")).and_then(|it| it.as_u64())
    };
    for quirks in
        [ServerQuirks::VLLM, ServerQuirks::OPENAI, ServerQuirks::OLLAMA, ServerQuirks::OPENROUTER]
    {
        assert_eq!(bound(false, quirks), Some(100), "{quirks:?}");
        assert_eq!(bound(true, quirks), None, "{quirks:?}");
    }
    assert_eq!(bound(true, ServerQuirks::BUILT_IN), Some(100));
}

#[test]
fn a_system_prompt_is_marked_as_worth_caching_unless_its_caller_marks_something() {
    let mark = |caches_system_prompt, chat: &ChatRequest| {
        let writer = MessageEncoder {
            model: "claude",
            thinking: ThinkingStyle::Budget,
            caches_system_prompt,
            completion_tokens_max: 8192,
        };
        let body: serde_json::Value =
            serde_json::from_slice(&writer.encode_whole(chat).unwrap()).unwrap();
        body["system"][0]["cache_control"]["type"].clone()
    };
    let mut chat = requests::user("Hello");
    let content = ChatContent::Text("Be brief.".to_owned());
    chat.messages.insert(0, ChatMessage::System { content, name: None });
    assert_eq!(mark(true, &chat), "ephemeral");
    assert_eq!(mark(false, &chat), serde_json::Value::Null, "the operator turned it off");
    let kind = PartKind::Text("Look here.".to_owned());
    let parts = vec![ChatContentPart { kind, cache: Some(CacheControl::FiveMinutes) }];
    chat.messages.push(ChatMessage::User { content: ChatContent::Parts(parts), name: None });
    assert_eq!(mark(true, &chat), serde_json::Value::Null, "the caller knows better");
}

pub(super) fn pretty(body: EncodedRequest) -> String {
    let value = match body {
        Ok(body) => serde_json::from_slice(&body).unwrap(),
        Err(error) => {
            serde_json::json!({"refused": tell::error(&error).trim_start_matches("error: ")})
        }
    };
    serde_json::to_string_pretty(&value).unwrap() + "\n"
}

pub(super) fn files(direction: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(direction)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no golden files for {direction}");
    paths
}

pub(super) fn folder(direction: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(direction)
}

/// The first word of a file's name, which decides the protocol.
pub(super) fn protocol_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('-').next().unwrap_or_default()
}

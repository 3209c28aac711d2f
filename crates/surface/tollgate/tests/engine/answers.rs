//! Tests of the engine's responses: chats, embeddings and audio, and refusals.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::{EngineProcess, TEXT_MODEL, chat, models_dir};

#[test]
fn it_answers_on_its_socket_and_ends_with_its_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let engine = EngineProcess::start(folder.path());
    assert_eq!(engine.get("/health"), json!({"status": "ok", "models": [], "gpus": []}));
    // Every process that can connect can use the models without paying.
    let mode = std::fs::metadata(engine.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    engine.end();
}

#[test]
fn a_socket_left_behind_by_a_killed_engine_is_taken_over() {
    let models = tempfile::tempdir().unwrap();
    let mut engine = EngineProcess::start(models.path());
    engine.get("/health");
    engine.process.kill().unwrap();
    engine.process.wait().unwrap();
    assert!(engine.socket().exists());
    engine.process = EngineProcess::spawn(engine.folder.path(), models.path(), &[]);
    engine.get("/health");
    engine.end();
}

#[test]
fn what_cannot_be_answered_is_refused_in_openais_shape() {
    let engine = EngineProcess::start(&models_dir());
    let unknown = json!({"model": "gpt-17", "messages": [{"role": "user", "content": "Hi"}]});
    let refusal = |status: u16, code: &str| (status, code.to_owned());
    let path = "/v1/chat/completions";
    assert_eq!(engine.refusal(path, &unknown), refusal(404, "model_not_found"));
    assert_eq!(engine.refusal(path, &json!({})), refusal(400, "invalid_request"));
    let long = chat(&"word ".repeat(20_000));
    assert_eq!(engine.refusal(path, &long), refusal(400, "context_length_exceeded"));
    let other = json!({"model": "all-minilm-l6-v2", "messages": [{"role": "user", "content": ""}]});
    assert_eq!(engine.refusal(path, &other), refusal(400, "invalid_request"));
    engine.end();
}

#[test]
fn a_chat_is_answered_whole_and_streamed() {
    let engine = EngineProcess::start(&models_dir());
    let question = chat("What is the capital of France? Answer in one sentence.");
    let whole = engine.post_ok("/v1/chat/completions", &question);
    let text = whole["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("Paris"), "{whole}");
    let mut streamed = question;
    streamed["stream"] = true.into();
    let (status, events) = engine.post("/v1/chat/completions", &streamed);
    assert_eq!(status, 200, "{events}");
    let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
    let chunks: Vec<Value> = data.filter_map(|it| serde_json::from_str(it).ok()).collect();
    let told = chunks.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    assert_eq!(told.collect::<String>(), text);
    assert!(events.contains("data: [DONE]"), "{events}");
    let (whole, streamed) = (&whole["usage"], &chunks.last().unwrap()["usage"]);
    assert_eq!(streamed["total_tokens"], whole["total_tokens"]);
    let cached = streamed["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
    assert_eq!(Some(cached + 1), streamed["prompt_tokens"].as_u64(), "the prompt was read before");
    let (state, memory_bytes) = engine.standing(TEXT_MODEL);
    assert_eq!(state, "loaded");
    assert!(98_000_000 < memory_bytes, "{memory_bytes}");
    engine.end();
}

#[test]
fn texts_are_embedded() {
    let engine = EngineProcess::start(&models_dir());
    let body = json!({"model": "all-minilm-l6-v2", "input": ["A cat sits.", "A cat is sitting."]});
    let answer = engine.post_ok("/v1/embeddings", &body);
    let vector = |index: usize| -> Vec<f64> {
        serde_json::from_value(answer["data"][index]["embedding"].clone()).unwrap()
    };
    let likeness: f64 = vector(0).iter().zip(vector(1)).map(|(a, b)| a * b).sum();
    assert_eq!(vector(0).len(), 384);
    assert!(0.8 < likeness && likeness < 1.0, "{likeness}");
    assert!(0 < answer["usage"]["total_tokens"].as_u64().unwrap());
    engine.end();
}

/// Synthesizes a sentence and transcribes it again.
#[test]
fn what_is_spoken_is_understood() {
    let engine = EngineProcess::start(&models_dir());
    let spoken = json!({
        "model": "tts-hibari",
        "input": "The quick brown fox jumps over the lazy dog.",
        "response_format": "wav",
    });
    let mut stream = engine.connect();
    let body = spoken.to_string();
    // With HTTP/1.0 the body is not chunked.
    let head = format!("POST /v1/audio/speech HTTP/1.0\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
    assert!(answer.starts_with(b"HTTP/1.0 200"), "{}", String::from_utf8_lossy(&answer));
    let sound = answer.split_off(end);
    let fields = [("model", "moonshine-tiny"), ("response_format", "json")];
    let (status, heard) = engine.transcribe(&fields, &sound);
    assert_eq!(status, 200, "{heard}");
    let heard = heard.to_lowercase();
    assert!(heard.contains("brown fox") && heard.contains("lazy dog"), "{heard}");
    let voice = json!({"model": "tts-hibari", "input": "Hello.", "voice": "nobody"});
    assert_eq!(engine.refusal("/v1/audio/speech", &voice), (400, "invalid_request".to_owned()));
    engine.end();
}

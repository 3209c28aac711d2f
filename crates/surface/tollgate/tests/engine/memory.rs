//! Tests of memory: idle models are unloaded, others are evicted, and none uses more than it
//! reports.

use std::io::Read;
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{
    EngineProcess, TEXT_MODEL, chat_with, models_dir, never_takes_more_than_it_says, with_copies,
};

const CHAT: &str = "/v1/chat/completions";

#[test]
fn a_model_that_nobody_uses_gives_its_memory_back_and_comes_again() {
    let folder = with_copies(&["one"]);
    let engine = EngineProcess::start_with(folder.path(), &["--idle-unload-s", "1"]);
    engine.post_ok(CHAT, &chat_with("one", "Hello."));
    let loaded = engine.memory_bytes("VmRSS");
    engine.until_it_stands("one", "idle");
    engine.post_ok(CHAT, &chat_with("one", "Hello."));
    assert_eq!(engine.standing("one").0, "loaded");
    let again = engine.memory_bytes("VmRSS");
    assert!(again < loaded * 3 / 2, "{loaded} bytes became {again}");
    engine.end();
}

/// Each copy takes about 320 MB: the file, a quarter of the limit for its prompt cache, and a
/// batch.
const ROOM_FOR_ONE: [&str; 2] = ["--memory-max-mb", "400"];

#[test]
fn the_longest_unused_model_makes_room_for_another() {
    let folder = with_copies(&["one", "two"]);
    let engine = EngineProcess::start_with(folder.path(), &ROOM_FOR_ONE);
    for (asked, other) in [("one", "two"), ("two", "one"), ("one", "two")] {
        engine.post_ok(CHAT, &chat_with(asked, "Hello."));
        assert_eq!(engine.standing(asked).0, "loaded");
        assert_eq!(engine.standing(other).0, "idle");
    }
    engine.end();
}

#[test]
fn a_model_that_is_answering_is_not_taken_away() {
    let folder = with_copies(&["one", "two"]);
    let options = ["--idle-unload-s", "1", ROOM_FOR_ONE[0], ROOM_FOR_ONE[1]];
    let engine = EngineProcess::start_with(folder.path(), &options);
    // A response larger than the socket's buffer stays in progress until it is read; generation
    // must not end sooner.
    let mut long = chat_with("one", "Count.");
    let numbers = json!({"type": "array", "items": {"type": "integer"}, "minItems": 600});
    long["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "numbers", "schema": numbers}});
    long["max_tokens"] = 600.into();
    long["stream"] = true.into();
    long["logprobs"] = true.into();
    long["top_logprobs"] = 20.into();
    let head = format!("POST {CHAT} HTTP/1.1");
    let mut stream = engine.send(&head, long.to_string().as_bytes());
    let mut first = [0; 1000];
    stream.read_exact(&mut first).unwrap();
    let refusal = engine.refusal(CHAT, &chat_with("two", "Hello."));
    assert_eq!(refusal, (503, "out_of_memory".to_owned()));
    assert_eq!(engine.standing("one").0, "loaded");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    let rest = String::from_utf8_lossy(&rest);
    assert!(rest.contains("data: [DONE]"), "it was answered to its end");
    engine.post_ok(CHAT, &chat_with("two", "Hello."));
    engine.end();
}

fn speech(model: &str, text: &str) -> Value {
    json!({"model": model, "input": text, "response_format": "wav"})
}

#[test]
fn no_model_takes_more_than_it_says() {
    let sentence = "When the sun had gone down behind the hills, the travellers made a fire.";
    let sound = include_bytes!("../../../../models/engine-onnx/tests/sounds/fox.ogg");
    never_takes_more_than_it_says(TEXT_MODEL, |engine| {
        let long = chat_with(TEXT_MODEL, &"word ".repeat(500));
        engine.post_ok(CHAT, &long);
    });
    never_takes_more_than_it_says("all-minilm-l6-v2", |engine| {
        let texts = vec![sentence; 32];
        engine.post_ok("/v1/embeddings", &json!({"model": "all-minilm-l6-v2", "input": texts}));
    });
    for id in ["tts-hibari", "tts-kokoro"] {
        never_takes_more_than_it_says(id, |engine| {
            let (status, _) = engine.post("/v1/audio/speech", &speech(id, sentence));
            assert_eq!(status, 200);
        });
    }
    for id in ["moonshine-tiny", "whisper-tiny"] {
        never_takes_more_than_it_says(id, |engine| {
            let (status, heard) = engine.transcribe(&[("model", id)], sound);
            assert_eq!(status, 200, "{heard}");
        });
    }
}

/// A piece takes Kokoro seconds. After its client disconnects, it must not delay the next one.
#[test]
fn a_voice_falls_silent_in_the_midst_of_a_piece_when_its_listener_goes() {
    let engine = EngineProcess::start(&models_dir());
    let path = "/v1/audio/speech";
    let short = speech("tts-kokoro", "Hi.");
    assert_eq!(engine.post(path, &short).0, 200);
    let long = "the old man and the sea and the wind and the waves and the sand and the sun ";
    let long = speech("tts-kokoro", long);
    let begun = Instant::now();
    assert_eq!(engine.post(path, &long).0, 200);
    let whole = begun.elapsed();
    let begun = Instant::now();
    let given_up = engine.send(&format!("POST {path} HTTP/1.1"), long.to_string().as_bytes());
    // When another connection has been answered, the synthesis has started or is about to.
    engine.get("/health");
    drop(given_up);
    assert_eq!(engine.post(path, &short).0, 200);
    let both = begun.elapsed();
    assert!(both < whole, "{both:?} for a short one after a dropped one, {whole:?} for that one");
    engine.end();
}

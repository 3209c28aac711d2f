//! Tests of the operator's own GGUF files: by file name or path, valid or broken.

use std::io::Read;
use std::path::Path;

use crate::harness::{EngineProcess, chat_with, gguf, with_copies};

const CHAT: &str = "/v1/chat/completions";

#[test]
fn any_gguf_answers_by_its_name_in_the_folder_and_by_its_path_elsewhere() {
    let (folder, elsewhere) = (with_copies(&["mine"]), with_copies(&["other"]));
    let engine = EngineProcess::start(folder.path());
    let path = elsewhere.path().join("other.gguf");
    for id in ["mine", path.to_str().unwrap()] {
        let answer = engine.post_ok(
            CHAT,
            &chat_with(id, "What is the capital of France? Answer in one sentence."),
        );
        let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
        assert!(text.contains("Paris"), "{id}: {answer}");
        assert_eq!(engine.standing(id).0, "loaded");
    }
    engine.end();
}

/// Writes a copy of the model file with modified bytes.
fn spoiled(folder: &Path, name: &str, spoil: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(gguf()).unwrap();
    spoil(&mut bytes);
    std::fs::write(folder.join(format!("{name}.gguf")), bytes).unwrap();
}

#[test]
fn a_broken_file_is_told_as_such_and_harms_nothing_else() {
    let folder = with_copies(&["whole"]);
    let path = folder.path();
    spoiled(path, "half", |bytes| bytes.truncate(bytes.len() / 2));
    spoiled(path, "head", |bytes| bytes.truncate(2000));
    spoiled(path, "last", |bytes| bytes.truncate(bytes.len() - 1));
    spoiled(path, "empty", Vec::clear);
    spoiled(path, "page", |bytes| *bytes = b"<!DOCTYPE html><p>Not found</p>".to_vec());
    // Makes the type of the first value invalid.
    spoiled(path, "wild", |bytes| bytes[24..60].fill(0xff));
    let engine = EngineProcess::start(path);
    let process = engine.process.id();
    for name in ["half", "head", "last", "empty", "page", "wild"] {
        // Twice: the file stays broken, and does not crash the process.
        for _ in 0..2 {
            let refusal = engine.refusal(CHAT, &chat_with(name, "Hello."));
            assert_eq!(refusal, (404, "model_broken".to_owned()), "{name}");
        }
        assert_eq!(engine.standing(name).0, "broken", "{name}");
    }
    engine.post_ok(CHAT, &chat_with("whole", "Hello."));
    assert_eq!(engine.process.id(), process);
    // A repaired file works without a restart.
    std::fs::copy(gguf(), path.join("half.gguf")).unwrap();
    engine.post_ok(CHAT, &chat_with("half", "Hello."));
    assert_eq!(engine.standing("half").0, "loaded");
    engine.end();
}

/// A byte whose change makes two vocabulary entries equal, at which llama.cpp aborts the process.
/// The file's header does not show it.
const TWIN: (usize, u8) = (2116, 126);

#[test]
fn a_file_that_ends_the_process_does_so_twice_and_not_for_ever() {
    let folder = with_copies(&["whole"]);
    spoiled(folder.path(), "deadly", |bytes| bytes[TWIN.0] = TWIN.1);
    let mut engine = EngineProcess::start(folder.path());
    let deadly = chat_with("deadly", "Hello.");
    for _ in 0..2 {
        let mut stream =
            engine.send(&format!("POST {CHAT} HTTP/1.1"), deadly.to_string().as_bytes());
        let mut answer = Vec::new();
        // The connection breaks, with or without an error.
        let _ = stream.read_to_end(&mut answer);
        assert!(!engine.process.wait().unwrap().success());
        engine.process = EngineProcess::spawn(engine.folder.path(), folder.path(), &[]);
        engine.get("/health");
    }
    assert_eq!(engine.refusal(CHAT, &deadly), (404, "model_broken".to_owned()));
    assert_eq!(engine.standing("deadly").0, "broken");
    engine.post_ok(CHAT, &chat_with("whole", "Hello."));
    // A repaired file counts as a different file.
    std::fs::copy(gguf(), folder.path().join("deadly.gguf")).unwrap();
    engine.post_ok(CHAT, &deadly);
    engine.end();
}

#[test]
fn a_library_that_cannot_be_used_is_told_and_ends_nothing() {
    let folder = with_copies(&["mine"]);
    let library = folder.path().join("libllama.so");
    std::fs::write(&library, "no library at all, but long enough to be looked at".repeat(4))
        .unwrap();
    let engine =
        EngineProcess::start_with(folder.path(), &["--llama-library", library.to_str().unwrap()]);
    let process = engine.process.id();
    let (status, told) = engine.post(CHAT, &chat_with("mine", "Hello."));
    assert_eq!(status, 404, "{told}");
    assert!(told.contains("model_broken") && told.contains("cannot load the llama.cpp library"));
    assert_eq!(engine.get("/health")["models"][0]["state"], "broken");
    assert_eq!(engine.process.id(), process);
    engine.end();
}

#[test]
fn a_file_whose_library_is_not_fetched_says_how_to_fetch_it() {
    let folder = with_copies(&["mine"]);
    std::fs::remove_file(folder.path().join("llama-cpp")).unwrap();
    let engine = EngineProcess::start(folder.path());
    let (status, told) = engine.post(CHAT, &chat_with("mine", "Hello."));
    assert_eq!(status, 503, "{told}");
    assert!(told.contains("tollgate models pull llama-cpp"), "{told}");
    engine.end();
}

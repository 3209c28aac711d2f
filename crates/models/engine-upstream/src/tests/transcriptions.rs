//! Transcriptions: the request form, and every format of transcript.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use bytes::Bytes;
use engine::{EngineError, FileKind, TimestampOptions, TranscriptionAnswer, TranscriptionRequest};
use expect_test::{expect, expect_file};

use super::golden::files;
use super::stub::{StubRecord, StubServer, json};
use crate::openai::{form_fields, read_transcript};

fn plain() -> TranscriptionRequest {
    TranscriptionRequest {
        sound: Bytes::from_static(b"RIFF and so on"),
        kind: FileKind { extension: "wav", mime: "audio/wav" },
        language: None,
        hint: None,
        temperature: None,
        times: TimestampOptions::default(),
    }
}

#[test]
fn the_longer_answer_is_asked_for_only_where_times_are_wanted() {
    let everything = TranscriptionRequest {
        language: Some("en".to_owned()),
        hint: Some("Tollgate".to_owned()),
        temperature: Some(0.25),
        times: TimestampOptions { segments: true, words: true },
        ..plain()
    };
    let told = [plain(), everything].map(|request| format!("{:?}\n", form_fields(&request, "m")));
    expect![[r#"
        [("model", "m"), ("response_format", "json")]
        [("model", "m"), ("response_format", "verbose_json"), ("timestamp_granularities[]", "word"), ("timestamp_granularities[]", "segment"), ("language", "en"), ("prompt", "Tollgate"), ("temperature", "0.25")]
    "#]]
    .assert_eq(&told.concat());
}

#[tokio::test]
async fn the_file_goes_out_under_the_name_of_what_it_is() {
    let stub = StubServer::saying(json("200 OK", r#"{"text":"Hello."}"#));
    let engine = stub.upstream().create_transcription_engine("m").unwrap();
    let transcript = engine.transcribe(Arc::new(plain())).await.unwrap();
    assert_eq!(transcript.text, "Hello.");
    let StubRecord::Request(request) = stub.next_seen() else { panic!("no request") };
    assert!(request.starts_with("POST /v1/audio/transcriptions "), "{request}");
    let lower = request.to_lowercase();
    assert!(lower.contains("content-type: multipart/form-data; boundary="), "{request}");
    assert!(lower.contains("name=\"file\"; filename=\"audio.wav\""), "{request}");
    assert!(lower.contains("content-type: audio/wav"), "{request}");
    assert!(request.contains("RIFF and so on"), "{request}");
}

#[tokio::test]
async fn a_refusal_of_the_server_is_the_engines() {
    let said = r#"{"error":{"message":"Audio is too short.","type":"invalid_request_error"}}"#;
    let stub = StubServer::saying(json("400 Bad Request", said));
    let engine = stub.upstream().create_transcription_engine("m").unwrap();
    let refused = engine.transcribe(Arc::new(plain())).await;
    let message = "Audio is too short.".to_owned();
    assert_eq!(refused, Err(EngineError::Rejected { message }));
}

#[tokio::test]
async fn a_translation_goes_to_its_own_path_or_with_its_own_field() {
    let stub = StubServer::saying(json("200 OK", r#"{"text":" Good morning."}"#));
    let engine = stub.upstream().create_transcription_engine("m").unwrap();
    let translated = engine.translate(Arc::new(plain())).await.unwrap().unwrap();
    assert_eq!(translated.text, " Good morning.");
    let StubRecord::Request(request) = stub.next_seen() else { panic!("no request") };
    assert!(request.starts_with("POST /v1/audio/translations "), "{request}");
    let whisper = stub.upstream_with(crate::ProviderProtocol::WhisperCpp, super::stub::patient());
    let engine = whisper.create_transcription_engine("m").unwrap();
    let translated = engine.translate(Arc::new(plain())).await.unwrap().unwrap();
    assert_eq!(translated.text, "Good morning.");
    let StubRecord::Request(request) = stub.next_seen() else { panic!("no request") };
    assert!(request.starts_with("POST /v1/inference "), "{request}");
    assert!(request.contains("name=\"translate\"\r\n\r\ntrue\r\n"), "{request}");
}

#[tokio::test]
async fn a_server_without_translations_cannot_translate_and_one_without_the_model_is_at_fault() {
    let not_found = r#"{"detail":"Not Found"}"#;
    let no_model = r#"{"error":{"message":"The model `m` does not exist.","code":404}}"#;
    for (status, said, expected) in [
        ("404 Not Found", not_found, Ok(None)),
        ("405 Method Not Allowed", "{}", Ok(None)),
        ("501 Not Implemented", "{}", Ok(None)),
        ("404 Not Found", no_model, Err("the engine is misconfigured: status 404")),
    ] {
        let stub = StubServer::saying(json(status, said));
        let engine = stub.upstream().create_transcription_engine("m").unwrap();
        let told = engine.translate(Arc::new(plain())).await.map_err(|it| it.to_string());
        assert_eq!(told, expected.map_err(str::to_owned), "{status}");
    }
}

#[test]
fn every_transcript_is_read() {
    for path in files("transcription", "json") {
        let told = match read_transcript(&fs::read(&path).unwrap()) {
            Ok(transcript) => tell(&transcript),
            Err(error) => super::tell::error(&error) + "\n",
        };
        expect_file![path.with_extension("txt")].assert_eq(&told);
    }
}

fn tell(transcript: &TranscriptionAnswer) -> String {
    let TranscriptionAnswer { text, language, duration_s, segments, words } = transcript;
    let mut told = format!("{text:?} in {language:?}, {duration_s:?} s\n");
    for segment in segments {
        let (start, end) = (segment.start_s, segment.end_s);
        let _ = writeln!(told, "{start}-{end} {:?} {:?}", segment.text, segment.certainty);
    }
    for word in words {
        let _ = writeln!(told, "{}-{} word {:?}", word.start_s, word.end_s, word.word);
    }
    told
}

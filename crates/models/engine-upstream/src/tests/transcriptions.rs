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

//! Speech over a real socket: requests in each dialect, streaming, and errors for truncated audio.

use std::sync::Arc;

use engine::{EngineError, SoundFormat, SpeechRequest, TimeoutPhase};
use expect_test::expect_file;
use futures_util::StreamExt;

use super::golden::{folder, pretty};
use super::stub::{StubAction, StubRecord, StubServer, json, patient};
use crate::openai::write_speech;
use crate::{ProviderProtocol, ServerQuirks, UpstreamTimeouts};

fn plain() -> SpeechRequest {
    SpeechRequest {
        input: "Hello there.".to_owned(),
        voice: Some("af_sky".to_owned()),
        format: SoundFormat::Mp3,
        speed: None,
        language: None,
        style: None,
        temperature: None,
        top_p: None,
    }
}

fn everything() -> SpeechRequest {
    SpeechRequest {
        format: SoundFormat::Pcm,
        speed: Some(1.25),
        language: Some("en".to_owned()),
        style: Some("like a pirate".to_owned()),
        temperature: Some(0.5),
        top_p: Some(0.75),
        ..plain()
    }
}

#[test]
fn every_wish_is_written_as_each_provider_reads_it() {
    let voiceless = SpeechRequest { voice: None, ..plain() };
    for (name, request) in
        [("plain", plain()), ("everything", everything()), ("voiceless", voiceless)]
    {
        for (dialect, quirks) in [("vllm", ServerQuirks::VLLM), ("openai", ServerQuirks::OPENAI)] {
            let path = folder("speech").join(format!("{name}.{dialect}.json"));
            expect_file![path].assert_eq(&pretty(write_speech(&request, "m", quirks)));
        }
    }
}

/// The received bytes and the end of the stream.
async fn hear(stub: &StubServer, timeouts: UpstreamTimeouts) -> (Vec<u8>, Result<(), EngineError>) {
    let upstream = stub.upstream_with(ProviderProtocol::OpenAi(ServerQuirks::OPENAI), timeouts);
    let mut sound =
        match upstream.create_speech_engine("m").unwrap().synthesize(Arc::new(plain())).await {
            Ok(sound) => sound,
            Err(error) => return (Vec::new(), Err(error)),
        };
    let mut heard = Vec::new();
    while let Some(piece) = sound.next().await {
        match piece {
            Ok(bytes) => heard.extend_from_slice(&bytes),
            Err(error) => {
                assert!(sound.next().await.is_none(), "nothing follows an error");
                return (heard, Err(error));
            }
        }
    }
    (heard, Ok(()))
}

/// The start of a chunked HTTP response with some chunks.
fn chunks(content_type: &str, pieces: &[&str]) -> Vec<u8> {
    let mut text = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    for piece in pieces {
        text.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
    }
    text.into_bytes()
}

#[tokio::test]
async fn sound_is_passed_on_to_its_end() {
    let stub = StubServer::start(|_| {
        vec![
            StubAction::Say(chunks("audio/mpeg", &["one", "two"])),
            StubAction::Say(b"0\r\n\r\n".to_vec()),
        ]
    });
    let (heard, end) = hear(&stub, patient()).await;
    assert_eq!((heard.as_slice(), end), (&b"onetwo"[..], Ok(())));
    let StubRecord::Request(request) = stub.next_seen() else { panic!("no request") };
    assert!(request.starts_with("POST /v1/audio/speech "), "{request}");
    assert!(request.contains("\"voice\":\"af_sky\""), "{request}");
}

#[tokio::test]
async fn sound_that_breaks_off_is_no_end() {
    let stub = StubServer::start(|_| {
        vec![StubAction::Say(chunks("audio/mpeg", &["one"])), StubAction::Reset]
    });
    let (heard, end) = hear(&stub, patient()).await;
    assert_eq!(heard, b"one");
    assert!(matches!(end, Err(EngineError::BadAnswer { .. })), "{end:?}");
}

#[tokio::test]
async fn a_server_that_falls_silent_is_left() {
    let short = std::time::Duration::from_millis(50);
    let cases = [(Vec::new(), TimeoutPhase::FirstEvent), (vec!["one"], TimeoutPhase::NextEvent)];
    for (pieces, expected) in cases {
        let said = chunks("audio/mpeg", &pieces);
        let stub =
            StubServer::start(move |_| vec![StubAction::Say(said.clone()), StubAction::AwaitClose]);
        let timeouts = match expected {
            TimeoutPhase::FirstEvent => UpstreamTimeouts { first_event: short, ..patient() },
            _ => UpstreamTimeouts { next_event: short, ..patient() },
        };
        let (_, end) = hear(&stub, timeouts).await;
        assert_eq!(end, Err(EngineError::Timeout { phase: expected }));
    }
}

type IsExpected = fn(&EngineError) -> bool;

#[tokio::test]
async fn what_is_no_sound_is_a_failure() {
    let error = r#"{"error":{"message":"busy","code":"rate_limit_exceeded"}}"#;
    let cases: [(Vec<u8>, IsExpected); 6] = [
        (json("200 OK", error), |it| matches!(it, EngineError::Overloaded { .. })),
        (json("200 OK", "{}"), |it| matches!(it, EngineError::BadAnswer { .. })),
        (chunks("text/html", &["<p>hello"]), |it| matches!(it, EngineError::BadAnswer { .. })),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: 0\r\n\r\n".to_vec(),
            |it| matches!(it, EngineError::BadAnswer { .. }),
        ),
        (json("400 Bad Request", r#"{"error":{"message":"no such voice"}}"#), |it| {
            *it == EngineError::Rejected { message: "no such voice".to_owned() }
        }),
        (json("401 Unauthorized", "{}"), |it| matches!(it, EngineError::Misconfigured { .. })),
    ];
    for (said, is_expected) in cases {
        let stub = StubServer::saying(said);
        let (heard, end) = hear(&stub, patient()).await;
        assert_eq!(heard, b"");
        assert!(is_expected(&end.clone().unwrap_err()), "{end:?}");
    }
}

#[test]
fn a_protocol_without_sound_says_so() {
    let stub = StubServer::saying("");
    let protocol = ProviderProtocol::Anthropic {
        thinking: crate::ThinkingStyle::Budget,
        caches_system_prompt: true,
    };
    let upstream = stub.upstream_with(protocol, patient());
    let told = upstream.create_speech_engine("m").err().map(|error| error.to_string());
    let expected = "provider stub: its protocol has no speech; use a provider of kind openai";
    assert_eq!(told.as_deref(), Some(expected));
    assert!(upstream.create_transcription_engine("m").is_err());
}

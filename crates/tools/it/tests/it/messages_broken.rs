//! Tests of a stream that is passed through and breaks: the client is told, nothing is charged
//! before the first content, and what was delivered is charged after it.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;
use testkit::upstream::UpstreamScript;
use tokio::sync::Semaphore;

use crate::messages::{PATH, ask, post};
use crate::messages_native::start_with;

/// Prices of `kimi-k3` in nano-dollars a token.
const INPUT: i64 = 1_400;
const OUTPUT: i64 = 4_400;

const START: &str = r#"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"up","content":[],"stop_reason":null,"usage":{"input_tokens":90,"output_tokens":1}}}"#;
const BLOCK: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const TEXT: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi there"}}"#;
const BUSY: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}"#;

/// The ways in which a stream breaks after its events.
#[derive(Debug, Clone, Copy)]
enum StreamFault {
    /// The body ends without the last events.
    Ends,
    /// The connection is lost before the length that was announced.
    IsLost,
    /// Nothing comes any more.
    FallsSilent,
    NotJson,
    TellsError,
}

impl StreamFault {
    const ALL: [StreamFault; 5] = [
        StreamFault::Ends,
        StreamFault::IsLost,
        StreamFault::FallsSilent,
        StreamFault::NotJson,
        StreamFault::TellsError,
    ];

    /// A stream of these events that breaks.
    fn script(self, events: &[&str]) -> UpstreamScript {
        let mut events = events.to_vec();
        match self {
            StreamFault::Ends => UpstreamScript::events(events),
            StreamFault::IsLost => {
                UpstreamScript::events(events).header("content-length", "100000")
            }
            StreamFault::FallsSilent => {
                let pace = Arc::new(Semaphore::new(events.len()));
                events.push(r#"{"type":"message_stop"}"#);
                UpstreamScript::events(events).with_pace(&pace)
            }
            StreamFault::NotJson => {
                events.push(r#"{"type":"content_block_delta","index":"#);
                UpstreamScript::events(events)
            }
            StreamFault::TellsError => {
                events.push(BUSY);
                UpstreamScript::events(events)
            }
        }
    }

    /// The types of errors that a client is told.
    fn error_types(self) -> &'static [&'static str] {
        match self {
            StreamFault::FallsSilent => &["timeout_error"],
            StreamFault::TellsError => &["overloaded_error", "rate_limit_error"],
            StreamFault::Ends | StreamFault::IsLost | StreamFault::NotJson => &["api_error"],
        }
    }
}

/// A provider of the same protocol that may be silent for a second.
async fn start() -> TestApp {
    let url = "base_url = \"http://127.0.0.1:1/v1\"\n";
    let timed = format!("{url}stream_timeout_s = 1\n");
    start_with(|fixture| fixture.replacen(url, &timed, 1)).await
}

async fn stream(app: &TestApp, fault: StreamFault, events: &[&str]) -> TestReply {
    app.upstream.queue_script(fault.script(events));
    post(&app.admin(), PATH, &ask(json!({"stream": true}))).await
}

/// Checks that the answer ends with an error of the protocol, and nothing says that it is whole.
#[track_caller]
fn check_error(reply: &TestReply, fault: StreamFault) {
    let text = reply.text();
    assert!(!text.contains("message_stop") && !text.contains("message_delta"), "{text}");
    let error: Value = if reply.status == 200 {
        let last = text.trim_end().rsplit("\n\n").next().unwrap();
        let data = last.strip_prefix("event: error\ndata: ").expect("an error as the last event");
        serde_json::from_str(data).unwrap()
    } else {
        reply.json()
    };
    assert_eq!(error["type"], "error", "{text}");
    let kind = error["error"]["type"].as_str().unwrap();
    assert!(fault.error_types().contains(&kind), "{fault:?}: {error}");
}

#[tokio::test]
async fn a_stream_that_breaks_before_its_first_content_is_free() {
    let app = start().await;
    for fault in StreamFault::ALL {
        for events in [&[][..], &[START], &[START, BLOCK]] {
            // A route that keeps failing rests for a while.
            app.clock.advance_s(120);
            let reply = stream(&app, fault, events).await;
            check_error(&reply, fault);
            assert_eq!(app.verify_spent().await.nanos(), 0, "{fault:?} after {events:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_after_its_first_content_is_charged_as_delivered() {
    let app = start().await;
    let delivered = i64::try_from(engine::text_tokens("Hi there")).unwrap();
    let mut expected = 0;
    for fault in StreamFault::ALL {
        app.clock.advance_s(120);
        let reply = stream(&app, fault, &[START, BLOCK, TEXT]).await;
        let text = reply.text();
        assert_eq!(reply.status, 200, "{fault:?}: {text}");
        assert_eq!(text.matches("Hi there").count(), 1, "{fault:?}: {text}");
        assert!(text.contains(&format!("event: content_block_delta\ndata: {TEXT}\n\n")), "{text}");
        check_error(&reply, fault);
        expected += 90 * INPUT + delivered * OUTPUT;
        assert_eq!(app.verify_spent().await.nanos(), expected, "{fault:?}");
    }
}

//! Tests: events are sent as they come, silence is filled, and each stream ends properly.

use engine::ChatChunk;
use http_body_util::BodyExt;
use tokio::sync::mpsc;

use super::*;
use crate::refusal::inference::InferenceFailure;

/// Writes one word per part.
struct Words;

impl SseEncoder for Words {
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        let word = match part {
            AnswerPart::Opened(..) | AnswerPart::Tool(_) => "",
            AnswerPart::Chunk(_) => "chunk ",
            AnswerPart::Done(_) => "done ",
            AnswerPart::Failed(_) => "failed ",
        };
        events.extend_from_slice(word.as_bytes());
    }
}

fn start() -> (mpsc::Sender<AnswerPart>, Body) {
    let (sender, flow) = AnswerStream::scripted();
    (sender, EventStreamBody::new(flow, Words).0)
}

async fn next(body: &mut Body) -> Option<String> {
    let frame = body.frame().await?.unwrap();
    Some(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn silence_is_filled_with_comments() {
    let (sender, mut body) = start();
    assert_eq!(next(&mut body).await.unwrap(), ": keep-alive\n\n");
    assert_eq!(next(&mut body).await.unwrap(), ": keep-alive\n\n");
    sender.send(AnswerPart::Chunk(ChatChunk::default())).await.unwrap();
    assert_eq!(next(&mut body).await.unwrap(), "chunk ");
}

#[tokio::test]
async fn what_is_there_goes_out_at_once_and_the_last_step_ends_it() {
    let (sender, mut body) = start();
    for _ in 0..3 {
        sender.send(AnswerPart::Chunk(ChatChunk::default())).await.unwrap();
    }
    assert_eq!(next(&mut body).await.unwrap(), "chunk chunk chunk ");
    sender.send(AnswerPart::Failed(InferenceFailure::Lost)).await.unwrap();
    assert_eq!(next(&mut body).await.unwrap(), "failed ");
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn work_that_ends_without_a_word_is_told_as_a_failure() {
    let (sender, mut body) = start();
    drop(sender);
    assert_eq!(next(&mut body).await.unwrap(), "failed ");
    assert_eq!(next(&mut body).await, None);
}

#[test]
fn an_event_is_one_line_however_an_engine_lays_out_its_json() {
    let laid_out: Box<serde_json::value::RawValue> =
        serde_json::from_str("[\r\n  {\"text\": \"a\\nb\"}\n]").unwrap();
    let mut events = Vec::new();
    push_json(&mut events, &laid_out);
    push_parts(&mut events, [b"{\"choices\":", laid_out.get().as_bytes(), b"}"]);
    let expected = "data: [    {\"text\": \"a\\nb\"} ]\n\n\
                    data: {\"choices\":[    {\"text\": \"a\\nb\"} ]}\n\n";
    assert_eq!(String::from_utf8(events).unwrap(), expected);
}

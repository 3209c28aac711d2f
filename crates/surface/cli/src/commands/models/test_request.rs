//! `tollgate models test`: sends one small request through the running service, for any model type.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};

use crate::args::OutputOptions;
use crate::commands::session::{ApiSession, read_body, read_json};
use crate::commands::transcribe;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{print_json, print_line};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelTestOutcome {
    id: String,
    answer: String,
    seconds: f64,
}

pub(crate) async fn run_test_command(
    operator: &mut OperationClient<'_>,
    id: &str,
    listing: OutputOptions,
) -> Result<(), CommandError> {
    let session = ApiSession::open(operator).await?;
    let started = Instant::now();
    let answer = try_once(&session, id).await;
    session.close(operator).await?;
    let seconds = started.elapsed().as_secs_f64();
    let outcome = ModelTestOutcome { id: id.to_owned(), answer: answer?, seconds };
    if listing.json {
        return print_json(&outcome);
    }
    print_line(&format!("{id} answers after {seconds:.1} s: {}", outcome.answer))
}

async fn try_once(session: &ApiSession, id: &str) -> Result<String, CommandError> {
    let model = read_json(session.get(&format!("models/{id}")).await?).await?;
    match model.get("type").and_then(Value::as_str).unwrap_or_default() {
        "text" => {
            let messages = [json!({ "role": "user", "content": "Say hello." })];
            let body = json!({ "model": id, "messages": messages, "max_completion_tokens": 16 });
            let answer = read_json(session.post_json("chat/completions", &body).await?).await?;
            let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
            Ok(text.ok_or_else(unexpected_reply_error)?.trim().to_owned())
        }
        "embedding" => {
            let body = json!({ "model": id, "input": "hello" });
            let answer = read_json(session.post_json("embeddings", &body).await?).await?;
            let vector = answer.pointer("/data/0/embedding").and_then(Value::as_array);
            Ok(format!("{} numbers", vector.ok_or_else(unexpected_reply_error)?.len()))
        }
        "rerank" => {
            let body = json!({ "model": id, "query": "hello", "documents": ["good day"] });
            let answer = read_json(session.post_json("rerank", &body).await?).await?;
            let score = answer.pointer("/results/0/relevance_score").and_then(Value::as_f64);
            Ok(format!("score {}", score.ok_or_else(unexpected_reply_error)?))
        }
        "moderation" => {
            let body = json!({ "model": id, "input": "hello" });
            let answer = read_json(session.post_json("moderations", &body).await?).await?;
            let flagged = answer.pointer("/results/0/flagged").and_then(Value::as_bool);
            Ok(format!("flagged: {}", flagged.ok_or_else(unexpected_reply_error)?))
        }
        "tts" => {
            let body = json!({ "model": id, "input": "Hello." });
            let sound = read_body(session.post_json("audio/speech", &body).await?).await?;
            Ok(format!("{} bytes of sound", sound.len()))
        }
        "asr" => {
            let (sound, name) = (build_silent_wav(), "silence.wav");
            let answer = transcribe::request_transcription(session, id, sound, name, None).await?;
            let text =
                answer.get("text").and_then(Value::as_str).ok_or_else(unexpected_reply_error)?;
            Ok(format!("{text:?} for a second of silence"))
        }
        other => Err(CommandError::Usage(format!(
            "models of type {other} cannot be tested by this command"
        ))),
    }
}

/// Returns one second of silence as WAV: mono, 16 bits, 16 kHz.
fn build_silent_wav() -> Vec<u8> {
    const RATE: u32 = 16_000;
    let data_bytes = RATE * 2;
    let mut file = Vec::new();
    file.extend(b"RIFF");
    file.extend((36 + data_bytes).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    file.extend(1_u16.to_le_bytes());
    file.extend(1_u16.to_le_bytes());
    file.extend(RATE.to_le_bytes());
    file.extend((RATE * 2).to_le_bytes());
    file.extend(2_u16.to_le_bytes());
    file.extend(16_u16.to_le_bytes());
    file.extend(b"data");
    file.extend(data_bytes.to_le_bytes());
    file.resize(file.len() + 32_000, 0);
    file
}

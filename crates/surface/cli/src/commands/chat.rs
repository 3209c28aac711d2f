//! `tollgate chat`: a single message or a conversation, with streamed responses.

use std::io::{BufRead, IsTerminal};

use outbound::BodyPieces;
use serde_json::{Value, json};

use super::session::{ApiSession, message_in, read_piece};
use crate::args;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::{print_line, print_text};

/// A few pages. Limits the wait at the terminal if a small model does not stop by itself.
const ANSWER_TOKENS_MAX: u64 = 1024;

pub(crate) async fn run_chat_command(
    operator: &mut OperationClient<'_>,
    chat: &args::ChatArgs,
) -> Result<(), CommandError> {
    let session = ApiSession::open(operator).await?;
    let outcome = run_conversation(&session, chat).await;
    let closed = session.close(operator).await;
    outcome.and(closed)
}

async fn run_conversation(session: &ApiSession, chat: &args::ChatArgs) -> Result<(), CommandError> {
    let system = chat.system.iter().map(|text| json!({ "role": "system", "content": text }));
    let mut turns: Vec<Value> = system.collect();
    if let Some(text) = &chat.text {
        return send_message(session, &chat.model, &mut turns, text).await;
    }
    let is_person = std::io::stdin().is_terminal();
    loop {
        if is_person {
            print_text("> ")?;
        }
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(());
        }
        let text = line.trim();
        if !text.is_empty() {
            send_message(session, &chat.model, &mut turns, text).await?;
        }
    }
}

async fn send_message(
    session: &ApiSession,
    model: &str,
    turns: &mut Vec<Value>,
    text: &str,
) -> Result<(), CommandError> {
    turns.push(json!({ "role": "user", "content": text }));
    let body = json!({
        "model": model,
        "messages": turns,
        "stream": true,
        "max_completion_tokens": ANSWER_TOKENS_MAX,
    });
    let response = session.post_json("chat/completions", &body).await?;
    let said = print_stream(response.into_pieces()).await?;
    print_line("")?;
    turns.push(json!({ "role": "assistant", "content": said }));
    Ok(())
}

/// Prints the response while it is streamed, and returns the whole text.
async fn print_stream(mut pieces: BodyPieces) -> Result<String, CommandError> {
    let (mut said, mut unread) = (String::new(), Vec::new());
    while let Some(piece) = read_piece(&mut pieces).await? {
        unread.extend_from_slice(&piece);
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            if let Some(text) = text_in(&line)? {
                print_text(&text)?;
                said.push_str(&text);
            }
        }
    }
    Ok(said)
}

/// Returns the text that one line of the stream adds to the response.
fn text_in(line: &[u8]) -> Result<Option<String>, CommandError> {
    let line = String::from_utf8_lossy(line);
    let Some(data) = line.trim().strip_prefix("data:") else { return Ok(None) };
    let Ok(event) = serde_json::from_str::<Value>(data.trim()) else { return Ok(None) };
    if let Some(message) = message_in(&event) {
        return Err(CommandError::Failed(message));
    }
    let delta = event.pointer("/choices/0/delta/content").and_then(Value::as_str);
    Ok(delta.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Result<Option<&str>, &str>) {
        let found = text_in(line.as_bytes()).map_err(|failure| failure.to_string());
        let found = found.as_ref().map(Option::as_deref).map_err(String::as_str);
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_of_a_stream_are_read() {
        check("data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\r\n", Ok(Some("Hi")));
        check("data: {\"choices\":[]}\n", Ok(None));
        check("data: [DONE]\n", Ok(None));
        check(": ping\n", Ok(None));
        check("\n", Ok(None));
    }

    #[test]
    fn an_error_in_the_middle_ends_it() {
        check("data: {\"error\":{\"message\":\"broke off\",\"type\":\"x\"}}\n", Err("broke off"));
    }
}

//! Why an answer ended, in any server's words.

use engine::{EngineError, FinishReason};

use crate::transport::bad_answer;

/// Maps a server's word to one of the five that clients know.
///
/// Words for an answer that was cut off by a fault are an error, since a client would take the
/// rest for the whole.
pub(crate) fn reason(word: &str, has_tool_calls: bool) -> Result<FinishReason, EngineError> {
    let reason = match word.to_ascii_lowercase().as_str() {
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::Length,
        "tool_calls" | "tool_use" | "tool_call" | "function_calls" => FinishReason::ToolCalls,
        "function_call" => FinishReason::FunctionCall,
        "content_filter" | "refusal" | "safety" | "recitation" | "prohibited_content" => {
            FinishReason::ContentFilter
        }
        "abort" | "aborted" | "cancelled" | "error" | "insufficient_system_resource" => {
            return Err(bad_answer(format!("it was cut off with finish reason {word:?}")));
        }
        // Some servers say "stop" after a tool call, and agents then never run the tool.
        _ if has_tool_calls => FinishReason::ToolCalls,
        // `stop`, `eos`, `end_turn`, `stop_sequence`, `pause_turn`, and words not seen yet.
        _ => FinishReason::Stop,
    };
    Ok(reason)
}

/// The word is already one that clients know, with that meaning.
pub(crate) fn is_common(word: &str, reason: FinishReason) -> bool {
    word == reason.word()
}

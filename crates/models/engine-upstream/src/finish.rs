//! Maps finish reasons of all servers to OpenAI's.

use engine::{EngineError, FinishReason};
use serde_json::value::RawValue;

use crate::transport::bad_answer;

/// Maps a server's finish reason to one of OpenAI's five.
///
/// Reasons that mean an interrupted answer are errors, because a client would mistake it for
/// complete.
pub(crate) fn parse_finish_reason(
    word: &str,
    has_tool_calls: bool,
) -> Result<FinishReason, EngineError> {
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
        // Some servers report "stop" after a tool call, and agents would then not run the tool.
        _ if has_tool_calls => FinishReason::ToolCalls,
        // `stop`, `eos`, `end_turn`, `stop_sequence`, `pause_turn`, and unknown values.
        _ => FinishReason::Stop,
    };
    Ok(reason)
}

/// The stop sequence that a server names beside its finish reason: vLLM and the built-in engine in
/// `stop_reason`, SGLang in `matched_stop`. Both may be the id of a token instead, which is ignored.
pub(crate) fn read_stop_match(
    stop_reason: Option<&RawValue>,
    matched_stop: Option<&RawValue>,
) -> Option<String> {
    let mut named = [stop_reason, matched_stop].into_iter().flatten();
    named.find_map(|raw| serde_json::from_str(raw.get()).ok())
}

/// True if the server's value already equals OpenAI's value of this reason.
pub(crate) fn is_common(word: &str, reason: FinishReason) -> bool {
    word == reason.as_str()
}

//! Decodes one choice of one chunk, and normalizes what clients could not read.

use std::borrow::Cow;

use engine::{ChoiceDelta, EngineError, ToolCallDelta};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer;
use crate::finish;
use crate::transport::bad_answer;

/// More tool calls in one answer than any model makes; a larger index is an error.
const TOOL_CALLS_MAX: u32 = 1024;

#[derive(Deserialize)]
pub(super) struct ChunkChoiceBody<'a> {
    pub(super) index: Option<u32>,
    delta: Option<DeltaBody<'a>>,
    #[serde(borrow)]
    finish_reason: Option<InspectedStr<'a>>,
    #[serde(borrow)]
    stop_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    matched_stop: Option<&'a RawValue>,
    #[serde(borrow)]
    logprobs: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct DeltaBody<'a> {
    #[serde(borrow)]
    role: Option<InspectedStr<'a>>,
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    refusal: Option<String>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    thought_signature: Option<String>,
    tool_calls: Option<Vec<CallDeltaBody>>,
}

/// A string that is only inspected: borrowed unless it contains escapes.
#[derive(Deserialize)]
struct InspectedStr<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct CallDeltaBody {
    index: Option<u32>,
    id: Option<String>,
    r#type: Option<String>,
    function: Option<FunctionDeltaBody>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

#[derive(Deserialize, Default)]
struct FunctionDeltaBody {
    name: Option<String>,
    arguments: Option<String>,
}

/// The state of one choice.
#[derive(Default)]
pub(super) struct ChoiceState {
    has_begun: bool,
    pub(super) is_finished: bool,
    /// Tool calls so far.
    calls: u32,
}

impl ChoiceState {
    /// Decodes a delta. Returns true if its raw bytes can be forwarded to a client unchanged.
    pub(super) fn decode_delta(
        &mut self,
        body: ChunkChoiceBody<'_>,
        upstream_id: Option<&str>,
        delta: &mut ChoiceDelta,
    ) -> Result<bool, EngineError> {
        let said = body.delta.unwrap_or_default();
        delta.index = body.index.unwrap_or(0);
        delta.opens = !std::mem::replace(&mut self.has_begun, true);
        // Clients read the role from the first delta and accept only `assistant`.
        let has_good_role = match said.role.as_ref().map(|it| &*it.0) {
            Some("assistant") => true,
            Some("") | None => !delta.opens,
            Some(_) => false,
        };
        // Our clients read only `reasoning_content`, so a delta with `reasoning` is encoded again.
        let has_good_name = said.reasoning.is_none();
        let has_good_calls = self.decode_calls(said.tool_calls, upstream_id, delta)?;
        delta.content = said.content.unwrap_or_default();
        delta.reasoning = said.reasoning_content.or(said.reasoning).unwrap_or_default();
        delta.refusal = said.refusal.unwrap_or_default();
        delta.reasoning_details = said.reasoning_details.map(ToOwned::to_owned);
        delta.thought_signature = said.thought_signature;
        delta.logprobs = body.logprobs.map(ToOwned::to_owned);
        let has_good_finish =
            self.decode_finish(body.finish_reason.as_ref().map(|it| &*it.0), delta)?;
        delta.stop_match = finish::read_stop_match(body.stop_reason, body.matched_stop);
        // The specification knows no stop sequence in `stop_reason`.
        let is_plain = body.index.is_some() && body.usage.is_none() && delta.stop_match.is_none();
        Ok(has_good_role && has_good_name && has_good_calls && has_good_finish && is_plain)
    }

    fn decode_calls(
        &mut self,
        calls: Option<Vec<CallDeltaBody>>,
        upstream_id: Option<&str>,
        delta: &mut ChoiceDelta,
    ) -> Result<bool, EngineError> {
        let mut are_good = true;
        for call in calls.unwrap_or_default() {
            let begins = match call.index {
                Some(index) => self.calls <= index,
                // Gemini sends no index; each of its calls is complete and has its own id.
                None => self.calls == 0 || call.id.is_some(),
            };
            let index = match call.index {
                Some(index) => index,
                None if begins => self.calls,
                None => self.calls - 1,
            };
            if TOOL_CALLS_MAX <= index {
                return Err(bad_answer(format!("a chunk has a tool call number {index}")));
            }
            self.calls = self.calls.max(index + 1);
            let is_named = call.id.is_some() && call.r#type.as_deref() == Some("function");
            are_good &= call.index.is_some() && (!begins || is_named);
            let function = call.function.unwrap_or_default();
            let made_up = begins.then(|| answer::made_up_id(upstream_id, index));
            delta.tool_calls.push(ToolCallDelta {
                index,
                id: call.id.or(made_up),
                name: function.name.unwrap_or_default(),
                arguments: function.arguments.unwrap_or_default(),
                extra: call.extra,
            });
        }
        Ok(are_good)
    }

    fn decode_finish(
        &mut self,
        word: Option<&str>,
        delta: &mut ChoiceDelta,
    ) -> Result<bool, EngineError> {
        let Some(word) = word else { return Ok(true) };
        if word.is_empty() {
            return Ok(false);
        }
        let reason = finish::parse_finish_reason(word, 0 < self.calls)?;
        let is_repeated = std::mem::replace(&mut self.is_finished, true);
        // A second finish reason would look like a second choice to a client.
        delta.finish = (!is_repeated).then_some(reason);
        Ok(!is_repeated && finish::is_common(word, reason))
    }
}

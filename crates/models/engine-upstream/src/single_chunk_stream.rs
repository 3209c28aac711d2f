//! Converts a complete answer to a stream with one chunk, for upstreams that do not stream.

use engine::{
    ChatAnswer, ChatChoice, ChatChunk, ChatEvent, ChatStream, ChoiceDelta, ToolCallDelta,
};
use futures_util::stream;

pub(crate) fn as_stream(answer: ChatAnswer) -> ChatStream {
    let mut events = Vec::new();
    events.extend(answer.upstream_id.map(ChatEvent::UpstreamId));
    let deltas = answer.choices.into_iter().map(as_delta).collect();
    events.push(ChatEvent::Chunk(ChatChunk { deltas, ..ChatChunk::default() }));
    events.extend(answer.usage.map(ChatEvent::Usage));
    Box::pin(stream::iter(events.into_iter().map(Ok)))
}

fn as_delta(choice: ChatChoice) -> ChoiceDelta {
    let tool_calls = choice.tool_calls.into_iter().zip(0..).map(|(call, index)| ToolCallDelta {
        index,
        id: Some(call.id),
        name: call.name,
        arguments: call.arguments,
        extra: call.extra,
    });
    ChoiceDelta {
        index: choice.index,
        opens: true,
        content: choice.content.unwrap_or_default(),
        reasoning: choice.reasoning.unwrap_or_default(),
        refusal: choice.refusal.unwrap_or_default(),
        tool_calls: tool_calls.collect(),
        reasoning_details: choice.reasoning_details,
        thought_signature: choice.thought_signature,
        logprobs: choice.logprobs,
        finish: Some(choice.finish),
        stop_match: choice.stop_match,
    }
}

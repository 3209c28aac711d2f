//! Encodes a streamed answer as OpenAI's chunks.
//!
//! Usage and cost are in the last chunk that has a choice, because much code reads
//! `chunk.choices[0]` unchecked; a caller that asks for `include_usage` gets OpenAI's own chunk
//! without choices instead. So a chunk that ends a choice is kept back until it is known not to be
//! the last.

use std::collections::BTreeMap;

use engine::{ChatChunk, ChoiceDelta, ToolCallDelta};
use http_frame::event_stream::{SseEncoder, push_json, push_parts};
use http_frame::paid_chat::{AnswerPart, ChatSettlement};
use http_frame::payment;
use http_frame::refusal::inference::InferenceFailure;
use http_frame::request_id::RequestId;
use wire::chat::{
    self, ChunkChoice, ChunkDelta, ChunkFunction, ChunkToolCall, CompletionRole, Cost,
    EffectiveParameters, TokenUsage, ToolKind,
};

use super::completion::{ChatChunkHead, finish_reason};
use super::encrypted_reasoning::EncryptedHints;
use super::think_filter::ThoughtFilter;
use crate::endpoints::citations;

pub(super) struct ChatSseEncoder {
    frame: ChatChunkHead,
    /// The JSON up to the choices, the same in every chunk.
    beginning: Vec<u8>,
    request_id: RequestId,
    asks_usage: bool,
    /// One per choice; None if reasoning is not removed.
    filters: Option<BTreeMap<u32, ThoughtFilter>>,
    /// Adds placeholders for encrypted reasoning.
    hints: EncryptedHints,
    /// A chunk that ends a choice, and may be the last.
    held: Option<ChatChunk>,
    parameters: EffectiveParameters,
    /// True if the results of a web search are sent in the stream.
    tells_sources: bool,
    /// Set once something was sent.
    has_begun: bool,
}

/// Usage and cost, for the end of the answer.
#[derive(Clone, Copy)]
struct AnswerTotals {
    usage: TokenUsage,
    cost: Cost,
}

impl ChatSseEncoder {
    pub(super) fn new(
        frame: ChatChunkHead,
        request_id: RequestId,
        parameters: EffectiveParameters,
        asks_usage: bool,
    ) -> ChatSseEncoder {
        let strips = parameters.strip_thinking_response || parameters.disable_thinking;
        let filters = strips.then(BTreeMap::new);
        let beginning = encode_chunk_start(&frame);
        let has_sources = !parameters.web_search_citations.is_empty();
        let tells_sources = parameters.include_search_results_in_stream && has_sources;
        let (hints, held) = (EncryptedHints::default(), None);
        ChatSseEncoder {
            frame,
            beginning,
            request_id,
            asks_usage,
            filters,
            hints,
            held,
            parameters,
            tells_sources,
            has_begun: false,
        }
    }

    /// Sends the web results before the first text.
    fn encode_start(&mut self, events: &mut Vec<u8>) {
        if !self.has_begun {
            self.has_begun = true;
            self.write_sources(events);
            self.write_documents(events);
        }
    }

    /// Sends a chunk without choices that has the web results.
    fn write_sources(&self, events: &mut Vec<u8>) {
        if self.tells_sources {
            let mut chunk = build_chunk(&self.frame, [(); 0], None);
            chunk.service_parameters = Some(&self.parameters);
            push_json(events, &chunk);
        }
    }

    /// Sends the web results as a tool call that was already carried out.
    fn write_documents(&self, events: &mut Vec<u8>) {
        let sources = &self.parameters.web_search_citations;
        if !self.parameters.return_search_results_as_documents || sources.is_empty() {
            return;
        }
        let (id, arguments) =
            (format!("call_{}", self.frame.id), citations::encode_documents(sources));
        let call = ToolCallDelta {
            index: 0,
            id: Some(id),
            name: citations::DOCUMENTS.to_owned(),
            arguments,
            ..ToolCallDelta::default()
        };
        let delta = ChoiceDelta { opens: true, tool_calls: vec![call], ..ChoiceDelta::default() };
        self.write(&ChatChunk { deltas: vec![delta], ..ChatChunk::default() }, None, events);
    }

    fn encode_chunk(&mut self, chunk: ChatChunk, events: &mut Vec<u8>) {
        let Some(chunk) = self.filter_chunk(chunk) else { return };
        if let Some(held) = self.held.take() {
            self.write(&held, None, events);
        }
        let ends_choice = chunk.deltas.iter().any(|delta| delta.finish.is_some());
        if ends_choice {
            self.held = Some(chunk);
        } else {
            self.write(&chunk, None, events);
        }
    }

    fn encode_end(&mut self, settled: &ChatSettlement, events: &mut Vec<u8>) {
        let totals = AnswerTotals {
            usage: payment::token_usage(settled.usage),
            cost: payment::to_cost(&settled.receipt),
        };
        let held = self.held.take();
        let rides = held.is_some() && !self.asks_usage;
        if let Some(held) = held {
            self.write(&held, rides.then_some(totals), events);
        }
        if !rides {
            self.write(&ChatChunk::default(), Some(totals), events);
        }
        self.write_sources(events);
        events.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn encode_failure(&mut self, failure: InferenceFailure, events: &mut Vec<u8>) {
        // The end of the answer is withheld if its charge could not be recorded.
        if let (InferenceFailure::Engine(_), Some(held)) = (&failure, self.held.take()) {
            self.write(&held, None, events);
        }
        push_json(events, &failure.into_event(&self.request_id));
    }

    /// The chunk without reasoning; None if nothing is left of it.
    fn filter_chunk(&mut self, mut chunk: ChatChunk) -> Option<ChatChunk> {
        let Some(filters) = &mut self.filters else {
            self.hints.insert_placeholder(&mut chunk);
            return Some(chunk);
        };
        chunk.verbatim = None;
        for delta in &mut chunk.deltas {
            let filter = filters.entry(delta.index).or_default();
            delta.content = filter.push(&delta.content);
            // Reasoning in separate fields is removed along with that in the text.
            delta.reasoning.clear();
            delta.reasoning_details = None;
            if delta.finish.is_some() {
                delta.content.push_str(&filter.finish());
            }
        }
        chunk.deltas.retain(has_content);
        (!chunk.deltas.is_empty()).then_some(chunk)
    }

    fn write(&self, chunk: &ChatChunk, totals: Option<AnswerTotals>, events: &mut Vec<u8>) {
        match (&chunk.verbatim, totals) {
            (Some(choices), None) => {
                push_parts(events, [&self.beginning, choices.get().as_bytes(), b"}"]);
            }
            (Some(choices), totals) => {
                push_json(events, &build_chunk(&self.frame, choices, totals))
            }
            (None, totals) => {
                let choices: Vec<_> = chunk.deltas.iter().map(build_choice).collect();
                push_json(events, &build_chunk(&self.frame, choices, totals));
            }
        }
    }
}

impl SseEncoder for ChatSseEncoder {
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        match part {
            AnswerPart::Opened(model, _) => {
                self.frame.model.clone_from(&model.id);
                self.beginning = encode_chunk_start(&self.frame);
                self.encode_start(events);
            }
            // There was no `Opened` part if the model was known before the headers were sent.
            AnswerPart::Chunk(chunk) => {
                self.encode_start(events);
                self.encode_chunk(chunk, events);
            }
            AnswerPart::Done(settled) => {
                self.encode_start(events);
                self.encode_end(&settled, events);
            }
            AnswerPart::Failed(failure) => self.encode_failure(failure, events),
            // Only answers with tools have such parts.
            AnswerPart::Tool(_) => {}
        }
    }
}

/// The JSON of a chunk up to its choices.
fn encode_chunk_start(frame: &ChatChunkHead) -> Vec<u8> {
    let chunk = build_chunk(frame, [(); 0], None);
    let mut json = serde_json::to_vec(&chunk).expect("texts and numbers can be written");
    json.truncate(json.len() - b"[]}".len());
    json
}

fn build_chunk<C>(
    frame: &ChatChunkHead,
    choices: C,
    totals: Option<AnswerTotals>,
) -> chat::ChatChunk<'_, C> {
    chat::ChatChunk {
        id: &frame.id,
        object: "chat.completion.chunk",
        created: frame.created,
        model: &frame.model,
        choices,
        usage: totals.map(|it| it.usage),
        cost: totals.map(|it| it.cost),
        service_parameters: None,
    }
}

fn has_content(delta: &ChoiceDelta) -> bool {
    delta.opens
        || delta.finish.is_some()
        || delta.reasoning_details.is_some()
        || delta.thought_signature.is_some()
        || delta.generated_texts().next().is_some()
        || !delta.tool_calls.is_empty()
}

fn build_choice(delta: &ChoiceDelta) -> ChunkChoice<'_> {
    // The first delta has the role and, as clients expect, at least an empty content.
    let content = not_empty(&delta.content).or(delta.opens.then_some(""));
    ChunkChoice {
        index: delta.index,
        delta: ChunkDelta {
            role: delta.opens.then_some(CompletionRole::Assistant),
            content,
            reasoning_content: not_empty(&delta.reasoning),
            refusal: not_empty(&delta.refusal),
            tool_calls: delta.tool_calls.iter().map(tool_call).collect(),
            reasoning_details: delta.reasoning_details.as_deref(),
            thought_signature: delta.thought_signature.as_deref(),
        },
        finish_reason: delta.finish.map(finish_reason),
        logprobs: delta.logprobs.as_deref(),
    }
}

fn tool_call(call: &ToolCallDelta) -> ChunkToolCall<'_> {
    ChunkToolCall {
        index: call.index,
        id: call.id.as_deref(),
        kind: call.id.is_some().then_some(ToolKind::Function),
        function: ChunkFunction { name: not_empty(&call.name), arguments: &call.arguments },
        extra: &call.extra,
    }
}

/// None for empty text, which is left out of the chunk.
fn not_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

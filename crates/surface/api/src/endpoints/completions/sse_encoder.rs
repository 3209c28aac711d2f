//! Encodes a streamed continuation.
//!
//! As in chats, usage and cost are in the last chunk that has a choice, unless the caller asks for
//! a separate chunk. So a chunk that ends a choice is kept back until it is known not to be the
//! last.

use engine::ChatChunk;
use http_frame::event_stream::{SseEncoder, push_json};
use http_frame::paid_chat::{AnswerPart, ChatSettlement};
use http_frame::refusal::inference::InferenceFailure;
use wire::completions::CompletionChoice;

use super::reply::{CompletionHead, finish_name};

pub(super) struct CompletionSseEncoder {
    frame: CompletionHead,
    asks_usage: bool,
    /// A chunk that ends a choice, and may be the last.
    held: Option<Vec<CompletionChoice>>,
}

impl CompletionSseEncoder {
    pub(super) fn new(frame: CompletionHead, asks_usage: bool) -> CompletionSseEncoder {
        CompletionSseEncoder { frame, asks_usage, held: None }
    }

    fn encode_chunk(&mut self, chunk: ChatChunk, events: &mut Vec<u8>) {
        self.flush_held(events);
        let choices: Vec<CompletionChoice> = chunk
            .deltas
            .into_iter()
            .map(|delta| CompletionChoice {
                index: delta.index,
                text: if delta.opens {
                    self.frame.echo.choice_prompt(delta.index).to_owned() + &delta.content
                } else {
                    delta.content
                },
                logprobs: delta.logprobs,
                finish_reason: delta.finish.map(finish_name),
            })
            .collect();
        if choices.iter().any(|choice| choice.finish_reason.is_some()) {
            self.held = Some(choices);
        } else {
            push_json(events, &self.frame.build_chunk(choices));
        }
    }

    fn flush_held(&mut self, events: &mut Vec<u8>) {
        if let Some(held) = self.held.take() {
            push_json(events, &self.frame.build_chunk(held));
        }
    }

    fn encode_end(&mut self, settled: &ChatSettlement, events: &mut Vec<u8>) {
        if self.asks_usage {
            self.flush_held(events);
        }
        let last = self.held.take().unwrap_or_default();
        push_json(events, &self.frame.build_final_chunk(last, settled));
        events.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn encode_failure(&mut self, failure: InferenceFailure, events: &mut Vec<u8>) {
        // The end of the answer is withheld if its charge could not be recorded.
        if matches!(failure, InferenceFailure::Engine(_)) {
            self.flush_held(events);
        }
        push_json(events, &failure.into_event(&self.frame.request_id));
    }
}

impl SseEncoder for CompletionSseEncoder {
    fn encode(&mut self, part: AnswerPart, events: &mut Vec<u8>) {
        match part {
            // Only one model can answer, and the frame has its name.
            // Only answers with tools have such parts.
            AnswerPart::Opened(..) | AnswerPart::Tool(_) => {}
            AnswerPart::Chunk(chunk) => self.encode_chunk(chunk, events),
            AnswerPart::Done(settled) => self.encode_end(&settled, events),
            AnswerPart::Failed(failure) => self.encode_failure(failure, events),
        }
    }
}

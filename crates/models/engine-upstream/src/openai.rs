//! The protocol of OpenAI and compatible servers: vLLM, SGLang, llama.cpp, Ollama, OpenRouter and
//! others. Their differences are in [`ServerQuirks`].

mod answer;
mod attestation;
mod chunk;
mod delta;
mod embedding;
mod image;
mod message;
mod moderation;
mod picture_tools;
mod reasoning;
mod request;
mod rerank;
mod speech;
mod text;
mod tools;
mod transcription;
mod usage;

use std::sync::Arc;

use engine::{ChatAnswer, ChatEngine, ChatRequest, ChatStream, EngineError};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

pub(crate) use answer::read_answer;
pub(crate) use attestation::OpenAiAttested;
pub(crate) use chunk::ChunkDecoder;
pub(crate) use embedding::OpenAiEmbeddings;
pub(crate) use image::OpenAiImages;
pub(crate) use moderation::OpenAiModeration;
pub(crate) use picture_tools::{BuiltInClassifier, PictureTools};
pub(crate) use request::{encode_body, retention_word, write_streamed, write_whole};
pub(crate) use rerank::OpenAiRerank;
pub(crate) use speech::OpenAiSpeech;
pub(crate) use transcription::{OpenAiTranscription, read_transcript};
#[cfg(test)]
pub(crate) use {
    image::{edit_fields, read_image, write_image},
    speech::write_speech,
    transcription::form_fields,
};

use crate::ServerQuirks;
use crate::event_stream::{self, EventDecoder};
use crate::single_chunk_stream;
use crate::transport::{UpstreamEndpoint, is_json, read_whole};
use text::TextDecoder;

/// One model of one OpenAI-style server.
pub(crate) struct OpenAiChat {
    pub(crate) endpoint: UpstreamEndpoint,
    /// The endpoint for text completions.
    pub(crate) texts: UpstreamEndpoint,
    /// The endpoint that counts the tokens of a chat, where the server has it.
    pub(crate) counts: UpstreamEndpoint,
    pub(crate) model: String,
    pub(crate) quirks: ServerQuirks,
}

impl ChatEngine for OpenAiChat {
    fn complete_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            if let Some(prompt) = request.prompt() {
                let body = text::write_whole(&request, prompt, &self.model, self.quirks)?;
                return text::read_completion(&self.texts.post_json(body).await?);
            }
            let body = write_whole(&request, &self.model, self.quirks)?;
            read_answer(&self.endpoint.post_json(body).await?)
        })
    }

    fn stream_chat(
        &self,
        request: Arc<ChatRequest>,
    ) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let choices = request.choices_total();
            if let Some(prompt) = request.prompt() {
                let body = text::write_streamed(&request, prompt, &self.model, self.quirks)?;
                return open_stream(
                    &self.texts,
                    body,
                    text::read_completion,
                    TextDecoder::new(choices),
                )
                .await;
            }
            let body = write_streamed(&request, &self.model, self.quirks)?;
            let decoder = ChunkDecoder::new(choices);
            match &request.seal {
                None => open_stream(&self.endpoint, body, read_answer, decoder).await,
                Some(seal) => {
                    let endpoint = attestation::add_seal_headers(&self.endpoint, seal)?;
                    open_stream(&endpoint, body, read_answer, decoder).await
                }
            }
        })
    }

    fn count_prompt(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Option<u64>> {
        Box::pin(async move {
            if !self.quirks.counts_prompts || request.prompt().is_some() {
                return None;
            }
            let body = write_whole(&request, &self.model, self.quirks).ok()?;
            let counted = self.counts.post_json(body).await.ok()?;
            serde_json::from_slice::<PromptCountBody>(&counted).ok()?.prompt_tokens
        })
    }

    fn dropped_fields(&self, request: &ChatRequest) -> Vec<String> {
        request::list_dropped_fields(request, self.quirks)
    }
}

/// The answer of the endpoint that counts. Null if the model is not loaded.
#[derive(Deserialize)]
struct PromptCountBody {
    prompt_tokens: Option<u64>,
}

async fn open_stream<D: EventDecoder>(
    endpoint: &UpstreamEndpoint,
    body: Vec<u8>,
    read: fn(&[u8]) -> Result<ChatAnswer, EngineError>,
    decoder: D,
) -> Result<ChatStream, EngineError> {
    let deadline = Instant::now() + endpoint.timeouts.first_event;
    let answer = endpoint.open(body, deadline).await?;
    if is_json(&answer) {
        // Some servers ignore `stream` for some models, and some send errors this way.
        let Ok(body) = timeout_at(deadline, read_whole(answer)).await else {
            return Err(EngineError::Timeout { phase: engine::TimeoutPhase::FirstEvent });
        };
        return Ok(single_chunk_stream::as_stream(read(&body?)?));
    }
    event_stream::start_stream(answer, decoder, endpoint.timeouts, deadline).await
}

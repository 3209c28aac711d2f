//! The protocol of OpenAI and compatible servers: vLLM, SGLang, llama.cpp, Ollama, OpenRouter and
//! others. Their differences are in [`Quirks`].

mod answer;
mod attestation;
mod chunk;
mod delta;
mod embedding;
mod image;
mod message;
mod picture_tools;
mod reasoning;
mod request;
mod speech;
mod text;
mod tools;
mod transcription;
mod usage;

use std::sync::Arc;

use engine::{ChatAnswer, ChatEngine, ChatRequest, ChatStream, EngineError};
use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout_at};

pub(crate) use answer::read as read_answer;
pub(crate) use attestation::OpenAiAttested;
pub(crate) use chunk::ChunkDecoder;
pub(crate) use embedding::OpenAiEmbeddings;
pub(crate) use image::OpenAiImages;
pub(crate) use picture_tools::{BuiltInJudge, PictureTools};
pub(crate) use request::{streamed as write_streamed, whole as write_whole};
pub(crate) use speech::OpenAiSpeech;
pub(crate) use transcription::{OpenAiTranscription, read as read_transcript};
#[cfg(test)]
pub(crate) use {
    image::{edit_fields, generation as write_image, read as read_image},
    speech::write as write_speech,
    transcription::fields as form_fields,
};

use crate::Quirks;
use crate::pump::{self, Decoder};
use crate::transport::{Endpoint, is_json, read_whole};
use crate::whole;
use text::TextDecoder;

/// One model of one OpenAI-style server.
pub(crate) struct OpenAiChat {
    pub(crate) endpoint: Endpoint,
    /// The endpoint for text completions.
    pub(crate) texts: Endpoint,
    pub(crate) model: String,
    pub(crate) quirks: Quirks,
}

impl ChatEngine for OpenAiChat {
    fn answer(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatAnswer, EngineError>> {
        Box::pin(async move {
            if let Some(prompt) = request.prompt() {
                let body = text::write_whole(&request, prompt, &self.model, self.quirks)?;
                return text::read(&self.texts.ask(body).await?);
            }
            let body = write_whole(&request, &self.model, self.quirks)?;
            read_answer(&self.endpoint.ask(body).await?)
        })
    }

    fn stream(&self, request: Arc<ChatRequest>) -> BoxFuture<'_, Result<ChatStream, EngineError>> {
        Box::pin(async move {
            let choices = request.choices_total();
            if let Some(prompt) = request.prompt() {
                let body = text::write_streamed(&request, prompt, &self.model, self.quirks)?;
                return stream(&self.texts, body, text::read, TextDecoder::new(choices)).await;
            }
            let body = write_streamed(&request, &self.model, self.quirks)?;
            let decoder = ChunkDecoder::new(choices);
            match &request.seal {
                None => stream(&self.endpoint, body, read_answer, decoder).await,
                Some(seal) => {
                    let endpoint = attestation::sealed(&self.endpoint, seal)?;
                    stream(&endpoint, body, read_answer, decoder).await
                }
            }
        })
    }

    fn dropped(&self, request: &ChatRequest) -> Vec<String> {
        request::dropped(request, self.quirks)
    }
}

async fn stream<D: Decoder>(
    endpoint: &Endpoint,
    body: Vec<u8>,
    read: fn(&[u8]) -> Result<ChatAnswer, EngineError>,
    decoder: D,
) -> Result<ChatStream, EngineError> {
    let deadline = Instant::now() + endpoint.timeouts.first_event;
    let answer = endpoint.open(body, deadline).await?;
    if is_json(&answer) {
        // Some servers ignore `stream` for some models, and some send errors this way.
        let Ok(body) = timeout_at(deadline, read_whole(answer)).await else {
            return Err(EngineError::Timeout { phase: engine::Phase::FirstEvent });
        };
        return Ok(whole::as_stream(read(&body?)?));
    }
    pump::start(answer, decoder, endpoint.timeouts, deadline).await
}

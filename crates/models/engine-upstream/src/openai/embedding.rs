//! Embeddings of an OpenAI-style server: splits the input to the server's limit, joins the results
//! in order, and checks them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{
    EmbeddingAnswer, EmbeddingEngine, EmbeddingInput, EmbeddingRequest, EngineError, EngineUsage,
};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::usage;
use crate::failure::UpstreamFailure;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// Concurrent batches per request.
const BATCHES_AT_ONCE: usize = 4;

/// One embedding model behind one OpenAI-style server.
pub(crate) struct OpenAiEmbeddings {
    pub(crate) endpoint: UpstreamEndpoint,
    pub(crate) model: String,
    /// The server's maximum of entries per request.
    pub(crate) inputs_max: usize,
}

impl EmbeddingEngine for OpenAiEmbeddings {
    fn embed(
        &self,
        request: Arc<EmbeddingRequest>,
    ) -> BoxFuture<'_, Result<EmbeddingAnswer, EngineError>> {
        Box::pin(async move {
            let bodies = encode_batches(&request, &self.model, self.inputs_max)?;
            let asked = bodies.into_iter().map(|(body, count)| async move {
                read_batch(&self.endpoint.post_json(body).await?, count)
            });
            let answers = stream::iter(asked).buffered(BATCHES_AT_ONCE);
            join_batches(answers.try_collect().await?, request.dimensions)
        })
    }
}

#[derive(Serialize)]
struct EmbeddingRequestBody<'a, T> {
    model: &'a str,
    input: &'a [T],
    /// Always floats: several servers ignore `base64`, so we encode it ourselves.
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

/// The request bodies, each with the number of its entries.
fn encode_batches(
    request: &EmbeddingRequest,
    model: &str,
    inputs_max: usize,
) -> Result<Vec<(Vec<u8>, usize)>, EngineError> {
    match &request.input {
        EmbeddingInput::Texts(texts) => split_entries(texts, model, request.dimensions, inputs_max),
        EmbeddingInput::Tokens(lists) => {
            split_entries(lists, model, request.dimensions, inputs_max)
        }
    }
}

fn split_entries<T: Serialize>(
    entries: &[T],
    model: &str,
    dimensions: Option<u32>,
    inputs_max: usize,
) -> Result<Vec<(Vec<u8>, usize)>, EngineError> {
    let mut bodies = Vec::new();
    for input in entries.chunks(inputs_max.max(1)) {
        let body = EmbeddingRequestBody { model, input, encoding_format: "float", dimensions };
        let written = serde_json::to_vec(&body).map_err(|error| EngineError::Rejected {
            message: format!("The input cannot be written as JSON: {error}"),
        })?;
        bodies.push((written, input.len()));
    }
    Ok(bodies)
}

#[derive(Deserialize)]
struct EmbeddingAnswerBody {
    data: Option<Vec<EntryBody>>,
    usage: Option<Box<RawValue>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct EntryBody {
    index: Option<usize>,
    embedding: EmbeddingVector,
}

/// Decodes one batch: exactly one vector per entry, sorted into input order.
fn read_batch(body: &[u8], count: usize) -> Result<EmbeddingAnswer, EngineError> {
    let answer: EmbeddingAnswerBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a list of embeddings: {error}")))?;
    if let Some(error) = answer.error {
        return Err(UpstreamFailure::from_value(&error).into_error());
    }
    let entries = answer.data.unwrap_or_default();
    if entries.len() != count {
        return Err(bad_answer(format!("it has {} vectors for {count} entries", entries.len())));
    }
    let mut vectors = vec![Vec::new(); count];
    for (position, entry) in entries.into_iter().enumerate() {
        let index = entry.index.unwrap_or(position);
        match vectors.get_mut(index) {
            Some(place) if place.is_empty() => *place = entry.embedding.0,
            _ => return Err(bad_answer(format!("its vector {index} is one too many"))),
        }
    }
    let usage = answer.usage.as_deref().and_then(usage::read_usage);
    Ok(EmbeddingAnswer { vectors, usage })
}

/// Joins all batches. The usage is `None` if any batch has none.
fn join_batches(
    answers: Vec<EmbeddingAnswer>,
    dimensions: Option<u32>,
) -> Result<EmbeddingAnswer, EngineError> {
    let mut vectors = Vec::new();
    let mut usage = Some(EngineUsage::default());
    for answer in answers {
        vectors.extend(answer.vectors);
        usage = usage.zip(answer.usage).map(|(sum, next)| sum.plus_request(next));
    }
    let length = vectors.first().map_or(0, Vec::len);
    let is_even = vectors.iter().all(|vector| vector.len() == length);
    if length == 0 || !is_even {
        return Err(bad_answer("its vectors are empty or of different lengths"));
    }
    let wanted = dimensions.and_then(|it| usize::try_from(it).ok());
    if wanted.is_some_and(|wanted| wanted != length) {
        return Err(EngineError::Rejected {
            message: format!("This model returns {length} dimensions and supports no others"),
        });
    }
    Ok(EmbeddingAnswer { vectors, usage })
}

/// A vector as numbers, or as base64 although it was not requested.
struct EmbeddingVector(Vec<f32>);

impl<'de> Deserialize<'de> for EmbeddingVector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EmbeddingVector, D::Error> {
        deserializer.deserialize_any(EmbeddingVectorVisitor)
    }
}

struct EmbeddingVectorVisitor;

impl<'de> Visitor<'de> for EmbeddingVectorVisitor {
    type Value = EmbeddingVector;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of finite numbers, or base64 of little-endian floats")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<EmbeddingVector, A::Error> {
        let mut floats = Vec::with_capacity(sequence.size_hint().unwrap_or(0).min(1 << 16));
        while let Some(float) = sequence.next_element::<f32>()? {
            floats.push(float);
        }
        check_finite(floats)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<EmbeddingVector, E> {
        let bytes = STANDARD.decode(text).map_err(E::custom)?;
        let (quads, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(E::custom("base64 of a length that is not a multiple of four"));
        }
        check_finite(quads.iter().map(|quad| f32::from_le_bytes(*quad)).collect())
    }
}

fn check_finite<E: serde::de::Error>(floats: Vec<f32>) -> Result<EmbeddingVector, E> {
    let are_finite = floats.iter().all(|float| float.is_finite());
    if are_finite { Ok(EmbeddingVector(floats)) } else { Err(E::custom("a number is not finite")) }
}

#[cfg(test)]
mod tests;

//! Converts between the API's embeddings and the engine's.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::catalogue::EmbeddingSpec;
use engine::{EmbeddingInput, EmbeddingRequest, EngineUsage};
use http_frame::paid_work::PaidResult;
use http_frame::payment;
use http_frame::refusal::Refusal;
use schema_check::{PathStep, ValidationFaults};
use wire::embeddings as wire_embeddings;
use wire_embeddings::{Embedding, EmbeddingList, EmbeddingUsage, EncodingFormat, Vector};

use super::count::{EmbeddingTokens, text_estimate};

/// The specification's limit per input, if the model's is not smaller.
const INPUT_TOKENS_MAX: u64 = 8192;

/// The specification's limit for every array.
const ENTRIES_MAX: usize = 2048;

/// Checks the fields against the model, and counts tokens.
pub(super) fn build_request(
    body: wire_embeddings::EmbeddingRequest,
    spec: &EmbeddingSpec,
) -> Result<(Arc<EmbeddingRequest>, EmbeddingTokens), Refusal> {
    let mut faults = ValidationFaults::default();
    check_lengths(&body.input, INPUT_TOKENS_MAX.min(spec.max_input_tokens), &mut faults);
    let dimensions = body.dimensions.filter(|wanted| u64::from(*wanted) != spec.dimensions);
    if let Some(wanted) = dimensions {
        check_dimensions(wanted, spec, &mut faults);
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let input = match body.input {
        wire_embeddings::EmbeddingInput::Text(text) => EmbeddingInput::Texts(vec![text]),
        wire_embeddings::EmbeddingInput::Texts(texts) => EmbeddingInput::Texts(texts),
        wire_embeddings::EmbeddingInput::Tokens(tokens) => EmbeddingInput::Tokens(vec![tokens]),
        wire_embeddings::EmbeddingInput::TokenLists(lists) => EmbeddingInput::Tokens(lists),
    };
    let tokens = EmbeddingTokens::from_input(&input);
    // The default number of dimensions is not sent, because models that cannot shorten vectors
    // refuse the field.
    Ok((Arc::new(EmbeddingRequest { input, dimensions }), tokens))
}

pub(super) fn build_reply(
    model: &str,
    paid: PaidResult<(Vec<Vec<f32>>, EngineUsage)>,
    format: EncodingFormat,
) -> EmbeddingList {
    let (vectors, usage) = paid.output;
    let vectors = vectors.into_iter().enumerate();
    let data = vectors.map(|(index, vector)| Embedding {
        embedding: encode_vector(vector, format),
        index,
        object: "embedding",
    });
    let tokens = usage.prompt();
    EmbeddingList {
        data: data.collect(),
        model: model.to_owned(),
        object: "list",
        usage: EmbeddingUsage { prompt_tokens: tokens, total_tokens: tokens },
        cost: payment::to_cost(&paid.receipt),
    }
}

/// Adds a fault for each input that is too long, with its index.
fn check_lengths(
    input: &wire_embeddings::EmbeddingInput,
    tokens_max: u64,
    faults: &mut ValidationFaults,
) {
    let mut check = |place: Option<usize>, tokens: u64| {
        if tokens_max < tokens {
            let path = [PathStep::from("input")].into_iter().chain(place.map(PathStep::from));
            faults
                .at(path)
                .push(format!("Input text exceeds the maximum token limit of {tokens_max} tokens"));
        }
    };
    match input {
        wire_embeddings::EmbeddingInput::Text(text) => check(None, text_estimate(text)),
        wire_embeddings::EmbeddingInput::Tokens(tokens) => {
            check(None, count_tokens(tokens));
            let is_short = count_tokens(tokens) <= tokens_max;
            if is_short && ENTRIES_MAX < tokens.len() {
                let message = format!(
                    "An array has at most {ENTRIES_MAX} entries; send more tokens of one input as \
                     an array in an array"
                );
                faults.at(["input"]).push(message);
            }
        }
        wire_embeddings::EmbeddingInput::Texts(texts) => {
            for (index, text) in texts.iter().enumerate() {
                check(Some(index), text_estimate(text));
            }
        }
        wire_embeddings::EmbeddingInput::TokenLists(lists) => {
            for (index, tokens) in lists.iter().enumerate() {
                check(Some(index), count_tokens(tokens));
            }
        }
    }
}

fn count_tokens(tokens: &[u32]) -> u64 {
    u64::try_from(tokens.len()).unwrap_or(u64::MAX)
}

fn check_dimensions(wanted: u32, spec: &EmbeddingSpec, faults: &mut ValidationFaults) {
    let own = spec.dimensions;
    if !spec.custom_dimensions {
        let message = format!("This model's vectors always have {own} dimensions");
        faults.at(["dimensions"]).push(message);
    } else if own < u64::from(wanted) {
        faults.at(["dimensions"]).push(format!("Must be at most {own} for this model"));
    }
}

/// Encodes a vector. Engines always return numbers; base64 is done here, because several ignore it.
fn encode_vector(vector: Vec<f32>, format: EncodingFormat) -> Vector {
    match format {
        EncodingFormat::Float => Vector::Float(vector),
        EncodingFormat::Base64 => {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            Vector::Base64(STANDARD.encode(bytes))
        }
    }
}

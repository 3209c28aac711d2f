//! From what a caller sent to what an engine is asked.

use domain::catalogue::{Capability, TextSpec};
use engine::{ChatRequest, Logprobs, Message, Prompt, Sampling};
use shape::Faults;
use wire::chat::Stop;
use wire::completions::{self, CompletionRequest};

use crate::refusal::Refusal;

/// The length of a continuation whose caller says nothing, as in the API that this one follows.
const TOKENS_DEFAULT: u64 = 16;

pub(super) fn of(body: CompletionRequest, text: &TextSpec) -> Result<ChatRequest, Refusal> {
    check(&body, text).into_result().map_err(|faults| Refusal::invalid(&faults))?;
    let prompt = match body.prompt {
        completions::Prompt::Text(text) => text,
        completions::Prompt::Texts(texts) => texts.concat(),
    };
    let suffix = body.suffix.filter(|suffix| !suffix.is_empty());
    let defaults = &text.sampling;
    let sampling = Sampling {
        temperature: body.temperature.or(Some(defaults.temperature)),
        top_p: body.top_p.or(Some(defaults.top_p)),
        frequency_penalty: body.frequency_penalty.or(defaults.frequency_penalty),
        presence_penalty: body.presence_penalty.or(defaults.presence_penalty),
        repetition_penalty: defaults.repetition_penalty,
        seed: body.seed,
        ..Sampling::default()
    };
    Ok(ChatRequest {
        messages: vec![Message::Prompt(Prompt { text: prompt, suffix })],
        completion_tokens_max: Some(body.max_tokens.unwrap_or(TOKENS_DEFAULT)),
        sampling,
        stop: match body.stop {
            None => Vec::new(),
            Some(Stop::One(sequence)) => vec![sequence],
            Some(Stop::Several(sequences)) => sequences,
        },
        choices: body.n,
        logprobs: body.logprobs.map(|top| Logprobs { top: Some(top) }),
        ..ChatRequest::default()
    })
}

fn check(body: &CompletionRequest, text: &TextSpec) -> Faults {
    let mut faults = Faults::default();
    if body.echo == Some(true) {
        faults.at(["echo"]).push("The prompt is not repeated; send `false`");
    }
    if body.best_of.is_some_and(|best_of| body.n.unwrap_or(1) < best_of) {
        faults.at(["best_of"]).push("Every choice that is made is returned; use `n`");
    }
    if body.logprobs.is_some() && !text.has(Capability::Logprobs) {
        faults.at(["logprobs"]).push("This model does not support log probabilities");
    }
    if let (Some(asked), Some(max)) = (body.max_tokens, text.max_completion_tokens)
        && max < asked
    {
        faults.at(["max_tokens"]).push(format!("This model answers with at most {max} tokens"));
    }
    faults
}

//! Turns a completion request into an engine request.

use domain::catalogue::{TextCapability, TextSpec};
use engine::{
    ChatMessage, ChatRequest, CompletionPrompt, LogprobParameters, PromptText, SamplingParameters,
};
use http_frame::refusal::Refusal;
use schema_check::ValidationFaults;
use wire::chat::Stop;
use wire::completions::{self, CompletionRequest};

/// Length of a continuation if the caller sets none, as in OpenAI's API.
const TOKENS_DEFAULT: u64 = 16;

pub(super) fn build_chat_request(
    body: CompletionRequest,
    text: &TextSpec,
) -> Result<ChatRequest, Refusal> {
    check_request(&body, text).into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let texts = match body.prompt {
        completions::Prompt::Text(text) => vec![PromptText::Text(text)],
        completions::Prompt::Texts(texts) => texts.into_iter().map(PromptText::Text).collect(),
        completions::Prompt::Tokens(tokens) => vec![PromptText::Tokens(tokens)],
        completions::Prompt::TokenLists(lists) => {
            lists.into_iter().map(PromptText::Tokens).collect()
        }
    };
    let suffix = body.suffix.filter(|suffix| !suffix.is_empty());
    let tokens_default =
        text.max_completion_tokens.map_or(TOKENS_DEFAULT, |max| max.min(TOKENS_DEFAULT));
    let sampling = SamplingParameters {
        temperature: body.temperature,
        top_p: body.top_p,
        frequency_penalty: body.frequency_penalty,
        presence_penalty: body.presence_penalty,
        seed: body.seed,
        ..SamplingParameters::default()
    };
    Ok(ChatRequest {
        messages: vec![ChatMessage::Prompt(CompletionPrompt { texts, suffix })],
        completion_tokens_max: Some(body.max_tokens.unwrap_or(tokens_default)),
        sampling,
        stop: match body.stop {
            None => Vec::new(),
            Some(Stop::One(sequence)) => vec![sequence],
            Some(Stop::Several(sequences)) => sequences,
        },
        choices: body.n,
        logprobs: body.logprobs.map(|top| LogprobParameters { top: Some(top) }),
        ..ChatRequest::default()
    })
}

/// Choices of all prompts together; the same as the limit for one prompt.
const CHOICES_MAX: u64 = 128;

fn check_request(body: &CompletionRequest, text: &TextSpec) -> ValidationFaults {
    let mut faults = ValidationFaults::default();
    let is_tokens = match &body.prompt {
        completions::Prompt::Text(_) | completions::Prompt::Texts(_) => false,
        completions::Prompt::Tokens(_) | completions::Prompt::TokenLists(_) => true,
    };
    if body.echo == Some(true) && (is_tokens || body.logprobs.is_some()) {
        let message = "Tokens, and texts with their log probabilities, are not repeated; \
                       send `false`";
        faults.at(["echo"]).push(message);
    }
    if CHOICES_MAX < count_prompts(&body.prompt).saturating_mul(u64::from(body.n.unwrap_or(1))) {
        let message = format!("All prompts together may have at most {CHOICES_MAX} choices");
        faults.at(["prompt"]).push(message);
    }
    if body.best_of.is_some_and(|best_of| body.n.unwrap_or(1) < best_of) {
        faults.at(["best_of"]).push("Every choice that is made is returned; use `n`");
    }
    if body.logprobs.is_some() && !text.has_capability(TextCapability::Logprobs) {
        faults.at(["logprobs"]).push("This model does not support log probabilities");
    }
    if let (Some(asked), Some(max)) = (body.max_tokens, text.max_completion_tokens)
        && max < asked
    {
        faults.at(["max_tokens"]).push(format!("This model answers with at most {max} tokens"));
    }
    faults
}

fn count_prompts(prompt: &completions::Prompt) -> u64 {
    let count = match prompt {
        completions::Prompt::Text(_) | completions::Prompt::Tokens(_) => 1,
        completions::Prompt::Texts(texts) => texts.len(),
        completions::Prompt::TokenLists(lists) => lists.len(),
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

//! Turns a chat request into an engine request.

pub(in crate::endpoints) mod options;
mod turns;

use domain::catalogue::{Capability, TextSpec};
use engine::{ChatRequest, Content, Message, Part, PartKind, Reasoning, Seal, XSearch};
use schema_check::Faults;
use wire::chat::{ChatCompletionRequest, EffectiveParameters};

use super::{gates, seal};
use crate::endpoints::document::Documents;
use crate::endpoints::persona::Preamble;

/// Everything that the service adds to a request.
pub(super) struct Service<'a> {
    pub(super) parameters: &'a EffectiveParameters,
    /// Prompts before and after the conversation.
    pub(super) preamble: &'a Preamble,
    /// Faults of images and other media, the same for all models.
    pub(super) media_faults: &'a Faults,
    pub(super) documents: &'a Documents,
    /// The keys of an encrypted conversation.
    pub(super) seal: Option<Seal>,
}

/// The request for one model, or every reason why the model cannot take it.
pub(super) fn fit(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    service: &Service<'_>,
) -> Result<ChatRequest, Faults> {
    let mut faults = gates::faults(body, text);
    faults.merge(service.media_faults.clone());
    if service.seal.is_some() {
        seal::faults(body, &mut faults);
    }
    if service.parameters.enable_x_search && !text.has(Capability::XSearch) {
        let message = "This model does not support X search; send `false`";
        faults.at(["service_parameters", "enable_x_search"]).push(message);
    }
    let request = of(body, text, service, &mut faults);
    faults.into_result()?;
    Ok(request)
}

/// The request for one model. Adds faults for what cannot be sent.
fn of(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    service: &Service<'_>,
    faults: &mut Faults,
) -> ChatRequest {
    let Service { parameters, preamble, documents, seal, .. } = service;
    let mut messages = turns::of(body, text, documents, faults);
    // The enclave would try to decrypt our plain text.
    if seal.is_none() {
        preamble_around(preamble, &mut messages);
    }
    let verbosity = body.verbosity.or(body.text.as_ref().and_then(|it| it.verbosity));
    ChatRequest {
        messages,
        completion_tokens_max: answer_max(body, text),
        may_exceed_context: false,
        sampling: options::sampling(body),
        stop: options::stop(body),
        stop_token_ids: body.stop_token_ids.clone().unwrap_or_default(),
        choices: body.n,
        logprobs: options::logprobs(body),
        tools: options::tools(body),
        tool_choice: options::tool_choice(body),
        parallel_tool_calls: body.parallel_tool_calls,
        response_format: options::response_format(body, faults),
        reasoning: reasoning(body, text, parameters),
        verbosity: verbosity.map(|it| it.word().to_owned()),
        prompt_cache_key: body.prompt_cache_key.clone(),
        prompt_cache_retention: body.prompt_cache_retention.map(|it| it.word().to_owned()),
        x_search: parameters.enable_x_search.then(XSearch::default),
        seal: seal.clone(),
        dropped: useless(body, text),
        rest: body.rest.clone(),
    }
}

fn preamble_around(preamble: &Preamble, messages: &mut Vec<Message>) {
    if !preamble.system_prompt.is_empty() {
        prepend(&preamble.system_prompt, messages);
    }
    if !preamble.last_words.is_empty() {
        let content = Content::Text(preamble.last_words.clone());
        messages.push(Message::System { content, name: None });
    }
}

/// Puts our prompt before the caller's in one message: many chat templates accept only one.
fn prepend(system_prompt: &str, messages: &mut Vec<Message>) {
    match messages.first_mut() {
        Some(Message::System { content: Content::Text(text), .. }) => {
            *text = format!("{system_prompt}\n\n{text}");
        }
        Some(Message::System { content: Content::Parts(parts), .. }) => {
            let kind = PartKind::Text(format!("{system_prompt}\n\n"));
            parts.insert(0, Part { kind, cache: None });
        }
        _ => {
            let content = Content::Text(system_prompt.to_owned());
            messages.insert(0, Message::System { content, name: None });
        }
    }
}

/// `max_tokens` is capped to the model's limit; `max_completion_tokens` is checked before.
fn answer_max(body: &ChatCompletionRequest, text: &TextSpec) -> Option<u64> {
    let old = body.max_tokens.and_then(|it| u64::try_from(it).ok()).filter(|it| 0 < *it);
    body.max_completion_tokens.or(old.map(|it| it.min(gates::answer_tokens_max(text))))
}

/// Reasoning options sent to a model without reasoning, to report as dropped.
fn useless(body: &ChatCompletionRequest, text: &TextSpec) -> Vec<String> {
    if text.has(Capability::Reasoning) {
        return Vec::new();
    }
    let asked = [
        ("reasoning", body.reasoning.is_some()),
        ("reasoning_effort", body.reasoning_effort.is_some()),
    ];
    let asked = asked.into_iter().filter(|(_, is_asked)| *is_asked);
    asked.map(|(name, _)| name.to_owned()).collect()
}

/// The reasoning options; empty for a model without reasoning.
fn reasoning(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    parameters: &EffectiveParameters,
) -> Reasoning {
    if !text.has(Capability::Reasoning) {
        return Reasoning::default();
    }
    if parameters.disable_thinking {
        return Reasoning { enabled: Some(false), ..Reasoning::default() };
    }
    let asked = body.reasoning.as_ref();
    let effort = body.reasoning_effort.or(asked.and_then(|it| it.effort));
    Reasoning {
        effort: effort.map(options::effort),
        summary: asked.and_then(|it| it.summary).map(|it| it.word().to_owned()),
        enabled: asked.and_then(|it| it.enabled),
    }
}

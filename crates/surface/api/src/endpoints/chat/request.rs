//! Turns a chat request into an engine request.

pub(in crate::endpoints) mod options;
mod turns;

use domain::catalogue::{TextCapability, TextSpec};
use engine::{
    ChatContent, ChatContentPart, ChatEncryptionKeys, ChatMessage, ChatRequest, PartKind,
    ReasoningParameters, XSearch,
};
use schema_check::ValidationFaults;
use wire::chat::{ChatCompletionRequest, EffectiveParameters};

use super::{capability_checks, e2ee};
use crate::endpoints::document::RequestDocuments;
use crate::endpoints::persona::SurroundingPrompts;

/// Everything that the service adds to a request.
pub(super) struct ServiceAdditions<'a> {
    pub(super) parameters: &'a EffectiveParameters,
    /// Prompts before and after the conversation.
    pub(super) preamble: &'a SurroundingPrompts,
    /// Faults of images and other media, the same for all models.
    pub(super) media_faults: &'a ValidationFaults,
    pub(super) documents: &'a RequestDocuments,
    /// The keys of an encrypted conversation.
    pub(super) seal: Option<ChatEncryptionKeys>,
}

/// The request for one model, or every reason why the model cannot take it.
pub(super) fn fit_to_model(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    service: &ServiceAdditions<'_>,
) -> Result<ChatRequest, ValidationFaults> {
    let mut faults = capability_checks::check_capabilities(body, text);
    faults.merge(service.media_faults.clone());
    if service.seal.is_some() {
        e2ee::check_e2ee_rules(body, &mut faults);
    }
    if service.parameters.enable_x_search && !text.has_capability(TextCapability::XSearch) {
        let message = "This model does not support X search; send `false`";
        faults.at(["service_parameters", "enable_x_search"]).push(message);
    }
    let request = build_chat_request(body, text, service, &mut faults);
    faults.into_result()?;
    Ok(request)
}

/// The request for one model. Adds faults for what cannot be sent.
fn build_chat_request(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    service: &ServiceAdditions<'_>,
    faults: &mut ValidationFaults,
) -> ChatRequest {
    let ServiceAdditions { parameters, preamble, documents, seal, .. } = service;
    let mut messages = turns::build_messages(body, text, documents, faults);
    // The enclave would try to decrypt our plain text.
    if seal.is_none() {
        add_surrounding_prompts(preamble, &mut messages);
    }
    let verbosity = body.verbosity.or(body.text.as_ref().and_then(|it| it.verbosity));
    ChatRequest {
        messages,
        completion_tokens_max: answer_max(body, text),
        may_exceed_context: false,
        sampling: options::build_sampling(body),
        stop: options::list_stop_sequences(body),
        stop_token_ids: body.stop_token_ids.clone().unwrap_or_default(),
        choices: body.n,
        logprobs: options::build_logprobs(body),
        tools: options::build_tools(body),
        tool_choice: options::tool_choice(body),
        parallel_tool_calls: body.parallel_tool_calls,
        response_format: options::response_format(body, faults),
        reasoning: build_reasoning(body, text, parameters),
        verbosity: verbosity.map(|it| it.name().to_owned()),
        prompt_cache_key: body.prompt_cache_key.clone(),
        prompt_cache_retention: body.prompt_cache_retention.map(|it| it.name().to_owned()),
        x_search: parameters.enable_x_search.then(XSearch::default),
        seal: seal.clone(),
        dropped: list_ignored_options(body, text),
        rest: body.rest.clone(),
        native: None,
        session: None,
    }
}

fn add_surrounding_prompts(preamble: &SurroundingPrompts, messages: &mut Vec<ChatMessage>) {
    if !preamble.system_prompt.is_empty() {
        prepend_prompt(&preamble.system_prompt, messages);
    }
    if !preamble.last_words.is_empty() {
        let content = ChatContent::Text(preamble.last_words.clone());
        messages.push(ChatMessage::System { content, name: None });
    }
}

/// Puts our prompt before the caller's in one message: many chat templates accept only one.
fn prepend_prompt(system_prompt: &str, messages: &mut Vec<ChatMessage>) {
    match messages.first_mut() {
        Some(ChatMessage::System { content: ChatContent::Text(text), .. }) => {
            *text = format!("{system_prompt}\n\n{text}");
        }
        Some(ChatMessage::System { content: ChatContent::Parts(parts), .. }) => {
            let kind = PartKind::Text(format!("{system_prompt}\n\n"));
            parts.insert(0, ChatContentPart { kind, cache: None });
        }
        _ => {
            let content = ChatContent::Text(system_prompt.to_owned());
            messages.insert(0, ChatMessage::System { content, name: None });
        }
    }
}

/// `max_tokens` is capped to the model's limit; `max_completion_tokens` is checked before.
fn answer_max(body: &ChatCompletionRequest, text: &TextSpec) -> Option<u64> {
    let old = body.max_tokens.and_then(|it| u64::try_from(it).ok()).filter(|it| 0 < *it);
    body.max_completion_tokens.or(old.map(|it| it.min(capability_checks::answer_tokens_max(text))))
}

/// Reasoning options sent to a model without reasoning, to report as dropped.
fn list_ignored_options(body: &ChatCompletionRequest, text: &TextSpec) -> Vec<String> {
    if text.has_capability(TextCapability::Reasoning) {
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
fn build_reasoning(
    body: &ChatCompletionRequest,
    text: &TextSpec,
    parameters: &EffectiveParameters,
) -> ReasoningParameters {
    if !text.has_capability(TextCapability::Reasoning) {
        return ReasoningParameters::default();
    }
    if parameters.disable_thinking {
        return ReasoningParameters { enabled: Some(false), ..ReasoningParameters::default() };
    }
    let asked = body.reasoning.as_ref();
    let effort = body.reasoning_effort.or(asked.and_then(|it| it.effort));
    ReasoningParameters {
        effort: effort.map(options::from_wire_effort),
        summary: asked.and_then(|it| it.summary).map(|it| it.name().to_owned()),
        enabled: asked.and_then(|it| it.enabled),
    }
}

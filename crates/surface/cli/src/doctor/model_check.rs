//! Checks that a model works at its provider: the provider lists it with the declared capabilities,
//! and it answers a request for one token.

use std::time::Duration;

use config::sections::provider::{ChatApiSetting, ProviderConfig, ProviderKind};
use domain::catalogue::{CatalogueModel, ModelSpec, TextCapability, TextSpec};
use domain::pricing::{ImageRates, UnitRate};
use money::Price;
use serde_json::{Value, json};

use super::CheckFinding;
use super::probe_client::ProbeClient;
use super::providers::ModelLookup;

/// Long, because a server may have to load the model first.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// The number of characters of a provider's error message that are shown.
const WORDS_CHARS_MAX: usize = 200;

/// A model of the catalogue at one of its providers.
pub(super) struct ModelAtProvider<'a> {
    pub(super) model: &'a CatalogueModel,
    /// The provider's name of the model.
    pub(super) upstream_id: &'a str,
    pub(super) provider: &'a ProviderConfig,
}

pub(super) async fn check_model(
    client: &ProbeClient,
    asked: &ModelAtProvider<'_>,
    listing: &ModelLookup,
) -> Vec<CheckFinding> {
    let check = format!("model {} at {}", asked.model.id, asked.provider.id);
    let mut findings = Vec::new();
    let seen = match listing {
        ModelLookup::Listed(entry) => Some(ListedModel::from_list_entry(entry)),
        ModelLookup::NotAsked => None,
        ModelLookup::Missing => {
            let found = format!("the provider has no model `{}`", asked.upstream_id);
            return vec![CheckFinding::failed(check, found, "correct its `upstream_id`")];
        }
    };
    if let (Some(seen), ModelSpec::Text(text)) = (&seen, &asked.model.spec) {
        findings.extend(seen.find_contradictions(&check, text));
    }
    let Some(call) = ProbeRequest::for_model(asked) else {
        let found = "not called: even the smallest request costs a full generation";
        findings.insert(0, CheckFinding::ok(check, found));
        return findings;
    };
    let known = seen.map(|seen| seen.to_text()).unwrap_or_default();
    findings.insert(0, call.send(client, asked, check, known).await);
    findings
}

/// Returns a warning for a model with a price of 0.
pub(super) fn check_price(model: &CatalogueModel) -> Option<CheckFinding> {
    let is_zero = |rate: &UnitRate| rate.usd == Price::default();
    let is_free = match &model.spec {
        ModelSpec::Text(text) => {
            is_zero(&text.price.base.input) && is_zero(&text.price.base.output)
        }
        ModelSpec::Embedding(embedding) => is_zero(&embedding.price.base.input),
        ModelSpec::Rerank(rerank) => {
            is_zero(&rerank.price.input) && is_zero(&rerank.price.document)
        }
        ModelSpec::Moderation(moderation) => is_zero(&moderation.price),
        ModelSpec::Tts(speech) => is_zero(&speech.price),
        ModelSpec::Asr(speech) => is_zero(&speech.price),
        ModelSpec::Image(image) => match &image.price.generation {
            ImageRates::Flat(rate) => is_zero(rate),
            ImageRates::ByResolution(rates) => rates.values().any(is_zero),
        },
        _ => false,
    };
    is_free.then(|| {
        let check = format!("price of {}", model.id);
        CheckFinding::warning(check, "the price is 0: callers use it for free", "give it a `price`")
    })
}

/// Properties of a model in the provider's list; None if the provider does not report them.
struct ListedModel {
    context_tokens: Option<u64>,
    has_tools: Option<bool>,
    has_vision: Option<bool>,
}

impl ListedModel {
    fn from_list_entry(entry: &Value) -> ListedModel {
        let sizes = ["/max_model_len", "/context_length", "/context_window", "/meta/n_ctx"];
        let more = ["/max_context_length", "/max_input_tokens", "/meta/n_ctx_train"];
        let mut sizes = sizes.iter().chain(&more);
        let contains = |pointer: &str, words: &[&str]| -> Option<bool> {
            let list = entry.pointer(pointer)?.as_array()?;
            Some(list.iter().filter_map(Value::as_str).any(|it| words.contains(&it)))
        };
        let flag = |pointer: &str| entry.pointer(pointer).and_then(Value::as_bool);
        ListedModel {
            context_tokens: sizes.find_map(|pointer| entry.pointer(pointer)?.as_u64()),
            has_tools: contains("/supported_parameters", &["tools"])
                .or_else(|| contains("/capabilities", &["tools", "tool_use"]))
                .or_else(|| flag("/capabilities/function_calling")),
            has_vision: contains("/architecture/input_modalities", &["image"])
                .or_else(|| contains("/capabilities", &["vision"]))
                .or_else(|| flag("/capabilities/vision")),
        }
    }

    /// Returns warnings where the catalogue declares more than the provider reports.
    fn find_contradictions(&self, check: &str, text: &TextSpec) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        if let Some(seen) = self.context_tokens.filter(|seen| *seen < text.context_tokens) {
            let found = format!("its context has {seen} tokens, not {}", text.context_tokens);
            let fix = format!("set `context_tokens = {seen}`");
            findings.push(CheckFinding::warning(check, found, fix));
        }
        let claims = [
            (self.has_tools, TextCapability::Tools, "tools"),
            (self.has_vision, TextCapability::Vision, "vision"),
        ];
        for (seen, capability, name) in claims {
            if seen == Some(false) && text.has_capability(capability) {
                let found = format!("the provider does not offer `{name}` for it");
                let fix = format!("remove \"{name}\" from its `capabilities`");
                findings.push(CheckFinding::warning(check, found, fix));
            }
        }
        findings
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some(tokens) = self.context_tokens {
            text.push_str(&format!("; context {tokens}"));
        }
        for (seen, name) in [(self.has_tools, "tools"), (self.has_vision, "vision")] {
            if seen == Some(true) {
                text.push_str(&format!("; {name}"));
            }
        }
        text
    }
}

/// The cheapest request that shows whether a model runs.
struct ProbeRequest {
    path: &'static str,
    body: Value,
    /// The JSON pointer of an array that every valid response has.
    answer: &'static str,
}

impl ProbeRequest {
    /// Returns None for models without a cheap request.
    fn for_model(asked: &ModelAtProvider<'_>) -> Option<ProbeRequest> {
        let (kind, id) = (asked.provider.kind, asked.upstream_id);
        let messages = json!([{ "role": "user", "content": "Hi" }]);
        match (&asked.model.spec, kind) {
            (ModelSpec::Text(_), ProviderKind::OpenAi)
                if asked.provider.api == ChatApiSetting::Responses =>
            {
                // OpenAI accepts no smaller bound than 16.
                let body = json!({
                    "model": id, "input": "Hi", "max_output_tokens": 16, "store": false,
                });
                Some(ProbeRequest { path: "/responses", body, answer: "/output" })
            }
            (ModelSpec::Text(_), ProviderKind::OpenAi) => {
                // OpenAI's reasoning models accept only the longer name.
                let is_openai = asked.provider.dialect.name() == "openai";
                let bound = if is_openai { "max_completion_tokens" } else { "max_tokens" };
                let mut body = json!({ "model": id, "messages": messages });
                body[bound] = 1.into();
                Some(ProbeRequest { path: "/chat/completions", body, answer: "/choices" })
            }
            (ModelSpec::Text(_), ProviderKind::Anthropic) => {
                let body = json!({ "model": id, "messages": messages, "max_tokens": 1 });
                Some(ProbeRequest { path: "/messages", body, answer: "/content" })
            }
            (ModelSpec::Embedding(_), ProviderKind::OpenAi) => {
                let body = json!({ "model": id, "input": "Hi" });
                Some(ProbeRequest { path: "/embeddings", body, answer: "/data" })
            }
            (ModelSpec::Rerank(_), ProviderKind::OpenAi) => {
                let body = json!({ "model": id, "query": "Hi", "documents": ["Hello"] });
                Some(ProbeRequest { path: "/rerank", body, answer: "/results" })
            }
            (ModelSpec::Rerank(_), ProviderKind::Tei) => {
                let body = json!({ "query": "Hi", "texts": ["Hello"] });
                Some(ProbeRequest { path: "/rerank", body, answer: "" })
            }
            (ModelSpec::Moderation(_), ProviderKind::OpenAi) => {
                let body = json!({ "model": id, "input": "Hi" });
                Some(ProbeRequest { path: "/moderations", body, answer: "/results" })
            }
            _ => None,
        }
    }

    async fn send(
        &self,
        client: &ProbeClient,
        asked: &ModelAtProvider<'_>,
        check: String,
        known: String,
    ) -> CheckFinding {
        let provider = asked.provider;
        let url = format!("{}{}", provider.base_url.as_deref().unwrap_or_default(), self.path);
        let response = match client.post(&url, &self.body, CALL_TIMEOUT).await {
            Ok(response) => response,
            Err(failure) => {
                let reason = failure.describe("broke off");
                let fix = "check the provider's log";
                return CheckFinding::failed(check, format!("{url}: {reason}"), fix);
            }
        };
        let (status, status_text) = (response.head.status(), response.head.status_text());
        let body = response.read_json(ANSWER_BYTES_MAX).await.unwrap_or_default();
        let has_answer = body.pointer(self.answer).is_some_and(Value::is_array);
        if matches!(status, 200..300) && has_answer {
            return CheckFinding::ok(check, format!("answers{known}"));
        }
        let words = words_of(&body, provider);
        if status == 400 && is_cut_short(&words) {
            return CheckFinding::ok(
                check,
                format!("answers; it reasons before its answer{known}"),
            );
        }
        let found = format!("{url} answers {status_text}{words}");
        match status {
            429 => CheckFinding::warning(
                check,
                found,
                "try again later, or raise the provider's limit",
            ),
            401 | 403 => CheckFinding::failed(check, found, "correct the provider's `api_key`"),
            404 => {
                CheckFinding::failed(check, found, "correct its `upstream_id`, or the `base_url`")
            }
            _ => CheckFinding::failed(check, found, "check the provider's log"),
        }
    }
}

/// Returns the provider's error message on one line, without its API key.
fn words_of(body: &Value, provider: &ProviderConfig) -> String {
    let error = &body["error"];
    let words = error.as_str().or_else(|| error["message"].as_str());
    let Some(words) = words.or_else(|| body["message"].as_str()) else { return String::new() };
    let mut words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(key) = provider.api_key.as_ref().filter(|key| !key.expose().is_empty()) {
        words = words.replace(key.expose(), "…");
    }
    let short: String = words.chars().take(WORDS_CHARS_MAX).collect();
    format!(": {short}")
}

/// True if a reasoning model failed because its one token was used up, as OpenAI's models do.
fn is_cut_short(words: &str) -> bool {
    words.contains("max_tokens or model output limit was reached")
}

//! `[[provider]]`: an upstream engine and its protocol.

use std::time::Duration;

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::{Secret, Vault};

/// The provider id of the built-in engine, unless a `[[provider]]` entry defines another.
pub const BUILT_IN: &str = "local";
const ID_CHARS_MAX: usize = 64;
const CONCURRENCY_MAX: i64 = 100_000;
const EMBEDDING_INPUTS_MAX: i64 = 100_000;
const DAY_S: i64 = 86_400;
/// Set by the service or by the protocol; an operator's value would break the request.
const HEADERS_RESERVED: &[&str] = &["host", "content-length", "transfer-encoding", "connection"];

pub const SECTION: Section = Section {
    name: "provider",
    form: Form::Many,
    doc: "An upstream engine. Models name it by its id.",
    keys: &[
        Key::required(
            "id",
            Kind::Text,
            "The name models use: lower case letters, digits, `-`, `_`, `.`.",
        ),
        Key::required(
            "kind",
            Kind::Choice(ProviderKind::NAMES),
            "The protocol it speaks. `openai` fits vLLM, SGLang, llama.cpp, Ollama and most others; \
             `local` is the built-in engine.",
        ),
        Key::optional(
            "base_url",
            Kind::Url(HTTP),
            "Where it answers, such as \"http://127.0.0.1:8000/v1\". Every kind but `local` needs it.",
        ),
        Key::optional("api_key", Kind::Secret, "What it asks for, as `env:NAME` or `file:path`."),
        Key::with_default(
            "dialect",
            Kind::Choice(Dialect::NAMES),
            "\"vllm\"",
            "Where servers of kind `openai` differ: which fields they take and how thinking is \
             asked for.",
        ),
        Key::with_default(
            "thinking",
            Kind::Choice(&["budget", "adaptive"]),
            "\"budget\"",
            "How models of kind `anthropic` are asked to think: with a number of tokens, or as \
             they see fit.",
        ),
        Key::with_default(
            "cache_system_prompt",
            Kind::Flag,
            "true",
            "Whether system prompts for the kind `anthropic` are marked as worth caching, unless \
             the caller marks something itself. What is written to the cache and read from it is \
             billed at the model's prices for that.",
        ),
        Key::with_default(
            "timeout_s",
            Kind::Seconds { least: 1, most: DAY_S },
            "600",
            "How long a whole answer may take.",
        ),
        Key::with_default(
            "stream_timeout_s",
            Kind::Seconds { least: 1, most: DAY_S },
            "120",
            "How long a stream may stay silent, before its first event and between two.",
        ),
        Key::with_default(
            "connect_timeout_s",
            Kind::Seconds { least: 1, most: 600 },
            "5",
            "How long connecting may take.",
        ),
        Key::with_default(
            "max_concurrency",
            Kind::Integer { least: 1, most: CONCURRENCY_MAX },
            "256",
            "How many requests it gets at a time; further ones wait.",
        ),
        Key::with_default(
            "max_embedding_inputs",
            Kind::Integer { least: 1, most: EMBEDDING_INPUTS_MAX },
            "256",
            "How many texts it embeds in one request; longer lists are split.",
        ),
        Key::with_default(
            "bills_after_hangup",
            Kind::Flag,
            "false",
            "Whether it charges for an answer that nobody waits for any more; then such answers \
             are read to their end, so that they are billed in full.",
        ),
        Key::with_default(
            "headers",
            Kind::SecretMap,
            "{}",
            "Headers for every request. Values may be `env:NAME` or `file:path`.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    pub id: String,
    pub kind: ProviderKind,
    /// Without a trailing slash. None for the built-in engine only.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// Applies to providers of kind `openai`.
    pub dialect: Dialect,
    /// Applies to providers of kind `anthropic`.
    pub thinking: Thinking,
    /// Applies to providers of kind `anthropic`.
    pub cache_system_prompt: bool,
    /// Timeout of a complete response.
    pub timeout: Duration,
    /// Timeout before the first event of a stream, and between events.
    pub stream_timeout: Duration,
    pub connect_timeout: Duration,
    pub max_concurrency: usize,
    pub max_embedding_inputs: usize,
    pub bills_after_hangup: bool,
    pub headers: Vec<(String, Secret)>,
}

/// The protocol of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    OpenAi,
    Anthropic,
    SdCpp,
    A1111,
    ComfyUi,
    Fal,
    Kokoro,
    WhisperCpp,
    AceStep,
    Local,
}

impl ProviderKind {
    const ALL: &[ProviderKind] = &[
        ProviderKind::OpenAi,
        ProviderKind::Anthropic,
        ProviderKind::SdCpp,
        ProviderKind::A1111,
        ProviderKind::ComfyUi,
        ProviderKind::Fal,
        ProviderKind::Kokoro,
        ProviderKind::WhisperCpp,
        ProviderKind::AceStep,
        ProviderKind::Local,
    ];

    /// In the order of `ALL`.
    const NAMES: &[&str] = &[
        "openai",
        "anthropic",
        "sdcpp",
        "a1111",
        "comfyui",
        "fal",
        "kokoro",
        "whispercpp",
        "acestep",
        "local",
    ];

    /// Returns the name used in the configuration file.
    pub fn name(self) -> &'static str {
        let position = ProviderKind::ALL.iter().position(|kind| *kind == self);
        position.map_or("", |position| ProviderKind::NAMES[position])
    }

    fn named(name: &str) -> Option<ProviderKind> {
        ProviderKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// The server software of a provider of kind `openai`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect(&'static str);

impl Dialect {
    pub const NAMES: &[&str] = &["vllm", "sglang", "llamacpp", "ollama", "openrouter", "openai"];

    pub fn name(self) -> &'static str {
        self.0
    }
}

/// The way models of kind `anthropic` are asked to think: with a token budget, or adaptively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    Budget,
    Adaptive,
}

pub(crate) fn read(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<Provider> {
    let id = reader.text("id").filter(|id| is_id(reader, id));
    let kind = reader.choice("kind").and_then(ProviderKind::named);
    let base_url = reader.url("base_url").map(|url| url.trim_end_matches('/').to_owned());
    let api_key = vault.secret(reader, "api_key");
    let dialect = reader.choice("dialect").map(Dialect);
    let thinking = reader.choice("thinking").map(|written| match written {
        "adaptive" => Thinking::Adaptive,
        _ => Thinking::Budget,
    });
    let cache_system_prompt = reader.flag("cache_system_prompt");
    let timeout = reader.seconds("timeout_s");
    let stream_timeout = reader.seconds("stream_timeout_s");
    let connect_timeout = reader.seconds("connect_timeout_s");
    let count = |name: &str| reader.integer(name).and_then(|count| usize::try_from(count).ok());
    let max_concurrency = count("max_concurrency");
    let max_embedding_inputs = count("max_embedding_inputs");
    let bills_after_hangup = reader.flag("bills_after_hangup");
    let headers = vault.secret_map(reader, "headers");
    check_headers(reader, &headers);
    check_kind(reader, kind);
    Some(Provider {
        id: id?,
        kind: kind?,
        base_url,
        api_key,
        dialect: dialect?,
        thinking: thinking?,
        cache_system_prompt: cache_system_prompt?,
        timeout: timeout?,
        stream_timeout: stream_timeout?,
        connect_timeout: connect_timeout?,
        max_concurrency: max_concurrency?,
        max_embedding_inputs: max_embedding_inputs?,
        bills_after_hangup: bills_after_hangup?,
        headers,
    })
}

/// Reports keys that the kind requires, and keys that belong to another kind.
fn check_kind(reader: &Reader<'_>, kind: Option<ProviderKind>) {
    let Some(kind) = kind else { return };
    if kind != ProviderKind::Local && !reader.has("base_url") {
        let message = "`base_url` is missing in [[provider]]; write where it answers, such as \
                       \"http://127.0.0.1:8000/v1\"";
        reader.fault("base_url", message);
    }
    let particular = [
        ("dialect", ProviderKind::OpenAi),
        ("thinking", ProviderKind::Anthropic),
        ("cache_system_prompt", ProviderKind::Anthropic),
    ];
    for (key, only) in particular {
        if reader.has(key) && kind != only {
            let message =
                format!("`{key}` in [[provider]] is for the kind \"{}\" only", only.name());
            reader.fault(key, message);
        }
    }
}

fn is_id(reader: &Reader<'_>, id: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_' | '.')
    };
    let fits = id.len() <= ID_CHARS_MAX && id.chars().all(is_plain);
    if !fits {
        let message = format!(
            "`id` in [[provider]] must be at most {ID_CHARS_MAX} lower case letters, digits, `-`, `_` or `.`"
        );
        reader.fault("id", message);
    }
    fits
}

fn check_headers(reader: &Reader<'_>, headers: &[(String, Secret)]) {
    for (name, value) in headers {
        let is_token =
            |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        let is_name = !name.is_empty() && name.chars().all(is_token);
        let is_value =
            value.expose().chars().all(|letter| letter == ' ' || letter.is_ascii_graphic());
        if !is_name || HEADERS_RESERVED.contains(&name.to_lowercase().as_str()) {
            reader.fault("headers", format!("`headers` in [[provider]]: {name:?} cannot be set"));
        }
        if !is_value {
            let message = format!(
                "`headers` in [[provider]]: the value of {name:?} must be one line of ASCII"
            );
            reader.fault("headers", message);
        }
    }
}

//! `[[provider]]`: an upstream engine and its protocol.

use std::time::Duration;

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::{SecretResolver, SecretString};

/// The provider id of the built-in engine, unless a `[[provider]]` entry defines another.
pub const BUILT_IN: &str = "local";
const ID_CHARS_MAX: usize = 64;
const CONCURRENCY_MAX: i64 = 100_000;
const EMBEDDING_INPUTS_MAX: i64 = 100_000;
const DAY_S: i64 = 86_400;
/// Set by the service or by the protocol; an operator's value would break the request.
const HEADERS_RESERVED: &[&str] = &["host", "content-length", "transfer-encoding", "connection"];

pub const SECTION: ConfigSection = ConfigSection {
    name: "provider",
    form: SectionForm::Many,
    doc: "An upstream engine. Models refer to it by its id.",
    keys: &[
        ConfigKey::required(
            "id",
            ValueKind::Text,
            "The id that models refer to: lower case letters, digits, `-`, `_`, `.`.",
        ),
        ConfigKey::required(
            "kind",
            ValueKind::Choice(ProviderKind::NAMES),
            "The protocol. `openai` fits vLLM, SGLang, llama.cpp, Ollama and most others; `local` \
             is the built-in engine.",
        ),
        ConfigKey::optional(
            "base_url",
            ValueKind::Url(HTTP),
            "The base URL, such as \"http://127.0.0.1:8000/v1\". Required for every kind except \
             `local`.",
        ),
        ConfigKey::optional(
            "api_key",
            ValueKind::Secret,
            "The API key, as `env:NAME` or `file:path`.",
        ),
        ConfigKey::with_default(
            "dialect",
            ValueKind::Choice(OpenAiDialect::NAMES),
            "\"vllm\"",
            "The server software of a provider of kind `openai`, which decides the supported \
             fields and the way to control thinking.",
        ),
        ConfigKey::with_default(
            "api",
            ValueKind::Choice(ChatApiSetting::NAMES),
            "\"chat\"",
            "The API that serves the text models of a provider of kind `openai`: `chat` is \
             `/chat/completions`, `responses` is `/responses`. With `responses`, requests to our \
             `/responses` are passed through, and all other chats are translated.",
        ),
        ConfigKey::with_default(
            "thinking",
            ValueKind::Choice(&["budget", "adaptive"]),
            "\"budget\"",
            "The way models of kind `anthropic` are asked to think: with a token budget, or \
             adaptively.",
        ),
        ConfigKey::with_default(
            "cache_system_prompt",
            ValueKind::Flag,
            "true",
            "Marks system prompts for caching, for the kind `anthropic`, unless the caller sets \
             cache marks. Cache writes and reads are billed at the model's cache prices.",
        ),
        ConfigKey::with_default(
            "timeout_s",
            ValueKind::Seconds { least: 1, most: DAY_S },
            "600",
            "Timeout of a complete response.",
        ),
        ConfigKey::with_default(
            "stream_timeout_s",
            ValueKind::Seconds { least: 1, most: DAY_S },
            "120",
            "Timeout before the first event of a stream, and between events.",
        ),
        ConfigKey::with_default(
            "connect_timeout_s",
            ValueKind::Seconds { least: 1, most: 600 },
            "5",
            "Timeout of connecting.",
        ),
        ConfigKey::with_default(
            "max_concurrency",
            ValueKind::Integer { least: 1, most: CONCURRENCY_MAX },
            "256",
            "The maximum number of concurrent requests. Further requests wait.",
        ),
        ConfigKey::with_default(
            "max_embedding_inputs",
            ValueKind::Integer { least: 1, most: EMBEDDING_INPUTS_MAX },
            "256",
            "The maximum number of texts per embedding request. Longer lists are split.",
        ),
        ConfigKey::with_default(
            "bills_after_hangup",
            ValueKind::Flag,
            "false",
            "Set if the provider charges for a response after the client has disconnected. Such \
             responses are read to the end, so that they are billed in full.",
        ),
        ConfigKey::with_default(
            "headers",
            ValueKind::SecretMap,
            "{}",
            "Additional headers of every request. Values may be `env:NAME` or `file:path`.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderConfig {
    pub id: String,
    pub kind: ProviderKind,
    /// Without a trailing slash. None for the built-in engine only.
    pub base_url: Option<String>,
    pub api_key: Option<SecretString>,
    /// Applies to providers of kind `openai`.
    pub dialect: OpenAiDialect,
    /// Applies to providers of kind `openai`.
    pub api: ChatApiSetting,
    /// Applies to providers of kind `anthropic`.
    pub thinking: ThinkingSetting,
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
    pub headers: Vec<(String, SecretString)>,
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

    fn from_name(name: &str) -> Option<ProviderKind> {
        ProviderKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// The server software of a provider of kind `openai`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenAiDialect(&'static str);

impl OpenAiDialect {
    pub const NAMES: &[&str] = &["vllm", "sglang", "llamacpp", "ollama", "openrouter", "openai"];

    pub fn name(self) -> &'static str {
        self.0
    }
}

/// The API that serves the text models of a provider of kind `openai`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatApiSetting {
    Chat,
    Responses,
}

impl ChatApiSetting {
    const NAMES: &[&str] = &["chat", "responses"];
}

/// The way models of kind `anthropic` are asked to think: with a token budget, or adaptively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingSetting {
    Budget,
    Adaptive,
}

pub(crate) fn read_provider_config(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<ProviderConfig> {
    let id = reader.text("id").filter(|id| is_id(reader, id));
    let kind = reader.choice("kind").and_then(ProviderKind::from_name);
    let base_url = reader.url("base_url").map(|url| url.trim_end_matches('/').to_owned());
    let api_key = vault.resolve_secret(reader, "api_key");
    let dialect = reader.choice("dialect").map(OpenAiDialect);
    let api = reader.choice("api").map(|written| match written {
        "responses" => ChatApiSetting::Responses,
        _ => ChatApiSetting::Chat,
    });
    let thinking = reader.choice("thinking").map(|written| match written {
        "adaptive" => ThinkingSetting::Adaptive,
        _ => ThinkingSetting::Budget,
    });
    let cache_system_prompt = reader.flag("cache_system_prompt");
    let timeout = reader.seconds("timeout_s");
    let stream_timeout = reader.seconds("stream_timeout_s");
    let connect_timeout = reader.seconds("connect_timeout_s");
    let count = |name: &str| reader.integer(name).and_then(|count| usize::try_from(count).ok());
    let max_concurrency = count("max_concurrency");
    let max_embedding_inputs = count("max_embedding_inputs");
    let bills_after_hangup = reader.flag("bills_after_hangup");
    let headers = vault.resolve_secret_map(reader, "headers");
    check_headers(reader, &headers);
    check_kind(reader, kind);
    Some(ProviderConfig {
        id: id?,
        kind: kind?,
        base_url,
        api_key,
        dialect: dialect?,
        api: api?,
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
fn check_kind(reader: &TableReader<'_>, kind: Option<ProviderKind>) {
    let Some(kind) = kind else { return };
    if kind != ProviderKind::Local && !reader.has_key("base_url") {
        let message = "`base_url` is missing in [[provider]]; write where it answers, such as \
                       \"http://127.0.0.1:8000/v1\"";
        reader.report_fault("base_url", message);
    }
    let particular = [
        ("dialect", ProviderKind::OpenAi),
        ("api", ProviderKind::OpenAi),
        ("thinking", ProviderKind::Anthropic),
        ("cache_system_prompt", ProviderKind::Anthropic),
    ];
    for (key, only) in particular {
        if reader.has_key(key) && kind != only {
            let message =
                format!("`{key}` in [[provider]] is for the kind \"{}\" only", only.name());
            reader.report_fault(key, message);
        }
    }
}

fn is_id(reader: &TableReader<'_>, id: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_' | '.')
    };
    let fits = id.len() <= ID_CHARS_MAX && id.chars().all(is_plain);
    if !fits {
        let message = format!(
            "`id` in [[provider]] must be at most {ID_CHARS_MAX} lower case letters, digits, `-`, `_` or `.`"
        );
        reader.report_fault("id", message);
    }
    fits
}

fn check_headers(reader: &TableReader<'_>, headers: &[(String, SecretString)]) {
    for (name, value) in headers {
        let is_token =
            |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        let is_name = !name.is_empty() && name.chars().all(is_token);
        let is_value =
            value.expose().chars().all(|letter| letter == ' ' || letter.is_ascii_graphic());
        if !is_name || HEADERS_RESERVED.contains(&name.to_lowercase().as_str()) {
            reader.report_fault(
                "headers",
                format!("`headers` in [[provider]]: {name:?} cannot be set"),
            );
        }
        if !is_value {
            let message = format!(
                "`headers` in [[provider]]: the value of {name:?} must be one line of ASCII"
            );
            reader.report_fault("headers", message);
        }
    }
}

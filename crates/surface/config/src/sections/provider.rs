//! `[[provider]]`: an upstream engine and its protocol.

use std::time::Duration;

use domain::catalogue::NamedVariants;

use crate::key_type::{BASE_URL, FLAG, SECRET, SECRET_MAP, TEXT, choice, integer, seconds};
use crate::reader::TableReader;
use crate::secret::SecretString;
use crate::section_table::config_section;

/// The provider id of the built-in engine, unless a `[[provider]]` entry defines another.
pub const BUILT_IN: &str = "local";
const ID_CHARS_MAX: usize = 64;
const CONCURRENCY_MAX: i64 = 100_000;
const EMBEDDING_INPUTS_MAX: i64 = 100_000;
const DEFAULT_INPUTS_MAX: usize = 256;
/// The limit of a TEI server that is started without `--max-client-batch-size`.
const TEI_INPUTS_MAX: usize = 32;
const DAY_S: i64 = 86_400;
/// Set by the service or by the protocol; an operator's value would break the request.
const HEADERS_RESERVED: &[&str] = &["host", "content-length", "transfer-encoding", "connection"];

config_section! {
    /// An upstream engine. Models refer to it by its id.
    #[section(Many, "provider")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ProviderConfig {
        /// The id that models refer to: lower case letters, digits, `-`, `_`, `.`.
        id: String = TEXT, required, parse(check_id);
        /// The protocol. `openai` fits vLLM, SGLang, llama.cpp, Ollama and most others; `local`
        /// is the built-in engine.
        kind: ProviderKind = choice(), required;
        /// The base URL, such as "http://127.0.0.1:8000/v1". Required for every kind except
        /// `local`.
        base_url: Option<String> = BASE_URL, optional;
        /// The API key, as `env:NAME` or `file:path`.
        api_key: Option<SecretString> = SECRET, optional;
        /// The server software of a provider of kind `openai`, which decides the supported
        /// fields and the way to control thinking.
        dialect: OpenAiDialect = choice(), default("vllm");
        /// The API that serves the text models of a provider of kind `openai`: `chat` is
        /// `/chat/completions`, `responses` is `/responses`. With `responses`, requests to our
        /// `/responses` are passed through, and all other chats are translated.
        api: ChatApiSetting = choice(), default("chat");
        /// The way models of kind `anthropic` are asked to think: with a token budget, or
        /// adaptively.
        thinking: ThinkingSetting = choice(), default("budget");
        /// Marks system prompts for caching, for the kind `anthropic`, unless the caller sets
        /// cache marks. Cache writes and reads are billed at the model's cache prices.
        cache_system_prompt: bool = FLAG, default(true);
        /// Timeout of a complete response.
        "timeout_s" => timeout: Duration = seconds(1, DAY_S), default(600);
        /// Timeout before the first event of a stream, and between events.
        "stream_timeout_s" => stream_timeout: Duration = seconds(1, DAY_S), default(120);
        /// Timeout of connecting.
        "connect_timeout_s" => connect_timeout: Duration = seconds(1, 600), default(5);
        /// The maximum number of concurrent requests. Further requests wait.
        max_concurrency: usize = integer(1, CONCURRENCY_MAX), default(256);
        /// The maximum number of texts per embedding request, and of documents per rerank request
        /// of the kind `tei`. Longer lists are split. Default: 256, and 32 for the kind `tei`.
        max_embedding_inputs: Option<usize> = integer(1, EMBEDDING_INPUTS_MAX), optional;
        /// Set if the provider charges for a response after the client has disconnected. Such
        /// responses are read to the end, so that they are billed in full.
        bills_after_hangup: bool = FLAG, default(false);
        /// Additional headers of every request. Values may be `env:NAME` or `file:path`.
        headers: Vec<(String, SecretString)> = SECRET_MAP, default({});
    }
    check check_headers(headers);
    check check_kind(kind);
}

impl ProviderConfig {
    /// The maximum number of texts per request, or the default of the kind.
    pub fn embedding_inputs_max(&self) -> usize {
        self.max_embedding_inputs.unwrap_or(match self.kind {
            ProviderKind::Tei => TEI_INPUTS_MAX,
            _ => DEFAULT_INPUTS_MAX,
        })
    }
}

domain::named! {
    /// The protocol of a provider.
    pub enum ProviderKind {
        OpenAi = "openai",
        Anthropic = "anthropic",
        SdCpp = "sdcpp",
        A1111 = "a1111",
        ComfyUi = "comfyui",
        Fal = "fal",
        Kokoro = "kokoro",
        WhisperCpp = "whispercpp",
        AceStep = "acestep",
        Tei = "tei",
        Local = "local",
    }
}

impl ProviderKind {
    /// Returns the name used in the configuration file.
    pub fn name(self) -> &'static str {
        NamedVariants::name(self)
    }
}

domain::named! {
    /// The server software of a provider of kind `openai`.
    pub enum OpenAiDialect {
        Vllm = "vllm",
        SgLang = "sglang",
        LlamaCpp = "llamacpp",
        Ollama = "ollama",
        OpenRouter = "openrouter",
        OpenAi = "openai",
    }
}

impl OpenAiDialect {
    pub const NAMES: &[&str] = <OpenAiDialect as NamedVariants>::NAMES;

    pub fn name(self) -> &'static str {
        NamedVariants::name(self)
    }
}

domain::named! {
    /// The API that serves the text models of a provider of kind `openai`.
    pub enum ChatApiSetting {
        Chat = "chat",
        Responses = "responses",
    }
}

domain::named! {
    /// The way models of kind `anthropic` are asked to think.
    pub enum ThinkingSetting {
        Budget = "budget",
        Adaptive = "adaptive",
    }
}

/// Reports keys that the kind requires, and keys that belong to another kind.
fn check_kind(reader: &TableReader<'_>, kind: Option<&ProviderKind>) {
    let Some(&kind) = kind else { return };
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

fn check_id(id: String) -> Result<String, String> {
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_' | '.')
    };
    if ID_CHARS_MAX < id.len() || !id.chars().all(is_plain) {
        let letters = "lower case letters, digits, `-`, `_` or `.`";
        return Err(format!("must be at most {ID_CHARS_MAX} {letters}"));
    }
    Ok(id)
}

fn check_headers(reader: &TableReader<'_>, headers: Option<&Vec<(String, SecretString)>>) {
    for (name, value) in headers.into_iter().flatten() {
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

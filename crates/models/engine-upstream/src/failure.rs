//! Maps an upstream's error response, in any known format, to an [`EngineError`].

mod addresses;
mod own_host;

use std::time::Duration;

use engine::{EngineError, TimeoutPhase};
use serde_json::Value;

use self::addresses::without_addresses;
pub(crate) use self::own_host::OwnHost;

/// Longer messages are truncated, because they become part of our own error responses.
const MESSAGE_CHARS_MAX: usize = 500;
/// Longer labels are ignored.
const LABEL_CHARS_MAX: usize = 64;

/// An upstream's error: an HTTP status with a body, or an event within a stream.
#[derive(Debug)]
pub(crate) struct UpstreamFailure {
    /// `None` within a stream, whose status was already sent.
    status: Option<u16>,
    retry_after: Option<Duration>,
    /// The error's code and type, in lower case.
    labels: Vec<String>,
    message: String,
}

impl UpstreamFailure {
    /// Parses a response with an error status.
    pub(crate) fn from_answer(
        status: u16,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> UpstreamFailure {
        let told = match serde_json::from_slice::<Value>(body) {
            Ok(value) => UpstreamFailure::from_value(&value),
            Err(_) => UpstreamFailure::from_text(&String::from_utf8_lossy(body)),
        };
        UpstreamFailure {
            status: Some(status),
            retry_after: retry_after.or(told.retry_after),
            ..told
        }
    }

    /// Parses the known formats: `{"error":{..}}`, `{"error":"text"}`, vLLM's
    /// `{"object":"error","message":..}` and FastAPI's `{"detail":..}`.
    pub(crate) fn from_value(value: &Value) -> UpstreamFailure {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let places = ["/code", "/type", "/detail/0/type"];
        let labels = places.iter().filter_map(|place| read_label(error.pointer(place)?)).collect();
        let retry_after = error.get("retry_after").and_then(Value::as_f64).and_then(bounded_wait);
        UpstreamFailure { status: None, retry_after, labels, message: find_message(error) }
    }

    /// Parses an error within an answer of Anthropic's, whose `overloaded_error` has the status 529.
    pub(crate) fn from_anthropic_value(value: &Value) -> UpstreamFailure {
        let told = UpstreamFailure::from_value(value);
        let is_overload = told.labels.iter().any(|label| label == "overloaded_error");
        UpstreamFailure { status: is_overload.then_some(529), ..told }
    }

    pub(crate) fn into_error(self) -> EngineError {
        let status = self.status.unwrap_or_else(|| self.implied_status());
        let is_callers_fault = (400..500).contains(&status);
        if is_callers_fault && self.matches_any(&CONTEXT_LABELS, &CONTEXT_PHRASES) {
            return EngineError::ContextOverflow { message: self.message };
        }
        if is_callers_fault && self.matches_any(&POLICY_LABELS, &POLICY_PHRASES) {
            return EngineError::ContentPolicy { message: self.message };
        }
        let cause = self.cause(status);
        match status {
            // No credit at the provider looks like a rate limit, but waiting does not help.
            429 if self.matches_any(&["insufficient_quota"], &[]) => {
                EngineError::Misconfigured { cause }
            }
            529 => EngineError::ServiceOverloaded { retry_after: self.retry_after },
            429 | 503 => EngineError::Overloaded { retry_after: self.retry_after },
            300..=399 | 401..=404 | 407 => EngineError::Misconfigured { cause },
            408 | 504 => EngineError::Timeout { phase: TimeoutPhase::Answer },
            400..=499 => EngineError::Rejected { message: self.message },
            _ => EngineError::BadAnswer { cause },
        }
    }

    /// The text for the log. Never the upstream's message, which may repeat a prompt or a key.
    fn cause(&self, status: u16) -> String {
        let is_plain = |label: &&String| {
            let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            let is_said = **label == status.to_string();
            label.len() <= LABEL_CHARS_MAX && label.bytes().all(is_sign) && !is_said
        };
        match self.labels.iter().find(is_plain) {
            Some(label) => format!("status {status} ({label})"),
            None => format!("status {status}"),
        }
    }

    fn from_text(text: &str) -> UpstreamFailure {
        let message =
            if text.trim().is_empty() { NO_REASON.to_owned() } else { shorten_message(text) };
        UpstreamFailure { status: None, retry_after: None, labels: Vec::new(), message }
    }

    /// The status that corresponds to an error within a stream.
    fn implied_status(&self) -> u16 {
        for label in &self.labels {
            if let Ok(status @ 400..=599) = label.parse::<u16>() {
                return status;
            }
            let implied = match label.as_str() {
                "overloaded_error" | "service_unavailable" | "model_overloaded" => 503,
                "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
                "invalid_request_error"
                | "badrequesterror"
                | "exceed_context_size_error"
                | "context_length_exceeded"
                | "content_filter" => 400,
                "authentication_error" | "permission_error" => 401,
                "not_found_error" => 404,
                "timeout_error" => 504,
                _ => continue,
            };
            return implied;
        }
        500
    }

    fn matches_any(&self, labels: &[&str], phrases: &[&str]) -> bool {
        let has_label = self.labels.iter().any(|label| labels.contains(&label.as_str()));
        let message = self.message.to_lowercase();
        has_label || phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// Parses `retry-after-ms` and `Retry-After`. Dates are not supported: no known engine sends them.
pub(crate) fn retry_after(milliseconds: Option<&str>, whole: Option<&str>) -> Option<Duration> {
    let from_ms = milliseconds.and_then(|text| text.trim().parse::<f64>().ok());
    let from_s = whole.and_then(|text| text.trim().parse::<f64>().ok());
    bounded_wait(from_ms.map(|ms| ms / 1000.0).or(from_s)?)
}

/// Longer delays are reduced to this.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

const CONTEXT_LABELS: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];
const CONTEXT_PHRASES: [&str; 6] = [
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
];
const POLICY_LABELS: [&str; 4] = [
    "content_filter",
    "content_policy_violation",
    "content_blocked_by_provider",
    "moderation_blocked",
];
const POLICY_PHRASES: [&str; 6] = [
    "content policy",
    "content management policy",
    "usage policy",
    "was flagged",
    "safety system",
    "content checker",
];

const NO_REASON: &str = "it gave no reason";

fn find_message(error: &Value) -> String {
    let places = [
        Some(error),
        error.get("message"),
        error.get("detail"),
        error.pointer("/detail/0/msg"),
        error.pointer("/errors/0/message"),
    ];
    let said = places.into_iter().flatten().find_map(Value::as_str);
    match said {
        Some(text) => shorten_message(text),
        None => NO_REASON.to_owned(),
    }
}

fn read_label(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn bounded_wait(wait_s: f64) -> Option<Duration> {
    let wait = Duration::try_from_secs_f64(wait_s).ok()?;
    Some(wait.min(RETRY_AFTER_MAX))
}

fn shorten_message(text: &str) -> String {
    let is_cut = MESSAGE_CHARS_MAX < text.chars().count();
    let visible = text.trim().chars().map(|it| if it.is_control() { ' ' } else { it });
    let mut kept: String = visible.take(MESSAGE_CHARS_MAX).collect();
    if is_cut {
        kept.push('…');
    }
    without_addresses(&without_secrets(&kept))
}

/// Replaces words that look like keys or tokens: an upstream may quote our credentials.
fn without_secrets(text: &str) -> String {
    let is_part = |it: char| it.is_ascii_alphanumeric() || "_-.*+/=".contains(it);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        clean.push_str(if is_secret(word) { "[…]" } else { word });
        let mut characters = after.chars();
        clean.extend(characters.next());
        rest = characters.as_str();
    }
    clean
}

fn is_secret(word: &str) -> bool {
    const PREFIXES: [&str; 6] = ["sk-", "pk-", "key-", "ghp_", "xai-", "gsk_"];
    const TOKEN_CHARS_MIN: usize = 24;
    let lower = word.to_ascii_lowercase();
    let has_prefix = PREFIXES.iter().any(|prefix| lower.starts_with(prefix) && 8 <= word.len());
    let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
    // Names of models and files have short words between dots and dashes; tokens are long mixes of
    // digits and letters.
    let longest = word.split(['-', '.', '/', '_']).map(str::len).max().unwrap_or(0);
    let is_token =
        TOKEN_CHARS_MIN <= longest && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    has_prefix || is_token
}

#[cfg(test)]
mod tests;

//! Maps the error of a failed response, or of an `error` event, to an [`EngineError`].

use engine::EngineError;
use serde_json::{Value, json};

use crate::failure::UpstreamFailure;

/// The code of every refusal by the provider's policy, whatever its own code is.
const POLICY: &str = "content_policy_violation";

pub(super) fn read_error(error: &Value) -> EngineError {
    let inner = error.get("error").filter(|inner| !inner.is_null()).unwrap_or(error);
    let code = inner.get("code").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let Some(status) = implied_status(&code) else {
        return UpstreamFailure::from_value(error).into_error();
    };
    let code = if is_policy(&code) { POLICY } else { &code };
    let message = inner.get("message").and_then(Value::as_str);
    let body = json!({"error": {"code": code, "message": message}}).to_string();
    UpstreamFailure::from_answer(status, None, body.as_bytes()).into_error()
}

/// The status that the API sends with a code outside of a stream.
fn implied_status(code: &str) -> Option<u16> {
    match code {
        "server_is_overloaded" | "slow_down" => Some(503),
        "rate_limit_exceeded" | "insufficient_quota" => Some(429),
        "server_error" | "vector_store_timeout" => Some(500),
        "context_length_exceeded" | "unsupported_image_media_type" | "empty_image_file" => {
            Some(400)
        }
        _ if is_policy(code) || code.starts_with("invalid_") || code.starts_with("image_") => {
            Some(400)
        }
        _ => None,
    }
}

fn is_policy(code: &str) -> bool {
    code == "content_filter" || code.ends_with("_policy") || code.ends_with("policy_violation")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(code: &str, message: &str) -> String {
        let error = read_error(&json!({"code": code, "message": message}));
        format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn each_code_of_a_failed_response_has_its_error() {
        for (code, expected) in [
            ("context_length_exceeded", "ContextOverflow"),
            ("rate_limit_exceeded", "Overloaded"),
            ("server_is_overloaded", "Overloaded"),
            ("slow_down", "Overloaded"),
            ("insufficient_quota", "Misconfigured"),
            ("invalid_prompt", "Rejected"),
            ("invalid_image", "Rejected"),
            ("image_too_large", "Rejected"),
            ("image_content_policy_violation", "ContentPolicy"),
            ("cyber_policy", "ContentPolicy"),
            ("content_filter", "ContentPolicy"),
            ("server_error", "BadAnswer"),
            ("unheard_of", "BadAnswer"),
        ] {
            assert_eq!(variant(code, "No."), expected, "{code}");
        }
    }

    #[test]
    fn the_message_of_a_refusal_is_kept_without_keys() {
        let error = json!({"type": "error", "code": "invalid_prompt", "message": "No: sk-secret1"});
        let expected = EngineError::Rejected { message: "No: […]".to_owned() };
        assert_eq!(read_error(&error), expected);
        assert_eq!(read_error(&json!({"type": "error", "error": error})), expected);
    }
}

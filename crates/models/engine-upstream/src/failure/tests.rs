//! Tests for each error format.

use serde_json::json;

use super::*;

#[track_caller]
fn check(status: u16, body: &Value, expected: &str) {
    let failure = UpstreamFailure::from_answer(status, None, body.to_string().as_bytes());
    assert_eq!(told(&failure.into_error()), expected);
}

#[track_caller]
fn check_event(event: &Value, expected: &str) {
    assert_eq!(told(&UpstreamFailure::from_value(event).into_error()), expected);
}

/// The error with the message for the caller, which `Display` leaves out.
fn told(error: &EngineError) -> String {
    match error {
        EngineError::Rejected { message }
        | EngineError::ContextOverflow { message }
        | EngineError::ContentPolicy { message } => format!("{error}: {message}"),
        _ => error.to_string(),
    }
}

#[test]
fn the_message_is_found_in_every_shape() {
    let expected = "the engine rejected the request: no";
    check(400, &json!({"error": {"message": "no", "type": "x"}}), expected);
    check(400, &json!({"error": "no"}), expected);
    check(400, &json!({"object": "error", "message": "no", "code": 400}), expected);
    check(422, &json!({"detail": "no"}), expected);
    check(422, &json!({"detail": [{"loc": ["body"], "msg": "no"}]}), expected);
    check(400, &json!({"errors": [{"message": "no"}]}), expected);
    check(400, &json!("no"), expected);
}

#[test]
fn a_body_that_is_not_json_is_its_own_message() {
    let failure = UpstreamFailure::from_answer(422, None, b"<h1>Bad\tGateway</h1>\n");
    let expected = "the engine rejected the request: <h1>Bad Gateway</h1>";
    assert_eq!(told(&failure.into_error()), expected);
}

#[test]
fn a_prompt_that_is_too_long_is_told_apart() {
    let prefix = "the request does not fit the model's context: ";
    for message in [
        "This model's maximum context length is 4096 tokens",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "the request exceeds the available context size",
    ] {
        check(400, &json!({"error": {"message": message}}), &format!("{prefix}{message}"));
    }
    let by_code = json!({"error": {"message": "too much", "code": "context_length_exceeded"}});
    check(400, &by_code, &format!("{prefix}too much"));
}

#[test]
fn a_policy_refusal_is_told_apart() {
    let refused = json!({"error": {"message": "blocked", "code": "content_filter"}});
    check(400, &refused, "the engine refused the content: blocked");
    let flagged = json!({"error": {"message": "Your input was flagged", "code": 403}});
    check(403, &flagged, "the engine refused the content: Your input was flagged");
}

#[test]
fn our_own_key_and_credit_are_the_operators_matter() {
    for status in [301, 401, 402, 403, 404] {
        let expected = format!("the engine is misconfigured: status {status}");
        check(status, &json!({"error": {"message": "bad key"}}), &expected);
    }
    let no_credit = json!({"error": {"message": "pay", "code": "insufficient_quota"}});
    check(429, &no_credit, "the engine is misconfigured: status 429 (insufficient_quota)");
}

#[test]
fn too_many_requests_and_unavailable_are_overload() {
    for status in [429, 503] {
        check(status, &json!({}), "the engine is overloaded");
    }
    check(529, &json!({}), "the engine's service is overloaded");
    check(
        503,
        &json!({"error": {"message": "busy", "retry_after": 30}}),
        "the engine is overloaded; it asks to wait 30 s",
    );
}

#[test]
fn an_event_without_a_status_is_understood_by_its_words() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error"}});
    check_event(&overloaded, "the engine is overloaded");
    let of_anthropic = UpstreamFailure::from_anthropic_value(&overloaded).into_error();
    assert_eq!(of_anthropic, EngineError::ServiceOverloaded { retry_after: None });
    check_event(&json!({"error": {"code": 429, "message": "slow"}}), "the engine is overloaded");
    let invalid = json!({"error": {"type": "invalid_request_error", "message": "no"}});
    check_event(&invalid, "the engine rejected the request: no");
    let unknown = json!({"error": {"message": "CUDA out of memory"}});
    check_event(&unknown, "the engine gave a bad answer: status 500");
}

#[test]
fn retry_after_is_read_from_either_header_and_bounded() {
    assert_eq!(retry_after(None, Some("7")), Some(Duration::from_secs(7)));
    assert_eq!(retry_after(Some("1500"), Some("7")), Some(Duration::from_millis(1500)));
    assert_eq!(retry_after(None, Some("1e12")), Some(RETRY_AFTER_MAX));
    assert_eq!(retry_after(None, Some("-3")), None);
    assert_eq!(retry_after(None, Some("Sun, 15 Nov 2026 03:25:10 GMT")), None);
    assert_eq!(retry_after(None, None), None);
}

#[test]
fn long_messages_are_cut() {
    let failure = UpstreamFailure::from_answer(400, None, "é".repeat(5000).as_bytes());
    assert_eq!(failure.message.chars().count(), MESSAGE_CHARS_MAX + 1);
}

#[test]
fn what_an_upstream_writes_is_not_logged_and_its_keys_are_not_told() {
    let body = json!({"error": {
        "message": "Incorrect API key sk-proj-12ab34: your prompt was 'my secret plan'",
        "code": "invalid_api_key",
    }});
    check(401, &body, "the engine is misconfigured: status 401 (invalid_api_key)");
    let failure = UpstreamFailure::from_answer(400, None, body.to_string().as_bytes());
    let error = failure.into_error();
    assert_eq!(error.to_string(), "the engine rejected the request");
    let shown = "Incorrect API key […]: your prompt was 'my secret plan'";
    assert_eq!(error, EngineError::Rejected { message: shown.to_owned() });
    let odd = json!({"error": {"message": "no", "code": "my secret plan"}});
    check(500, &odd, "the engine gave a bad answer: status 500");
    for (said, kept) in [
        ("Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x", "Bearer […]"),
        (
            "model qwen2.5-0.5b-instruct-q4_k_m is not there",
            "model qwen2.5-0.5b-instruct-q4_k_m is not there",
        ),
        (
            "at most 4096 tokens; 'max_completion_tokens' is 100000",
            "at most 4096 tokens; 'max_completion_tokens' is 100000",
        ),
    ] {
        assert_eq!(without_secrets(said), kept);
    }
}

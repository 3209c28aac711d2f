//! Finds out whether a request may write to the prompt cache for one hour, which costs more.

use engine::{ChatRequest, NativeRequest, marks_hour_cache};

/// The ways to write the JSON string `1h`, after its first quote.
const HOUR_TTLS: [&[u8]; 4] = [br#"1h""#, br#"\u0031h""#, br#"1\u0068""#, br#"\u0031\u0068""#];

/// True if the request marks content for one hour, in its messages or in the body that is passed
/// through.
pub(super) fn may_write_hour_cache(request: &ChatRequest) -> bool {
    marks_hour_cache(&request.messages) || request.native.as_deref().is_some_and(has_hour_ttl)
}

/// True if the body has the string `1h` as a value of its own. Within another string its quotes
/// would be escaped.
fn has_hour_ttl(native: &NativeRequest) -> bool {
    memchr::memchr_iter(b'"', &native.body).any(|quote| {
        let rest = native.body.get(quote + 1..).unwrap_or_default();
        HOUR_TTLS.into_iter().any(|ttl| rest.starts_with(ttl))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::NativeProtocol;

    use super::*;

    #[track_caller]
    fn check(body: &'static str, expected: bool) {
        let native = NativeRequest {
            protocol: NativeProtocol::Messages,
            body: body.as_bytes().into(),
            model_span: 0..0,
            headers: Vec::new(),
        };
        let request = ChatRequest { native: Some(Arc::new(native)), ..ChatRequest::default() };
        assert_eq!(may_write_hour_cache(&request), expected, "{body}");
    }

    #[test]
    fn markers_of_one_hour_are_found_in_a_body_that_is_passed_through() {
        check(r#"{"cache_control":{"type":"ephemeral","ttl" : "1h"}}"#, true);
        check(r#"{"cache_control":{"ttl":"1\u0068"}}"#, true);
        check(r#"{"cache_control":{"ttl":"\u0031h"}}"#, true);
        check(r#"{"cache_control":{"ttl":"\u0031\u0068"}}"#, true);
        check(r#"{"text":"1h ago","n":"11h","m":"1""#, false);
        check(r#"{"cache_control":{"type":"ephemeral","ttl":"5m"}}"#, false);
        check(r#"{"text":"\"ttl\":\"1h\""}"#, false);
        check("{}", false);
    }
}

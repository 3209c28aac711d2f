//! Tests of the envelopes: each refusal has its status, body and reason phrase.

use axum::response::{IntoResponse, Response};
use expect_test::{Expect, expect};
use http_body_util::BodyExt;
use hyper::ext::ReasonPhrase;

use super::content::{AudioRefusal, VideoRefusal};
use super::x402::X402Refusal;
use super::*;

#[track_caller]
fn check(refusal: impl IntoResponse, expected: Expect) {
    let response: Response = refusal.into_response();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let phrase = response.extensions().get::<ReasonPhrase>().unwrap();
    let phrase = String::from_utf8_lossy(phrase.as_bytes()).into_owned();
    let status = response.status().as_u16();
    let body = runtime.block_on(response.into_body().collect()).unwrap().to_bytes();
    expected.assert_eq(&format!("{status} {phrase}: {}", String::from_utf8_lossy(&body)));
}

#[test]
fn every_envelope_has_its_own_shape() {
    check(
        Refusal::not_json(),
        expect![[r#"400 Invalid JSON request: {"error":"Invalid JSON request"}"#]],
    );
    let mut faults = ValidationFaults::default();
    faults.at(["model"]).push("Required");
    check(
        Refusal::invalid_request(&faults),
        expect![[
            r#"400 Invalid request parameters: {"error":"Invalid request parameters","details":{"_errors":[],"model":{"_errors":["Required"]}},"issues":[{"code":"custom","path":["model"],"message":"Required"}]}"#
        ]],
    );
    check(
        Refusal::file_too_large(),
        expect![[
            r#"413 Payload too large: {"code":"PAYLOAD_TOO_LARGE","error":"File exceeds the maximum allowed size of 25 MB."}"#
        ]],
    );
    check(
        X402Refusal::Payment {
            status: StatusCode::BAD_REQUEST,
            code: "X402_INVALID_PAYMENT",
            message: "Invalid payment header".to_owned(),
            details: None,
            cause: None,
        },
        expect![[
            r#"400 X402_INVALID_PAYMENT: {"error":"X402_INVALID_PAYMENT","message":"Invalid payment header"}"#
        ]],
    );
    check(
        VideoRefusal::Policy {
            message: "The provider refused the prompt.".to_owned(),
            credits_refunded: true,
            recommended_model: Some("other".to_owned()),
        },
        expect![[
            r#"422 Content policy violation: {"error":{"message":"The provider refused the prompt.","type":"provider_content_policy","credits_refunded":true,"recommended_model":"other"}}"#
        ]],
    );
    check(
        AudioRefusal::Rejected {
            message: "The prompt was rejected.".to_owned(),
            suggested_prompt: Some("A calm song".to_owned()),
        },
        expect![[
            r#"422 Prompt rejected: {"error":"The prompt was rejected.","suggested_prompt":"A calm song"}"#
        ]],
    );
}

#[test]
fn the_x402_envelope_takes_over_all_but_rate_limits() {
    check(
        X402Refusal::from(Refusal::not_json()),
        expect![[
            r#"400 X402_INVALID_REQUEST: {"error":"X402_INVALID_REQUEST","message":"Invalid JSON request"}"#
        ]],
    );
    check(
        X402Refusal::from(Refusal::rate_limited("Rate limit exceeded", Duration::from_secs(1))),
        expect![[r#"429 Rate limit exceeded: {"error":"Rate limit exceeded"}"#]],
    );
}

#[test]
fn the_cause_of_our_own_failure_stays_with_us() {
    check(
        Refusal::internal("secret detail"),
        expect![[r#"500 Unknown error: {"error":"An unknown error occurred"}"#]],
    );
}

#[test]
fn waiting_is_told_in_whole_seconds_and_in_milliseconds() {
    let response = Refusal::rate_limited("slow down", Duration::from_millis(1500)).into_response();
    assert_eq!(response.headers()["retry-after"], "2");
    assert_eq!(response.headers()["retry-after-ms"], "1500");
}

#[test]
fn a_model_that_is_not_ready_says_when_to_come_back() {
    let wait = Duration::from_secs(5);
    let response = Refusal::model_not_ready("43 % of 98 MB", wait).into_response();
    assert_eq!(response.headers()["retry-after"], "5");
    check(
        Refusal::model_not_ready("43 % of 98 MB", wait),
        expect![[
            r#"503 The model is not ready yet: {"error":"43 % of 98 MB","code":"MODEL_NOT_READY"}"#
        ]],
    );
}

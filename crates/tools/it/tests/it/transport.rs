//! Tests of properties of every response: ids, headers, compression, CORS.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::routing::get;
use http_body_util::BodyExt;
use testkit::app::TestApp;
use tower::ServiceExt;

#[tokio::test]
async fn every_response_carries_its_id_version_time_and_host() {
    let app = TestApp::start().await;
    let caller = app.anonymous();
    for path in ["/api/v1/models", "/api/v1/api_keys", "/nowhere"] {
        let reply = caller.send_raw(Method::GET, path, Body::empty()).await;
        let id = reply.header("x-request-id");
        assert_eq!(id.len(), 32, "{path}");
        assert_eq!(reply.header("cf-ray"), id);
        assert_eq!(reply.header("x-service-version"), http_frame::version::VERSION);
        assert_eq!(reply.header("x-service-timestamp"), app.clock.now_text());
        assert_eq!(reply.header("x-service-host-name"), "testhost");
        assert_eq!(reply.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn json_is_compressed_for_those_who_ask() {
    let app = TestApp::start().await;
    let plain = app.anonymous().get("/models?type=all").await;
    for encoding in ["gzip", "br"] {
        let caller = app.anonymous().with("accept-encoding", encoding);
        let path = "/api/v1/models?type=all";
        let reply = caller.send_raw(Method::GET, path, Body::empty()).await;
        assert_eq!(reply.header("content-encoding"), encoding);
        assert!(reply.body.len() < plain.body.len() / 2);
        let refused = caller.send_raw(Method::GET, "/api/v1/nowhere", Body::empty()).await;
        let is_plain = !refused.headers.contains_key("content-encoding");
        assert!(refused.status == 404 && is_plain, "a short response needs no compressor");
    }
}

#[tokio::test]
async fn pages_of_any_origin_may_call_and_read_the_payment_headers() {
    let app = TestApp::start().await;
    let caller = app
        .anonymous()
        .with("origin", "https://example.com")
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "authorization,payment-signature,sign-in-with-x");
    let reply = caller.send_raw(Method::OPTIONS, "/api/v1/api_keys", Body::empty()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    for name in ["authorization", "payment-signature", "sign-in-with-x"] {
        assert!(reply.header("access-control-allow-headers").contains(name));
    }
    let caller = app.anonymous().with("origin", "https://example.com");
    let reply = caller.send_raw(Method::GET, "/api/v1/models", Body::empty()).await;
    for name in ["payment-required", "payment-response", "x-balance-remaining", "x-request-id"] {
        assert!(reply.header("access-control-expose-headers").contains(name), "{name}");
    }
}

#[tokio::test]
async fn callers_that_are_no_browsers_get_no_headers_for_them() {
    let app = TestApp::start().await;
    let reply = app.anonymous().send_raw(Method::GET, "/api/v1/models", Body::empty()).await;
    let names = reply.headers.keys().map(|name| name.as_str());
    let for_browsers: Vec<&str> = names.filter(|it| it.starts_with("access-control")).collect();
    assert_eq!(for_browsers, [""; 0]);
    assert_eq!(reply.header("vary"), "origin, accept-encoding", "for caches between us");
}

#[tokio::test]
async fn a_panic_is_a_500_with_an_id_and_the_service_goes_on() {
    async fn panics() {
        panic!("on purpose");
    }
    let app = TestApp::start().await;
    let routes = Router::new().route("/boom", get(panics)).route("/calm", get(async || "calm"));
    let router = http_frame::transport::wrap_routes(routes, app.app.transport_context())
        .with_state(app.app.clone());
    let ask = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    };
    let reply = ask("/boom").await;
    assert_eq!(reply.status(), 500);
    assert_eq!(reply.headers()["x-request-id"].len(), 32);
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"error":"An unknown error occurred"}"#);
    assert_eq!(ask("/calm").await.status(), 200);
}

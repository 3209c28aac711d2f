//! HTTP clients of a [`TestApp`](crate::app::TestApp).

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use axum::response::Response;
use bytes::Bytes;
use expect_test::Expect;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::contract::{ApiContract, ContractReply};
use crate::stream::StreamReply;

/// A client with or without a credential.
#[derive(Clone)]
pub struct TestClient {
    router: Router,
    contract: Arc<ApiContract>,
    headers: HeaderMap,
}

/// A response.
#[derive(Debug)]
pub struct TestReply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl TestClient {
    pub(crate) fn new(router: Router, contract: Arc<ApiContract>) -> TestClient {
        TestClient { router, contract, headers: HeaderMap::new() }
    }

    /// The same client with one more header on each request.
    pub fn with(&self, name: &str, value: &str) -> TestClient {
        let mut client = self.clone();
        let name: HeaderName = name.parse().unwrap();
        client.headers.append(name, HeaderValue::from_str(value).unwrap());
        client
    }

    pub fn with_bearer(&self, secret: &str) -> TestClient {
        self.with("authorization", &format!("Bearer {secret}"))
    }

    pub async fn get(&self, path: &str) -> TestReply {
        self.send(Method::GET, path, Body::empty()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> TestReply {
        self.send_json(Method::POST, path, body).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> TestReply {
        self.send_json(Method::PATCH, path, body).await
    }

    pub async fn delete(&self, path: &str) -> TestReply {
        self.send(Method::DELETE, path, Body::empty()).await
    }

    pub async fn send_json(&self, method: Method, path: &str, body: &Value) -> TestReply {
        let client = self.with("content-type", "application/json");
        client.send(method, path, Body::from(body.to_string())).await
    }

    /// Sends a form with these fields, and optionally a file (name and content).
    pub async fn post_form(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        file: Option<(&str, &[u8])>,
    ) -> TestReply {
        let files: Vec<(&str, &str, &[u8])> =
            file.into_iter().map(|(name, content)| ("file", name, content)).collect();
        self.post_form_files(path, fields, &files).await
    }

    /// Sends a form with these fields and files; a file is its field, name and content.
    pub async fn post_form_files(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        files: &[(&str, &str, &[u8])],
    ) -> TestReply {
        const BOUNDARY: &str = "tollgate-test-boundary";
        let mut body = Vec::new();
        let mut part = |head: String, content: &[u8]| {
            let head = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; {head}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        };
        for (name, value) in fields {
            part(format!("name=\"{name}\""), value.as_bytes());
        }
        for (field, name, content) in files {
            part(format!("name=\"{field}\"; filename=\"{name}\""), content);
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let client = self.with("content-type", &content_type);
        client.send(Method::POST, path, Body::from(body)).await
    }

    /// Sends to a path below `/api/v1`, and checks the response against the OpenAPI document.
    pub async fn send(&self, method: Method, path: &str, body: Body) -> TestReply {
        let path = format!("{}{path}", api::BASE_PATH);
        let reply = self.send_raw(method.clone(), &path, body).await;
        let json = reply.try_json();
        let content_type = reply.header("content-type").to_owned();
        let checked = ContractReply { content_type: &content_type, json: json.as_ref() };
        self.contract.check(&method, &path, reply.status, &checked);
        reply
    }

    /// Sends to a path below `/api/v1` and returns as soon as the headers have arrived.
    pub async fn open(&self, path: &str, body: &Value) -> StreamReply {
        let client = self.with("content-type", "application/json");
        let path = format!("{}{path}", api::BASE_PATH);
        let response = client.call(Method::POST, &path, Body::from(body.to_string())).await;
        let (parts, body) = response.into_parts();
        StreamReply::new(parts.status.as_u16(), parts.headers, body)
    }

    /// Sends to any path, without checking the response.
    pub async fn send_raw(&self, method: Method, path: &str, body: Body) -> TestReply {
        let (parts, body) = self.call(method, path, body).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        TestReply { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    async fn call(&self, method: Method, path: &str, body: Body) -> Response {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap();
        *request.headers_mut() = self.headers.clone();
        self.router.clone().oneshot(request).await.unwrap()
    }
}

impl TestReply {
    /// A header's value; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        self.try_json().unwrap_or_else(|| panic!("not JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Compares status and body with the text in the test.
    #[track_caller]
    pub fn expect(&self, expected: Expect) {
        let mut actual = self.status.to_string();
        let _ = write!(actual, " {}", self.text());
        expected.assert_eq(&actual);
    }

    /// The JSON of a successful response.
    #[track_caller]
    pub fn ok_json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    fn try_json(&self) -> Option<Value> {
        let content_type = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        if !content_type.starts_with("application/json") {
            return None;
        }
        serde_json::from_slice(&self.body).ok()
    }
}

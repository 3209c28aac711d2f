//! Calls every operation and every other route with every kind of credential.
//!
//! The operations come from the document and the routes from the router's own table. The test fails
//! for any that the tables below do not name, so that a new one cannot be forgotten.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};
use testkit::wallet::TestWallet;

use crate::console::{begin, cookie, signed_in};

/// The credentials of the matrix, in the order of the columns below.
const CREDENTIALS: [&str; 10] = [
    "none",
    "garbage",
    "INFERENCE",
    "ADMIN of default",
    "ADMIN of another account",
    "OPERATOR",
    "wallet",
    "session of an ADMIN key",
    "session of a wallet",
    "session of the operator",
];

/// The outcome of a call, as far as its credential determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Admitted,
    Refused(u16),
    /// A 5xx error, which no call may return.
    Broken(u16),
}

use Outcome::{Admitted, Broken, Refused};

/// The outcomes per credential: a row of the matrix.
type Row = [Outcome; 10];

const OPEN: Row = [Admitted; 10];
/// Needs no credential, and refuses one that is not valid.
const OPEN_TO_VALID: Row = {
    let mut row = OPEN;
    row[1] = Refused(401);
    row
};
const CUSTOMER: Row = [
    Refused(402),
    Refused(401),
    Admitted,
    Admitted,
    Admitted,
    Admitted,
    Admitted,
    Admitted,
    Admitted,
    Admitted,
];
const ANY_KEY: Row = [
    Refused(401),
    Refused(401),
    Admitted,
    Admitted,
    Admitted,
    Admitted,
    Refused(401),
    Admitted,
    Refused(401),
    Admitted,
];
const ADMIN: Row = [
    Refused(401),
    Refused(401),
    Refused(401),
    Admitted,
    Admitted,
    Admitted,
    Refused(401),
    Admitted,
    Refused(401),
    Admitted,
];
const OPERATOR: Row = [
    Refused(401),
    Refused(401),
    Refused(403),
    Refused(403),
    Refused(403),
    Admitted,
    Refused(401),
    Refused(403),
    Refused(403),
    Admitted,
];
const WALLET: Row = [
    Refused(402),
    Refused(402),
    Refused(402),
    Refused(402),
    Refused(402),
    Refused(402),
    Admitted,
    Refused(401),
    Admitted,
    Refused(401),
];
/// Requires a payment from every caller.
const PAYMENT: Row = [Refused(402); 10];
const SESSION: Row = [
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Admitted,
    Admitted,
    Admitted,
];

const OPERATOR_SESSION: Row = [
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(401),
    Refused(403),
    Refused(403),
    Admitted,
];

/// Operations that cost money, and those that fetch their results.
const CUSTOMER_PATHS: &[&str] = &[
    "/files",
    "/files/{file_id}",
    "/files/{file_id}/content",
    "/batches",
    "/batches/{batch_id}",
    "/batches/{batch_id}/cancel",
    "/mcp_servers",
    "/mcp_servers/{label}/tools",
    "/responses/{response_id}",
    "/responses/{response_id}/input_items",
    "/responses/{response_id}/cancel",
    "/conversations",
    "/conversations/{conversation_id}",
    "/conversations/{conversation_id}/items",
    "/conversations/{conversation_id}/items/{item_id}",
    "/chat/completions",
    "/messages",
    "/messages/count_tokens",
    "/completions",
    "/responses",
    "/embeddings",
    "/rerank",
    "/moderations",
    "/image/generate",
    "/image/edit",
    "/image/multi-edit",
    "/image/upscale",
    "/image/background-remove",
    "/images/generations",
    "/images/edits",
    "/images/variations",
    "/audio/speech",
    "/audio/transcriptions",
    "/audio/translations",
    "/audio/queue",
    "/audio/retrieve",
    "/audio/complete",
    "/audio/voices",
    "/video/queue",
    "/video/retrieve",
    "/video/complete",
    "/video/transcriptions",
    "/augment/scrape",
    "/augment/search",
    "/augment/text-parser",
    "/crypto/rpc/{network}",
];

/// The row of an API operation; `None` if it has none yet.
fn row_of(path: &str) -> Option<Row> {
    let open = [
        "/image/styles",
        "/audio/quote",
        "/video/quote",
        "/media/{id}",
        "/characters/{slug}/photo",
        "/models",
        "/models/traits",
        "/models/compatibility_mapping",
        "/models/{id}",
        "/api_keys/generate_web3_key",
        "/tee/attestation",
        "/tee/signature",
        "/crypto/rpc/networks",
    ];
    let any_key = [
        "/characters",
        "/characters/{slug}",
        "/characters/{slug}/reviews",
        "/api_keys/rate_limits",
    ];
    let admin = [
        "/api_keys",
        "/api_keys/{id}",
        "/api_keys/rate_limit_logs",
        "/api_keys/rate_limits/log",
        "/billing/balance",
        "/billing/usage",
        "/billing/usage-history",
        "/billing/usage-analytics",
    ];
    let operator = ["/admin/characters", "/admin/characters/{slug}"];
    let wallet = ["/x402/balance/{walletAddress}", "/x402/transactions/{walletAddress}"];
    let rows: [(&[&str], Row); 8] = [
        (CUSTOMER_PATHS, CUSTOMER),
        (&["/mcp"], OPEN_TO_VALID),
        (&open, OPEN),
        (&any_key, ANY_KEY),
        (&admin, ADMIN),
        (&operator, OPERATOR),
        (&wallet, WALLET),
        (&["/x402/top-up"], PAYMENT),
    ];
    rows.iter().find(|(paths, _)| paths.contains(&path)).map(|(_, row)| *row)
}

/// The rows of a route outside of the API, one for each method.
fn rows_of_route(path: &str) -> Option<Vec<(Method, Row)>> {
    Some(match path {
        "/" | "/favicon.svg" | "/assets/{*path}" | "/docs" | "/docs/" | "/docs/{*page}"
        | "/c/{slug}" | "/llms.txt" | "/console/terms" | "/console/brand" | "/console/logo" => {
            vec![(Method::GET, OPEN)]
        }
        // The body of a sign-in contains the credential.
        "/console/session" => {
            vec![(Method::GET, OPEN), (Method::POST, OPEN), (Method::DELETE, SESSION)]
        }
        "/console/refused" | "/console/limits" | "/console/jobs" | "/console/key"
        | "/console/activity" => vec![(Method::GET, SESSION)],
        "/console/analytics" => vec![(Method::GET, OPERATOR_SESSION)],
        "/console/solana-payment" => vec![(Method::POST, SESSION)],
        "/console/operator" => vec![(Method::POST, OPERATOR)],
        _ => return None,
    })
}

/// A service with clients of each kind.
struct Matrix {
    app: TestApp,
    keys: [TestClient; 4],
    wallet: TestWallet,
    admin_secret: String,
}

impl Matrix {
    async fn start() -> Matrix {
        let app = TestApp::start().await;
        let keys = [
            app.inference().await,
            app.admin(),
            app.funded_account("another", "10").await.1,
            app.operator().await,
        ];
        let wallet = TestWallet::evm(1);
        app.fund(&wallet, "10").await;
        let admin_secret = app.admin_secret().to_owned();
        Matrix { app, keys, wallet, admin_secret }
    }

    /// The clients in the order of [`CREDENTIALS`], with fresh sign-ins and sessions.
    async fn callers(&self) -> [TestClient; 10] {
        let app = &self.app;
        let [inference, admin, another, operator] = self.keys.clone();
        let of_wallet = begin(&app.signed_in(&self.wallet), &json!({})).await;
        let link = app.app.keys.create_link(app.owner(), app.app.clock.now().plus(HOUR)).await;
        let of_operator = begin(&app.anonymous(), &json!({"link": link.unwrap().1})).await;
        [
            app.anonymous(),
            app.anonymous().with_bearer("garbage"),
            inference,
            admin,
            another,
            operator,
            app.signed_in(&self.wallet),
            signed_in(app, &self.admin_secret).await.0,
            page(app, &of_wallet),
            page(app, &of_operator),
        ]
    }

    /// Calls with each credential and compares the outcomes.
    async fn check(&self, called: &str, row: Row, send: impl AsyncFn(&TestClient) -> TestReply) {
        // Failures of one row must not block the next.
        self.app.clock.advance_s(61);
        let callers = self.callers().await;
        for ((caller, name), expected) in callers.iter().zip(CREDENTIALS).zip(row) {
            let reply = send(caller).await;
            let outcome = match reply.status {
                status @ (401..=403 | 429) => Refused(status),
                status if status < 500 => Admitted,
                status => Broken(status),
            };
            assert_eq!(outcome, expected, "{called} with {name}: {}", reply.text());
        }
    }
}

const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

/// A console session, with its cookie and its CSRF proof.
fn page(app: &TestApp, begun: &TestReply) -> TestClient {
    let proof = begun.ok_json()["proof"].as_str().unwrap().to_owned();
    app.anonymous().with("cookie", &cookie(begun)).with("x-console-proof", &proof)
}

#[tokio::test]
async fn each_operation_admits_its_callers_and_no_others() {
    let matrix = Matrix::start().await;
    let document = api::build_openapi_document();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let row = row_of(path);
            let row = row.unwrap_or_else(|| panic!("who may call {method} {path}?"));
            let method: Method = method.to_uppercase().parse().unwrap();
            let called = format!("{method} {path}");
            // The arguments are unknown or invalid, so that an admitted call costs nothing.
            let address = matrix.wallet.address();
            let path = path.replace("{walletAddress}", &address).replace("{network}", "none");
            let path = path.replace("{slug}", "none").replace("{id}", "none");
            let path = format!("{}{path}", api::BASE_PATH);
            let send = async |caller: &TestClient| send(caller, &method, &path, operation).await;
            matrix.check(&called, row, send).await;
        }
    }
}

/// An empty request with the content type of the operation.
async fn send(caller: &TestClient, method: &Method, path: &str, operation: &Value) -> TestReply {
    let content = operation.pointer("/requestBody/content").and_then(Value::as_object);
    let takes_json = content.is_none_or(|content| content.contains_key("application/json"));
    let json = ("application/json", "{}");
    let form = ("multipart/form-data; boundary=x", "--x--\r\n");
    let (content_type, body) = if takes_json { json } else { form };
    let has_body = content.is_some();
    let caller = if has_body { caller.with("content-type", content_type) } else { caller.clone() };
    let body = if has_body { Body::from(body) } else { Body::empty() };
    caller.send_raw(method.clone(), path, body).await
}

#[tokio::test]
async fn each_route_outside_of_the_api_admits_its_callers_and_no_others() {
    let matrix = Matrix::start().await;
    for path in api::console::routes::list_paths() {
        let rows = rows_of_route(&path).unwrap_or_else(|| panic!("who may call {path}?"));
        for (method, row) in rows {
            let called = format!("{method} {path}");
            let path = path.replace("{*path}", "none").replace("{*page}", "none");
            let path = path.replace("{slug}", "none");
            let send = async |caller: &TestClient| {
                let body = if method == Method::POST { "{}" } else { "" };
                let caller = caller.with("content-type", "application/json");
                caller.send_raw(method.clone(), &path, Body::from(body)).await
            };
            matrix.check(&called, row, send).await;
        }
    }
}

#[tokio::test]
async fn an_admin_key_of_default_neither_sees_nor_ends_the_operators_keys() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let id = operator_key_id(&app).await;
    let listed = app.admin().get("/api_keys").await.ok_json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(app.admin().get(&format!("/api_keys/{id}")).await.status, 400);
    assert_eq!(app.admin().delete(&format!("/api_keys?id={id}")).await.status, 400);
    let change = json!({"id": id, "expiresAt": "2026-11-16"});
    assert_eq!(app.admin().patch("/api_keys", &change).await.status, 400);
    assert_eq!(operator.get("/admin/characters").await.status, 200);
    let body = json!({"apiKeyType": "OPERATOR", "description": "x"});
    assert_eq!(app.admin().post("/api_keys", &body).await.status, 400);
}

async fn operator_key_id(app: &TestApp) -> String {
    let keys = app.app.store.list_keys(app.owner()).await.unwrap();
    let key = keys.iter().find(|key| key.kind == domain::access::KeyKind::Operator).unwrap();
    key.id.0.to_string()
}

#[tokio::test]
async fn guessed_operator_keys_block_their_address() {
    let app = TestApp::start().await;
    let guess = app.anonymous().with_bearer("SERVICE_OPERATOR_KEY_guess");
    let ask = async |client: &TestClient| {
        let body = Body::from(json!({"operation": "ping"}).to_string());
        client.send_raw(Method::POST, "/console/operator", body).await.status
    };
    let mut statuses = Vec::new();
    for _ in 0..22 {
        statuses.push(ask(&guess).await);
    }
    assert_eq!((statuses[0], statuses[21]), (401, 429));
}

//! Calls of `/files` and `/batches`.

use axum::http::Method;
use serde_json::json;
use testkit::app::TestApp;

use super::{Content, Example, QueuedJobs, Sent, example, get, send, upload};
use crate::files::upload_id;

const FILE: &[u8] = b"{}";
/// A parameter that is longer than any id.
const LONG_FILE: &str = "/files/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const LONG_CONTENT: &str = "/files/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/content";
const LONG_BATCH: &str = "/batches/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const LONG_CANCEL: &str = "/batches/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/cancel";

pub(super) fn examples() -> Vec<Example> {
    let form = Content::Form(&[("purpose", "batch")], FILE);
    let created = Sent { method: Method::POST, path: "/files", body: form };
    let order = |window| {
        let order = json!({"input_file_id": "{file}", "endpoint": "/v1/embeddings", "completion_window": window});
        send(Method::POST, "/batches", order)
    };
    let post = |path| Sent { method: Method::POST, path, body: Content::Nothing };
    let delete = |path| Sent { method: Method::DELETE, path, body: Content::Nothing };
    vec![
        example("create_file", created, Some(upload("/files", FILE))),
        example("list_files", get("/files"), Some(get("/files?limit=0"))),
        example("get_file", get("/files/{file}"), Some(get(LONG_FILE))),
        example("get_file_content", get("/files/{file}/content"), Some(get(LONG_CONTENT))),
        example("delete_file", delete("/files/{file}"), Some(delete(LONG_FILE))),
        example("create_batch", order("24h"), Some(order("1h"))),
        example("list_batches", get("/batches"), Some(get("/batches?limit=0"))),
        example("get_batch", get("/batches/{batch}"), Some(get(LONG_BATCH))),
        example("cancel_batch", post("/batches/{batch}/cancel"), Some(post(LONG_CANCEL))),
    ]
}

/// A file, and a batch of it for operations about one.
pub(super) async fn prepare(app: &TestApp, operation: &str) -> QueuedJobs {
    let file = upload_id(&app.admin(), FILE).await;
    if operation.contains("_file") {
        return QueuedJobs { file, ..QueuedJobs::default() };
    }
    let order =
        json!({"input_file_id": file, "endpoint": "/v1/embeddings", "completion_window": "24h"});
    let batch = app.admin().post("/batches", &order).await.ok_json();
    let batch = batch["id"].as_str().unwrap().to_owned();
    QueuedJobs { file, batch, ..QueuedJobs::default() }
}

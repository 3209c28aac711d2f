//! Tests of `/files`: what is stored, for whom, within which bounds, and that a deletion is one.

use axum::body::Body;
use axum::http::Method;
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::{TestClient, TestReply};

const LINES: &[u8] = b"{\"custom_id\":\"very-plain-text\"}\n";

pub(crate) async fn upload(client: &TestClient, content: &[u8]) -> TestReply {
    client.post_form("/files", &[("purpose", "batch")], Some(("lines.jsonl", content))).await
}

pub(crate) async fn upload_id(client: &TestClient, content: &[u8]) -> String {
    upload(client, content).await.ok_json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_file_is_stored_listed_read_and_deleted() {
    let app = TestApp::start().await;
    let file = upload(&app.admin(), LINES).await.ok_json();
    let id = file["id"].as_str().unwrap();
    assert!(id.starts_with("file-"), "{id}");
    let told =
        json!([file["object"], file["bytes"], file["filename"], file["purpose"], file["status"]]);
    assert_eq!(told, json!(["file", LINES.len(), "lines.jsonl", "batch", "processed"]));
    assert_eq!(app.admin().get(&format!("/files/{id}")).await.ok_json(), file);

    let content = app.admin().get(&format!("/files/{id}/content")).await;
    assert_eq!((content.status, &content.body[..]), (200, LINES));
    assert!(content.header("content-disposition").starts_with("attachment"));
    let long = LINES.repeat(1_000);
    let large = upload_id(&app.admin(), &long).await;
    let packed = app.admin().with("accept-encoding", "gzip");
    let packed = packed.get(&format!("/files/{large}/content")).await;
    assert_eq!((packed.status, packed.header("content-encoding")), (200, "gzip"));
    assert!(packed.body.len() < long.len());
    app.admin().delete(&format!("/files/{large}")).await.ok_json();
    app.clock.advance_s(1);
    let second = upload_id(&app.admin(), LINES).await;
    let page = app.admin().get("/files?limit=1").await.ok_json();
    assert_eq!(page["data"][0]["id"], second.as_str());
    assert_eq!(page["has_more"], true);
    let next = app.admin().get(&format!("/files?after={second}")).await.ok_json();
    assert_eq!((&next["data"][0]["id"], &next["has_more"]), (&file["id"], &json!(false)));
    let outputs = app.admin().get("/files?purpose=batch_output").await.ok_json();
    assert_eq!(outputs["data"], json!([]));

    let deleted = app.admin().delete(&format!("/files/{id}")).await.ok_json();
    assert_eq!(deleted, json!({"id": id, "object": "file", "deleted": true}));
    for path in [format!("/files/{id}"), format!("/files/{id}/content")] {
        assert_eq!(app.admin().get(&path).await.status, 404);
    }
    assert_eq!(app.admin().delete(&format!("/files/{id}")).await.status, 404);
}

#[tokio::test]
async fn another_accounts_file_is_refused_like_one_that_never_was() {
    let app = TestApp::start().await;
    let id = upload_id(&app.admin(), LINES).await;
    let (_, other) = app.funded_account("other", "5").await;
    let unknown = "file-00000000000000000000000000000000";
    let words = |reply: TestReply, id: &str| (reply.status, reply.text().replace(id, "ID"));
    for path in ["/files/ID", "/files/ID/content"] {
        let foreign = other.get(&path.replace("ID", &id)).await;
        let missing = other.get(&path.replace("ID", unknown)).await;
        assert_eq!(words(foreign, &id), words(missing, unknown), "{path}");
    }
    let foreign = other.delete(&format!("/files/{id}")).await;
    let missing = other.delete(&format!("/files/{unknown}")).await;
    assert_eq!(words(foreign, &id), words(missing, unknown));
    let start = |file: &str| json!({"input_file_id": file, "endpoint": "/v1/embeddings", "completion_window": "24h"});
    let foreign = other.post("/batches", &start(&id)).await;
    let missing = other.post("/batches", &start(unknown)).await;
    assert_eq!(words(foreign, &id), words(missing, unknown));
    assert_eq!(app.admin().get(&format!("/files/{id}")).await.status, 200);
}

#[tokio::test]
async fn a_faulty_upload_is_refused_and_leaves_nothing() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let file = Some(("a.jsonl", LINES));
    let batch = ("purpose", "batch");
    for (fields, file) in [
        (vec![batch], None),
        (vec![batch], Some(("a.jsonl", b"".as_slice()))),
        (vec![], file),
        (vec![("purpose", "fine-tune")], file),
        (vec![batch, ("colour", "red")], file),
        (vec![batch, ("expires_after[seconds]", "1")], file),
    ] {
        let reply = admin.post_form("/files", &fields, file).await;
        assert_eq!(reply.status, 400, "{fields:?}: {}", reply.text());
    }
    let two = [("file", "a", LINES), ("file", "b", LINES)];
    assert_eq!(admin.post_form_files("/files", &[batch], &two).await.status, 400);
    let elsewhere = [("data", "a", LINES)];
    assert_eq!(admin.post_form_files("/files", &[batch], &elsewhere).await.status, 400);
    assert_eq!(admin.post("/files", &json!({"purpose": "batch"})).await.status, 415);
    let form = admin.with("content-type", "multipart/form-data; boundary=x");
    assert_eq!(form.send(Method::POST, "/files", Body::from("--x\r\nbroken")).await.status, 400);
    assert_eq!(admin.get("/files").await.ok_json()["data"], json!([]));
}

#[tokio::test]
async fn a_file_of_200_mb_is_too_large_and_not_kept_in_memory() {
    let app = TestApp::start().await;
    let head = "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n";
    let piece = Bytes::from(vec![b'x'; 1_000_000]);
    let pieces = std::iter::once(Bytes::from(head)).chain(std::iter::repeat_n(piece, 200));
    let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, std::io::Error>)));
    let form = app.admin().with("content-type", "multipart/form-data; boundary=x");
    let reply = form.send(Method::POST, "/files", body).await;
    assert_eq!(reply.status, 413, "{}", reply.text());
    assert!(reply.text().contains("100000000 bytes"), "{}", reply.text());
    assert_eq!(app.admin().get("/files").await.ok_json()["data"], json!([]));
}

#[tokio::test]
async fn callers_without_a_balance_have_little_room() {
    let app = TestApp::start().await;
    let poor = app.another_account("poor").await;
    let large = vec![b'x'; 1_000_001];
    assert_eq!(upload(&poor, &large).await.status, 413);
    assert_eq!(upload(&app.admin(), &large).await.status, 200);
    for _ in 0..10 {
        assert_eq!(upload(&poor, LINES).await.status, 200);
    }
    let reply = upload(&poor, LINES).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let first = poor.get("/files").await.ok_json()["data"][0]["id"].clone();
    poor.delete(&format!("/files/{}", first.as_str().unwrap())).await.ok_json();
    assert_eq!(upload(&poor, LINES).await.status, 200);
    assert_eq!(app.anonymous().get("/files").await.status, 402);
}

#[tokio::test]
async fn a_file_expires_when_its_owner_asked_for_it() {
    let app = TestApp::start().await;
    let hour = [
        ("purpose", "batch"),
        ("expires_after[anchor]", "created_at"),
        ("expires_after[seconds]", "3600"),
    ];
    let file = app.admin().post_form("/files", &hour, Some(("a", LINES))).await.ok_json();
    let lives =
        |file: &Value| file["expires_at"].as_i64().unwrap() - file["created_at"].as_i64().unwrap();
    assert_eq!(lives(&file), 3600);
    let usual = upload(&app.admin(), LINES).await.ok_json();
    assert_eq!(lives(&usual), 30 * 86_400);
    app.clock.advance_s(3601);
    let path = format!("/files/{}", file["id"].as_str().unwrap());
    assert_eq!(app.admin().get(&path).await.status, 404);
    assert_eq!(app.admin().get("/files").await.ok_json()["data"].as_array().unwrap().len(), 1);
}

//! Tests of images, audio, videos and documents in chats: forwarded and refused ones.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;

use crate::chat::PATH;

/// Only the header of an image, which is all that is read.
fn picture(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    format!("data:image/png;base64,{}", STANDARD.encode(bytes))
}

fn image(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn video(url: &str) -> Value {
    json!({"type": "video_url", "video_url": {"url": url}})
}

fn file(data: &str, name: Option<&str>) -> Value {
    json!({"type": "file", "file": {"file_data": data, "filename": name}})
}

/// A model that accepts every kind of input.
async fn start() -> TestApp {
    let few = r#""vision", "multiple_images"]"#;
    let all = r#""vision", "multiple_images", "audio_input", "video_input", "documents"]"#;
    TestApp::with_changed_fixture(|fixture| fixture.replace(few, all)).await
}

async fn send(app: &TestApp, messages: &[Value]) -> TestReply {
    let message = |parts: &Value| json!({"role": "user", "content": parts});
    let messages: Vec<Value> = messages.iter().map(message).collect();
    app.admin().post(PATH, &json!({"model": "kimi-k3", "messages": messages})).await
}

#[track_caller]
fn check_faults(reply: &TestReply, expected: Expect) {
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = reply.json();
    let line = |issue: &Value| {
        format!("{}: {}", issue["path"], issue["message"].as_str().unwrap_or_default())
    };
    let lines: Vec<String> = body["issues"].as_array().unwrap().iter().map(line).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn what_anybody_could_reach_is_passed_on_as_it_came() {
    let app = start().await;
    let inline = picture(64, 64);
    let parts = json!([
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
        image(&inline),
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}},
        video("https://www.youtube.com/watch?v=1"),
        file("data:application/pdf;base64,JVBERi0=", Some("a.pdf")),
        file("https://example.com/b.pdf", None),
        file("data:text/markdown;base64,IyBIaQ==", Some("c.md")),
    ]);
    let reply = send(&app, &[parts]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let seen = app.upstream.received_bodies()[0]["messages"][1]["content"].to_string();
    expect![[r##"[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}},{"type":"image_url","image_url":{"url":"<picture>"}},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"mp3"}},{"type":"video_url","video_url":{"url":"https://www.youtube.com/watch?v=1"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}},{"type":"file","file":{"file_data":"https://example.com/b.pdf"}},{"type":"text","text":"[File: c.md]\n# Hi"}]"##]]
    .assert_eq(&seen.replace(&inline, "<picture>"));
}

#[tokio::test]
async fn addresses_inside_the_operators_network_are_refused_where_they_stand() {
    let app = start().await;
    let parts = json!([
        image("http://169.254.169.254/latest/meta-data/iam"),
        image("http://localhost/a.png"),
        video("http://[::ffff:10.0.0.1]/a.mp4"),
        file("https://user:secret@example.com/a.pdf", None),
        image("https://example.com:6379/"),
        image("ftp://example.com/a.png"),
    ]);
    check_faults(
        &send(&app, &[parts]).await,
        expect![[r#"
            ["messages",0,"content",0]: Supplied image did not pass validation checks. Its URL must name a public host; send a data URL instead.
            ["messages",0,"content",1]: Supplied image did not pass validation checks. Its URL must name a public host; send a data URL instead.
            ["messages",0,"content",2]: Supplied video did not pass validation checks. Its URL must name a public host; send a data URL instead.
            ["messages",0,"content",4]: Supplied image did not pass validation checks. Its URL must use port 80 or 443.
            ["messages",0,"content",5]: Supplied image did not pass validation checks. Send a data URL in base64, or an https or http URL.
            ["messages",0,"content",3]: Supplied file did not pass validation checks. Its URL must not contain a user name or a password."#]],
    );
    let input = json!([{"role": "user", "content": [
        {"type": "input_image", "image_url": "http://192.168.0.1/a.png"}]}]);
    let reply = app.admin().post("/responses", &json!({"model": "kimi-k3", "input": input})).await;
    check_faults(
        &reply,
        expect![[
            r#"["input",0,"content",0]: Supplied image did not pass validation checks. Its URL must name a public host; send a data URL instead."#
        ]],
    );
    assert!(app.upstream.received_bodies().is_empty(), "nothing was passed on");
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn names_that_point_inward_are_refused_where_they_stand() {
    let app = start().await;
    let parts = json!([
        image("https://www.example.com/a.png"),
        image("https://inward.example.com/a.png"),
        video("https://unknown.example.com/a.mp4"),
        file("https://inward.example.com/a.pdf", None),
    ]);
    check_faults(
        &send(&app, &[parts]).await,
        expect![[r#"
        ["messages",0,"content",1]: Supplied image did not pass validation checks. Its host has an address that is not public; send a data URL instead.
        ["messages",0,"content",2]: Supplied video did not pass validation checks. Its host could not be looked up; check the name, or send a data URL instead.
        ["messages",0,"content",3]: Supplied file did not pass validation checks. Its host has an address that is not public; send a data URL instead."#]],
    );
    let input = json!([{"role": "user", "content": [
        {"type": "input_image", "image_url": "https://inward.example.com/a.png"}]}]);
    let reply = app.admin().post("/responses", &json!({"model": "kimi-k3", "input": input})).await;
    check_faults(
        &reply,
        expect![[
            r#"["input",0,"content",0]: Supplied image did not pass validation checks. Its host has an address that is not public; send a data URL instead."#
        ]],
    );
    assert!(app.upstream.received_bodies().is_empty(), "nothing was passed on");
}

#[tokio::test]
async fn an_operator_chooses_the_domains_that_engines_fetch_from() {
    let app = TestApp::with_changed_fixture(|fixture| {
        format!("{fixture}\n[chat]\nmedia_domains = [\".Example.com\"]\n")
    })
    .await;
    let listed = json!([image("https://cdn.example.com/a.png")]);
    assert_eq!(send(&app, &[listed]).await.status, 200);
    let other = json!([image("https://example.org/a.png")]);
    check_faults(
        &send(&app, &[other]).await,
        expect![[
            r#"["messages",0,"content",0]: Supplied image did not pass validation checks. This service allows files from certain hosts only; send a data URL instead."#
        ]],
    );
}

#[tokio::test]
async fn what_is_sent_inline_must_be_what_it_says() {
    let app = start().await;
    let parts = json!([
        image(&picture(63, 640)),
        image(&picture(60_000, 60_000)),
        image("data:image/png;base64,bm8gcGljdHVyZQ=="),
        image("data:text/html;base64,PGI+"),
        {"type": "input_audio", "input_audio": {"data": "not base64!"}},
        video("data:video/x-matroska;base64,AAAA"),
    ]);
    check_faults(
        &send(&app, &[parts]).await,
        expect![[r#"
            ["messages",0,"content",0]: Supplied image did not pass validation checks. Each of its sides must have at least 64 pixels.
            ["messages",0,"content",1]: Supplied image did not pass validation checks. It must have at most 33177600 pixels.
            ["messages",0,"content",2]: Supplied image did not pass validation checks. It must be a PNG, JPEG, WebP, HEIF or AVIF file.
            ["messages",0,"content",3]: Supplied image did not pass validation checks. Its media type must be that of an image, such as image/png.
            ["messages",0,"content",4]: Supplied audio did not pass validation checks. It is not valid base64.
            ["messages",0,"content",5]: Supplied video did not pass validation checks. Its media type must be video/mp4, video/mpeg, video/quicktime or video/webm."#]],
    );
}

#[tokio::test]
async fn documents_elsewhere_are_refused_by_models_that_cannot_fetch_them() {
    let app = TestApp::start().await;
    let parts = json!([file("https://example.com/a.pdf", None)]);
    check_faults(
        &send(&app, &[parts]).await,
        expect![[r#"
            ["messages",0,"content",0]: This model does not fetch files; send the file as a data URL, such as data:text/plain;base64,…"#]],
    );
}

#[tokio::test]
async fn a_request_has_as_many_pictures_and_videos_as_its_model_takes() {
    let app = start().await;
    let one = json!([image("https://example.com/a.png")]);
    let four = [one.clone(), one.clone(), one.clone(), one.clone()];
    assert_eq!(send(&app, &four).await.status, 200, "max_images is 4");
    let five = [&four[..], std::slice::from_ref(&one)].concat();
    check_faults(
        &send(&app, &five).await,
        expect![[r#"["messages"]: This model takes at most 4 images in a request"#]],
    );
    let input = |count| {
        json!(vec![
            json!({"role": "user", "content": [
        {"type": "input_image", "image_url": "https://example.com/a.png"}]});
            count
        ])
    };
    let body = |count| json!({"model": "kimi-k3", "input": input(count)});
    assert_eq!(app.admin().post("/responses", &body(4)).await.status, 200);
    check_faults(
        &app.admin().post("/responses", &body(5)).await,
        expect![[r#"["input"]: This model takes at most 4 images in a request"#]],
    );
    let clip = json!([video("https://example.com/a.mp4")]);
    let three = [clip.clone(), clip.clone(), clip.clone()];
    assert_eq!(send(&app, &three).await.status, 200);
    check_faults(
        &send(&app, &[&three[..], &[clip]].concat()).await,
        expect![[r#"["messages"]: This model takes at most 3 videos in a request"#]],
    );
}

#[tokio::test]
async fn a_model_that_sees_one_picture_at_a_time_counts_the_latest_only() {
    let app = TestApp::with_changed_fixture(|fixture| {
        fixture.replace(r#""vision", "multiple_images"]"#, r#""vision"]"#)
    })
    .await;
    let one = json!([image("https://example.com/a.png")]);
    let reply = send(&app, &vec![one; 5]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
}

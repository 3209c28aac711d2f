//! Tests of `POST /video/transcriptions`: the sound of a video, charged per second.

use expect_test::expect;
use serde_json::json;
use testkit::app::TestApp;

use crate::transcriptions::hello;

const PATH: &str = "/video/transcriptions";
const VIDEO: &[u8] = include_bytes!("../../../../formats/audio-probe/samples/fragmented.mp4");

#[tokio::test]
async fn what_is_said_in_a_video_is_written_down() {
    let app = TestApp::start().await;
    app.upstream.queue_script(hello());
    let reply = app.admin().post_form(PATH, &[], Some(("a.mp4", VIDEO))).await;
    reply.expect(expect![[r#"200 {"transcript":"Hello there."}"#]]);
    assert_eq!(reply.header("x-service-model-id"), "parakeet");
    app.upstream.queue_script(hello());
    let reply =
        app.admin().post_form(PATH, &[("response_format", "text")], Some(("a", VIDEO))).await;
    assert_eq!(
        (reply.header("content-type"), reply.text().as_str()),
        ("text/plain; charset=utf-8", "Hello there.")
    );
    assert_eq!(app.verify_spent().await.nanos(), 2 * 200_000);
    let reply = app.admin().post_form(PATH, &[], None).await;
    reply.expect(expect![[r#"400 {"error":"No audio file provided"}"#]]);
}

#[tokio::test]
async fn a_video_is_fetched_from_a_public_address_and_from_no_other() {
    let app = TestApp::start().await;
    app.site.put("/talk.mp4", "video/mp4", VIDEO);
    app.site.put("/page", "text/html", "<p>no video</p>");
    app.site.put_redirect("/inward", "http://10.0.0.1/talk.mp4");
    let at = |path: &str| json!({"url": format!("http://site.example.com{path}")});
    app.upstream.queue_script(hello());
    let reply = app.admin().post(PATH, &at("/talk.mp4")).await;
    reply.expect(expect![[r#"200 {"transcript":"Hello there."}"#]]);
    assert_eq!(app.verify_spent().await.nanos(), 200_000);
    for (body, told) in [
        (at("/page"), "the format is not supported"),
        (at("/gone"), "Its host answered with the status 404."),
        (at("/inward"), "It redirects to a URL that is not allowed."),
        (json!({"url": "http://127.0.0.1/talk.mp4"}), "`url`"),
        (json!({"url": "file:///etc/passwd"}), "`url`"),
    ] {
        let reply = app.admin().post(PATH, &body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains(told), "{}", reply.text());
    }
    let both = [("url", "http://site.example.com/talk.mp4")];
    let reply = app.admin().post_form(PATH, &both, Some(("a.mp4", VIDEO))).await;
    assert!(reply.text().contains("not both"), "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 200_000, "what failed costs nothing");
}

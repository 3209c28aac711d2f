//! `POST /video/transcriptions`: the sound of a video, paid by the second.

use expect_test::expect;
use testkit::app::TestApp;

use crate::transcriptions::hello;

const PATH: &str = "/video/transcriptions";
const VIDEO: &[u8] = include_bytes!("../../../sound/samples/fragmented.mp4");

#[tokio::test]
async fn what_is_said_in_a_video_is_written_down() {
    let app = TestApp::start().await;
    app.upstream.play(hello());
    let reply = app.admin().form(PATH, &[], Some(("a.mp4", VIDEO))).await;
    reply.expect(expect![[r#"200 {"transcript":"Hello there."}"#]]);
    assert_eq!(reply.header("x-service-model-id"), "parakeet");
    app.upstream.play(hello());
    let reply = app.admin().form(PATH, &[("response_format", "text")], Some(("a", VIDEO))).await;
    assert_eq!(
        (reply.header("content-type"), reply.text().as_str()),
        ("text/plain; charset=utf-8", "Hello there.")
    );
    assert_eq!(app.spent().await.nanos(), 2 * 200_000);
    let reply = app.admin().form(PATH, &[], None).await;
    reply.expect(expect![[r#"400 {"error":"No audio file provided"}"#]]);
}

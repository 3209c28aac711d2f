//! Tests of `safe_mode`: adult images are blurred, and headers say if the image was checked.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use engine::{
    EditRequest, EngineError, ImageAnswer, ImageClassifier, ImageEngine, ImageFile, ImageFuture,
    ImageRequest,
};
use futures_util::future::BoxFuture;
use http_frame::engines::EngineSet;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::client::TestReply;

use crate::images::{PATH, base64, png};

const SIDE: u32 = 128;

/// Generates fine stripes, which a blur removes.
#[derive(Default)]
struct Painter {
    is_adult: Option<bool>,
}

impl Painter {
    fn painted(&self) -> ImageFuture<'_> {
        let samples = [0, 255].repeat((SIDE * SIDE / 2) as usize);
        let mut file = Vec::new();
        let encoder = png::Encoder::new(&mut file, SIDE, SIDE);
        encoder.write_header().unwrap().write_image_data(&samples).unwrap();
        let answer = ImageAnswer { file: file.into(), is_adult: self.is_adult, waited: None };
        Box::pin(async { Ok(answer) })
    }
}

impl ImageEngine for Painter {
    fn generate(&self, _: Arc<ImageRequest>) -> ImageFuture<'_> {
        self.painted()
    }

    fn edit(&self, _: Arc<EditRequest>) -> ImageFuture<'_> {
        self.painted()
    }
}

/// Gives every image the same score.
struct Judge {
    score: Result<f64, EngineError>,
    asked: AtomicUsize,
}

impl ImageClassifier for Judge {
    fn adult_score(&self, picture: ImageFile) -> BoxFuture<'_, Result<f64, EngineError>> {
        assert_eq!(
            (picture.size.width, picture.size.height, picture.kind.mime),
            (256, 256, "image/png")
        );
        self.asked.fetch_add(1, Ordering::Relaxed);
        let score = self.score.clone();
        Box::pin(async { score })
    }
}

fn equip(app: &TestApp, painter: Painter, score: Option<Result<f64, EngineError>>) -> Arc<Judge> {
    let painter = Arc::new(painter);
    let mut engines = EngineSet::default();
    let catalogue = app.app.catalogue.get();
    for name in ["z-image-turbo", "firered-image-edit"] {
        let found = catalogue.find_model(name, app.app.clock.now()).unwrap();
        engines.add_images(found.model, painter.clone());
    }
    let is_there = score.is_some();
    let judge = Judge { score: score.unwrap_or(Ok(0.0)), asked: AtomicUsize::new(0) };
    let judge = Arc::new(judge);
    if is_there {
        engines.set_image_classifier(judge.clone());
    }
    app.app.engines.replace(engines);
    judge
}

async fn generate(app: &TestApp, safe_mode: Value) -> TestReply {
    let mut body = json!({
        "model": "z-image-turbo", "prompt": "stripes", "format": "png", "return_binary": true,
        "width": SIDE, "height": SIDE,
    });
    if !safe_mode.is_null() {
        body["safe_mode"] = safe_mode;
    }
    app.admin().post(PATH, &body).await
}

/// The values of the headers, and true if the stripes are still there.
#[track_caller]
fn told(reply: &TestReply) -> (String, String, bool) {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let mut reader = png::Decoder::new(Cursor::new(&reply.body)).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut samples).unwrap();
    let is_sharp = samples.iter().all(|it| *it == 0 || *it == 255);
    let header = |name: &str| reply.header(name).to_owned();
    (header("x-service-is-blurred"), header("x-service-safe-mode"), is_sharp)
}

fn verdict(is_blurred: &str, safe_mode: &str, is_sharp: bool) -> (String, String, bool) {
    (is_blurred.to_owned(), safe_mode.to_owned(), is_sharp)
}

#[tokio::test]
async fn a_picture_for_adults_is_blurred_unless_its_caller_wants_it() {
    let app = TestApp::start().await;
    let judge = equip(&app, Painter::default(), Some(Ok(0.97)));
    assert_eq!(told(&generate(&app, Value::Null).await), verdict("true", "on", false));
    assert_eq!(told(&generate(&app, json!(true)).await), verdict("true", "on", false));
    assert_eq!(judge.asked.load(Ordering::Relaxed), 2);
    assert_eq!(told(&generate(&app, json!(false)).await), verdict("false", "off", true));
    assert_eq!(judge.asked.load(Ordering::Relaxed), 2, "nobody looks for who wants none");
}

#[tokio::test]
async fn a_harmless_picture_stays_as_it_is() {
    let app = TestApp::start().await;
    equip(&app, Painter::default(), Some(Ok(0.43)));
    assert_eq!(told(&generate(&app, Value::Null).await), verdict("false", "on", true));
}

#[tokio::test]
async fn callers_are_told_where_nobody_could_look() {
    let app = TestApp::start().await;
    equip(&app, Painter::default(), None);
    assert_eq!(told(&generate(&app, Value::Null).await), verdict("false", "unavailable", true));
    let broken = EngineError::BadAnswer { cause: "it broke off".to_owned() };
    equip(&app, Painter::default(), Some(Err(broken)));
    assert_eq!(told(&generate(&app, Value::Null).await), verdict("false", "unavailable", true));
}

#[tokio::test]
async fn a_providers_own_verdict_is_enough() {
    let app = TestApp::start().await;
    let judge = equip(&app, Painter { is_adult: Some(true) }, Some(Ok(0.0)));
    assert_eq!(told(&generate(&app, Value::Null).await), verdict("true", "on", false));
    equip(&app, Painter { is_adult: Some(false) }, Some(Ok(1.0)));
    assert_eq!(told(&generate(&app, Value::Null).await), verdict("false", "on", true));
    assert_eq!(judge.asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn edits_are_judged_too() {
    let app = TestApp::start().await;
    equip(&app, Painter::default(), Some(Ok(0.9)));
    let image = base64(&png(256, 256));
    let body = json!({"image": image, "prompt": "stripes"});
    let reply = app.admin().post("/image/edit", &body).await;
    assert_eq!(told(&reply), verdict("true", "on", false));
    let body = json!({"image": image, "prompt": "stripes", "safe_mode": false});
    let reply = app.admin().post("/image/edit", &body).await;
    assert_eq!(told(&reply), verdict("false", "off", true));
    let file: [(&str, &str, &[u8]); 1] = [("image", "a", &png(256, 256))];
    let reply = app.admin().post_form_files("/images/edits", &[("prompt", "x")], &file).await;
    assert_eq!(reply.header("x-service-is-blurred"), "true", "{}", reply.text());
}

#[tokio::test]
async fn what_cannot_be_read_is_no_picture_whoever_looks() {
    struct Broken;
    impl ImageEngine for Broken {
        fn generate(&self, _: Arc<ImageRequest>) -> ImageFuture<'_> {
            let file = Bytes::from_static(b"no picture");
            Box::pin(async { Ok(ImageAnswer { file, ..ImageAnswer::default() }) })
        }
    }
    let app = TestApp::start().await;
    let mut engines = EngineSet::default();
    let catalogue = app.app.catalogue.get();
    let found = catalogue.find_model("z-image-turbo", app.app.clock.now()).unwrap();
    engines.add_images(found.model, Arc::new(Broken));
    engines.set_image_classifier(Arc::new(Judge { score: Ok(0.0), asked: AtomicUsize::new(0) }));
    app.app.engines.replace(engines);
    let reply = generate(&app, Value::Null).await;
    assert_eq!(reply.status, 500, "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

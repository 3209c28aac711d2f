//! Tests of `POST /image/upscale` and `POST /image/background-remove`.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use engine::{
    CutOutRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, PictureSize, UpscaleRequest,
};
use http_frame::engines::EngineSet;
use pictures::ImageFileFormat;
use serde_json::json;
use testkit::app::TestApp;

use crate::image_edits::crc;
use crate::images::{base64, png, told};

pub(crate) const UPSCALE: &str = "/image/upscale";
pub(crate) const CUT_OUT: &str = "/image/background-remove";

/// An engine that records its requests.
#[derive(Default)]
pub(crate) struct Painter {
    scales: Mutex<Vec<(f64, PictureSize, Option<f64>)>>,
}

fn painted(size: PictureSize) -> Result<ImageAnswer, EngineError> {
    let file = Bytes::from(png(size.width, size.height));
    Ok(ImageAnswer { file, ..ImageAnswer::default() })
}

impl ImageEngine for Painter {
    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        let told = (request.scale, request.picture.size, request.creativity);
        self.scales.lock().unwrap().push(told);
        // Always four times as large, like many upscalers.
        let PictureSize { width, height } = request.picture.size;
        Box::pin(async move { painted(PictureSize { width: 4 * width, height: 4 * height }) })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async move { painted(request.picture.size) })
    }
}

/// A model that removes backgrounds, in addition to the fixture's models.
pub(crate) async fn app() -> TestApp {
    let cutter = r#"
        [[model]]
        id = "cutter"
        type = "inpaint"
        provider = "main"
        traits = ["background_remove"]
        price = { per_edit_usd = "0.03" }
    "#;
    TestApp::with_changed_fixture(|fixture| format!("{fixture}\n{cutter}")).await
}

/// Makes one engine run every upscale and edit model.
pub(crate) fn paint_with(app: &TestApp) -> Arc<Painter> {
    let painter = Arc::<Painter>::default();
    let mut engines = EngineSet::default();
    let catalogue = app.app.catalogue.get();
    for name in ["upscaler", "cutter"] {
        if let Ok(found) = catalogue.find_model(name, app.app.clock.now()) {
            engines.add_images(found.model, painter.clone());
        }
    }
    app.app.engines.replace(engines);
    painter
}

#[tokio::test]
async fn a_picture_is_enlarged_to_exactly_what_was_asked_for() {
    let app = TestApp::start().await;
    let painter = paint_with(&app);
    let picture = png(300, 260);
    let files: [(&str, &str, &[u8]); 1] = [("image", "a.png", &picture)];
    let reply = app.admin().post_form_files(UPSCALE, &[], &files).await;
    assert_eq!(reply.header("content-type"), "image/png");
    assert_eq!(told(&reply.body), (ImageFileFormat::Png, 600, 520));
    assert_eq!(reply.header("x-balance-remaining"), "9.98");
    let body = json!({
        "image": base64(&picture), "scale": 4, "enhance": true, "enhanceCreativity": 0.25,
    });
    let reply = app.admin().post(UPSCALE, &body).await;
    assert_eq!(told(&reply.body), (ImageFileFormat::Png, 1200, 1040));
    let size = PictureSize { width: 300, height: 260 };
    assert_eq!(*painter.scales.lock().unwrap(), [(2.0, size, None), (4.0, size, Some(0.25))]);
    assert_eq!(app.verify_spent().await.nanos(), 20_000_000 + 80_000_000);
}

#[tokio::test]
async fn what_would_become_too_large_is_refused() {
    let app = TestApp::start().await;
    paint_with(&app);
    let body = json!({"image": base64(&png(1500, 1500)), "scale": 4});
    let reply = app.admin().post(UPSCALE, &body).await;
    assert!(
        reply.text().contains("6000 × 6000 pixels, which is more than 16777216"),
        "{}",
        reply.text()
    );
    let body = json!({"image": base64(&png(256, 256)), "scale": 1});
    let reply = app.admin().post(UPSCALE, &body).await;
    assert_eq!(reply.json()["details"]["enhance"]["_errors"][0], "Must be true when `scale` is 1");
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

/// A PNG of 256 × 256 pixels with further chunks.
fn png_with(fill: impl FnOnce(&mut png::Info<'_>)) -> Vec<u8> {
    let mut info = png::Info::with_size(256, 256);
    fill(&mut info);
    let mut bytes = Vec::new();
    let mut writer = png::Encoder::with_info(&mut bytes, info).unwrap().write_header().unwrap();
    writer.write_image_data(&[80; 256 * 256]).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A PNG whose pixels unpack to far more than its header says.
fn png_with_excess_pixels() -> Vec<u8> {
    let mut bytes = png(4_000, 4_000);
    for place in [16, 20] {
        bytes[place..place + 4].copy_from_slice(&256_u32.to_be_bytes());
    }
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[tokio::test]
async fn pictures_that_unpack_to_much_are_enlarged_without_it_or_refused_unpaid() {
    const UNPACKED_BYTES: usize = 16 * 1024 * 1024;
    let app = TestApp::start().await;
    let painter = paint_with(&app);
    let profile =
        |info: &mut png::Info<'_>| info.icc_profile = Some(vec![0; UNPACKED_BYTES].into());
    let text = |info: &mut png::Info<'_>| {
        let zeros = "0".repeat(UNPACKED_BYTES);
        let chunk = png::text_metadata::ZTXtChunk::new("Comment", zeros);
        info.compressed_latin1_text.push(chunk);
    };
    let mut paid = 0;
    for (what, picture) in [
        ("colour profile", png_with(profile)),
        ("text", png_with(text)),
        ("pixels", png_with_excess_pixels()),
    ] {
        assert!(picture.len() < 1024 * 1024, "{what}: {} bytes are sent", picture.len());
        let reply = app.admin().post(UPSCALE, &json!({"image": base64(&picture)})).await;
        if reply.status == 200 {
            assert_eq!(told(&reply.body), (ImageFileFormat::Png, 512, 512), "{what}");
            paid += 20_000_000;
        } else {
            assert_eq!(reply.status, 400, "{what}: {}", reply.text());
        }
    }
    assert_eq!(app.verify_spent().await.nanos(), paid);
    let sizes: Vec<u32> = painter.scales.lock().unwrap().iter().map(|it| it.1.width).collect();
    assert!(sizes.iter().all(|width| *width == 256), "{sizes:?}");
}

#[tokio::test]
async fn a_background_is_removed_by_the_model_with_that_role() {
    let app = app().await;
    paint_with(&app);
    let body = json!({"image": base64(&png(256, 256))});
    let reply = app.admin().post(CUT_OUT, &body).await;
    assert_eq!(told(&reply.body), (ImageFileFormat::Png, 256, 256));
    assert_eq!(reply.header("x-service-model-id"), "cutter");
    assert_eq!(app.verify_spent().await.nanos(), 30_000_000);
    let both = json!({"image": "x", "image_url": "https://example.com/a.png"});
    assert_eq!(app.admin().post(CUT_OUT, &both).await.status, 400);
}

#[tokio::test]
async fn without_such_a_model_it_is_said() {
    let app = TestApp::start().await;
    let reply = app.admin().post(CUT_OUT, &json!({"image": base64(&png(256, 256))})).await;
    assert_eq!(reply.status, 404);
    assert!(reply.text().contains("No model of this service removes backgrounds."));
}

#[tokio::test]
async fn a_provider_that_cannot_do_it_is_the_operators_matter() {
    let app = TestApp::start().await;
    let reply = app.admin().post(UPSCALE, &json!({"image": base64(&png(256, 256))})).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

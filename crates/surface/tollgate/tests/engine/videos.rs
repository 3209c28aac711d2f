//! Tests of video jobs: creating, polling, downloading, cancelling, and start images.

use std::io::Read;
use std::time::Instant;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::harness::{EngineProcess, PATIENCE, models_dir};

const VIDEOS: &str = "/v1/videos";
const MODEL: &str = "pictor-motion";

fn order(id: &str, seconds: u32) -> Value {
    json!({
        "id": id, "model": MODEL, "prompt": "a red apple",
        "seconds": seconds, "width": 170, "height": 96, "seed": 7,
    })
}

/// Polls until the video has this status, and returns the reported progress values.
fn until(engine: &EngineProcess, id: &str, status: &str) -> Vec<u64> {
    let begun = Instant::now();
    let mut progress = Vec::new();
    loop {
        let told = engine.get(&format!("{VIDEOS}/{id}"));
        progress.push(told["progress"].as_u64().unwrap());
        if told["status"] == status {
            return progress;
        }
        let is_open = told["status"] == "queued" || told["status"] == "in_progress";
        assert!(is_open && begun.elapsed() < PATIENCE, "{told}");
    }
}

fn file(engine: &EngineProcess, id: &str) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut stream = engine.send(&format!("GET {VIDEOS}/{id}/content HTTP/1.1"), b"");
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    answer.split_off(end + 4)
}

#[test]
fn a_video_is_made_once_tells_how_far_it_is_and_can_be_stopped() {
    let engine = EngineProcess::start(&models_dir());
    for name in ["long", "short", "again"] {
        let seconds = if name == "long" { 10 } else { 1 };
        let told = engine.post_ok(VIDEOS, &order(name, seconds));
        assert_eq!(told["id"], name);
    }
    // The first would take minutes, and the others wait for it.
    let told = engine.post_ok(&format!("{VIDEOS}/long/cancel"), &json!({}));
    assert_eq!(told["status"], "cancelled");

    let progress = until(&engine, "short", "completed");
    assert!(progress.is_sorted() && progress.iter().any(|it| (1..100).contains(it)));
    let short = file(&engine, "short");
    assert_eq!(&short[4..8], b"ftyp");
    assert!((4_000..400_000).contains(&short.len()), "{} bytes", short.len());
    until(&engine, "again", "completed");
    assert!(short == file(&engine, "again"), "the same seed gives the same file");
    assert_eq!(engine.post_ok(VIDEOS, &order("short", 1))["status"], "completed");
    assert_eq!(engine.get("/v1/videos/long")["status"], "cancelled");
    engine.end();
}

#[test]
fn a_video_starts_from_a_picture() {
    let engine = EngineProcess::start(&models_dir());
    let rocket = include_bytes!("../../../../models/engine-onnx/tests/reference/pictor-rocket.png");
    let image = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(rocket));
    let ordered = |id: &str, image: Option<&str>| {
        let mut order = order(id, 1);
        order["image"] = image.into();
        engine.post_ok(VIDEOS, &order);
        until(&engine, id, "completed");
        file(&engine, id)
    };
    let (started, again) = (ordered("a", Some(&image)), ordered("b", Some(&image)));
    assert!(started == again, "the same picture and seed give the same file");
    assert!(started != ordered("c", None));
    let mut broken = order("d", 1);
    let half = image.len() / 8 * 4;
    for wrong in ["data:image/png;base64,AAAA", "no base64!", &image[..half]] {
        broken["image"] = wrong.into();
        assert_eq!(engine.refusal(VIDEOS, &broken), (400, "invalid_request".to_owned()), "{wrong}");
    }
    engine.end();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let engine = EngineProcess::start(&models_dir());
    let wrong = [
        ("id", json!("../x")),
        ("id", json!("")),
        ("seconds", json!(0)),
        ("seconds", json!(11)),
        ("width", json!(101)),
        ("height", json!(1296)),
    ];
    for (field, value) in wrong {
        let mut order = order("v", 1);
        order[field] = value;
        assert_eq!(engine.refusal(VIDEOS, &order), (400, "invalid_request".to_owned()), "{order}");
    }
    for path in ["/v1/videos/v", "/v1/videos/v/content"] {
        let (status, _) = engine.ask(&format!("GET {path} HTTP/1.1"), b"");
        assert_eq!(status, 404, "{path}");
    }
    engine.end();
}

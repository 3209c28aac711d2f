//! Tests of image processing: bounded memory, cancellation, and refusal of invalid input.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use png::ColorType;
use serde_json::json;

use crate::harness::{
    EngineProcess, PATIENCE, code, models_dir, never_takes_more_than_it_says,
    takes_no_more_than_it_says,
};

const ROCKET: &[u8] =
    include_bytes!("../../../../models/engine-onnx/tests/reference/tools-rocket.png");
const UPSCALES: &str = "/v1/images/upscales";
const CUTOUTS: &str = "/v1/images/cutouts";
const EDITS: &str = "/v1/images/edits";
const SAFETY: &str = "/v1/images/safety";
const COMPACT: &str = "upscale-esrgan-compact";
const ERASER: &str = "erase-migan";
const PAINTER: &str = "pictor-icons";
const GENERATIONS: &str = "/v1/images/generations";
const EDITOR: &str = "pictor-edit";
const CUTTER: &str = "cutout-u2net";
const JUDGE: &str = "safety-open-nsfw";

type FormFields<'a> = &'a [(&'a str, &'a str)];
type FormFiles<'a> = &'a [(&'a str, &'a [u8])];

/// Returns a multipart form with images by field name.
fn form(fields: FormFields<'_>, files: FormFiles<'_>) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        form.extend(part.as_bytes());
    }
    for (name, file) in files {
        let head = format!(
            "--x\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a\"\r\n\r\n"
        );
        form.extend(head.as_bytes());
        form.extend(*file);
        form.extend(b"\r\n");
    }
    form.extend(b"--x--\r\n");
    form
}

fn head(path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x")
}

fn ask(
    engine: &EngineProcess,
    path: &str,
    fields: FormFields<'_>,
    files: FormFiles<'_>,
) -> (u16, String) {
    engine.ask(&head(path), &form(fields, files))
}

fn png(colours: ColorType, width: u32, height: u32, samples: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colours);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header().unwrap().write_image_data(samples).unwrap();
    file
}

/// Returns a grey image with edges.
fn picture(width: u32, height: u32) -> Vec<u8> {
    let row: Vec<u8> =
        (0..width).map(|x| if (x / 100).is_multiple_of(2) { 40 } else { 200 }).collect();
    png(ColorType::Grayscale, width, height, &row.repeat(height as usize))
}

/// Returns a grey image with a transparent centre.
fn holed(width: u32, height: u32) -> Vec<u8> {
    let (width_third, height_third) = (width as usize / 3, height as usize / 3);
    let opaque = [90, 255].repeat(width as usize);
    let mut middle = opaque.clone();
    middle[2 * width_third..][..2 * width_third].fill(0);
    let rest = height as usize - 2 * height_third;
    let rows = [opaque.repeat(height_third), middle.repeat(height_third), opaque.repeat(rest)];
    png(ColorType::GrayscaleAlpha, width, height, &rows.concat())
}

#[test]
fn pictures_are_enlarged_cut_out_erased_from_and_judged() {
    let engine = EngineProcess::start(&models_dir());
    let image: [(&str, &[u8]); 1] = [("image", ROCKET)];
    let fields = [("model", COMPACT), ("size", "300x300")];
    let (status, answer) = ask(&engine, UPSCALES, &fields, &image);
    assert!(status == 200 && answer.contains("PNG"), "{status} {answer:.200}");
    let (status, answer) = ask(&engine, CUTOUTS, &[("model", CUTTER)], &image);
    assert!(status == 200 && answer.contains("PNG"), "{status} {answer:.200}");
    let (status, answer) = ask(&engine, SAFETY, &[("model", JUDGE)], &image);
    assert!(status == 200 && answer.starts_with("{\"adult\":0.0"), "{status} {answer:.200}");
    let redrawn = [("model", EDITOR), ("prompt", "a blue rocket"), ("size", "300x200")];
    let (status, answer) = ask(&engine, EDITS, &redrawn, &image);
    assert!(status == 200 && answer.contains("b64_json"), "{status} {answer:.200}");
    let (mask, holed) = (holed(256, 256), holed(300, 200));
    let files: [FormFiles<'_>; 2] = [&[("image", ROCKET), ("mask", &mask)], &[("image", &holed)]];
    for files in files {
        let (status, answer) = ask(&engine, EDITS, &[("model", ERASER)], files);
        assert!(status == 200 && answer.contains("b64_json"), "{status} {answer:.200}");
    }
    engine.end();
}

#[test]
fn a_drawn_picture_has_the_size_asked_for() {
    let engine = EngineProcess::start(&models_dir());
    for (width, height) in [(1024, 1024), (512, 288), (1, 1280), (100, 40), (1792, 1024)] {
        let body = json!({"model": PAINTER, "prompt": "a tree", "steps": 1,
            "size": format!("{width}x{height}")});
        let answer = engine.post_ok(GENERATIONS, &body);
        let file = STANDARD.decode(answer["data"][0]["b64_json"].as_str().unwrap()).unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (width, height));
    }
    engine.end();
}

#[test]
fn what_cannot_be_worked_on_is_refused() {
    let engine = EngineProcess::start(&models_dir());
    let small = picture(100, 100);
    let image: FormFiles<'_> = &[("image", ROCKET)];
    let cases: [(&str, FormFields<'_>, FormFiles<'_>); 12] = [
        (UPSCALES, &[("model", COMPACT), ("size", "300x300")], &[]),
        (UPSCALES, &[("model", COMPACT)], image),
        (UPSCALES, &[("model", COMPACT), ("size", "5000x5000")], image),
        (UPSCALES, &[("model", COMPACT), ("size", "300x300")], &[("image", b"no picture")]),
        (UPSCALES, &[("model", ERASER), ("size", "300x300")], image),
        (EDITS, &[("model", ERASER)], image),
        (EDITS, &[("model", EDITOR)], &[("image", ROCKET), ("mask", &small)]),
        (EDITS, &[("model", EDITOR), ("size", "0x9")], image),
        (EDITS, &[("model", ERASER)], &[("image", ROCKET), ("mask", &small)]),
        (CUTOUTS, &[("model", CUTTER)], &[("image", &ROCKET[..5000])]),
        (CUTOUTS, &[("model", CUTTER)], &[("image", ROCKET), ("image[]", ROCKET)]),
        (SAFETY, &[("model", JUDGE)], &[("image", &picture(300, 300))]),
    ];
    for (number, (path, fields, files)) in cases.into_iter().enumerate() {
        let (status, answer) = ask(&engine, path, fields, files);
        assert_eq!((status, code(&answer)), (400, "invalid_request".to_owned()), "case {number}");
    }
    let (status, _) = ask(&engine, CUTOUTS, &[("model", "nobody")], image);
    assert_eq!(status, 404);
    engine.end();
}

/// The maximum number of pixels, as a square and in the longest shape.
const LARGEST: [(u32, u32); 2] = [(5760, 5760), (64, 518_400)];

#[test]
fn cutting_out_the_largest_pictures_takes_no_more_memory_than_is_said() {
    never_takes_more_than_it_says(CUTTER, |engine| {
        for (width, height) in LARGEST {
            let file = picture(width, height);
            let (status, answer) = ask(engine, CUTOUTS, &[("model", CUTTER)], &[("image", &file)]);
            assert_eq!(status, 200, "{answer:.200}");
        }
        let beyond = picture(5761, 5760);
        let (status, _) = ask(engine, CUTOUTS, &[("model", CUTTER)], &[("image", &beyond)]);
        assert_eq!(status, 400);
    });
}

#[test]
fn erasing_from_the_largest_pictures_takes_no_more_memory_than_is_said() {
    never_takes_more_than_it_says(ERASER, |engine| {
        for (width, height) in LARGEST {
            let (file, mask) = (picture(width, height), holed(width, height));
            let files: FormFiles<'_> = &[("image", &file), ("mask", &mask)];
            let (status, answer) = ask(engine, EDITS, &[("model", ERASER)], files);
            assert_eq!(status, 200, "{answer:.200}");
        }
    });
}

#[test]
fn judging_takes_no_more_memory_than_is_said() {
    never_takes_more_than_it_says(JUDGE, |engine| {
        let (status, answer) = ask(engine, SAFETY, &[("model", JUDGE)], &[("image", ROCKET)]);
        assert_eq!(status, 200, "{answer:.200}");
    });
}

/// The largest upscale takes a minute or two. After its client disconnects, it must not delay the
/// next one.
#[test]
fn an_upscale_stops_when_nobody_waits_and_takes_no_more_memory_than_is_said() {
    takes_no_more_than_it_says(COMPACT, |engine| {
        let image: FormFiles<'_> = &[("image", ROCKET)];
        let small = [("model", COMPACT), ("size", "256x256")];
        (0..2).for_each(|_| assert_eq!(ask(engine, UPSCALES, &small, image).0, 200));
        let (large, fields) = (picture(4096, 4096), [("model", COMPACT), ("size", "4096x4096")]);
        let before = engine.memory_bytes("VmRSS");
        let given_up = engine.send(&head(UPSCALES), &form(&fields, &[("image", &large)]));
        // Processing has started when the pixels are in memory.
        let begun = Instant::now();
        while engine.memory_bytes("VmRSS") < before + 4 * 4096 * 4096 {
            assert!(begun.elapsed() < PATIENCE);
        }
        drop(given_up);
        let begun = Instant::now();
        assert_eq!(ask(engine, UPSCALES, &small, image).0, 200);
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    });
}

/// Images that wait in the queue are not decoded yet; together they would fill the memory.
#[test]
fn many_large_pictures_at_once_take_no_more_memory_than_one() {
    const SIDE: u32 = 4000;
    const AT_ONCE: usize = 16;
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let samples: Vec<u8> = noise.take((SIDE * SIDE) as usize).collect();
    let file = png(ColorType::Grayscale, SIDE, SIDE, &samples);
    let engine = EngineProcess::start(&models_dir());
    // There is nothing to erase, which is known only after decoding.
    let refused = || {
        let (status, answer) = ask(&engine, EDITS, &[("model", ERASER)], &[("image", &file)]);
        assert_eq!((status, code(&answer)), (400, "invalid_request".to_owned()));
    };
    refused();
    let one = engine.memory_bytes("VmHWM");
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(refused))));
    let most = engine.memory_bytes("VmHWM");
    let waiting = file.len() as u64 * (AT_ONCE as u64 - 1);
    assert!(most < one + waiting / 2, "{one} bytes became {most}");
    engine.end();
}

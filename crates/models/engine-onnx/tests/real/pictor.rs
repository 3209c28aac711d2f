//! Tests the image model against its reference implementation.

use std::io::Cursor;

use engine_onnx::pictor::{PIXELS_SIDE, PaintRequest, PictorError, PictorModel, StartImage};

use crate::models::{folder, runtime};

/// Noise and image of the reference, in 32 bits: 20 steps, guidance 5.
const NOISE: &[u8] = include_bytes!("../reference/pictor-noise.f32");
const ROCKET: &[u8] = include_bytes!("../reference/pictor-rocket.png");

fn painter() -> PictorModel {
    PictorModel::load(&runtime(), &folder("all-minilm-l6-v2")).unwrap()
}

fn rocket() -> PaintRequest<'static> {
    PaintRequest {
        prompt: "a red rocket flying to the moon",
        negative_prompt: "",
        seed: 0,
        steps: 20,
        guidance: 5.0,
        start: None,
    }
}

fn pixels(file: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

/// Mean difference of two images, in levels of 256.
fn difference(one: &[u8], other: &[u8]) -> f64 {
    assert_eq!(one.len(), other.len());
    let sum: u64 = one.iter().zip(other).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / one.len() as f64
}

#[test]
fn a_picture_is_that_of_the_reference_and_a_start_is_kept() {
    let painter = painter();
    let noise: Vec<f32> =
        NOISE.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let drawn = painter.paint_from(&rocket(), &noise, || true).unwrap();
    let expected = pixels(ROCKET);
    assert_eq!(drawn.len(), 3 * PIXELS_SIDE * PIXELS_SIDE);
    let far = difference(&drawn, &expected);
    assert!(far < 0.5, "{far} levels off on average");

    // A negative prompt needs a second run per step and gives another image.
    let avoiding = PaintRequest { negative_prompt: "a blue rocket", steps: 1, ..rocket() };
    let plain =
        painter.paint(&PaintRequest { negative_prompt: "", ..avoiding.clone() }, || true).unwrap();
    assert!(plain != painter.paint(&avoiding, || true).unwrap());

    // A start image with little noise comes back unchanged, except for the autoencoder's loss.
    let start = Some(StartImage { rgb: &expected, strength: 0.02 });
    let kept = painter.paint(&PaintRequest { start, steps: 1, ..rocket() }, || true).unwrap();
    let far = difference(&kept, &expected);
    assert!(far < 6.0, "{far} levels off on average");
}

#[test]
fn a_seed_repeats_a_picture_and_whoever_leaves_stops_it() {
    let painter = painter();
    let wish = PaintRequest { steps: 1, seed: 7, ..rocket() };
    let first = painter.paint(&wish, || true).unwrap();
    assert!(first == painter.paint(&wish, || true).unwrap());
    assert!(first != painter.paint(&PaintRequest { seed: 8, ..wish.clone() }, || true).unwrap());
    let left = painter.paint(&wish, || false);
    assert!(matches!(left, Err(PictorError::Cancelled)));
    let none = painter.paint(&PaintRequest { steps: 0, ..wish.clone() }, || true);
    assert!(matches!(none, Err(PictorError::Steps)));
    let small = PaintRequest { start: Some(StartImage { rgb: &[0; 3], strength: 0.5 }), ..wish };
    assert!(matches!(painter.paint(&small, || true), Err(PictorError::Start)));
}

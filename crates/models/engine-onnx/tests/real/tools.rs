//! Tests the image tools against the results of `reference/tools.py`.

use std::cell::Cell;
use std::io::Cursor;

use engine_onnx::tools::cut_out::BackgroundRemover;
use engine_onnx::tools::erase::{HoleMask, ObjectEraser};
use engine_onnx::tools::safety::NsfwClassifier;
use engine_onnx::tools::upscale::ImageUpscaler;
use engine_onnx::tools::{PictureSides, RgbaPicture, ToolError};

use crate::models::{folder, runtime};

const ROCKET: &[u8] = include_bytes!("../reference/tools-rocket.png");
const SIDE: usize = 256;

fn channels(file: &[u8], count: usize) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(frame.color_type.samples(), count);
    (frame.width as usize, frame.height as usize, bytes)
}

fn picture(file: &[u8]) -> RgbaPicture {
    let (width, height, rgb) = channels(file, 3);
    let opaque = |it: &[u8; 3]| [it[0], it[1], it[2], 255];
    RgbaPicture::new(width, height, rgb.as_chunks().0.iter().flat_map(opaque).collect()).unwrap()
}

/// The part of an image to crop, in pixels.
#[derive(Clone, Copy)]
struct CropWindow {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

/// Crops an image; coordinates beyond its edges wrap around.
fn part(picture: &RgbaPicture, window: CropWindow) -> RgbaPicture {
    let CropWindow { left, top, width, height } = window;
    let pixels = picture.rgba().as_chunks::<4>().0;
    let pixel = |at: usize| {
        let (x, y) = ((left + at % width) % picture.width(), (top + at / width) % picture.height());
        pixels[y * picture.width() + x]
    };
    RgbaPicture::new(width, height, (0..width * height).flat_map(pixel).collect()).unwrap()
}

/// Mean and maximum difference of the channels, in levels of 256.
#[track_caller]
fn difference(one: &RgbaPicture, other: &RgbaPicture) -> (f64, u8) {
    assert_eq!((one.width(), one.height()), (other.width(), other.height()));
    let levels = one.rgba().iter().zip(other.rgba()).map(|(a, b)| a.abs_diff(*b));
    let sum: u64 = levels.clone().map(u64::from).sum();
    (sum as f64 / one.rgba().len() as f64, levels.max().unwrap())
}

#[test]
fn a_picture_is_enlarged_as_the_reference_does() {
    let upscaler = ImageUpscaler::load_compact(&runtime()).unwrap();
    let small = part(&picture(ROCKET), CropWindow { left: 96, top: 96, width: 64, height: 64 });
    let large =
        upscaler.enlarge(&small, PictureSides { width: 256, height: 256 }, || true).unwrap();
    let expected = picture(include_bytes!("../reference/tools-compact.png"));
    let (mean, most) = difference(&large, &expected);
    assert!(mean < 0.05 && most <= 2, "{mean} {most}");
}

#[test]
fn photographs_are_enlarged_as_the_reference_does() {
    let upscaler = ImageUpscaler::load(&runtime(), &folder("upscale-esrgan")).unwrap();
    let small = part(&picture(ROCKET), CropWindow { left: 96, top: 96, width: 64, height: 64 });
    let large =
        upscaler.enlarge(&small, PictureSides { width: 128, height: 128 }, || true).unwrap();
    let expected = picture(include_bytes!("../reference/tools-esrgan.png"));
    let (mean, most) = difference(&large, &expected);
    assert!(mean < 0.1 && most <= 3, "{mean} {most}");
    let larger =
        upscaler.enlarge(&small, PictureSides { width: 256, height: 192 }, || true).unwrap();
    assert_eq!((larger.width(), larger.height()), (256, 192));
}

#[test]
fn a_picture_of_many_parts_has_no_seams() {
    let upscaler = ImageUpscaler::load_compact(&runtime()).unwrap();
    // Two tiles across. Their common edge is in the middle of the narrow image's single tile.
    let wide = part(&picture(ROCKET), CropWindow { left: 0, top: 0, width: 300, height: 64 });
    let narrow = part(&wide, CropWindow { left: 50, top: 0, width: 200, height: 64 });
    let wide = upscaler.enlarge(&wide, PictureSides { width: 900, height: 192 }, || true).unwrap();
    let narrow =
        upscaler.enlarge(&narrow, PictureSides { width: 600, height: 192 }, || true).unwrap();
    let (mean, most) = difference(
        &part(&wide, CropWindow { left: 250, top: 0, width: 400, height: 192 }),
        &part(&narrow, CropWindow { left: 100, top: 0, width: 400, height: 192 }),
    );
    assert!(mean < 0.05 && most <= 1, "{mean} {most}");
}

#[test]
fn what_is_transparent_stays_so_and_whoever_leaves_stops_the_work() {
    let upscaler = ImageUpscaler::load_compact(&runtime()).unwrap();
    let half: Vec<u8> = [[200, 10, 10, 255].repeat(32), [0, 0, 0, 0].repeat(32)].concat();
    let picture = RgbaPicture::new(64, 64, half.repeat(64)).unwrap();
    let large =
        upscaler.enlarge(&picture, PictureSides { width: 128, height: 128 }, || true).unwrap();
    let row = &large.rgba().as_chunks::<4>().0[64 * 128..][..128];
    assert_eq!((row[20][3], row[110][3]), (255, 0));
    assert!(190 < row[20][0], "{:?}", row[20]);

    let asked = Cell::new(0);
    let wide = RgbaPicture::new(1024, 64, vec![255; 1024 * 64 * 4]).unwrap();
    let left = upscaler.enlarge(&wide, PictureSides { width: 2048, height: 128 }, || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    });
    assert!(matches!(left, Err(ToolError::Cancelled)), "{left:?}");
    assert_eq!(asked.get(), 3, "it stopped between two parts");
}

#[test]
fn a_background_is_removed_as_the_reference_does() {
    let cutter = BackgroundRemover::load(&runtime(), &folder("cutout-u2net")).unwrap();
    let whole = picture(ROCKET);
    let cut = cutter.remove_background(whole.clone(), || true).unwrap();
    let (_, _, expected) = channels(include_bytes!("../reference/tools-mask.png"), 1);
    let pixels = cut.rgba().as_chunks::<4>().0;
    let levels = pixels.iter().zip(&expected).map(|(pixel, mask)| pixel[3].abs_diff(*mask));
    let mean = levels.clone().map(f64::from).sum::<f64>() / (SIDE * SIDE) as f64;
    assert!(mean < 0.5 && levels.max() <= Some(8), "{mean}");
    for (before, after) in whole.rgba().as_chunks::<4>().0.iter().zip(pixels) {
        let is_same = before[..3] == after[..3];
        assert!(is_same || (after[3] == 0 && after[..3] == [0; 3]), "colours stay as they were");
    }
}

#[test]
fn a_hole_is_filled_as_the_reference_does_and_nothing_else_is_changed() {
    let eraser = ObjectEraser::load(&runtime(), &folder("erase-migan")).unwrap();
    let rocket = picture(ROCKET);
    let pixels = rocket.rgba().as_chunks::<4>().0;
    let doubled = |at: usize| pixels[at / 512 / 2 * SIDE + at % 512 / 2];
    let whole = RgbaPicture::new(512, 512, (0..512 * 512).flat_map(doubled).collect()).unwrap();
    let is_hole = |at: usize| (200..300).contains(&(at / 512)) && (180..330).contains(&(at % 512));
    let mask = (0..512 * 512).flat_map(|at| if is_hole(at) { [0; 4] } else { [0, 0, 0, 255] });
    let mask = RgbaPicture::new(512, 512, mask.collect()).unwrap();
    let erased = eraser.erase(whole.clone(), Some(HoleMask::from_mask(&mask)), || true).unwrap();
    let filled = part(&erased, CropWindow { left: 180, top: 200, width: 150, height: 100 });
    let expected = picture(include_bytes!("../reference/tools-filled.png"));
    let (mean, most) = difference(&filled, &expected);
    assert!(mean < 0.2 && most <= 4, "{mean} {most}");
    let both = whole.rgba().as_chunks::<4>().0.iter().zip(erased.rgba().as_chunks::<4>().0);
    assert!(both.enumerate().all(|(at, (before, after))| is_hole(at) || before == after));

    let wrong = part(&mask, CropWindow { left: 0, top: 0, width: 100, height: 100 });
    let refused = eraser.erase(whole.clone(), Some(HoleMask::from_mask(&wrong)), || true);
    assert!(matches!(refused, Err(ToolError::MaskSize { .. })));
    let refused = eraser.erase(whole.clone(), None, || true);
    assert!(matches!(refused, Err(ToolError::NothingToErase)), "it has no hole of its own");
    let nothing = RgbaPicture::new(512, 512, vec![0; 512 * 512 * 4]).unwrap();
    let refused = eraser.erase(whole.clone(), Some(HoleMask::from_mask(&nothing)), || true);
    assert!(matches!(refused, Err(ToolError::NothingToKeep)));
    let left = eraser.erase(whole, Some(HoleMask::from_mask(&mask)), || false);
    assert!(matches!(left, Err(ToolError::Cancelled)));
}

#[test]
fn holes_within_the_area_of_others_are_filled_with_them() {
    let eraser = ObjectEraser::load(&runtime(), &folder("erase-migan")).unwrap();
    let mut rgba =
        part(&picture(ROCKET), CropWindow { left: 0, top: 0, width: 512, height: 512 }).into_rgba();
    let is_frame = |at: usize| (100..400).contains(&at) && !(120..380).contains(&at);
    for row in 100..400 {
        for column in 100..400 {
            let is_dot = (240..260).contains(&row) && (240..260).contains(&column);
            if is_frame(row) || is_frame(column) || is_dot {
                rgba[(row * 512 + column) * 4 + 3] = 0;
            }
        }
    }
    let asked = Cell::new(0);
    let holed = RgbaPicture::new(512, 512, rgba).unwrap();
    let filled = eraser.erase(holed, None, || {
        asked.set(asked.get() + 1);
        true
    });
    assert!(filled.unwrap().rgba().as_chunks::<4>().0.iter().all(|it| it[3] == 255));
    assert_eq!(asked.get(), 2, "two groups, one around the other");
}

#[test]
fn holes_in_a_large_picture_and_in_a_small_one_are_filled() {
    let eraser = ObjectEraser::load(&runtime(), &folder("erase-migan")).unwrap();
    for (width, height) in [(1500, 700), (256, 256), (20_000, 160)] {
        let mut rgba =
            part(&picture(ROCKET), CropWindow { left: 0, top: 0, width, height }).into_rgba();
        // Two groups, one of them at the edge.
        for row in 40..120 {
            for column in (0..60).chain(width - 50..width - 10) {
                rgba[(row * width + column) * 4 + 3] = 0;
            }
        }
        let holed = RgbaPicture::new(width, height, rgba).unwrap();
        let filled = eraser.erase(holed, None, || true).unwrap();
        assert!(filled.rgba().as_chunks::<4>().0.iter().all(|it| it[3] == 255));
    }
}

#[test]
fn a_picture_is_judged_as_the_reference_does() {
    let judge = NsfwClassifier::load(&runtime(), &folder("safety-open-nsfw")).unwrap();
    let score = judge.score(&picture(ROCKET)).unwrap();
    assert!((score - EXPECTED_SCORE).abs() < 0.005, "{score}");
}

/// The output of `reference/tools.py`.
const EXPECTED_SCORE: f32 = 0.0086;

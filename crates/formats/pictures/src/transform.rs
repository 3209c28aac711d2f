//! Changes an image's appearance: size, blur and watermark.

use image::imageops::FilterType;
use image::{DynamicImage, GenericImage, GenericImageView, Rgba};

use crate::font;
use crate::operations::{PixelSize, ResizeMode};

/// Pixels of the longer side that are left of a blurred image: too few to recover what it shows.
const BLURRED_PIXELS: u32 = 20;
/// Divisor: the watermark's height is this part of the shorter side.
const MARK_PART: u32 = 36;
const MARK_MARGIN_LETTERS: u32 = 1;
/// Aspect ratios count as equal up to this quotient. Models asked for 21:9 make 1536 × 672, which
/// is 2 % off.
const FORM_TOLERANCE: f64 = 1.03;

pub(crate) fn resize_image(picture: DynamicImage, resize: ResizeMode) -> DynamicImage {
    let (width, height) = picture.dimensions();
    let current = PixelSize { width, height };
    match resize {
        ResizeMode::To(size) if size != current => {
            picture.resize_exact(size.width, size.height, FilterType::Lanczos3)
        }
        ResizeMode::Cover(size) if size != current => {
            crop_to_ratio(picture, size).resize_exact(size.width, size.height, FilterType::Lanczos3)
        }
        ResizeMode::Form(size) if !is_same_form(current, size) => crop_to_ratio(picture, size),
        // Unlike a filter, this needs no memory that grows with the image.
        ResizeMode::Within(side) if side < width.max(height) => picture.thumbnail(side, side),
        _ => picture,
    }
}

/// Crops the largest centred part with the aspect ratio of `size`.
fn crop_to_ratio(picture: DynamicImage, size: PixelSize) -> DynamicImage {
    let (width, height) = picture.dimensions();
    let part = |length: u32, other: u32, of: u32, to: u32| {
        let exact = u64::from(other) * u64::from(of) / u64::from(to.max(1));
        u32::try_from(exact).unwrap_or(length).clamp(1, length)
    };
    let wide = part(width, height, size.width, size.height);
    let high = part(height, width, size.height, size.width);
    if (wide, high) == (width, height) {
        return picture;
    }
    picture.crop_imm((width - wide) / 2, (height - high) / 2, wide, high)
}

fn is_same_form(one: PixelSize, other: PixelSize) -> bool {
    let ratio = |it: PixelSize| f64::from(it.width.max(1)) / f64::from(it.height.max(1));
    let quotient = ratio(one) / ratio(other);
    quotient.max(1.0 / quotient) <= FORM_TOLERANCE
}

pub(crate) fn blur_image(picture: &DynamicImage) -> DynamicImage {
    let (width, height) = picture.dimensions();
    let small = picture.thumbnail(BLURRED_PIXELS, BLURRED_PIXELS);
    small.resize_exact(width, height, FilterType::CatmullRom)
}

/// Draws a short text in the lower right corner, light with a dark edge, so that it is visible on
/// any background.
pub(crate) fn draw_watermark(picture: &mut DynamicImage, text: &str) {
    let (width, height) = picture.dimensions();
    let dot = (width.min(height) / MARK_PART / font::ROWS).max(1);
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    let letter_width = (font::COLUMNS + 1) * dot;
    let margin = MARK_MARGIN_LETTERS * font::COLUMNS * dot;
    let text_width = letters.saturating_mul(letter_width);
    let fits = text_width.saturating_add(margin) < width && font::ROWS * dot + margin < height;
    if !fits {
        return;
    }
    let (left, top) = (width - margin - text_width, height - margin - font::ROWS * dot);
    for (shift, shade) in [(dot.div_ceil(2), 0), (0, u8::MAX)] {
        for (position, letter) in (0..).zip(text.chars()) {
            let left = left + position * letter_width + shift;
            let place = LetterPlacement { left, top: top + shift, dot };
            draw_letter(picture, letter, place, shade);
        }
    }
}

/// A letter's upper left corner and the side of its dots, in pixels.
#[derive(Clone, Copy)]
struct LetterPlacement {
    left: u32,
    top: u32,
    dot: u32,
}

fn draw_letter(picture: &mut DynamicImage, letter: char, place: LetterPlacement, shade: u8) {
    let LetterPlacement { left, top, dot } = place;
    for (column, bits) in (0..).zip(font::glyph_columns(letter)) {
        for row in (0..font::ROWS).filter(|row| bits >> row & 1 == 1) {
            for x in left + column * dot..left + (column + 1) * dot {
                for y in top + row * dot..top + (row + 1) * dot {
                    blend_pixel(picture, x, y, shade);
                }
            }
        }
    }
}

/// Blends two thirds of the shade with one third of the pixel.
fn blend_pixel(picture: &mut DynamicImage, x: u32, y: u32, shade: u8) {
    if !picture.in_bounds(x, y) {
        return;
    }
    let Rgba([red, green, blue, alpha]) = picture.get_pixel(x, y);
    let mix = |it: u8| u8::try_from((u16::from(it) + 2 * u16::from(shade)) / 3).unwrap_or(it);
    picture.put_pixel(x, y, Rgba([mix(red), mix(green), mix(blue), alpha.max(170)]));
}

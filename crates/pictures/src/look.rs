//! Changes an image's appearance: size, blur and watermark.

use image::imageops::FilterType;
use image::{DynamicImage, GenericImage, GenericImageView, Rgba};

use crate::font;
use crate::order::{Resize, Size};

/// Pixels of the longer side that are left of a blurred image: too few to recover what it shows.
const BLURRED_PIXELS: u32 = 20;
/// Divisor: the watermark's height is this part of the shorter side.
const MARK_PART: u32 = 36;
const MARK_MARGIN_LETTERS: u32 = 1;
/// Aspect ratios count as equal up to this quotient. Models asked for 21:9 make 1536 × 672, which
/// is 2 % off.
const FORM_TOLERANCE: f64 = 1.03;

pub(crate) fn resized(picture: DynamicImage, resize: Resize) -> DynamicImage {
    let (width, height) = picture.dimensions();
    match resize {
        Resize::To(size) if (size.width, size.height) != (width, height) => {
            picture.resize_exact(size.width, size.height, FilterType::Lanczos3)
        }
        Resize::Cover(size) if (size.width, size.height) != (width, height) => {
            cut(picture, size).resize_exact(size.width, size.height, FilterType::Lanczos3)
        }
        Resize::Form(size) if !is_same_form((width, height), size) => cut(picture, size),
        // Unlike a filter, this needs no memory that grows with the image.
        Resize::Within(side) if side < width.max(height) => picture.thumbnail(side, side),
        _ => picture,
    }
}

/// Crops the largest centred part with the aspect ratio of `size`.
fn cut(picture: DynamicImage, size: Size) -> DynamicImage {
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

fn is_same_form((width, height): (u32, u32), size: Size) -> bool {
    let ratio = |width: u32, height: u32| f64::from(width.max(1)) / f64::from(height.max(1));
    let quotient = ratio(width, height) / ratio(size.width, size.height);
    quotient.max(1.0 / quotient) <= FORM_TOLERANCE
}

pub(crate) fn blurred(picture: &DynamicImage) -> DynamicImage {
    let (width, height) = picture.dimensions();
    let small = picture.thumbnail(BLURRED_PIXELS, BLURRED_PIXELS);
    small.resize_exact(width, height, FilterType::CatmullRom)
}

/// Draws a short text in the lower right corner, light with a dark edge, so that it is visible on
/// any background.
pub(crate) fn mark(picture: &mut DynamicImage, text: &str) {
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
            let at = (left + position * letter_width + shift, top + shift);
            draw(picture, letter, at, dot, shade);
        }
    }
}

fn draw(picture: &mut DynamicImage, letter: char, (left, top): (u32, u32), dot: u32, shade: u8) {
    for (column, bits) in (0..).zip(font::columns(letter)) {
        for row in (0..font::ROWS).filter(|row| bits >> row & 1 == 1) {
            for x in left + column * dot..left + (column + 1) * dot {
                for y in top + row * dot..top + (row + 1) * dot {
                    tint(picture, x, y, shade);
                }
            }
        }
    }
}

/// Blends two thirds of the shade with one third of the pixel.
fn tint(picture: &mut DynamicImage, x: u32, y: u32, shade: u8) {
    if !picture.in_bounds(x, y) {
        return;
    }
    let Rgba([red, green, blue, alpha]) = picture.get_pixel(x, y);
    let mix = |it: u8| u8::try_from((u16::from(it) + 2 * u16::from(shade)) / 3).unwrap_or(it);
    picture.put_pixel(x, y, Rgba([mix(red), mix(green), mix(blue), alpha.max(170)]));
}

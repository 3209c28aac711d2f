//! Decodes a file to upright 8-bit sRGB pixels.

use std::io::Cursor;

use image::codecs::jpeg::JpegDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, GrayAlphaImage, GrayImage, ImageDecoder, Limits, RgbImage, RgbaImage};
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};
use png::{ColorType, Transformations};

use crate::fault::ImageFault;
use crate::header::{ImageFileFormat, ImageHeader};
use crate::icc_profile;

/// Memory limit of a decoder: enough for the largest image with 16 bits and four channels.
const DECODED_BYTES_MAX: usize = 384 * 1024 * 1024;
/// Maximum colour profile; those of printers have about one megabyte.
const PROFILE_BYTES_MAX: usize = 4 * 1024 * 1024;

type PngReader<'a> = png::Reader<Cursor<&'a [u8]>>;

/// Decodes a file with this header.
pub(crate) fn decode_image(bytes: &[u8], head: ImageHeader) -> Result<DynamicImage, ImageFault> {
    let (mut picture, profile, orientation) = match head.format {
        ImageFileFormat::Png => decode_png(bytes)?,
        ImageFileFormat::Jpeg => {
            let decoder =
                JpegDecoder::new(Cursor::new(bytes)).map_err(|_| ImageFault::Corrupted)?;
            read_decoder(decoder)?
        }
        ImageFileFormat::Webp => {
            let decoder =
                WebPDecoder::new(Cursor::new(bytes)).map_err(|_| ImageFault::Corrupted)?;
            read_decoder(decoder)?
        }
    };
    if let Some(profile) = profile.filter(|it| it.len() <= PROFILE_BYTES_MAX) {
        to_srgb(&mut picture, &profile);
    }
    picture.apply_orientation(orientation);
    Ok(picture)
}

type DecodedParts = (DynamicImage, Option<Vec<u8>>, Orientation);

fn read_decoder(mut decoder: impl ImageDecoder) -> Result<DecodedParts, ImageFault> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(DECODED_BYTES_MAX as u64);
    decoder.set_limits(limits).map_err(|_| ImageFault::Corrupted)?;
    let profile = decoder.icc_profile().ok().flatten();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let picture = DynamicImage::from_decoder(decoder).map_err(|_| ImageFault::Corrupted)?;
    Ok((to_eight_bits(picture), profile, orientation))
}

fn to_eight_bits(picture: DynamicImage) -> DynamicImage {
    match picture {
        DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => picture,
        other if other.color().has_alpha() => DynamicImage::ImageRgba8(other.into_rgba8()),
        other => DynamicImage::ImageRgb8(other.into_rgb8()),
    }
}

pub(crate) fn png_reader(bytes: &[u8]) -> Result<PngReader<'_>, ImageFault> {
    let limits = png::Limits { bytes: DECODED_BYTES_MAX };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    // Palettes, 16 bits and less than 8 bits become 8 bits; text chunks are not needed.
    decoder.set_transformations(Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    // It would be unpacked without a limit.
    decoder.set_ignore_iccp_chunk(true);
    decoder.read_info().map_err(|_| ImageFault::Corrupted)
}

/// Uses the `png` crate, which reduces 16 bits row by row, while `image` keeps all of them in
/// memory.
fn decode_png(bytes: &[u8]) -> Result<DecodedParts, ImageFault> {
    let mut reader = png_reader(bytes)?;
    let bytes_total = reader.output_buffer_size().filter(|it| *it <= DECODED_BYTES_MAX);
    let mut pixels = vec![0; bytes_total.ok_or(ImageFault::Corrupted)?];
    let frame = reader.next_frame(&mut pixels).map_err(|_| ImageFault::Corrupted)?;
    pixels.truncate(frame.buffer_size());
    let (width, height) = (frame.width, frame.height);
    let picture = match frame.color_type {
        ColorType::Rgb => RgbImage::from_raw(width, height, pixels).map(DynamicImage::ImageRgb8),
        ColorType::Rgba => RgbaImage::from_raw(width, height, pixels).map(DynamicImage::ImageRgba8),
        ColorType::Grayscale => {
            GrayImage::from_raw(width, height, pixels).map(DynamicImage::ImageLuma8)
        }
        ColorType::GrayscaleAlpha => {
            GrayAlphaImage::from_raw(width, height, pixels).map(DynamicImage::ImageLumaA8)
        }
        ColorType::Indexed => None,
    };
    let picture = to_eight_bits(picture.ok_or(ImageFault::Corrupted)?);
    let info = reader.info();
    let profile = icc_profile::read_png_profile(bytes, PROFILE_BYTES_MAX);
    let exif = info.exif_metadata.as_ref();
    let orientation = exif.and_then(|it| Orientation::from_exif_chunk(it));
    Ok((picture, profile, orientation.unwrap_or(Orientation::NoTransforms)))
}

/// Converts colours to sRGB. An unreadable profile, or one for other channels, is ignored, as in
/// browsers.
fn to_srgb(picture: &mut DynamicImage, profile: &[u8]) {
    let Ok(profile) = ColorProfile::new_from_slice(profile) else { return };
    if profile.color_space != DataColorSpace::Rgb {
        return;
    }
    let (layout, channels, width) = match picture {
        DynamicImage::ImageRgb8(pixels) => (Layout::Rgb, 3, pixels.width()),
        DynamicImage::ImageRgba8(pixels) => (Layout::Rgba, 4, pixels.width()),
        _ => return,
    };
    let (srgb, options) = (ColorProfile::new_srgb(), TransformOptions::default());
    let Ok(transform) = profile.create_transform_8bit(layout, &srgb, layout, options) else {
        return;
    };
    let pixels: &mut [u8] = match picture {
        DynamicImage::ImageRgb8(pixels) => pixels,
        DynamicImage::ImageRgba8(pixels) => pixels,
        _ => return,
    };
    let row_bytes = width as usize * channels;
    let mut converted = vec![0; row_bytes];
    for row in pixels.chunks_exact_mut(row_bytes) {
        if transform.transform(row, &mut converted).is_ok() {
            row.copy_from_slice(&converted);
        }
    }
}

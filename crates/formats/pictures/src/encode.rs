//! Encodes pixels to a file without any metadata except the given.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ExtendedColorType, ImageEncoder, RgbImage};

use crate::exif;
use crate::fault::ImageFault;
use crate::header::ImageFileFormat;
use crate::operations::{ImageEncoding, PixelSize, ProcessedImage};

/// In percent. Losses are invisible from about here.
const JPEG_QUALITY: u8 = 90;
const JPEG_QUALITY_FOR_ENGINES: u8 = 95;
const WEBP_QUALITY: f32 = 85.0;
/// Larger images are sent to engines as JPEG: a PNG takes up to four bytes per pixel.
const PLAIN_PIXELS_MAX: u64 = 4 * 1024 * 1024;
/// The format has 14 bits per side.
const WEBP_SIDE_MAX: u32 = 16_383;
/// Maximum size of images for engines; a request keeps them until its engine has answered.
const ENGINES_BYTES_MAX: usize = 32 * 1024 * 1024;

pub(crate) fn encode_image(
    picture: &DynamicImage,
    writing: ImageEncoding,
    facts: Option<&str>,
) -> Result<ProcessedImage, ImageFault> {
    let size = PixelSize { width: picture.width(), height: picture.height() };
    let (format, quality) = match writing {
        ImageEncoding::As(format) => (format, JPEG_QUALITY),
        ImageEncoding::ForEngines => {
            let is_plain = picture.color().has_alpha() || size.pixels() <= PLAIN_PIXELS_MAX;
            let format = if is_plain { ImageFileFormat::Png } else { ImageFileFormat::Jpeg };
            (format, JPEG_QUALITY_FOR_ENGINES)
        }
    };
    let file = match format {
        ImageFileFormat::Png => encode_png(picture)?,
        ImageFileFormat::Jpeg => encode_jpeg(picture, quality)?,
        ImageFileFormat::Webp => encode_webp(picture, size)?,
    };
    if writing == ImageEncoding::ForEngines && ENGINES_BYTES_MAX < file.len() {
        return Err(ImageFault::TooMuchDetail(ENGINES_BYTES_MAX));
    }
    let file = match facts {
        Some(facts) => exif::attach_exif(file, format, facts),
        None => file,
    };
    Ok(ProcessedImage { file, format, size })
}

fn encode_png(picture: &DynamicImage) -> Result<Vec<u8>, ImageFault> {
    let mut file = Vec::new();
    let encoder =
        PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive);
    let written = match picture {
        DynamicImage::ImageRgba8(pixels) => {
            let (width, height) = pixels.dimensions();
            encoder.write_image(pixels, width, height, ExtendedColorType::Rgba8)
        }
        other => {
            let pixels = other.to_rgb8();
            let (width, height) = pixels.dimensions();
            encoder.write_image(&pixels, width, height, ExtendedColorType::Rgb8)
        }
    };
    written.map_err(|_| ImageFault::Unwritable)?;
    Ok(file)
}

fn encode_jpeg(picture: &DynamicImage, quality: u8) -> Result<Vec<u8>, ImageFault> {
    let mut file = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut file, quality);
    let written = match picture {
        DynamicImage::ImageRgb8(pixels) => {
            let (width, height) = pixels.dimensions();
            encoder.write_image(pixels, width, height, ExtendedColorType::Rgb8)
        }
        other => {
            let pixels = flatten_on_white(other);
            let (width, height) = pixels.dimensions();
            encoder.write_image(&pixels, width, height, ExtendedColorType::Rgb8)
        }
    };
    written.map_err(|_| ImageFault::Unwritable)?;
    Ok(file)
}

fn encode_webp(picture: &DynamicImage, size: PixelSize) -> Result<Vec<u8>, ImageFault> {
    if WEBP_SIDE_MAX < size.width.max(size.height) {
        return Err(ImageFault::Unwritable);
    }
    let written = match picture {
        DynamicImage::ImageRgba8(pixels) => {
            webp::Encoder::from_rgba(pixels, size.width, size.height)
                .encode_simple(false, WEBP_QUALITY)
        }
        other => {
            let pixels = other.to_rgb8();
            webp::Encoder::from_rgb(&pixels, size.width, size.height)
                .encode_simple(false, WEBP_QUALITY)
        }
    };
    Ok(written.map_err(|_| ImageFault::Unwritable)?.to_vec())
}

/// Flattens on white, for formats without transparency.
fn flatten_on_white(picture: &DynamicImage) -> RgbImage {
    let pixels = picture.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0;
        let over = |it: u8| {
            let (it, alpha) = (u32::from(it), u32::from(alpha));
            let mixed = (it * alpha + 255 * (255 - alpha) + 127) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        };
        image::Rgb([over(red), over(green), over(blue)])
    })
}

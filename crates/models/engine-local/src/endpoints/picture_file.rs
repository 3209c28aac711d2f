//! Decodes images as the gateway encodes them (PNG or JPEG, 8 bits, sRGB, upright) and encodes the
//! results.

use std::io::Cursor;

use engine_onnx::tools::{CHANNELS, RgbaPicture};
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::codecs::png::{CompressionType, FilterType, PngDecoder, PngEncoder};
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat, ImageResult, Limits,
    guess_format,
};

/// Maximum size of a PNG: the gateway accepts responses of 64 MiB, of which base64 overhead takes a
/// quarter.
const PLAIN_BYTES_MAX: usize = 47 << 20;
/// In percent, the same as the gateway uses for engines.
const JPEG_QUALITY: u8 = 95;
const COLOURS: usize = 3;

/// Decoding errors, with messages for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ImageDecodeError {
    #[error("The file is neither PNG nor JPEG.")]
    Format,
    #[error("It cannot be read.")]
    Corrupted,
    #[error("It has {width} × {height} pixels, where at most {most} can be taken.")]
    TooLarge { width: u32, height: u32, most: u64 },
}

/// Encoding errors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ImageEncodeError {
    #[error("As a PNG with transparency, the image exceeds {0} bytes. Send a smaller image.")]
    TooMuchDetail(usize),
    #[error("the picture cannot be written: {0}")]
    Failed(String),
}

/// An encoded image.
pub(super) struct PictureFile {
    pub(super) bytes: Vec<u8>,
    pub(super) mime: &'static str,
}

/// Decodes a file of at most `pixels_max` pixels.
pub(super) fn decode_picture(
    file: &[u8],
    pixels_max: u64,
) -> Result<RgbaPicture, ImageDecodeError> {
    let corrupted = |_| ImageDecodeError::Corrupted;
    match guess_format(file) {
        Ok(ImageFormat::Png) => {
            let limits = decoder_limits(pixels_max);
            let decoder = PngDecoder::with_limits(Cursor::new(file), limits).map_err(corrupted)?;
            decode_pixels(decoder, pixels_max)
        }
        Ok(ImageFormat::Jpeg) => {
            decode_pixels(JpegDecoder::new(Cursor::new(file)).map_err(corrupted)?, pixels_max)
        }
        _ => Err(ImageDecodeError::Format),
    }
}

/// Only the header has been read so far.
fn decode_pixels(
    mut decoder: impl ImageDecoder,
    most: u64,
) -> Result<RgbaPicture, ImageDecodeError> {
    let (width, height) = decoder.dimensions();
    if most < u64::from(width) * u64::from(height) {
        return Err(ImageDecodeError::TooLarge { width, height, most });
    }
    decoder.set_limits(decoder_limits(most)).map_err(|_| ImageDecodeError::Corrupted)?;
    let pixels = DynamicImage::from_decoder(decoder).map_err(|_| ImageDecodeError::Corrupted)?;
    let rgba = pixels.into_rgba8().into_raw();
    RgbaPicture::new(width as usize, height as usize, rgba).ok_or(ImageDecodeError::Corrupted)
}

/// Memory limit of a decoder: the pixels, plus the same amount of working memory.
fn decoder_limits(pixels_max: u64) -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(pixels_max.saturating_mul(2 * CHANNELS as u64));
    limits
}

/// Encodes a PNG, without an alpha channel if the image is opaque. If that is too large to send, an
/// opaque image becomes a high-quality JPEG.
pub(super) fn encode_picture(picture: RgbaPicture) -> Result<PictureFile, ImageEncodeError> {
    encode_within(picture, PLAIN_BYTES_MAX)
}

fn encode_within(picture: RgbaPicture, bytes_max: usize) -> Result<PictureFile, ImageEncodeError> {
    let failed = |cause: String| ImageEncodeError::Failed(cause);
    let side = |pixels: usize| u32::try_from(pixels).map_err(|error| failed(error.to_string()));
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    let mut samples = picture.into_rgba();
    let is_opaque = samples.as_chunks::<CHANNELS>().0.iter().all(|it| it[3] == u8::MAX);
    if is_opaque {
        drop_opacity(&mut samples);
    }
    let colours = if is_opaque { ExtendedColorType::Rgb8 } else { ExtendedColorType::Rgba8 };
    let written = |encode: &dyn Fn(&mut Vec<u8>) -> ImageResult<()>| {
        let mut bytes = Vec::new();
        encode(&mut bytes).map(|()| bytes).map_err(|error| failed(error.to_string()))
    };
    let plain = written(&|bytes| {
        PngEncoder::new_with_quality(bytes, CompressionType::Fast, FilterType::Adaptive)
            .write_image(&samples, width, height, colours)
    })?;
    if plain.len() <= bytes_max {
        return Ok(PictureFile { bytes: plain, mime: "image/png" });
    }
    drop(plain);
    if !is_opaque {
        return Err(ImageEncodeError::TooMuchDetail(bytes_max));
    }
    let bytes = written(&|bytes| {
        JpegEncoder::new_with_quality(bytes, JPEG_QUALITY)
            .write_image(&samples, width, height, colours)
    })?;
    Ok(PictureFile { bytes, mime: "image/jpeg" })
}

/// Removes the alpha bytes in place.
fn drop_opacity(samples: &mut Vec<u8>) {
    let count = samples.len() / CHANNELS;
    for pixel in 0..count {
        samples.copy_within(pixel * CHANNELS..pixel * CHANNELS + COLOURS, pixel * COLOURS);
    }
    samples.truncate(count * COLOURS);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: usize, height: usize, alpha: u8) -> RgbaPicture {
        let pixel = |at: usize| [at as u8, (at / 7) as u8, 60, if at == 0 { alpha } else { 255 }];
        RgbaPicture::new(width, height, (0..width * height).flat_map(pixel).collect()).unwrap()
    }

    #[test]
    fn pictures_come_back_as_they_were_written() {
        for (alpha, colours) in [(255, 2), (7, 6)] {
            let file = encode_picture(picture(30, 20, alpha)).unwrap();
            assert_eq!((file.mime, file.bytes[25]), ("image/png", colours));
            assert_eq!(decode_picture(&file.bytes, 600), Ok(picture(30, 20, alpha)));
        }
    }

    #[test]
    fn what_takes_too_many_bytes_becomes_a_jpeg_or_is_refused() {
        let file = encode_within(picture(300, 200, 255), 100).unwrap();
        assert_eq!(file.mime, "image/jpeg");
        let again = decode_picture(&file.bytes, 60_000).unwrap();
        assert_eq!((again.width(), again.height()), (300, 200));
        let refused = encode_within(picture(300, 200, 0), 100).map(|it| it.mime);
        assert_eq!(refused, Err(ImageEncodeError::TooMuchDetail(100)));
    }

    #[test]
    fn what_is_too_large_broken_or_something_else_is_told() {
        let file = encode_picture(picture(30, 21, 255)).unwrap().bytes;
        let most = 600;
        assert_eq!(
            decode_picture(&file, most),
            Err(ImageDecodeError::TooLarge { width: 30, height: 21, most })
        );
        assert_eq!(decode_picture(&file[..file.len() / 2], 700), Err(ImageDecodeError::Corrupted));
        assert_eq!(decode_picture(b"GIF89a", 700), Err(ImageDecodeError::Format));
        assert_eq!(decode_picture(b"", 700), Err(ImageDecodeError::Format));
    }
}

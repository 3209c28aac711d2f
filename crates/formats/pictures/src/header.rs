//! Detects format and size of an image from its first bytes.

use std::fmt;
use std::io::Cursor;

use image::ImageDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::webp::WebPDecoder;
use serde::{Deserialize, Serialize};

use crate::decode::png_reader;
use crate::fault::ImageFault;
use crate::operations::PixelSize;

/// The supported formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageFileFormat {
    Jpeg,
    Png,
    Webp,
}

impl ImageFileFormat {
    pub const ALL: [ImageFileFormat; 3] =
        [ImageFileFormat::Jpeg, ImageFileFormat::Png, ImageFileFormat::Webp];

    pub const fn mime(self) -> &'static str {
        match self {
            ImageFileFormat::Jpeg => "image/jpeg",
            ImageFileFormat::Png => "image/png",
            ImageFileFormat::Webp => "image/webp",
        }
    }

    /// The file name extension.
    pub const fn extension(self) -> &'static str {
        match self {
            ImageFileFormat::Jpeg => "jpg",
            ImageFileFormat::Png => "png",
            ImageFileFormat::Webp => "webp",
        }
    }

    /// Detects the format from the content.
    pub fn detect(bytes: &[u8]) -> Result<ImageFileFormat, ImageFault> {
        if bytes.starts_with(PNG) {
            return Ok(ImageFileFormat::Png);
        }
        if bytes.starts_with(JPEG) {
            return Ok(ImageFileFormat::Jpeg);
        }
        let is_riff = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
        if is_riff {
            return Ok(ImageFileFormat::Webp);
        }
        Err(describe_other_format(bytes)
            .map_or(ImageFault::Unknown, |name| ImageFault::Unsupported(name.to_owned())))
    }
}

impl fmt::Display for ImageFileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImageFileFormat::Jpeg => "JPEG",
            ImageFileFormat::Png => "PNG",
            ImageFileFormat::Webp => "WebP",
        })
    }
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";
/// Bytes of a text in which its first tag is searched for.
const TEXT_BYTES_MAX: usize = 1024;

/// Names common files that are sent as images by mistake, for the error message.
fn describe_other_format(bytes: &[u8]) -> Option<&'static str> {
    let brand = bytes.get(4..12).filter(|it| it.starts_with(b"ftyp")).map(|it| &it[4..]);
    match brand {
        Some(b"avif" | b"avis") => return Some("an AVIF file"),
        Some(b"heic" | b"heix" | b"hevc" | b"mif1" | b"msf1") => return Some("a HEIF file"),
        Some(_) => return Some("a video file"),
        None => {}
    }
    let known: [(&[u8], &str); 9] = [
        (b"GIF8", "a GIF file"),
        (b"BM", "a BMP file"),
        (b"II*\0", "a TIFF file"),
        (b"MM\0*", "a TIFF file"),
        (b"%PDF-", "a PDF file"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"8BPS", "a Photoshop file"),
        (b"\0\0\x01\0", "an icon file"),
        (b"\xff\x0a", "a JPEG XL file"),
    ];
    if let Some((_, name)) = known.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Some(name);
    }
    let text = &bytes[..bytes.len().min(TEXT_BYTES_MAX)];
    let text = text.to_ascii_lowercase();
    memchr::memmem::find(&text, b"<svg").map(|_| "an SVG drawing")
}

/// The facts known without decoding pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageHeader {
    pub format: ImageFileFormat,
    /// The stored size, before the orientation is applied.
    pub size: PixelSize,
    pub is_animated: bool,
}

pub fn inspect_image(bytes: &[u8]) -> Result<ImageHeader, ImageFault> {
    let format = ImageFileFormat::detect(bytes)?;
    let source = Cursor::new(bytes);
    let (width, height, is_animated) = match format {
        ImageFileFormat::Png => {
            let reader = png_reader(bytes)?;
            let info = reader.info();
            (info.width, info.height, info.animation_control.is_some())
        }
        ImageFileFormat::Jpeg => {
            let decoder = JpegDecoder::new(source).map_err(|_| ImageFault::Corrupted)?;
            let (width, height) = decoder.dimensions();
            (width, height, false)
        }
        ImageFileFormat::Webp => {
            let decoder = WebPDecoder::new(source).map_err(|_| ImageFault::Corrupted)?;
            let (width, height) = decoder.dimensions();
            (width, height, decoder.has_animation())
        }
    };
    if width == 0 || height == 0 {
        return Err(ImageFault::Corrupted);
    }
    Ok(ImageHeader { format, size: PixelSize { width, height }, is_animated })
}

//! Detects format and size of an image from its first bytes.

use std::fmt;
use std::io::Cursor;

use image::ImageDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::webp::WebPDecoder;
use serde::{Deserialize, Serialize};

use crate::decode::png_reader;
use crate::fault::Fault;
use crate::order::Size;

/// The supported formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    Jpeg,
    Png,
    Webp,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Jpeg, Format::Png, Format::Webp];

    pub const fn mime(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::Webp => "image/webp",
        }
    }

    /// The file name extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Jpeg => "jpg",
            Format::Png => "png",
            Format::Webp => "webp",
        }
    }

    /// Detects the format from the content.
    pub fn of(bytes: &[u8]) -> Result<Format, Fault> {
        if bytes.starts_with(PNG) {
            return Ok(Format::Png);
        }
        if bytes.starts_with(JPEG) {
            return Ok(Format::Jpeg);
        }
        let is_riff = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
        if is_riff {
            return Ok(Format::Webp);
        }
        Err(named(bytes).map_or(Fault::Unknown, |name| Fault::Unsupported(name.to_owned())))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::Webp => "WebP",
        })
    }
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";
/// Bytes of a text in which its first tag is searched for.
const TEXT_BYTES_MAX: usize = 1024;

/// Names common files that are sent as images by mistake, for the error message.
fn named(bytes: &[u8]) -> Option<&'static str> {
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
pub struct Head {
    pub format: Format,
    /// The stored size, before the orientation is applied.
    pub size: Size,
    pub is_animated: bool,
}

pub fn inspect(bytes: &[u8]) -> Result<Head, Fault> {
    let format = Format::of(bytes)?;
    let source = Cursor::new(bytes);
    let (width, height, is_animated) = match format {
        Format::Png => {
            let reader = png_reader(bytes)?;
            let info = reader.info();
            (info.width, info.height, info.animation_control.is_some())
        }
        Format::Jpeg => {
            let decoder = JpegDecoder::new(source).map_err(|_| Fault::Corrupted)?;
            let (width, height) = decoder.dimensions();
            (width, height, false)
        }
        Format::Webp => {
            let decoder = WebPDecoder::new(source).map_err(|_| Fault::Corrupted)?;
            let (width, height) = decoder.dimensions();
            (width, height, decoder.has_animation())
        }
    };
    if width == 0 || height == 0 {
        return Err(Fault::Corrupted);
    }
    Ok(Head { format, size: Size { width, height }, is_animated })
}

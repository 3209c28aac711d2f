//! Detects data after an image's end.
//!
//! Cameras and editors append meaningless bytes, which are dropped when the image is encoded again.
//! A complete second file is there only to be mistaken for something else.

use memchr::memmem;

use crate::header::ImageFileFormat;

/// File signatures that are searched for anywhere in the appended data.
const BEGINNINGS: [&[u8]; 10] = [
    b"PK\x03\x04",
    b"%PDF-",
    b"<?php",
    b"<script",
    b"<html",
    b"<svg",
    b"\x7fELF",
    b"Rar!\x1a\x07",
    b"7z\xbc\xaf\x27\x1c",
    b"\x89PNG\r\n\x1a\n",
];
/// Signatures so short that they count only at the start of the appended data.
const SHORT_BEGINNINGS: [&[u8]; 5] = [b"MZ", b"GIF8", b"\x1f\x8b", b"RIFF", b"\xff\xd8\xff"];

/// True if another file follows the image.
pub(crate) fn has_second_file(bytes: &[u8], format: ImageFileFormat) -> bool {
    let (end, has_further) = match format {
        ImageFileFormat::Png => (png_end(bytes), false),
        ImageFileFormat::Jpeg => jpeg_end(bytes),
        ImageFileFormat::Webp => (webp_end(bytes), false),
    };
    let Some(tail) = end.and_then(|end| bytes.get(end..)) else { return false };
    let first = tail.iter().position(|it| !matches!(it, 0 | b' ' | b'\r' | b'\n' | b'\t'));
    let Some(tail) = first.map(|first| &tail[first..]) else { return false };
    let begins = |beginning: &&[u8]| {
        // Cameras append further images to a JPEG and announce them in its header.
        let is_announced = has_further && **beginning == *b"\xff\xd8\xff";
        tail.starts_with(beginning) && !is_announced
    };
    let lower = tail.to_ascii_lowercase();
    let is_inside = |beginning: &&[u8]| {
        memmem::find(tail, beginning).is_some() || memmem::find(&lower, beginning).is_some()
    };
    SHORT_BEGINNINGS.iter().any(begins) || BEGINNINGS.iter().any(is_inside)
}

/// True if a file is truncated and its decoder does not report it: JPEG decoders fill the rest with
/// grey.
pub(crate) fn is_cut_short(bytes: &[u8], format: ImageFileFormat) -> bool {
    match format {
        ImageFileFormat::Jpeg => jpeg_end(bytes).0.is_none(),
        ImageFileFormat::Png | ImageFileFormat::Webp => false,
    }
}

/// The offset after the `IEND` chunk.
fn png_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 8;
    loop {
        let length = bytes.get(at..at + 4)?;
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        let kind = bytes.get(at + 4..at + 8)?;
        // Length, type and checksum of the chunk.
        at = at.checked_add(length)?.checked_add(12)?;
        if kind == b"IEND" {
            return Some(at);
        }
    }
}

fn webp_end(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(4..8)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    // Chunks have an even number of bytes.
    length.checked_add(8 + length % 2)
}

/// The offset after the end marker; true if the header announces further images.
fn jpeg_end(bytes: &[u8]) -> (Option<usize>, bool) {
    const END: u8 = 0xd9;
    let (mut at, mut has_further) = (2, false);
    loop {
        let Some(&[0xff, marker]) =
            bytes.get(at..at + 2).and_then(|it| <&[u8; 2]>::try_from(it).ok())
        else {
            // Entropy-coded data, in which a marker is a 0xff followed by a non-zero byte.
            let Some(skipped) = bytes.get(at..).and_then(|it| memchr::memchr(0xff, it)) else {
                return (None, has_further);
            };
            // At least one byte, to ensure progress.
            at += skipped.max(1);
            continue;
        };
        match marker {
            END => return (Some(at + 2), has_further),
            // Padding, stuffed bytes, and markers without content.
            0xff => at += 1,
            0 | 1 | 0xd0..=0xd8 => at += 2,
            _ => {
                let length = bytes.get(at + 2..at + 4).and_then(|it| it.try_into().ok());
                let Some(length) = length.map(u16::from_be_bytes) else {
                    return (None, has_further);
                };
                let content = bytes.get(at + 4..).unwrap_or_default();
                has_further |= marker == 0xe2 && content.starts_with(b"MPF\0");
                at += 2 + usize::from(length.max(2));
            }
        }
    }
}

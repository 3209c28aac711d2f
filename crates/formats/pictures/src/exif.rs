//! Embeds one Exif 2.3 text in an image file: its description.

use crate::header::ImageFileFormat;

const DESCRIPTION: u16 = 0x010e;
const SOFTWARE: u16 = 0x0131;
const PROGRAM: &str = "Tollgate";
/// The Exif type of strings.
const ASCII: u16 = 2;
/// A JPEG segment has a length of two bytes.
const FACTS_BYTES_MAX: usize = 60_000;

/// Text that is too long is truncated.
pub(crate) fn attach_exif(file: Vec<u8>, format: ImageFileFormat, facts: &str) -> Vec<u8> {
    let block = build_exif_block(truncate_text(facts));
    match format {
        ImageFileFormat::Jpeg => into_jpeg(file, &block),
        ImageFileFormat::Png => into_png(file, &block),
        ImageFileFormat::Webp => into_webp(file, &block),
    }
}

fn truncate_text(facts: &str) -> &str {
    &facts[..facts.floor_char_boundary(FACTS_BYTES_MAX)]
}

/// A TIFF header and one directory with two strings.
fn build_exif_block(facts: &str) -> Vec<u8> {
    const ENTRIES: u16 = 2;
    // Header, count, entries, and the (empty) offset of the next directory.
    const TEXTS_AT: usize = 8 + 2 + 12 * ENTRIES as usize + 4;
    let texts = [(DESCRIPTION, facts), (SOFTWARE, PROGRAM)];
    let mut block = b"II*\0\x08\0\0\0".to_vec();
    block.extend(ENTRIES.to_le_bytes());
    let mut at = TEXTS_AT;
    for (tag, text) in texts {
        // The terminating zero counts.
        let length = text.len() + 1;
        block.extend(tag.to_le_bytes());
        block.extend(ASCII.to_le_bytes());
        block.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        block.extend(u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes());
        at += length;
    }
    block.extend([0; 4]);
    for (_, text) in texts {
        block.extend(text.as_bytes());
        block.push(0);
    }
    block
}

/// Inserts after the first marker.
fn into_jpeg(file: Vec<u8>, block: &[u8]) -> Vec<u8> {
    const START: &[u8] = b"Exif\0\0";
    let Ok(length) = u16::try_from(2 + START.len() + block.len()) else { return file };
    let mut whole = Vec::with_capacity(file.len() + block.len() + 10);
    let (first, rest) = file.split_at(2.min(file.len()));
    whole.extend(first);
    whole.extend([0xff, 0xe1]);
    whole.extend(length.to_be_bytes());
    whole.extend(START);
    whole.extend(block);
    whole.extend(rest);
    whole
}

/// Inserts after the first chunk.
fn into_png(file: Vec<u8>, block: &[u8]) -> Vec<u8> {
    const HEADER_END: usize = 33;
    let Ok(length) = u32::try_from(block.len()) else { return file };
    let (first, rest) = file.split_at(HEADER_END.min(file.len()));
    let mut whole = Vec::with_capacity(file.len() + block.len() + 12);
    whole.extend(first);
    whole.extend(length.to_be_bytes());
    let mut sum = crc32fast::Hasher::new();
    sum.update(b"eXIf");
    sum.update(block);
    whole.extend(b"eXIf");
    whole.extend(block);
    whole.extend(sum.finalize().to_be_bytes());
    whole.extend(rest);
    whole
}

/// Converts a simple file to the extended format, which allows further chunks.
fn into_webp(file: Vec<u8>, block: &[u8]) -> Vec<u8> {
    const EXIF_FLAG: u8 = 0x08;
    const ALPHA_FLAG: u8 = 0x10;
    const RIFF_HEAD: usize = 12;
    let Some(chunks) = file.get(RIFF_HEAD..) else { return file };
    let mut body = Vec::with_capacity(file.len() + block.len() + 40);
    body.extend(b"WEBP");
    if chunks.starts_with(b"VP8X") && 18 <= chunks.len() {
        body.extend(chunks);
        body[4 + 8] |= EXIF_FLAG;
    } else {
        let Some((width, height, has_alpha)) = webp_size(chunks) else { return file };
        let flags = EXIF_FLAG | if has_alpha { ALPHA_FLAG } else { 0 };
        body.extend(b"VP8X\x0a\0\0\0");
        body.extend([flags, 0, 0, 0]);
        body.extend(&(width - 1).to_le_bytes()[..3]);
        body.extend(&(height - 1).to_le_bytes()[..3]);
        body.extend(chunks);
    }
    body.extend(b"EXIF");
    body.extend(u32::try_from(block.len()).unwrap_or(u32::MAX).to_le_bytes());
    body.extend(block);
    if !block.len().is_multiple_of(2) {
        body.push(0);
    }
    let mut whole = b"RIFF".to_vec();
    whole.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    whole.extend(body);
    whole
}

/// Size and alpha from the start of the only chunk, lossy or lossless.
fn webp_size(chunks: &[u8]) -> Option<(u32, u32, bool)> {
    let content = chunks.get(8..)?;
    if chunks.starts_with(b"VP8 ") {
        let pair = |at: usize| Some(u16::from_le_bytes(content.get(at..at + 2)?.try_into().ok()?));
        let side = |at: usize| pair(at).map(|it| u32::from(it & 0x3fff)).filter(|it| 0 < *it);
        return Some((side(6)?, side(8)?, false));
    }
    if chunks.starts_with(b"VP8L") {
        let bits = u32::from_le_bytes(content.get(1..5)?.try_into().ok()?);
        return Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1, bits >> 28 & 1 == 1));
    }
    None
}

//! Checks images by their header bytes, without decoding them.

use imagesize::{ImageType, image_type, reader_size};

use super::MediaFault;
use super::header_reader::HeaderReader;

/// Minimum side in pixels; models recognize nothing in smaller images.
const SIDE_PIXELS_MIN: usize = 64;
/// Maximum pixels of an image; an engine needs four bytes for each once decoded.
const PIXELS_MAX: usize = 33_177_600;

pub(super) fn check_image(bytes: &[u8]) -> Result<(), MediaFault> {
    check_header(&mut HeaderReader::new(bytes), bytes)
}

/// Checks an image whose headers are read through `reader`.
pub(super) fn check_header(reader: &mut HeaderReader<'_>, bytes: &[u8]) -> Result<(), MediaFault> {
    match image_type(bytes) {
        Ok(ImageType::Png | ImageType::Jpeg | ImageType::Webp | ImageType::Heif(_)) => {}
        _ => return Err(MediaFault("It must be a PNG, JPEG, WebP, HEIF or AVIF file.")),
    }
    let size = reader_size(&mut *reader);
    // A HEIF file whose rest was not read has a size too: that of its first parts.
    if reader.is_exhausted() {
        return Err(MediaFault("Its headers must have at most 64 KiB; encode it again."));
    }
    let size = size.map_err(|_| MediaFault("It is corrupted or unreadable."))?;
    if size.width.min(size.height) < SIDE_PIXELS_MIN {
        return Err(MediaFault("Each of its sides must have at least 64 pixels."));
    }
    if PIXELS_MAX < size.width.saturating_mul(size.height) {
        return Err(MediaFault("It must have at most 33177600 pixels."));
    }
    Ok(())
}

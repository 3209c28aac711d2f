//! Extracts the text of documents: PDF and office files, books and plain text.
//!
//! A file's format is detected from its content, never from its name. Nothing outside the file is
//! fetched, executed or followed, and for any input time and memory stay within a [`Budget`].

mod archive;
mod book;
mod budget;
mod cell_format;
mod compound;
mod fault;
mod flow;
mod markup;
mod office;
mod old_sheet;
mod open_document;
mod page;
mod pdf;
mod plain;
mod record;
mod shared_strings;
mod sheet;

pub use budget::Budget;
pub use fault::Unreadable;

use archive::Archive;
use page::Page;

/// Extracts the text of a document of any supported format.
pub fn read(bytes: &[u8], budget: &mut Budget) -> Result<String, Unreadable> {
    let Budget { unpacked_bytes_left, text_bytes_left } = budget;
    let mut page = Page::new(text_bytes_left);
    match Form::of(bytes) {
        Form::Archive => {
            let mut archive = Archive::open(bytes, unpacked_bytes_left)?;
            read_archive(&mut archive, &mut page)?;
        }
        Form::Plain => page.write_block(&plain::decode(bytes)?)?,
        Form::Pdf(start) => pdf::read(&bytes[start..], unpacked_bytes_left, &mut page)?,
        Form::OldOffice => old_sheet::read(bytes, unpacked_bytes_left, &mut page)?,
        Form::RichText => return Err(fault::RICH_TEXT),
    }
    page.finish()
}

/// True if the bytes are a PDF.
pub fn is_pdf(bytes: &[u8]) -> bool {
    pdf_start(bytes).is_some()
}

/// The offset of the PDF header. PDF readers search for it in the first kilobyte.
fn pdf_start(bytes: &[u8]) -> Option<usize> {
    const SEARCHED_BYTES: usize = 1024;
    let head = bytes.get(..SEARCHED_BYTES).unwrap_or(bytes);
    memchr::memmem::find(head, b"%PDF-")
}

/// True if the file ends like a PDF. Checked if the header is not at the start, because plain text
/// may contain it.
fn ends_as_pdf(bytes: &[u8]) -> bool {
    const SEARCHED_BYTES: usize = 2048;
    let tail = &bytes[bytes.len().saturating_sub(SEARCHED_BYTES)..];
    memchr::memmem::find(tail, b"startxref").is_some()
}

/// The format by the first bytes.
enum Form {
    /// A zip archive, used by all newer formats.
    Archive,
    /// A PDF and the offset of its header.
    Pdf(usize),
    /// The container of Office 97 to 2003, and of newer files with a password.
    OldOffice,
    RichText,
    /// Plain text, or an unsupported format.
    Plain,
}

impl Form {
    fn of(bytes: &[u8]) -> Form {
        match bytes {
            [b'P', b'K', 3 | 5, 4 | 6, ..] => Form::Archive,
            [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => Form::OldOffice,
            [b'{', b'\\', b'r', b't', b'f', ..] => Form::RichText,
            _ => match pdf_start(bytes) {
                Some(start) if start == 0 || ends_as_pdf(bytes) => Form::Pdf(start),
                _ => Form::Plain,
            },
        }
    }
}

/// OpenDocument files and books state their type in a part of its own; Microsoft's formats have a
/// table of part types.
fn read_archive(archive: &mut Archive<'_>, page: &mut Page<'_>) -> Result<(), Unreadable> {
    if let Some(media_type) = archive.media_type()? {
        if let Some(kind) = media_type.strip_prefix("application/vnd.oasis.opendocument.") {
            return open_document::read(archive, kind, page);
        }
        if media_type == "application/epub+zip" {
            return book::read(archive, page);
        }
    }
    if archive.has(office::TYPES) {
        return office::read(archive, page);
    }
    if archive.has(book::CONTAINER) {
        return book::read(archive, page);
    }
    Err(fault::UNKNOWN_ARCHIVE)
}

#[cfg(test)]
mod tests;

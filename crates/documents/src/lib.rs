//! The text of documents: PDF and office files, books and plain texts, read off their bytes.
//!
//! Bytes come in and text goes out. What a file is, is told by its content and never by its name.
//! Nothing is fetched, run or followed out of the file, and whatever the bytes are, time and
//! memory stay within a [`Budget`].

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

/// The text of a document of any kind that is known here.
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

/// Whether the bytes are those of a PDF.
pub fn is_pdf(bytes: &[u8]) -> bool {
    pdf_start(bytes).is_some()
}

/// Where a PDF begins. Its readers look for the mark in the first kilobyte.
fn pdf_start(bytes: &[u8]) -> Option<usize> {
    const SEARCHED_BYTES: usize = 1024;
    let head = bytes.get(..SEARCHED_BYTES).unwrap_or(bytes);
    memchr::memmem::find(head, b"%PDF-")
}

/// Whether a PDF that does not begin at once ends as one: texts may well speak of the mark.
fn ends_as_pdf(bytes: &[u8]) -> bool {
    const SEARCHED_BYTES: usize = 2048;
    let tail = &bytes[bytes.len().saturating_sub(SEARCHED_BYTES)..];
    memchr::memmem::find(tail, b"startxref").is_some()
}

/// What a file is at first sight.
enum Form {
    /// A zip archive, as all newer formats are.
    Archive,
    /// And where it begins.
    Pdf(usize),
    /// The container of Office 97 to 2003, and of newer files with a password.
    OldOffice,
    RichText,
    /// Anything else is text, or cannot be read.
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

/// OpenDocument files and books say what they are in a part of its own, which comes first; files
/// of Microsoft's formats have a table of what their parts are.
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

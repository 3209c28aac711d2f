//! Extracts the text of documents: PDF and office files, books and plain text.
//!
//! A file's format is detected from its content, never from its name. Nothing outside the file is
//! fetched, executed or followed, and for any input time and memory stay within a [`DocumentBudget`].

mod archive;
mod budget;
mod cell_format;
mod epub;
mod fault;
mod markup;
mod office;
mod office_text;
mod ole_file;
mod open_document;
mod pdf;
mod plain;
mod record;
mod shared_strings;
mod text_output;
mod xls;
mod xlsx;

pub use budget::DocumentBudget;
pub use fault::DocumentReadError;

use archive::DocumentArchive;
use text_output::TextOutput;

/// Extracts the text of a document of any supported format.
pub fn read_document(
    bytes: &[u8],
    budget: &mut DocumentBudget,
) -> Result<String, DocumentReadError> {
    let DocumentBudget { unpacked_bytes_left, text_bytes_left } = budget;
    let mut page = TextOutput::new(text_bytes_left);
    match FileFormat::detect(bytes) {
        FileFormat::Archive => {
            let mut archive = DocumentArchive::open(bytes, unpacked_bytes_left)?;
            read_archive(&mut archive, &mut page)?;
        }
        FileFormat::Plain => page.write_block(&plain::decode_plain_text(bytes)?)?,
        FileFormat::Pdf(start) => pdf::read_pdf(&bytes[start..], unpacked_bytes_left, &mut page)?,
        FileFormat::OldOffice => xls::read_workbook(bytes, unpacked_bytes_left, &mut page)?,
        FileFormat::RichText => return Err(fault::RICH_TEXT),
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
enum FileFormat {
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

impl FileFormat {
    fn detect(bytes: &[u8]) -> FileFormat {
        match bytes {
            [b'P', b'K', 3 | 5, 4 | 6, ..] => FileFormat::Archive,
            [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => FileFormat::OldOffice,
            [b'{', b'\\', b'r', b't', b'f', ..] => FileFormat::RichText,
            _ => match pdf_start(bytes) {
                Some(start) if start == 0 || ends_as_pdf(bytes) => FileFormat::Pdf(start),
                _ => FileFormat::Plain,
            },
        }
    }
}

/// OpenDocument files and books state their type in a part of its own; Microsoft's formats have a
/// table of part types.
fn read_archive(
    archive: &mut DocumentArchive<'_>,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    if let Some(media_type) = archive.media_type()? {
        if let Some(kind) = media_type.strip_prefix("application/vnd.oasis.opendocument.") {
            return open_document::read_open_document(archive, kind, page);
        }
        if media_type == "application/epub+zip" {
            return epub::read_epub(archive, page);
        }
    }
    if archive.has(office::TYPES) {
        return office::read_office(archive, page);
    }
    if archive.has(epub::CONTAINER) {
        return epub::read_epub(archive, page);
    }
    Err(fault::UNKNOWN_ARCHIVE)
}

#[cfg(test)]
mod tests;

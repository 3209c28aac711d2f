//! Errors of reading documents, as sentences for the caller.

use std::fmt;

/// The reason why a document could not be read, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentReadError(&'static str);

impl fmt::Display for DocumentReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for DocumentReadError {}

pub(crate) const DAMAGED: DocumentReadError = DocumentReadError("It is damaged, or was cut short.");
pub(crate) const MISSING_PART: DocumentReadError =
    DocumentReadError("It is damaged: a part that it needs is missing.");
pub(crate) const MARKUP: DocumentReadError =
    DocumentReadError("It is damaged: its XML is not well-formed.");
pub(crate) const DECLARATIONS: DocumentReadError =
    DocumentReadError("Its XML declares entities or elements of its own, which is not allowed.");
pub(crate) const TOO_DEEP: DocumentReadError = DocumentReadError("Its XML is nested too deeply.");
pub(crate) const TOO_MANY_PARTS: DocumentReadError = DocumentReadError("It has too many parts.");
pub(crate) const UNPACKS_TOO_LARGE: DocumentReadError =
    DocumentReadError("Unpacked, it is larger than 64 MB together with the other files.");
pub(crate) const TEXT_TOO_LONG: DocumentReadError =
    DocumentReadError("Its text is longer than 8 MB together with that of the other files.");
pub(crate) const ENCRYPTED: DocumentReadError =
    DocumentReadError("It is encrypted; save it without a password or copy protection.");
pub(crate) const COMPRESSION: DocumentReadError = DocumentReadError(
    "It uses a compression method that its format does not define; save it again.",
);
pub(crate) const NO_TEXT: DocumentReadError =
    DocumentReadError("No text content could be extracted from the file.");
pub(crate) const NOT_TEXT: DocumentReadError = DocumentReadError(
    "It is neither text in UTF-8 nor a PDF, DOCX, PPTX, XLSX, XLS, ODT, ODP, ODS or EPUB file; send its \
     text instead.",
);
pub(crate) const UNKNOWN_ARCHIVE: DocumentReadError = DocumentReadError(
    "It is an archive, but no DOCX, PPTX, XLSX, ODT, ODP, ODS or EPUB file; send its text instead.",
);
pub(crate) const ENCRYPTED_PDF: DocumentReadError = DocumentReadError(
    "It uses an encryption method that is not supported; save it without restrictions.",
);
pub(crate) const PASSWORD_PDF: DocumentReadError =
    DocumentReadError("It cannot be opened without its password; save it without one.");
pub(crate) const SCANNED: DocumentReadError = DocumentReadError(
    "Its pages are pictures without text, as scans are; send them as images, or run text \
     recognition on it first.",
);
pub(crate) const UNKNOWN_GLYPHS: DocumentReadError =
    DocumentReadError("Its fonts do not say which letters they show; send its pages as images.");
pub(crate) const TOO_MANY_PAGES: DocumentReadError =
    DocumentReadError("It has more than 10,000 pages; send a part of it.");
pub(crate) const TOO_MUCH_ON_PAGE: DocumentReadError =
    DocumentReadError("One of its pages has more than 100,000 pieces of text.");
pub(crate) const TOO_MUCH_WORK: DocumentReadError =
    DocumentReadError("Reading it takes too long; save it again, or send a part of it.");
pub(crate) const OLD_OFFICE: DocumentReadError = DocumentReadError(
    "Its format, of Office 97 to 2003, is not supported; save it as DOCX, PPTX or XLSX.",
);
pub(crate) const RICH_TEXT: DocumentReadError =
    DocumentReadError("It is in the Rich Text Format; save it as DOCX or as plain text.");

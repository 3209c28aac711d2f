//! Errors of reading documents, as sentences for the caller.

use std::fmt;

/// The reason why a document could not be read, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(&'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unreadable {}

pub(crate) const DAMAGED: Unreadable = Unreadable("It is damaged, or was cut short.");
pub(crate) const MISSING_PART: Unreadable =
    Unreadable("It is damaged: a part that it needs is missing.");
pub(crate) const MARKUP: Unreadable = Unreadable("It is damaged: its XML is not well-formed.");
pub(crate) const DECLARATIONS: Unreadable =
    Unreadable("Its XML declares entities or elements of its own, which is not allowed.");
pub(crate) const TOO_DEEP: Unreadable = Unreadable("Its XML is nested too deeply.");
pub(crate) const TOO_MANY_PARTS: Unreadable = Unreadable("It has too many parts.");
pub(crate) const UNPACKS_TOO_LARGE: Unreadable =
    Unreadable("Unpacked, it is larger than 64 MB together with the other files.");
pub(crate) const TEXT_TOO_LONG: Unreadable =
    Unreadable("Its text is longer than 8 MB together with that of the other files.");
pub(crate) const ENCRYPTED: Unreadable =
    Unreadable("It is encrypted; save it without a password or copy protection.");
pub(crate) const COMPRESSION: Unreadable =
    Unreadable("It is packed in a way that its format does not know; save it anew.");
pub(crate) const NO_TEXT: Unreadable =
    Unreadable("No text content could be extracted from the file.");
pub(crate) const NOT_TEXT: Unreadable = Unreadable(
    "It is neither text in UTF-8 nor a PDF, DOCX, PPTX, XLSX, XLS, ODT, ODP, ODS or EPUB file; send its \
     text instead.",
);
pub(crate) const UNKNOWN_ARCHIVE: Unreadable = Unreadable(
    "It is an archive, but no DOCX, PPTX, XLSX, ODT, ODP, ODS or EPUB file; send its text instead.",
);
pub(crate) const ENCRYPTED_PDF: Unreadable =
    Unreadable("It is encrypted in a way that is not read here; save it without restrictions.");
pub(crate) const PASSWORD_PDF: Unreadable =
    Unreadable("It cannot be opened without its password; save it without one.");
pub(crate) const SCANNED: Unreadable = Unreadable(
    "Its pages are pictures without text, as scans are; send them as images, or run text \
     recognition on it first.",
);
pub(crate) const UNKNOWN_GLYPHS: Unreadable =
    Unreadable("Its fonts do not say which letters they show; send its pages as images.");
pub(crate) const TOO_MANY_PAGES: Unreadable =
    Unreadable("It has more than 10,000 pages; send a part of it.");
pub(crate) const TOO_MUCH_ON_PAGE: Unreadable =
    Unreadable("One of its pages has more than 100,000 pieces of text.");
pub(crate) const TOO_MUCH_WORK: Unreadable =
    Unreadable("Reading it takes too long; save it anew, or send a part of it.");
pub(crate) const OLD_OFFICE: Unreadable = Unreadable(
    "It is of an old version of Office that is not read here; save it as DOCX, PPTX or XLSX.",
);
pub(crate) const RICH_TEXT: Unreadable =
    Unreadable("It is in the Rich Text Format; save it as DOCX or as plain text.");

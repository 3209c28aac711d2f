//! Builds archives for tests.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::{DocumentBudget, DocumentReadError, read_document};

/// A compressed archive of parts.
pub(super) fn pack(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in parts {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(super) const WORD_TYPES: (&str, &str) = (
    "[Content_Types].xml",
    r#"<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#,
);

/// A Word document with only its main part.
pub(super) fn word(document: &str) -> Vec<u8> {
    pack(&[WORD_TYPES, ("word/document.xml", document)])
}

/// An OpenDocument file with only its content.
pub(super) fn open_document(kind: &str, content: &str) -> Vec<u8> {
    let media_type = format!("application/vnd.oasis.opendocument.{kind}");
    pack(&[("mimetype", &media_type), ("content.xml", content)])
}

/// A book with one page.
pub(super) fn book(page: &str) -> Vec<u8> {
    pack(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", r#"<container><rootfile full-path="a/b.opf"/></container>"#),
        (
            "a/b.opf",
            r#"<package><item id="p" href="p%201.xhtml" media-type="application/xhtml+xml"/><itemref idref="p"/></package>"#,
        ),
        ("a/p 1.xhtml", page),
    ])
}

pub(super) fn text_of(bytes: &[u8]) -> Result<String, DocumentReadError> {
    read_document(bytes, &mut DocumentBudget::default())
}

/// The error message for bytes without text.
#[track_caller]
pub(super) fn fault_of(bytes: &[u8]) -> String {
    text_of(bytes).unwrap_err().to_string()
}

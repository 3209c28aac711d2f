//! Properties that hold for any input. Shared by the fuzz targets and the test of their seeds.

use std::io::{Cursor, Write};

use documents::{DocumentBudget, read_document};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The text limit of one request.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Reads any bytes. Returns true if they contain text.
pub(crate) fn document_file(bytes: &[u8]) -> bool {
    let mut budget = DocumentBudget::default();
    let first = read_document(bytes, &mut budget);
    let again = read_document(bytes, &mut DocumentBudget::default());
    assert_eq!(first, again, "the same bytes have the same text");
    match &first {
        Ok(text) => {
            assert!(text.len() <= TEXT_BYTES_MAX, "{} bytes of text", text.len());
            assert!(!text.trim().is_empty(), "a text says something");
            assert!(!text.ends_with('\n'), "nothing stands after it");
        }
        Err(fault) => assert!(fault.to_string().ends_with('.'), "a fault is a sentence"),
    }
    first.is_ok()
}

/// The XML of a part, in an archive whose kind the first byte selects: fuzzers do not get past
/// checksums and compression.
pub(crate) fn document_part(bytes: &[u8]) -> bool {
    let Some((kind, markup)) = bytes.split_first() else { return false };
    let (parts, name) = match kind % 5 {
        0 => (WORD, "main.xml"),
        1 => (SHEET, "sheet.xml"),
        2 => (SHEET, "styles.xml"),
        3 => (TEXT, "content.xml"),
        _ => (BOOK, "page.xhtml"),
    };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (other, content) in parts.iter().filter(|(other, _)| *other != name) {
        writer.start_file(*other, options).expect("a name is accepted");
        writer.write_all(content.as_bytes()).expect("memory takes it");
    }
    writer.start_file(name, options).expect("a name is accepted");
    writer.write_all(markup).expect("memory takes it");
    let archive = writer.finish().expect("memory takes it").into_inner();
    document_file(&archive)
}

/// A piece of a PDF; the first byte selects its place in the file.
pub(crate) fn document_pdf(bytes: &[u8]) -> bool {
    let Some((kind, piece)) = bytes.split_first() else { return false };
    let standard =
        (b"/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R".as_slice(), b"".as_slice());
    let shown = b"BT /F 9 Tf (abc) Tj 20 0 Td <30423044> Tj ET".as_slice();
    let (filters, content, (font, map)) = match kind % 5 {
        0 => (b"".as_slice(), piece, standard),
        1 => (b"".as_slice(), shown, (standard.0, piece)),
        2 => (b"".as_slice(), shown, (piece, b"".as_slice())),
        3 => return document_file(&[b"%PDF-1.7\n", piece].concat()),
        _ => {
            let end = piece.iter().position(|byte| *byte == b'|').unwrap_or(0);
            (&piece[..end], piece.get(end + 1..).unwrap_or_default(), standard)
        }
    };
    let file = [
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj ",
        b"3 0 obj<</Contents 4 0 R/Resources 7 0 R>>endobj 4 0 obj<</Filter[".as_slice(),
        filters,
        b"]>>stream\n",
        content,
        b"\nendstream endobj 5 0 obj<<",
        font,
        b">>endobj 6 0 obj<<>>stream\n",
        map,
        b"\nendstream endobj 7 0 obj<</Font<</F 5 0 R>>/XObject<</X 4 0 R>>>>endobj ",
        b"trailer<</Root 1 0 R>>",
    ];
    document_file(&file.concat())
}

type Parts = &'static [(&'static str, &'static str)];

const WORD: Parts = &[(
    "[Content_Types].xml",
    r#"<Types><Override PartName="/main.xml" ContentType="wordprocessingml.document.main+xml"/></Types>"#,
)];

const SHEET: Parts = &[
    (
        "[Content_Types].xml",
        r#"<Types><Override PartName="/main.xml" ContentType="spreadsheetml.sheet.main+xml"/></Types>"#,
    ),
    ("main.xml", r#"<workbook xmlns:r="r"><sheet name="S" r:id="1"/></workbook>"#),
    (
        "_rels/main.xml.rels",
        r#"<R><R Id="1" Type="/worksheet" Target="sheet.xml"/><R Id="2" Type="/styles" Target="styles.xml"/>
        <R Id="3" Type="/sharedStrings" Target="strings.xml"/></R>"#,
    ),
    ("strings.xml", "<sst><si><t>one</t></si><si><t>two</t></si></sst>"),
    (
        "styles.xml",
        r#"<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#,
    ),
    (
        "sheet.xml",
        r#"<worksheet><row><c><v>1</v></c><c s="1"><v>45716.25</v></c><c s="2"><v>2</v></c></row></worksheet>"#,
    ),
];

const TEXT: Parts = &[("mimetype", "application/vnd.oasis.opendocument.spreadsheet")];

const BOOK: Parts = &[
    ("META-INF/container.xml", r#"<container><rootfile full-path="b.opf"/></container>"#),
    (
        "b.opf",
        r#"<package><item id="p" href="page.xhtml" media-type="application/xhtml+xml"/><itemref idref="p"/></package>"#,
    ),
];

//! Tests of plain text, and of files with misleading content.

use super::pack::{book, fault_of, open_document, pack, text_of, word};

#[test]
fn text_is_read_in_utf8_and_in_utf16() {
    assert_eq!(text_of("a,b\n1,ü\n".as_bytes()).unwrap(), "a,b\n1,ü");
    assert_eq!(text_of("\u{feff}a".as_bytes()).unwrap(), "a");
    let wide: Vec<u16> = "\u{feff}Zürich 🙂".encode_utf16().collect();
    let little: Vec<u8> = wide.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = wide.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    assert_eq!(text_of(&little).unwrap(), "Zürich 🙂");
    assert_eq!(text_of(&big).unwrap(), "Zürich 🙂");
}

#[test]
fn what_is_not_text_is_refused_by_what_it_is() {
    let neither = "It is neither text in UTF-8 nor a PDF, DOCX, PPTX, XLSX, XLS, ODT, ODP, ODS or EPUB file; send its text instead.";
    assert_eq!(fault_of(b"caf\xe9"), neither);
    assert_eq!(fault_of(b"a\0b"), neither);
    assert_eq!(fault_of(b"\xff\xfea"), neither);
    assert_eq!(fault_of(b"\x89PNG\r\n\x1a\n"), neither);
    let archive = "It is an archive, but no DOCX, PPTX, XLSX, ODT, ODP, ODS or EPUB file; send its text instead.";
    assert_eq!(fault_of(&pack(&[("a.txt", "a")])), archive);
    assert_eq!(fault_of(&open_document("graphics", "<a/>")), archive);
    assert_eq!(fault_of(&pack(&[("[Content_Types].xml", "<Types/>")])), archive);
    assert_eq!(fault_of(b"%PDF-1.7"), "It is damaged, or was cut short.");
    assert_eq!(text_of(b"About %PDF-1.7").unwrap(), "About %PDF-1.7");
    assert_eq!(
        fault_of(b"{\\rtf1 a}"),
        "It is in the Rich Text Format; save it as DOCX or as plain text."
    );
}

#[test]
fn a_file_without_text_is_refused() {
    let none = "No text content could be extracted from the file.";
    assert_eq!(fault_of(b""), none);
    assert_eq!(fault_of(b" \n\t"), none);
    assert_eq!(fault_of(&word("<document><body><p/></body></document>")), none);
}

#[test]
fn a_pdf_is_told_by_its_mark() {
    assert!(crate::is_pdf(b"%PDF-1.4\n"));
    assert!(crate::is_pdf(&[&[b'\n'; 1000], b"%PDF-1.4".as_slice()].concat()));
    assert!(!crate::is_pdf(&[&[b'\n'; 1024], b"%PDF-1.4".as_slice()].concat()));
    assert!(!crate::is_pdf(b"PDF"));
}

#[test]
fn what_a_document_deleted_or_shows_twice_is_left_out() {
    let document = r#"<w:document xmlns:w="w" xmlns:mc="mc"><w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr>
        <w:r><w:t>kept</w:t><w:delText>deleted</w:delText><w:instrText>PAGE</w:instrText></w:r>
        <mc:AlternateContent><mc:Choice><w:t> once</w:t></mc:Choice><mc:Fallback><w:t>twice</w:t></mc:Fallback></mc:AlternateContent>
        </w:p></w:document>"#;
    assert_eq!(text_of(&word(document)).unwrap(), "kept once");
    let content = r#"<office:body xmlns:office="o" xmlns:text="t"><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
        <text:p>kept<office:annotation><text:p>comment</text:p></office:annotation></text:p></office:body>"#;
    assert_eq!(text_of(&open_document("text", content)).unwrap(), "kept");
}

#[test]
fn pages_of_books_are_read_as_browsers_do() {
    let page = "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd\">
        <html><head><title>no</title><style>p {}</style></head><body><h1>One &amp;\n two</h1>
        <p>a&nbsp;b &unknown; c & d<br>e</p><pre>x\n  y</pre>
        <table><tr><td>1</td><td><p>2</p><p>3</p></td></tr></table><script>no</script></body></html>";
    assert_eq!(
        text_of(&book(page)).unwrap(),
        "One & two\na\u{a0}b &unknown; c & d\ne\nx\n  y\n1\t2 3"
    );
}

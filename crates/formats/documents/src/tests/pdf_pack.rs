//! Builds PDF files for tests.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Objects from number 1, the first being the catalogue, with a cross-reference table.
pub(super) fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).bytes());
    for place in &places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let size = places.len() + 1;
    file.extend(format!("trailer\n<</Root 1 0 R/Size {size}>>\nstartxref\n{table}\n%%EOF").bytes());
    file
}

/// A stream with these entries in its dictionary.
pub(super) fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let head = format!("<<{entries}/Length {}>>\nstream\n", data.len());
    [head.as_bytes(), data, b"\nendstream"].concat()
}

pub(super) fn flate(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A file with one page. The content is object 4, the font `F` object 5; others follow.
pub(super) fn paged(content: Vec<u8>, font: &str, others: &[Vec<u8>]) -> Vec<u8> {
    let page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>\
        /XObject<</X 6 0 R/Y 7 0 R>>>>>>";
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        page.into(),
        content,
        font.into(),
    ];
    objects.extend_from_slice(others);
    pdf(&objects)
}

pub(super) const HELVETICA: &str =
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

/// A page with this content, using Helvetica.
pub(super) fn drawn(content: &str) -> Vec<u8> {
    paged(stream("", content.as_bytes()), HELVETICA, &[])
}

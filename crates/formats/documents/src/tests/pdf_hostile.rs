//! Tests with PDF files that try to exhaust resources.

use super::pack::{fault_of, text_of};
use super::pdf_pack::{HELVETICA, drawn, flate, paged, pdf, stream};

const TOO_LARGE: &str = "Unpacked, it is larger than 64 MB together with the other files.";
const TOO_LONG: &str = "Its text is longer than 8 MB together with that of the other files.";
const TOO_MUCH: &str = "Reading it takes too long; save it again, or send a part of it.";
const DAMAGED: &str = "It is damaged, or was cut short.";
const NO_TEXT: &str = "No text content could be extracted from the file.";
const MIB: usize = 1024 * 1024;
const HELLO: &str = "BT /F 12 Tf 9 9 Td (hello) Tj ET";

#[track_caller]
fn check_content(entries: &str, content: &[u8], expected: &str) {
    assert_eq!(fault_of(&paged(stream(entries, content), HELVETICA, &[])), expected);
}

#[test]
fn what_unpacks_to_much_more_is_not_unpacked_further() {
    let bomb = flate(&vec![b' '; 65 * MIB]);
    assert!(bomb.len() < MIB, "it is small while it is packed");
    check_content("/Filter/FlateDecode", &bomb, TOO_LARGE);
    check_content("/Filter[/FlateDecode/FlateDecode]", &flate(&bomb), TOO_LARGE);
    let runs = [129, b' '].repeat(MIB);
    check_content("/Filter/RunLengthDecode", &runs, TOO_LARGE);
    check_content("/Filter/LZWDecode", &lzw_bomb(), TOO_LARGE);
    let zeros = vec![b'z'; 17 * MIB];
    check_content("/Filter/ASCII85Decode", &zeros, TOO_LARGE);
}

/// Each code stands for one byte more than the previous one, until the table is full.
fn lzw_bomb() -> Vec<u8> {
    let mut bits = Vec::new();
    for round in 0..32 {
        let codes = [256, 0].into_iter().chain(258..4095);
        for (place, code) in codes.enumerate() {
            let width = match (place, 257 + place) {
                (0, _) if 0 < round => 12,
                (_, 0..512) => 9,
                (_, 512..1024) => 10,
                (_, 1024..2048) => 11,
                _ => 12,
            };
            bits.extend((0..width).rev().map(|bit| (code >> bit) & 1 == 1));
        }
    }
    bits.chunks(8).map(|bits| bits.iter().fold(0, |byte, bit| byte * 2 + u8::from(*bit))).collect()
}

#[test]
fn objects_and_tables_that_unpack_to_much_more_are_refused() {
    let bomb = flate(&vec![b' '; 65 * MIB]);
    let objects = stream("/Type/ObjStm/N 1/First 9/Filter/FlateDecode", &bomb);
    let mut file = pdf(&[b"<</Type/Catalog/Pages 2 0 R>>".to_vec(), objects.clone()]);
    let start = memchr::memmem::rfind(&file, b"startxref").unwrap();
    file.truncate(start);
    assert_eq!(fault_of(&file), TOO_LARGE, "found by looking through the file");
    let mut file = b"%PDF-1.7\n".to_vec();
    let table = stream("/Type/XRef/W[1 4 1]/Size 99/Root 1 0 R/Filter/FlateDecode", &bomb);
    file.extend([b"1 0 obj\n", &table[..], b"\nendobj\nstartxref\n9\n%%EOF"].concat());
    assert_eq!(fault_of(&file), TOO_LARGE);
}

#[test]
fn filters_cannot_be_stacked_without_end() {
    let filters = "/ASCIIHexDecode".repeat(1000);
    check_content(&format!("/Filter[{filters}]"), b"41>", NO_TEXT);
}

#[test]
fn what_stands_for_itself_stands_for_nothing() {
    check_loop("4 0 R");
    check_loop("[4 0 R 4 0 R]");
    check_loop("<</Length 4 0 R>>\nstream\n(x)\nendstream");
}

/// `content` is the page's content stream, object 4.
#[track_caller]
fn check_loop(content: &str) {
    assert_eq!(fault_of(&paged(content.into(), HELVETICA, &[])), NO_TEXT);
}

#[test]
fn a_length_that_is_the_stream_itself_is_not_believed() {
    let content = format!("<</Length 4 0 R>>\nstream\n{HELLO}\nendstream");
    assert_eq!(text_of(&paged(content.into(), HELVETICA, &[])).unwrap(), "hello");
}

#[test]
fn a_tree_of_pages_that_grows_into_itself_ends() {
    let objects = [
        b"<</Pages 2 0 R>>".to_vec(),
        b"<</Kids[2 0 R 3 0 R 4 0 R 4 0 R]>>".to_vec(),
        b"<</Kids[2 0 R 3 0 R 4 0 R]>>".to_vec(),
        b"<</Contents 5 0 R/Resources<</Font<</F 6 0 R>>>>>>".to_vec(),
        stream("", HELLO.as_bytes()),
        HELVETICA.into(),
    ];
    assert_eq!(text_of(&pdf(&objects)).unwrap(), "hello");
}

#[test]
fn pages_are_bounded_in_number_and_depth() {
    let too_many = "It has more than 10,000 pages; send a part of it.";
    let kids = "<<>>".repeat(10_001);
    let objects = [b"<</Pages 2 0 R>>".to_vec(), format!("<</Kids[{kids}]>>").into()];
    assert_eq!(fault_of(&pdf(&objects)), too_many);
    let kids = "9 0 R ".repeat(100_001);
    let objects = [b"<</Pages 2 0 R>>".to_vec(), format!("<</Kids[{kids}]>>").into()];
    assert_eq!(fault_of(&pdf(&objects)), too_many);
    for (levels, is_read) in [(32, true), (33, false), (5_000, false)] {
        let mut objects = vec![b"<</Pages 2 0 R>>".to_vec()];
        objects.extend((3..levels + 3).map(|next| format!("<</Kids[{next} 0 R]>>").into()));
        let (content, fonts) = (levels + 3, format!("<</Font<</F {HELVETICA}>>>>"));
        objects.push(format!("<</Contents {content} 0 R/Resources{fonts}>>").into());
        objects.push(stream("", HELLO.as_bytes()));
        assert_eq!(text_of(&pdf(&objects)).is_ok(), is_read, "{levels} levels");
    }
}

#[test]
fn tables_that_lead_back_to_themselves_end() {
    let mut file = drawn(HELLO);
    let table = memchr::memmem::rfind(&file, b"xref\n0").unwrap();
    let end = memchr::memmem::rfind(&file, b">>\nstartxref").unwrap();
    file.splice(end..end, format!("/Prev {table}/XRefStm {table}").into_bytes());
    assert_eq!(text_of(&file).unwrap(), "hello");
}

#[test]
fn tables_that_promise_too_much_are_not_believed() {
    let file = b"%PDF-1.7\nxref\n0 4294967295\n0000000000 65535 f \ntrailer\n<</Root 1 0 R>>\nstartxref\n9\n%%EOF";
    assert_eq!(fault_of(file), DAMAGED);
    let entries = "0000000000 00000 n \n".repeat(500_001);
    let file =
        format!("%PDF-1.7\nxref\n0 500001\n{entries}trailer\n<</Root 1 0 R>>\nstartxref\n9\n%%EOF");
    assert_eq!(fault_of(file.as_bytes()), "It has too many parts.");
}

#[test]
fn nesting_without_end_is_no_value() {
    for opening in ["[", "<</A", "[<</A"] {
        let nested = opening.repeat(200_000);
        let file = paged(format!("<<{nested}").into(), HELVETICA, &[]);
        assert_eq!(fault_of(&file), NO_TEXT, "{opening}");
        let file = drawn(&format!("{nested} {HELLO}"));
        fault_of_or_text(&file);
    }
}

/// Text or error are both fine, as long as it ends.
fn fault_of_or_text(file: &[u8]) {
    drop(text_of(file));
}

#[test]
fn drawings_that_draw_themselves_are_drawn_once() {
    let form = |content: &str| {
        stream(
            "/Subtype/Form/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R/Y 7 0 R>>>>",
            content.as_bytes(),
        )
    };
    let itself =
        [form("BT /F 9 Tf (a) Tj ET /X Do /Y Do"), form("BT /F 9 Tf (b) Tj ET /X Do /Y Do")];
    let file = paged(stream("", b"/X Do"), HELVETICA, &itself);
    assert_eq!(text_of(&file).unwrap(), "ab");
}

#[test]
fn drawings_that_multiply_are_stopped() {
    let mut forms = Vec::new();
    for next in 7..27 {
        let content = "/X Do ".repeat(40);
        let entries = format!("/Subtype/Form/Resources<</XObject<</X {next} 0 R>>>>");
        forms.push(stream(&entries, content.as_bytes()));
    }
    forms.push(stream("/Subtype/Form", b"q Q"));
    let fault = fault_of(&paged(stream("", b"/X Do"), HELVETICA, &forms));
    assert!([TOO_MUCH, TOO_LARGE].contains(&fault.as_str()), "{fault}");
}

#[test]
fn states_and_marks_that_are_never_closed_are_bounded() {
    let content = format!("{}{HELLO}", "q /A BMC ".repeat(MIB / 4));
    assert_eq!(text_of(&drawn(&content)).unwrap(), "hello");
    let content = format!("{}{HELLO}", "1 ".repeat(MIB));
    assert_eq!(text_of(&drawn(&content)).unwrap(), "hello");
}

#[test]
fn streams_without_an_end_are_not_looked_for_again_and_again() {
    let objects: String =
        (1..60_000).map(|number| format!("{number} 0 obj<</Length 1>>stream\nx\n")).collect();
    assert_eq!(fault_of(format!("%PDF-1.7\n{objects}").as_bytes()), TOO_MUCH);
}

#[test]
fn texts_that_codes_stand_for_are_counted() {
    let long = "0041".repeat(60);
    let map = stream("", format!("1 beginbfchar <61> <{long}> endbfchar").as_bytes());
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>";
    let content = format!("BT /F 9 Tf ({}) Tj ET", "a".repeat(150_000));
    assert_eq!(fault_of(&paged(stream("", content.as_bytes()), font, &[map])), TOO_LONG);
    let marks =
        "/Span <</ActualText (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)>> BDC (x) Tj EMC ".repeat(280_000);
    assert_eq!(fault_of(&drawn(&format!("BT /F 9 Tf {marks} ET"))), TOO_LONG);
}

#[test]
fn pieces_of_text_on_a_page_are_bounded() {
    let content = "(a) Tj 99 0 Td ".repeat(100_001);
    let fault = fault_of(&drawn(&format!("BT /F 9 Tf {content} ET")));
    assert_eq!(fault, "One of its pages has more than 100,000 pieces of text.");
}

#[test]
fn widths_of_fonts_are_bounded() {
    let font = "<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[6 0 R]>>";
    let widths = "7 0 R 1 ".repeat(50_000);
    let others = [
        format!("<</Subtype/CIDFontType2/W[1 {widths}]>>").into(),
        format!("[{}]", "1 ".repeat(100_000)).into(),
    ];
    let content = stream("", b"BT /F 9 Tf (ab) Tj ET");
    let fault = fault_of(&paged(content, font, &others));
    assert_eq!(fault, "Its fonts do not say which letters they show; send its pages as images.");
}

#[test]
fn numbers_that_are_none_place_nothing() {
    let content = "BT /F 12 Tf 1e99 .. --- +-5 99999999999999999999999999 0 0 0 0 0 Tm (lost) Tj ET \
        BT /F 0 Tf (no size) Tj ET BT /F 9 Tf 0 0 0 0 0 0 Tm (no room) Tj ET";
    assert_eq!(fault_of(&drawn(content)), NO_TEXT);
}

#[test]
fn a_picture_in_the_page_that_never_ends_takes_the_rest() {
    let scanned = fault_of(&drawn(&format!("BI /W 1 ID \0\0 {HELLO}")));
    assert!(scanned.starts_with("Its pages are pictures without text"), "{scanned}");
    assert_eq!(text_of(&drawn(&format!("BI /W 1 ID \0(EI)\0 EI {HELLO}"))).unwrap(), "hello");
}

#[test]
fn a_code_that_stands_for_a_whole_book_stands_for_nothing() {
    let map =
        stream("", format!("1 beginbfchar <61> <{}> endbfchar", "0042".repeat(100)).as_bytes());
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>";
    let file = paged(stream("", b"BT /F 9 Tf (a) Tj ET"), font, &[map]);
    assert_eq!(text_of(&file).unwrap(), "a");
}

#[test]
fn work_that_costs_little_to_ask_for_is_counted() {
    let drawings = "/X Do ".repeat(200_000);
    let forms = [stream("/Subtype/Form/Filter/FlateDecode", &flate(b"q"))];
    let file = paged(stream("", drawings.as_bytes()), HELVETICA, &forms);
    assert_eq!(fault_of(&file), TOO_MUCH);
    let marks = "/S /P BDC EMC ".repeat(MIB);
    let page = format!(
        "<</Contents 4 0 R/Resources<</Font<</F {HELVETICA}>>/Properties<</P<</ActualText({})>>>>>>>>",
        "x".repeat(MIB)
    );
    let fonts = "/F 9 Tf ".repeat(MIB);
    for content in [marks, fonts] {
        let objects = [
            b"<</Pages 2 0 R>>".to_vec(),
            b"<</Kids[3 0 R]>>".to_vec(),
            page.clone().into(),
            stream("", content.as_bytes()),
        ];
        assert_eq!(fault_of(&pdf(&objects)), TOO_MUCH);
    }
    let objects = [
        b"<</Pages 2 0 R>>".to_vec(),
        format!("<</Kids[{}]>>", "<</Contents 3 0 R/Annots 3 0 R>>".repeat(9_999)).into(),
        format!("[{}]", "4 0 R ".repeat(4_999)).into(),
        b"<<>>".to_vec(),
    ];
    assert_eq!(fault_of(&pdf(&objects)), TOO_MUCH);
}

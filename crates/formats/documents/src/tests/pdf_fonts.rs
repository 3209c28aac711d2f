//! Tests of fonts and text positions.

use super::pack::{fault_of, text_of};
use super::pdf_pack::{HELVETICA, drawn, paged, stream};

#[track_caller]
fn check(content: &str, expected: &str) {
    assert_eq!(text_of(&drawn(&format!("BT /F 10 Tf {content} ET"))).unwrap(), expected);
}

#[track_caller]
fn check_font(font: &str, text: &str, others: &[Vec<u8>], expected: &str) {
    let content = format!("BT /F 10 Tf {text} Tj ET");
    let file = paged(stream("", content.as_bytes()), font, others);
    assert_eq!(text_of(&file).unwrap(), expected);
}

#[test]
fn every_way_to_show_a_text_is_followed() {
    check("(a) Tj", "a");
    check(
        "12 TL 0 90 Td (a) Tj (b) ' 1 2 (c) \" T* (d) Tj",
        "ab".replace('b', "\nb\nc\nd").as_str(),
    );
    check("0 90 Td (a) Tj 0 -12 TD (b) Tj T* (c) Tj", "a\nb\nc");
    check("1 0 0 1 50 90 Tm (b) Tj 1 0 0 1 10 90 Tm (a) Tj", "a\tb");
    check("[(Wor) -20 (ds) -300 (apart)] TJ", "Words apart");
    check("(\\110\\151\\n\\(\\)\\\\ <) Tj <21 2> Tj", "Hi()\\ <!");
}

#[test]
fn gaps_by_any_operator_part_words() {
    check("5 Tw (a b) Tj", "a b");
    check("(a) Tj 12 0 Td (b) Tj", "a b");
    check("200 Tz (ab) Tj 22.3 0 Td (c) Tj", "abc");
    check("(H) Tj -3 Ts (2) Tj 0 Ts (O) Tj", "H2O");
}

#[test]
fn states_are_put_aside_and_taken_up_again() {
    let content = "q 1 0 0 1 100 0 cm BT /F 10 Tf (right) Tj ET Q BT /F 10 Tf (left) Tj ET";
    assert_eq!(text_of(&drawn(content)).unwrap(), "left\tright");
}

#[test]
fn a_mark_that_says_what_it_stands_for_is_believed() {
    check("/Span <</ActualText (two words)>> BDC (x) Tj (y) Tj EMC ( z) Tj", "two words z");
    check("/Span <</ActualText <FEFF00E9>>> BDC (x) Tj EMC", "é");
    check("/P <</MCID 1>> BDC (a) Tj EMC", "a");
}

#[test]
fn names_of_glyphs_stand_for_letters() {
    let font = "<</Subtype/Type1/Encoding<</Differences[1/A/fi 7/uni20AC/g5/Lslash]>>>>";
    check_font(font, "<0102070809>", &[], "Afi€Ł");
}

#[test]
fn maps_of_codes_win_over_names() {
    let map = stream(
        "",
        b"1 beginbfrange <01> <03> <0391> endbfrange 1 beginbfchar <04> <00660069> endbfchar",
    );
    let font = "<</Subtype/TrueType/Encoding/WinAnsiEncoding/ToUnicode 6 0 R>>";
    check_font(font, "<010203044A>", &[map], "ΑΒΓfiJ");
}

#[test]
fn a_font_may_bring_its_encoding_along() {
    let program = stream(
        "",
        b"%!PS\n/Encoding 256 array\ndup 65 /B put\ndup 66 /eacute put\nreadonly def\neexec",
    );
    let font = "<</Subtype/Type1/FontDescriptor<</FontFile 6 0 R>>>>";
    check_font(font, "(ABC)", &[program], "BéC");
}

#[test]
fn codes_of_two_bytes_are_read_by_their_map() {
    let map = stream("", b"2 beginbfchar <0001> <4F60> <0002> <597D> endbfchar");
    let font = "<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<<>>]>>";
    check_font(font, "<00010002>", &[map], "你好");
}

#[test]
fn vertical_texts_go_down_and_then_to_the_left() {
    let font = "<</Subtype/Type0/Encoding/UniJIS-UCS2-V/DescendantFonts[<</CIDSystemInfo\
        <</Registry(Adobe)/Ordering(Japan1)>>>>]>>";
    let content = "BT /F 10 Tf 1 0 0 1 50 90 Tm <30423044> Tj 1 0 0 1 30 90 Tm <30463048> Tj ET";
    let file = paged(stream("", content.as_bytes()), font, &[]);
    assert_eq!(text_of(&file).unwrap(), "あい\n\nうえ");
}

#[test]
fn fonts_that_do_not_say_their_letters_are_told() {
    let font = "<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[<<>>]>>";
    let file = paged(stream("", b"BT /F 10 Tf <00010002> Tj ET"), font, &[]);
    assert_eq!(
        fault_of(&file),
        "Its fonts do not say which letters they show; send its pages as images."
    );
}

#[test]
fn what_draws_a_page_may_be_in_parts() {
    let parts = [stream("", b"BT /F 9 Tf"), stream("", b"(hello) Tj ET")];
    let file = paged(b"[6 0 R 7 0 R]".to_vec(), HELVETICA, &parts);
    assert_eq!(text_of(&file).unwrap(), "hello");
}

#[test]
fn what_was_packed_as_differences_is_put_together() {
    // Three rows of eight bytes: unchanged, from the left, and from above.
    let rows = b"\x00BT /F 9 \x01T\x12\xba\x08\x39\xc8\x2b\x16\x02\xcc\xdf\x34\xf8\xbf\xf7\xcc\xb6";
    let entries = "/Filter/FlateDecode/DecodeParms<</Predictor 15/Columns 8>>";
    let file = paged(stream(entries, &super::pdf_pack::flate(rows)), HELVETICA, &[]);
    assert_eq!(text_of(&file).unwrap(), "a");
}

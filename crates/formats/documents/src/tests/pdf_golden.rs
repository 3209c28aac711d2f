//! Tests with PDF files of real programs. `tests/golden/make_pdf.py` documents how each was made.

use expect_test::{Expect, expect};

use super::golden::{check, golden};
use super::pack::fault_of;

#[test]
fn columns_are_read_one_after_the_other_and_tables_by_row() {
    check(
        "reportlab-columns.pdf",
        expect![[r#"
        A heading over everything

        City	2024	2025
        Zürich	7
        São Paulo	12	34.50

        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        The quick brown fox jumps over
        the lazy dog, and nobody minds.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.

        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.

        page 1

        Confidential draft"#]],
    );
}

#[test]
fn what_browsers_would_show_is_read_in_its_order() {
    check(
        "weasyprint.pdf",
        expect![[r#"
        Efficient office
        The quick brown fox jumps over the lazy
        dog, and nobody minds. The quick brown
        fox jumps over the lazy dog, and nobody
        minds. The quick brown fox jumps over
        the lazy dog, and nobody minds. The
        quick brown fox jumps over the lazy dog,
        and nobody minds. Meanwhile the cat

        sleeps on the warm stove and dreams of
        fish. Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the warm
        stove and dreams of fish. Meanwhile the
        cat sleeps on the warm stove and
        dreams of fish.
        Name	Value

        x2 + H2O 42

        • first
        • second

        שלום עולם, גיל 25"#]],
    );
}

#[test]
fn formulas_keep_their_letters() {
    check(
        "typst.pdf",
        expect![[r#"
        Office flow
        The quick brown fox jumps over the
        lazy dog, and nobody minds. The
        quick brown fox jumps over the lazy
        dog, and nobody minds. The quick
        brown fox jumps over the lazy dog,
        and nobody minds.

        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.
        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.

        Meanwhile the cat sleeps on the
        warm stove and dreams of fish.

        𝑛	𝑛(𝑛 + 1)
        ∑ 𝑖 =
        𝑖=1	2"#]],
    );
}

#[test]
fn letters_that_tex_puts_together_are_read_as_they_are_typed() {
    check(
        "pdflatex.pdf",
        expect![[r#"
        An efficient title over both

        The difficult office flow af-
        fects everybody. The quick
        brown fox jumps over the lazy
        dog, and nobody minds. The
        quick brown fox jumps over
        the lazy dog, and nobody
        minds. The quick brown fox
        jumps over the lazy dog, and
        nobody minds.

        Meanwhile the cat sleeps on

        the warm stove and dreams of
        fish. Meanwhile the cat sleeps
        on the warm stove and dreams
        of fish. Meanwhile the cat
        sleeps on the warm stove and
        dreams of fish. Meanwhile the
        cat sleeps on the warm stove
        and dreams of fish. “Quoted”
        words — naïve café, garçon."#]],
    );
}

#[test]
fn fonts_that_are_not_in_the_file_have_known_codes() {
    check(
        "reportlab-cjk.pdf",
        expect![[r#"
        日本語のテキスト、カタカナ。

        简体中文的文字。

        繁體中文的文字。

        한국어 문장입니다."#]],
    );
}

#[test]
fn what_a_form_is_filled_in_with_stands_beside_its_names() {
    check(
        "reportlab-form.pdf",
        expect![[r#"
        Name:	Ada Lovelace

        City:	London"#]],
    );
}

#[test]
fn subsets_of_fonts_have_all_their_letters() {
    check(
        "fpdf2.pdf",
        expect![[r#"
        Größe, naïve façade, Łódź, Ελληνικά, Русский, 12 % —
        “quoted” …

        The quick brown fox jumps over the lazy
        dog, and nobody minds. The quick brown fox
        jumps over the lazy dog, and nobody minds.
        Item	Price

        Tea	2.30"#]],
    );
    check(
        "groff.pdf",
        expect![[r#"
        The title

        A. Writer

        1. Beginning
        The quick brown fox jumps over the lazy dog, and nobody minds. The quick brown fox jumps over
        the lazy dog, and nobody minds.
        •	first point
        •	second point"#]],
    );
}

#[test]
fn fonts_that_are_drawings_have_letters_too() {
    check(
        "matplotlib.pdf",
        expect![[r#"
        Growth of things

        2023	2024	2025
        Year

        Amount in €"#]],
    );
}

#[test]
fn words_are_found_from_their_places() {
    check(
        "ghostscript.pdf",
        expect![[r#"
        Words that stand apart.
        Letters AV kerned
        wide letters
        in between, drawn later
        second

        slanting note"#]],
    );
    check(
        "cairo.pdf",
        expect![[r#"
        At the top
        Below the picture

        s p a c e d o u t

        going down"#]],
    );
}

/// The same page in different structures.
const PACKED: [&str; 3] = ["qpdf-object-streams.pdf", "qpdf-linearized.pdf", "qpdf-turned.pdf"];

#[test]
fn the_same_page_has_the_same_text_however_it_is_packed() {
    let text = super::pack::text_of(&golden("ghostscript.pdf")).unwrap();
    for name in PACKED {
        assert_eq!(super::pack::text_of(&golden(name)).unwrap(), text, "{name}");
    }
}

#[test]
fn a_file_whose_tables_are_cut_off_is_looked_through() {
    for name in ["ghostscript.pdf", "qpdf-object-streams.pdf", "weasyprint.pdf"] {
        let whole = golden(name);
        let text = super::pack::text_of(&whole).unwrap();
        let end = memchr::memmem::rfind(&whole, b"startxref").unwrap();
        assert_eq!(super::pack::text_of(&whole[..end]).unwrap(), text, "{name}");
        let moved = [b"%PDF-1.7\n% moved by some bytes\n", &whole[9..]].concat();
        assert_eq!(super::pack::text_of(&moved).unwrap(), text, "{name}");
        let after_junk = [b"\n\nContent-Type: application/pdf\n\n", &whole[..]].concat();
        assert_eq!(super::pack::text_of(&after_junk).unwrap(), text, "{name}");
    }
}

#[test]
fn an_object_that_is_not_where_the_table_says_is_looked_for() {
    let whole = golden("ghostscript.pdf");
    let text = super::pack::text_of(&whole).unwrap();
    let table = memchr::memmem::rfind(&whole, b"xref\n0 ").unwrap();
    let lines = memchr::memmem::find_iter(&whole[table..], b" 00000 n").collect::<Vec<_>>();
    assert!(5 < lines.len(), "each of them is moved in turn");
    for line in lines {
        let mut moved = whole.clone();
        let last_digit = table + line - 1;
        moved[last_digit] = b'0' + (moved[last_digit] - b'0' + 3) % 10;
        assert_eq!(super::pack::text_of(&moved).unwrap(), text, "at {line}");
    }
}

#[track_caller]
fn check_fault(bytes: &[u8], expected: Expect) {
    expected.assert_eq(&fault_of(bytes));
}

#[test]
fn what_has_no_text_says_why() {
    check_fault(
        &golden("scan.pdf"),
        expect![
            "Its pages are pictures without text, as scans are; send them as images, or run text recognition on it first."
        ],
    );
    check_fault(b"%PDF-1.7\n", expect!["It is damaged, or was cut short."]);
    check_fault(
        &golden("fpdf2.pdf")[..4000],
        expect!["No text content could be extracted from the file."],
    );
}

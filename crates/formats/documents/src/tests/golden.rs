//! Tests with files of real programs. `tests/golden/make.py` documents how each was made.

use std::path::Path;

use expect_test::{Expect, expect};

use super::pack::text_of;

#[track_caller]
pub(super) fn check(name: &str, expected: Expect) {
    expected.assert_eq(&text_of(&golden(name)).unwrap());
}

pub(super) fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    std::fs::read(path).unwrap()
}

#[test]
fn a_word_document_keeps_its_lines_and_the_rows_of_its_table() {
    check(
        "python-docx.docx",
        expect![[r#"
        Quarterly report
        Revenue rose by 12 % — to 3 400 000 €.
        First	second
        third
        City	2024	2025
        Zürich (headquarters)		7
        日本語とемодзи 🙂"#]],
    );
}

#[test]
fn a_word_document_by_pandoc_has_its_footnote_at_the_end() {
    check(
        "pandoc.docx",
        expect![[r#"
        Ein Buch
        Übersicht
        Der erste Absatz & ein Wort < zwei.
        eins
        zwei
        Name	Wert
        a	1
        b
        c	3

         Eine Fußnote."#]],
    );
}

#[test]
fn an_open_document_text_is_read_with_its_table_and_note() {
    check(
        "pandoc.odt",
        expect![[r#"
            Ein Buch
            Übersicht
            Der erste Absatz & ein Wort < zwei. [Eine Fußnote.]
            eins
            zwei
            Name	Wert
            a	1
            b
            c	3"#]],
    );
}

#[test]
fn a_book_by_pandoc_is_read_page_by_page() {
    check(
        "pandoc.epub",
        expect![[r#"
        Ein Buch

        Übersicht
        Der erste Absatz & ein Wort < zwei.1
        eins
        zwei
        Name	Wert
        a	1
        b
        c	3
        Eine Fußnote."#]],
    );
}

#[test]
fn a_book_is_read_in_the_order_of_its_spine() {
    check(
        "ebooklib.epub",
        expect![[r#"
        Chapter 1
        It was day.
        The end? Café & bar.

        Chapter 2
        It was night. Café & bar."#]],
    );
}

#[test]
fn slides_come_with_their_tables_and_what_the_speaker_is_to_say() {
    check(
        "python-pptx.pptx",
        expect![[r#"
        Slide 1
        Plan for 2026
        Costs & income
        Notes:
        Say hello first.

        Slide 2
        Numbers
        Item	Cost
        Rent	900"#]],
    );
}

#[test]
fn slides_by_pandoc_are_read() {
    check(
        "pandoc.pptx",
        expect![[r#"
        Slide 1
        Ein Buch

        Slide 2
        Übersicht
        Der erste Absatz & ein Wort < zwei.1
        eins
        zwei
        Name	Wert
        a	1
        b
        c	3

        Slide 3
        Notes
        1. Eine Fußnote."#]],
    );
}

#[test]
fn a_workbook_has_its_dates_and_keeps_its_columns() {
    check(
        "openpyxl.xlsx",
        expect![[r#"
        Sheet: Sales
        Day	Item	Price	Sold	Total
        2025-02-28	Tea	2.3	10	=C2*D2
        2025-03-01 13:30:00	Coffee & cake	4.75	3	TRUE
        						far away
        	07:05:00

        Sheet: Notes
        one two"#]],
    );
}

#[test]
fn a_workbook_that_counts_from_1904_has_the_same_dates() {
    check(
        "xlsxwriter.xlsx",
        expect![[r#"
        Sheet: Days
        2026-11-15	1.5
        half bold	3	FALSE	1E+21"#]],
    );
}

#[test]
fn a_workbook_of_excel_97_is_read_alike() {
    let bytes = golden("xlwt.xls");
    let text = text_of(&bytes).unwrap();
    let long = |letter: &str| format!("wide – {}", letter.repeat(6_000));
    let text = text.replace(&long("ä"), "<long ä>").replace(&long("ö"), "<long ö>");
    expect![[r#"
        Sheet: Sales
        Day	Item
        2025-02-28	Tea	2.3	10	-7.25
        	Kaffee & Kuchen – Zürich		TRUE
        						far away

        Sheet: Übersicht
        one two
        <long ä>
        <long ö>
        the end"#]]
    .assert_eq(&text);
}

#[test]
fn an_open_document_spreadsheet_has_its_repeated_cells_and_rows() {
    check(
        "odfpy.ods",
        expect![[r#"
        Sheet: Lager
        Teil	Zahl
        Schraube	12
        		x	x	x
        		x	x	x"#]],
    );
}

#[test]
fn an_open_document_presentation_is_read_slide_by_slide() {
    check(
        "odfpy.odp",
        expect![[r#"
        Slide 1
        Guten Tag   !

        Slide 2
        Auf Wiedersehen   !"#]],
    );
}

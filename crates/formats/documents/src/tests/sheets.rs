//! Tests of workbook cells.

use super::pack::{fault_of, open_document, pack, text_of};

const TYPES: &str = r#"<Types><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"#;
const RELATIONS: &str = r#"<Relationships>
    <Relationship Id="r1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/>
    <Relationship Id="r2" Type="http://x/styles" Target="/xl/styles.xml"/>
    <Relationship Id="r3" Type="http://x/sharedStrings" Target="../xl/strings.xml"/></Relationships>"#;

fn workbook(properties: &str, styles: &str, rows: &str) -> Vec<u8> {
    let workbook = format!(
        r#"<workbook xmlns:r="r">{properties}<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>"#
    );
    pack(&[
        ("[Content_Types].xml", TYPES),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/workbook.xml", &workbook),
        ("xl/styles.xml", &format!("<styleSheet>{styles}</styleSheet>")),
        (
            "xl/strings.xml",
            "<sst><si><t>one</t></si><si/><si><r><t>t</t></r><r><t>wo</t></r><rPh><t>no</t></rPh></si></sst>",
        ),
        (
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ])
}

#[track_caller]
fn check(rows: &str, expected: &str) {
    let text = text_of(&workbook("", "", rows)).unwrap();
    assert_eq!(text, format!("Sheet: S\n{expected}"));
}

#[track_caller]
fn check_number(format: &str, number: &str, expected: &str) {
    let styles = format!(
        r#"<numFmts><numFmt numFmtId="170" formatCode="{format}"/></numFmts>
        <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs>"#
    );
    let rows = format!(r#"<row><c s="1"><v>{number}</v></c></row>"#);
    let text = text_of(&workbook("", &styles, &rows)).unwrap();
    assert_eq!(text, format!("Sheet: S\n{expected}"), "{format}");
}

#[test]
fn cells_are_shown_by_their_kind() {
    check(
        r#"<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c></row>"#,
        "one\t\ttwo",
    );
    check(
        r#"<row><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="str"><v>a</v></c></row>"#,
        "TRUE\t#N/A\ta",
    );
    check(
        r#"<row><c t="inlineStr"><is><t>a&lt;</t></is></c><c><f>A1</f><v>2</v></c><c><f>A1</f></c></row>"#,
        "a<\t2\t=A1",
    );
    check(
        "<row><c><v>2.2999999999999998</v></c><c><v>1E+30</v></c><c><v>-0.5</v></c></row>",
        "2.3\t1E+30\t-0.5",
    );
}

#[test]
fn cells_keep_their_columns_and_empty_ones_at_the_end_are_left_out() {
    check(
        r#"<row><c r="C1"><v>1</v></c><c r="E1"><v>2</v></c><c r="Z1"/></row><row/><row><c r="A3"><v>3</v></c></row>"#,
        "\t\t1\t\t2\n3",
    );
    check(r#"<row><c r="ZZZZZZZZZZZZZZZZ1"><v>1</v></c><c r="B1"><v>2</v></c></row>"#, "1\t2");
    check(r#"<row><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>"#, "\t1\t2");
}

#[test]
fn a_cell_that_refers_to_no_text_is_a_fault() {
    for index in ["3", "-1", "x", ""] {
        let rows = format!(r#"<row><c t="s"><v>{index}</v></c></row>"#);
        assert_eq!(
            fault_of(&workbook("", "", &rows)),
            "It is damaged: its XML is not well-formed."
        );
    }
}

#[test]
fn numbers_are_dates_where_their_format_says_so() {
    check_number("yyyy-mm-dd", "45716", "2025-02-28");
    check_number("yyyy-mm-dd", "1", "1900-01-01");
    check_number("yyyy-mm-dd", "59", "1900-02-28");
    check_number("yyyy-mm-dd", "61", "1900-03-01");
    check_number("mmm", "45716", "2025-02-28");
    check_number("d/m/yy h:mm", "45716.5", "2025-02-28 12:00:00");
    check_number("h:mm:ss", "0.999999", "00:00:00");
    check_number("mm:ss", "0.5", "12:00:00");
    for format in ["General", "0.00", "0 &quot;days&quot;", "[h]:mm", "[Red]0", "\\d0", "0_d"] {
        check_number(format, "45716.5", "45716.5");
    }
    check_number("yyyy", "1e9", "1000000000");
    check_number("yyyy", "-1", "-1");
    check_number("yyyy", "NaN", "NaN");
}

#[test]
fn repeated_cells_of_open_documents_are_repeated() {
    let content = r#"<table:table xmlns:table="t" xmlns:text="x" table:name="S">
        <table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2"/>
        <table:table-cell table:number-columns-repeated="2"><text:p>a</text:p><text:p>b</text:p></table:table-cell>
        <table:table-cell table:number-columns-repeated="16000"/></table:table-row>
        <table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row></table:table>"#;
    let text = text_of(&open_document("spreadsheet", content)).unwrap();
    assert_eq!(text, "Sheet: S\n\t\ta b\ta b\n\t\ta b\ta b");
}

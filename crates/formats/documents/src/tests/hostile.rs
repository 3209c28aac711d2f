//! Tests with files that try to exhaust resources.

use super::pack::{WORD_TYPES, book, fault_of, open_document, pack, text_of, word};
use crate::{DocumentBudget, read_document};

const TOO_LARGE: &str = "Unpacked, it is larger than 64 MB together with the other files.";
const TOO_LONG: &str = "Its text is longer than 8 MB together with that of the other files.";
const NOT_WELL_FORMED: &str = "It is damaged: its XML is not well-formed.";
const DAMAGED: &str = "It is damaged, or was cut short.";
const MIB: usize = 1024 * 1024;

#[test]
fn what_unpacks_to_much_more_is_refused_by_what_it_says_of_itself() {
    let bomb = word(&" ".repeat(65 * MIB));
    assert!(bomb.len() < MIB, "it is small while it is packed");
    assert_eq!(fault_of(&bomb), TOO_LARGE);
}

#[test]
fn what_unpacks_to_more_than_it_says_is_not_unpacked_further() {
    let spaces = format!("<document>{}", "<p/>".repeat(17 * MIB));
    let mut bomb = word(&spaces);
    let real = u32::try_from(spaces.len()).unwrap().to_le_bytes();
    let mut changed = 0;
    while let Some(place) = bomb.windows(4).position(|it| it == real) {
        bomb[place..place + 4].copy_from_slice(&1_000_u32.to_le_bytes());
        changed += 1;
    }
    assert_eq!(changed, 2, "in the entry and in the directory");
    assert_eq!(fault_of(&bomb), DAMAGED);
}

#[test]
fn several_files_share_one_budget() {
    let text = "a".repeat(3 * MIB);
    let file = word(&format!("<document><p><t>{text}</t></p></document>"));
    let mut budget = DocumentBudget::default();
    assert!(read_document(&file, &mut budget).is_ok());
    assert!(read_document(&file, &mut budget).is_ok());
    assert_eq!(read_document(&file, &mut budget).unwrap_err().to_string(), TOO_LONG);
    assert!(read_document(b"small", &mut budget).is_ok());
    let file = word(&format!("<document>{}<p><t>a</t></p></document>", "<!-- -->".repeat(3 * MIB)));
    let mut budget = DocumentBudget::default();
    assert!(read_document(&file, &mut budget).is_ok());
    assert!(read_document(&file, &mut budget).is_ok());
    assert_eq!(read_document(&file, &mut budget).unwrap_err().to_string(), TOO_LARGE);
}

#[test]
fn one_piece_of_markup_is_bounded() {
    for piece in
        [format!("<a b='{}'/>", "x".repeat(5 * MIB)), format!("<!--{}-->", "x".repeat(5 * MIB))]
    {
        assert_eq!(fault_of(&word(&format!("<document>{piece}</document>"))), TOO_LARGE);
    }
}

#[test]
fn texts_are_bounded() {
    let file = "a".repeat(8 * MIB + 1);
    assert_eq!(fault_of(file.as_bytes()), TOO_LONG);
    assert_eq!(text_of(&file.as_bytes()[1..]).unwrap().len(), 8 * MIB);
}

#[test]
fn numbers_that_stand_for_many_cells_do_not_make_many() {
    let table = |row: &str| format!(r#"<a xmlns:t="t"><t:table t:name="S">{row}</t:table></a>"#);
    let wide = r#"<t:table-row><t:table-cell t:number-columns-repeated="18446744073709551615"><t:p>a</t:p></t:table-cell></t:table-row>"#;
    let tall = r#"<t:table-row t:number-rows-repeated="18446744073709551615"><t:table-cell><t:p>a</t:p></t:table-cell></t:table-row>"#;
    let gaps = r#"<t:table-row><t:table-cell t:number-columns-repeated="18446744073709551615"/><t:table-cell t:number-columns-repeated="18446744073709551615"/><t:table-cell><t:p>a</t:p></t:table-cell></t:table-row>"#;
    for row in [wide, tall, gaps] {
        assert_eq!(fault_of(&open_document("spreadsheet", &table(row))), TOO_LONG);
    }
    let spaces = r#"<a xmlns:t="t"><t:p>a<t:s t:c="18446744073709551615"/>b</t:p></a>"#;
    assert_eq!(text_of(&open_document("text", spaces)).unwrap().len(), 1_026);
}

#[test]
fn entities_cannot_be_declared() {
    let laughs = r#"<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><document><p><t>&b;</t></p></document>"#;
    let declares = "Its XML declares entities or elements of its own, which is not allowed.";
    assert_eq!(fault_of(&word(laughs)), declares);
    assert_eq!(fault_of(&book(laughs)), declares);
    let outside =
        r#"<!DOCTYPE d SYSTEM "file:///etc/passwd"><document><p><t>&b;</t></p></document>"#;
    assert_eq!(fault_of(&word(outside)), NOT_WELL_FORMED);
    let outside = outside.replace("&b;", "nothing was fetched");
    assert_eq!(text_of(&word(&outside)).unwrap(), "nothing was fetched");
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("<a>".repeat(depth), "</a>".repeat(depth));
        format!("<document>{open}<t>deep</t>{close}</document>")
    };
    assert_eq!(text_of(&word(&nested(254))).unwrap(), "deep");
    assert_eq!(fault_of(&word(&nested(255))), "Its XML is nested too deeply.");
    assert_eq!(fault_of(&book(&nested(1_000_000))), "Its XML is nested too deeply.");
}

#[test]
fn archives_have_a_bounded_number_of_parts() {
    let names: Vec<String> = (0..20_000).map(|index| format!("a/{index}")).collect();
    let mut parts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    parts.push(WORD_TYPES);
    assert_eq!(fault_of(&pack(&parts)), "It has too many parts.");
}

#[test]
fn pages_that_a_book_names_again_and_again_are_bounded() {
    let spine = r#"<itemref idref="p"/>"#.repeat(5_000);
    let package =
        format!(r#"<package><item id="p" href="p.html" media-type="text/html"/>{spine}</package>"#);
    let bytes = pack(&[
        ("META-INF/container.xml", r#"<container><rootfile full-path="b.opf"/></container>"#),
        ("b.opf", &package),
        ("p.html", ""),
    ]);
    assert_eq!(fault_of(&bytes), "It has too many parts.");
}

#[test]
fn encrypted_files_are_told_as_such() {
    const ENCRYPTED: &str = "It is encrypted; save it without a password or copy protection.";
    // The encryption flag, in the entry and in the directory.
    let mut locked = word("<document><p><t>a</t></p></document>");
    for (mark, offset) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let places: Vec<usize> =
            (0..locked.len() - 4).filter(|at| &locked[*at..at + 4] == mark).collect();
        places.iter().for_each(|place| locked[place + offset] |= 1);
    }
    assert_eq!(fault_of(&locked), ENCRYPTED);
    let manifest =
        r#"<m:manifest xmlns:m="m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>"#;
    let bytes = pack(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", "\u{1}\u{2}"),
    ]);
    assert_eq!(fault_of(&bytes), ENCRYPTED);
    let protected = |name: &str| {
        let encryption = format!(
            r#"<encryption><CipherData><CipherReference URI="{name}"/></CipherData></encryption>"#
        );
        pack(&[
            ("META-INF/encryption.xml", &encryption),
            ("META-INF/container.xml", r#"<container><rootfile full-path="b.opf"/></container>"#),
            (
                "b.opf",
                r#"<package><item id="p" href="p.html" media-type="text/html"/><itemref idref="p"/></package>"#,
            ),
            ("p.html", "<p>a</p>"),
        ])
    };
    assert_eq!(fault_of(&protected("p.html")), ENCRYPTED);
    assert_eq!(text_of(&protected("font.otf")).unwrap(), "a");
}

#[test]
fn damaged_files_are_told_as_such() {
    let whole = word("<document><p><t>a</t></p></document>");
    for length in 4..whole.len() {
        assert_eq!(fault_of(&whole[..length]), DAMAGED, "{length}");
    }
    let cut = word("<document><p><t>a</t></p>");
    assert_eq!(fault_of(&cut), NOT_WELL_FORMED);
    assert_eq!(fault_of(&word("<document></p></document>")), NOT_WELL_FORMED);
    assert_eq!(fault_of(&pack(&[WORD_TYPES])), "It is damaged: a part that it needs is missing.");
}

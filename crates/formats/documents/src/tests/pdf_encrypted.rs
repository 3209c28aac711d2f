//! Tests with encrypted PDF files. `tests/golden/make_pdf.py` documents how the real ones were
//! made.

use super::golden::golden;
use super::pack::{fault_of, text_of};
use super::pdf_pack::{HELVETICA, paged, stream};

const PASSWORD: &str = "It cannot be opened without its password; save it without one.";
const UNKNOWN: &str =
    "It uses an encryption method that is not supported; save it without restrictions.";
const TOO_MUCH: &str = "Reading it takes too long; save it again, or send a part of it.";
const NO_TEXT: &str = "No text content could be extracted from the file.";
const DAMAGED: &str = "It is damaged, or was cut short.";

#[test]
fn files_that_open_without_a_password_are_read_as_if_they_were_not_encrypted() {
    let text = text_of(&golden("ghostscript.pdf")).unwrap();
    for name in [
        "qpdf-rc4-40",
        "qpdf-rc4-128",
        "qpdf-rc4-filters",
        "qpdf-rc4-metadata",
        "ghostscript-rc4",
        "qpdf-aes-128",
        "qpdf-aes-256",
        "qpdf-aes-256-old",
        "qpdf-aes-256-packed",
    ] {
        assert_eq!(text_of(&golden(&format!("{name}.pdf"))).as_ref(), Ok(&text), "{name}");
    }
    for name in ["reportlab-rc4.pdf", "fpdf2-rc4.pdf"] {
        assert_eq!(text_of(&golden(name)).unwrap(), "Balance on 15 November: 1,234.56", "{name}");
    }
}

#[test]
fn texts_that_stand_in_objects_are_decrypted_too() {
    for name in ["qpdf-rc4-texts.pdf", "qpdf-aes-128-texts.pdf", "qpdf-aes-256-texts.pdf"] {
        assert_eq!(text_of(&golden(name)).unwrap(), "read and shown", "{name}");
    }
}

#[test]
fn an_encrypted_file_whose_tables_are_cut_off_is_looked_through() {
    for name in [
        "qpdf-rc4-40.pdf",
        "qpdf-rc4-filters.pdf",
        "qpdf-rc4-texts.pdf",
        "qpdf-aes-128-texts.pdf",
        "qpdf-aes-256-packed.pdf",
    ] {
        let whole = golden(name);
        let text = text_of(&whole).unwrap();
        let end = memchr::memmem::rfind(&whole, b"startxref").unwrap();
        assert_eq!(text_of(&whole[..end]).unwrap(), text, "{name}");
        let after_junk = [b"\n\nContent-Type: application/pdf\n\n", &whole[..]].concat();
        assert_eq!(text_of(&after_junk).unwrap(), text, "{name}");
    }
}

#[test]
fn what_is_not_read_says_why() {
    for name in ["qpdf-rc4-password.pdf", "qpdf-encrypted.pdf"] {
        assert_eq!(fault_of(&golden(name)), PASSWORD, "{name}");
    }
}

/// Replaces a part of a real file by another of the same length, so that offsets stay valid.
#[track_caller]
fn changed(name: &str, from: &str, to: &str) -> Vec<u8> {
    let mut file = golden(name);
    let place = memchr::memmem::rfind(&file, from.as_bytes()).expect("it is there");
    assert!(to.len() <= from.len(), "there is room");
    file[place..place + from.len()].fill(b' ');
    file[place..place + to.len()].copy_from_slice(to.as_bytes());
    file
}

#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert_eq!(fault_of(&changed("qpdf-rc4-128.pdf", from, to)), expected, "{to}");
}

#[test]
fn a_dictionary_with_a_long_key_that_is_wrong_is_told() {
    for (from, to, expected) in [
        ("/R 6", "/R 5", PASSWORD),
        ("/R 6", "/R 7", UNKNOWN),
        ("/R 6", "/R 4", UNKNOWN),
        ("/V 5", "/V 6", UNKNOWN),
        ("/AESV3", "/AESV4", UNKNOWN),
        ("/U <", "/X <", DAMAGED),
        ("/UE <", "/XE <", DAMAGED),
    ] {
        assert_eq!(fault_of(&changed("qpdf-aes-256.pdf", from, to)), expected, "{to}");
    }
}

#[test]
fn encrypted_streams_that_are_cut_or_empty_are_no_text() {
    for name in ["qpdf-aes-128-texts.pdf", "qpdf-aes-256-texts.pdf"] {
        let whole = golden(name);
        let end = memchr::memmem::rfind(&whole, b"startxref").unwrap();
        for length in [0, 1, 15, 16, 17, 31, 32] {
            let newer = [b"4 0 obj\n", &stream("", &vec![b'x'; length])[..], b"\nendobj\n"];
            let file = [&whole[..end], &newer.concat()].concat();
            assert_eq!(fault_of(&file), NO_TEXT, "{name} {length}");
        }
    }
}

#[test]
fn a_dictionary_that_is_wrong_is_told() {
    check("/Filter /Standard", "/Filter /Custom", UNKNOWN);
    check("/Filter /Standard", "/Filter 1 0 R", UNKNOWN);
    check("/V 2", "/V 3", UNKNOWN);
    check("/V 2", "", UNKNOWN);
    check("/R 3", "/R 7", UNKNOWN);
    check("/R 3", "/R 2", PASSWORD);
    check("/P -4", "/P -8", PASSWORD);
    check("/Length 128", "/Length 999", DAMAGED);
    check("/Length 128", "/Length 41", DAMAGED);
    check("/Length 128", "/Length 0", DAMAGED);
    check("/Length 128", "/Length -9", PASSWORD);
    check("/O <", "/X <", DAMAGED);
    check("/U <", "/X <", PASSWORD);
}

/// A file with one page "hello" that declares this encryption dictionary, as object 6.
fn said_to_be(encrypt: &str) -> Vec<u8> {
    let hello = stream("", b"BT /F 12 Tf 9 9 Td (hello) Tj ET");
    let file = paged(hello, HELVETICA, &[encrypt.into()]);
    let trailer = memchr::memmem::rfind(&file, b"/Size").unwrap();
    [&file[..trailer], b"/Encrypt 6 0 R", &file[trailer..]].concat()
}

#[test]
fn a_dictionary_that_stands_for_itself_is_none() {
    assert_eq!(text_of(&said_to_be("6 0 R")).unwrap(), "hello");
    assert_eq!(text_of(&said_to_be("null")).unwrap(), "hello");
    assert_eq!(fault_of(&said_to_be("[6 0 R]")), DAMAGED);
    let standard = "/Filter/Standard/R 3";
    for (entries, expected) in [
        ("/V 2/Length 6 0 R/O 6 0 R/U 6 0 R/P 6 0 R", DAMAGED),
        ("/V 6 0 R", UNKNOWN),
        ("/V 4/CF 6 0 R/StmF/V/StrF/V", UNKNOWN),
        ("/V 4/CF<</A 6 0 R>>/StmF/A/StrF/A", UNKNOWN),
        ("/V 4/CF<</A<</CFM/V2/Length 6 0 R>>>>/StmF/A/StrF/A", DAMAGED),
        ("/V 4/CF<</A<</CFM/V2>>/B<</CFM/AESV2>>>>/StmF/A/StrF/B", DAMAGED),
        ("/V 4/CF<</A<</CFM/V2>>/B<</CFM/AESV3>>>>/StmF/A/StrF/B", UNKNOWN),
        ("/V 5/CF<</A<</CFM/AESV2>>>>/StmF/A/StrF/A", UNKNOWN),
        ("/V 5/CF<</A<</CFM/AESV3>>>>/StmF/A/StrF/A", UNKNOWN),
        ("/R 6/V 5/CF<</A<</CFM/AESV3>>>>/StmF/A/StrF/A/U 6 0 R/UE 6 0 R", DAMAGED),
    ] {
        assert_eq!(
            fault_of(&said_to_be(&format!("<<{standard}{entries}>>"))),
            expected,
            "{entries}"
        );
    }
}

#[test]
fn a_file_of_which_only_attachments_are_encrypted_needs_no_key() {
    let attachments = "/V 4/R 4/CF<</A<</CFM/AESV2>>>>/EFF/A";
    for entries in ["", "/StmF/Identity/StrF/Identity"] {
        let file = said_to_be(&format!("<</Filter/Standard{attachments}{entries}>>"));
        assert_eq!(text_of(&file).unwrap(), "hello", "{entries}");
    }
}

#[test]
fn a_stream_may_say_itself_that_it_is_not_encrypted() {
    let content = b"BT /F 12 Tf 9 9 Td (plain) Tj ET";
    for (filter, expected) in [
        ("/Filter/Crypt", Ok("plain")),
        ("/Filter[/Crypt]/DecodeParms[<</Name/Identity>>]", Ok("plain")),
        ("/Filter/Crypt/DecodeParms<</Name/Unheard>>", Err(NO_TEXT)),
        ("", Err(NO_TEXT)),
    ] {
        // Appended without a table, so that it is found only by scanning the file.
        let whole = golden("qpdf-rc4-texts.pdf");
        let end = memchr::memmem::rfind(&whole, b"startxref").unwrap();
        let newer = [b"4 0 obj\n", &stream(filter, content)[..], b"\nendobj\n"].concat();
        let file = [&whole[..end], &newer].concat();
        let text = text_of(&file).map_err(|fault| fault.to_string());
        assert_eq!(text.as_deref().map_err(String::as_str), expected, "{filter}");
    }
}

#[test]
fn decrypting_is_counted() {
    let whole = golden("qpdf-rc4-texts.pdf");
    let end = memchr::memmem::rfind(&whole, b"startxref").unwrap();
    let texts = "()".repeat(250_000);
    let more: String = (20..40).map(|number| format!("{number} 0 obj[{texts}]endobj\n")).collect();
    let page =
        "3 0 obj<</Contents[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 25 0 R 26 0 R 27 0 R]>>endobj\n";
    let file = [&whole[..end], more.as_bytes(), page.as_bytes()].concat();
    assert_eq!(fault_of(&file), TOO_MUCH);
}

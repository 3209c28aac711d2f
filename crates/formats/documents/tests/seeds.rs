//! Tests every committed seed of the fuzz targets, and mutations of them, without a fuzzer.

mod properties;

use fuzz_seeds::{changed, replay, with_piece};
use proptest::prelude::*;

const XML_PIECES: &str = "(<[a-z:]{0,6} ?(t:c=\"[0-9]{0,20}\")?/?>|</[a-z]{0,4}>|&[#a-z0-9]{0,8};?|\
    <!\\[CDATA\\[|\\]\\]>|<!--|\\PC){1,6}";
const PDF_WORDS: &str = "( ?(<<|>>|\\[|\\]|[(]|[)]|<|>|/[A-Z]|-?[0-9]{0,12}[.]?[0-9]|[0-9] 0 R|\
    Tj|TJ|Tm|q|Q|Do|BT|cm|ID|obj|stream|%)){1,8} ?";

#[test]
fn seeds_of_whole_files_keep_the_properties() {
    replay("document_file", properties::document_file, 15);
}

#[test]
fn seeds_of_parts_keep_the_properties() {
    replay("document_part", properties::document_part, 5);
}

#[test]
fn seeds_of_pieces_of_pdf_files_keep_the_properties() {
    replay("document_pdf", properties::document_pdf, 7);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn files_with_changed_bytes_keep_the_properties(bytes in changed("document_file")) {
        properties::document_file(&bytes);
    }

    #[test]
    fn parts_with_odd_pieces_keep_the_properties(bytes in with_piece("document_part", XML_PIECES)) {
        properties::document_part(&bytes);
    }

    #[test]
    fn pieces_of_pdf_files_with_odd_words_keep_the_properties(
        bytes in with_piece("document_pdf", PDF_WORDS),
    ) {
        properties::document_pdf(&bytes);
    }
}

//! Files are recognised by what is in them.

use expect_test::{Expect, expect};

use super::SAMPLES;
use crate::sniff;

#[track_caller]
fn check(file: &[u8], expected: Expect) {
    let found = sniff(file).map(|(container, sound)| (container, file.len() - sound.len()));
    expected.assert_eq(&format!("{found:?}"));
}

#[test]
fn each_sample_is_what_its_name_says() {
    let found = SAMPLES.map(|(name, file)| format!("{name} {:?}", sniff(file).map(|it| it.0)));
    expect![[r#"
        wav Some(Wav)
        flac Some(Flac)
        m4a Some(Mp4)
        aac Some(Aac)
        mp4 Some(Mp4)
        mp3 Some(Mp3)
        ogg Some(Ogg)
        oga Some(Ogg)
        webm Some(Webm)"#]]
    .assert_eq(&found.join("\n"));
}

#[test]
fn a_tag_before_the_sound_is_skipped() {
    let tagged = [b"ID3\x04\0\0\0\0\x01\x02".as_slice(), &[7; 130], b"fLaC"].concat();
    check(&tagged, expect!["Some((Flac, 140))"]);
}

#[test]
fn a_tag_that_claims_more_than_the_file_is_no_sound() {
    check(b"ID3\x04\0\0\x7f\x7f\x7f\x7fRIFF", expect!["None"]);
}

#[test]
fn text_pictures_and_nothing_are_no_sound() {
    check(b"", expect!["None"]);
    check(b"{\"error\":\"not a sound\"}", expect!["None"]);
    check(b"RIFF\0\0\0\0WEBPVP8 ", expect!["None"]);
    check(b"\xff\xd8\xff\xe0\0\x10JFIF", expect!["None"]);
    check(b"\x89PNG\r\n\x1a\n", expect!["None"]);
    check(b"%PDF-1.7", expect!["None"]);
}

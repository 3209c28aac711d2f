//! Forms with files: multipart/form-data (RFC 7578).

use std::collections::HashSet;

use bytes::{Bytes, BytesMut};
use http::HeaderValue;
use memchr::memmem;

use crate::content::RequestContent;

pub struct FormFile<'a> {
    pub name: &'a str,
    pub mime: &'static str,
    pub bytes: Bytes,
}

impl RequestContent {
    /// The fields in order, then the file, whose bytes are not copied. Values and the file may
    /// contain any bytes.
    pub fn form(fields: &[(&'static str, String)], file: FormFile<'_>) -> RequestContent {
        let boundary = choose_boundary(fields, &[&file.bytes]);
        let before = write_fields(&boundary, fields) + &write_file_head(&boundary, "file", &file);
        let after = format!("\r\n--{boundary}--\r\n");
        RequestContent::in_three(media_type(&boundary), before.into(), file.bytes, after.into())
    }

    /// The fields in order, then several files, each under its own field name. The files are
    /// copied.
    pub fn form_of_files(
        fields: &[(&'static str, String)],
        files: &[(&'static str, FormFile<'_>)],
    ) -> RequestContent {
        let contents: Vec<&[u8]> = files.iter().map(|(_, file)| file.bytes.as_ref()).collect();
        let boundary = choose_boundary(fields, &contents);
        let mut whole = BytesMut::from(write_fields(&boundary, fields).as_bytes());
        for (field, file) in files {
            whole.extend_from_slice(write_file_head(&boundary, field, file).as_bytes());
            whole.extend_from_slice(&file.bytes);
            whole.extend_from_slice(b"\r\n");
        }
        whole.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        RequestContent::in_three(media_type(&boundary), whole.freeze(), Bytes::new(), Bytes::new())
    }
}

fn write_fields(boundary: &str, fields: &[(&'static str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        text += &format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
    }
    text
}

/// The part header before a file's bytes.
fn write_file_head(boundary: &str, field: &str, file: &FormFile<'_>) -> String {
    let (name, mime) = (quote_name(file.name), file.mime);
    format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
         Content-Type: {mime}\r\n\r\n"
    )
}

fn media_type(boundary: &str) -> HeaderValue {
    HeaderValue::try_from(format!("multipart/form-data; boundary={boundary}"))
        .expect("a boundary has only letters, digits and hyphens")
}

/// Escaped as browsers do.
fn quote_name(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

const PREFIX: &str = "tollgate-form-";
const DIGITS: usize = 8;

/// A boundary that does not occur in the content, so that a caller cannot inject form fields. The
/// content is read once, independent of what it contains.
fn choose_boundary(fields: &[(&'static str, String)], files: &[&[u8]]) -> String {
    let mut taken = HashSet::new();
    for bytes in files {
        collect_taken(bytes, &mut taken);
    }
    for (_, value) in fields {
        collect_taken(value.as_bytes(), &mut taken);
    }
    let mut number = 0_u32;
    while taken.contains(&number) {
        number += 1;
    }
    format!("{PREFIX}{number:08x}")
}

fn collect_taken(bytes: &[u8], taken: &mut HashSet<u32>) {
    for start in memmem::find_iter(bytes, PREFIX) {
        let digits = bytes[start + PREFIX.len()..].get(..DIGITS);
        let digits = digits.and_then(|it| str::from_utf8(it).ok());
        taken.extend(digits.and_then(|it| u32::from_str_radix(it, 16).ok()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &'static [u8], hint: &str, expected: &str) {
        let fields = [("model", "m".to_owned()), ("prompt", hint.to_owned())];
        assert_eq!(choose_boundary(&fields, &[bytes]), expected);
    }

    #[test]
    fn no_caller_can_write_the_line_between_two_fields() {
        check(b"RIFF", "hello", "tollgate-form-00000000");
        let claimed = b"RIFF\r\n--tollgate-form-00000000\r\n";
        check(claimed, "hello", "tollgate-form-00000001");
        check(claimed, "tollgate-form-00000001", "tollgate-form-00000002");
        check(b"RIFF", "tollgate-form-00000001", "tollgate-form-00000000");
        check(b"tollgate-form-0", "tollgate-form-", "tollgate-form-00000000");
    }

    #[test]
    fn several_files_have_fields_of_their_own() {
        let file =
            |name, bytes| FormFile { name, mime: "image/png", bytes: Bytes::from_static(bytes) };
        let files = [("image[]", file("a.png", b"one")), ("mask", file("b.png", b"two"))];
        let content = RequestContent::form_of_files(&[("model", "m".to_owned())], &files);
        let expected = expect_test::expect![[r#"
            --tollgate-form-00000000
            Content-Disposition: form-data; name="model"

            m
            --tollgate-form-00000000
            Content-Disposition: form-data; name="image[]"; filename="a.png"
            Content-Type: image/png

            one
            --tollgate-form-00000000
            Content-Disposition: form-data; name="mask"; filename="b.png"
            Content-Type: image/png

            two
            --tollgate-form-00000000--
        "#]];
        expected.assert_eq(&String::from_utf8_lossy(&content.into_bytes()).replace('\r', ""));
    }

    #[test]
    fn a_form_is_written_as_browsers_do() {
        let file = FormFile {
            name: "a\"b\r\n.wav",
            mime: "audio/wav",
            bytes: Bytes::from_static(b"RIFF"),
        };
        let content = RequestContent::form(&[("model", "m".to_owned())], file);
        let media_type = "multipart/form-data; boundary=tollgate-form-00000000";
        assert_eq!(content.media_type(), media_type);
        let expected = expect_test::expect![[r#"
            --tollgate-form-00000000
            Content-Disposition: form-data; name="model"

            m
            --tollgate-form-00000000
            Content-Disposition: form-data; name="file"; filename="a%22b%0D%0A.wav"
            Content-Type: audio/wav

            RIFF
            --tollgate-form-00000000--
        "#]];
        expected.assert_eq(&String::from_utf8_lossy(&content.into_bytes()).replace('\r', ""));
    }
}

//! Tests of forms: fields are checked by the schema, files are limited, malformed forms refused.

use axum::http::Request;
use axum::response::IntoResponse;
use serde::Deserialize;

use super::*;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Fields {
    #[schemars(length(min = 1))]
    model: String,
    timestamps: Option<bool>,
    #[serde(rename = "granularities")]
    granularities: Option<Vec<String>>,
}

async fn read(content_type: &str, body: impl Into<Body>) -> Result<MultipartForm<Fields>, Refusal> {
    let request = Request::post("/").header(CONTENT_TYPE, content_type).body(body.into()).unwrap();
    let (mut parts, body) = request.into_parts();
    let raw = MultipartForm::<Fields>::read(&mut parts, body, BodyLimits::TRUSTED).await?;
    MultipartForm::check(raw).map_err(Refusal::from)
}

fn part(head: &str, body: &str) -> String {
    format!("--x\r\ncontent-disposition: form-data; {head}\r\n\r\n{body}\r\n")
}

#[tokio::test]
async fn text_becomes_what_the_schema_wants_and_files_stay_bytes() {
    let body = part("name=\"model\"", "whisper")
        + &part("name=\"timestamps\"", "true")
        + &part("name=\"granularities[]\"", "word")
        + &part("name=\"file\"; filename=\"a.wav\"", "RIFF")
        + "--x--\r\n";
    let form = read("multipart/form-data; boundary=x", body).await.unwrap();
    let granularities = Some(vec!["word".to_owned()]);
    let fields = Fields { model: "whisper".to_owned(), timestamps: Some(true), granularities };
    assert_eq!(form.fields, fields);
    assert_eq!(form.files[0].file_name, "a.wav");
    assert_eq!(form.files[0].bytes, "RIFF");
}

#[tokio::test]
async fn each_kind_of_bad_form_has_its_status() {
    let form = "multipart/form-data; boundary=x";
    let missing = part("name=\"timestamps\"", "perhaps") + "--x--\r\n";
    let large =
        part("name=\"file\"; filename=\"a\"", &"x".repeat(FILE_BYTES_MAX + 1)) + "--x--\r\n";
    let many = part("name=\"a\"", "b").repeat(PARTS_MAX + 1) + "--x--\r\n";
    let cases = [
        ("application/json", "{}".to_owned(), 415),
        ("multipart/form-data", String::new(), 415),
        (form, "no form at all".to_owned(), 400),
        (form, part("name=\"model\"", "cut short"), 400),
        (form, missing, 400),
        (form, many, 400),
        (form, large, 413),
    ];
    for (content_type, body, status) in cases {
        let refusal = read(content_type, body).await.unwrap_err();
        assert_eq!(refusal.into_response().status(), status, "{content_type}");
    }
}

//! Tests of PDF files, office files and e-books in chats: the model gets their text, which is
//! billed as prompt.

use std::io::{Cursor, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::{
    ChatContent, ChatContentPart, ChatMessage, ChatRequest, PartKind, prompt_tokens, text_tokens,
};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::app::{SYSTEM_PROMPT, TestApp};
use testkit::client::TestReply;
use testkit::upstream::{UpstreamScript, build_completion};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::chat::PATH;

const XLSX: &[u8] = include_bytes!("../../../../formats/documents/tests/golden/openpyxl.xlsx");
const EPUB: &[u8] = include_bytes!("../../../../formats/documents/tests/golden/ebooklib.epub");
const ODT: &[u8] = include_bytes!("../../../../formats/documents/tests/golden/pandoc.odt");
const PDF: &[u8] = include_bytes!("../../../../formats/documents/tests/golden/reportlab-form.pdf");
const RESTRICTED_PDF: &[u8] =
    include_bytes!("../../../../formats/documents/tests/golden/reportlab-rc4.pdf");
const ENCRYPTED_PDF: &[u8] =
    include_bytes!("../../../../formats/documents/tests/golden/qpdf-encrypted.pdf");
const SCANNED_PDF: &[u8] = include_bytes!("../../../../formats/documents/tests/golden/scan.pdf");
const PDF_TYPE: &str = "application/pdf";
const ZIP: &str = "application/zip";

fn file(media_type: &str, bytes: &[u8], name: Option<&str>) -> Value {
    let data = format!("data:{media_type};base64,{}", STANDARD.encode(bytes));
    json!({"type": "file", "file": {"file_data": data, "filename": name}})
}

/// A Word document.
fn docx(text: &str) -> Vec<u8> {
    let types = r#"<Types><Override PartName="/d.xml" ContentType="wordprocessingml.document.main+xml"/></Types>"#;
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let document = format!("<document><p><t>{text}</t></p></document>");
    for (name, content) in [("[Content_Types].xml", types), ("d.xml", &document)] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

async fn send(app: &TestApp, model: &str, parts: &[Value]) -> TestReply {
    let messages = json!([{"role": "user", "content": parts}]);
    app.admin().post(PATH, &json!({"model": model, "messages": messages})).await
}

#[tokio::test]
async fn the_text_of_office_files_and_books_reaches_any_model() {
    let app = TestApp::start().await;
    let parts = [
        json!({"type": "text", "text": "Compare these."}),
        file(
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            XLSX,
            Some("a.xlsx"),
        ),
        file("application/epub+zip", EPUB, None),
        // The media type of clients that do not know it; the content decides.
        file("application/octet-stream", ODT, Some("b.docx")),
        file("application/octet-stream", b"{\"a\": 1}", Some("c.json")),
        file("text/html", b"<p>Hi</p>", Some("d.html")),
    ];
    let reply = send(&app, "kimi-k3", &parts).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let seen = app.upstream.received_bodies()[0]["messages"][1]["content"].clone();
    let texts: Vec<&str> =
        seen.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap()).collect();
    expect![[r#"
        Compare these.
        ---
        [File: a.xlsx]
        Sheet: Sales
        Day	Item	Price	Sold	Total
        2025-02-28	Tea	2.3	10	=C2*D2
        2025-03-01 13:30:00	Coffee & cake	4.75	3	TRUE
        						far away
        	07:05:00

        Sheet: Notes
        one two
        ---
        Chapter 1
        It was day.
        The end? Café & bar.

        Chapter 2
        It was night. Café & bar.
        ---
        [File: b.docx]
        Ein Buch
        Übersicht
        Der erste Absatz & ein Wort < zwei. [Eine Fußnote.]
        eins
        zwei
        Name	Wert
        a	1
        b
        c	3
        ---
        [File: c.json]
        {"a": 1}
        ---
        [File: d.html]
        <p>Hi</p>"#]]
    .assert_eq(&texts.join("\n---\n"));
}

#[tokio::test]
async fn a_prompt_costs_what_the_text_of_its_documents_does() {
    let app = TestApp::start().await;
    let words = "several words and some more ".repeat(400);
    let answer = build_completion("Yes.", &Value::Null);
    app.upstream.queue_script(UpstreamScript::json(200, &answer));
    let reply = send(&app, "kimi-k3", &[file(ZIP, &docx(&words), None)]).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let system = ChatContent::Text(SYSTEM_PROMPT.to_owned());
    let part = ChatContentPart { kind: PartKind::Text(words.trim_end().to_owned()), cache: None };
    let messages = vec![
        ChatMessage::System { content: system, name: None },
        ChatMessage::User { content: ChatContent::Parts(vec![part]), name: None },
    ];
    let prompt = prompt_tokens(&ChatRequest { messages, ..ChatRequest::default() });
    assert!(1_500 < prompt, "{prompt}");
    let cost = prompt * 1_400 + text_tokens("Yes.") * 4_400;
    assert_eq!(app.verify_spent().await.nanos(), i64::try_from(cost).unwrap());
}

#[tokio::test]
async fn a_small_file_with_a_long_text_does_not_slip_past_the_context() {
    let app = TestApp::start().await;
    let long = docx(&"word ".repeat(200_000));
    assert!(long.len() < 10_000, "it is small: {}", long.len());
    let reply = send(&app, "qwen3:4b", &[file(ZIP, &long, None)]).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], "context_length_exceeded");
    assert!(app.upstream.received_bodies().is_empty());
}

/// The texts from the caller that the model received.
fn texts(app: &TestApp) -> String {
    let seen = app.upstream.received_bodies()[0]["messages"].clone();
    let messages = seen.as_array().unwrap().iter().filter(|it| it["role"] == "user");
    let parts = messages.flat_map(|message| message["content"].as_array().unwrap().iter());
    let texts: Vec<&str> = parts.map(|part| part["text"].as_str().unwrap()).collect();
    texts.join("\n")
}

#[tokio::test]
async fn files_that_cannot_be_read_are_told_in_their_place() {
    let app = TestApp::start().await;
    let bomb = docx(&"x".repeat(65 * 1024 * 1024));
    let entity = docx("&laugh;");
    let parts = [
        file(ZIP, &docx("as it should be"), Some("good.docx")),
        file(ZIP, &bomb, Some("bomb.docx")),
        file(ZIP, &entity, None),
        file(ZIP, &EPUB[..EPUB.len() / 2], Some("half.epub")),
        file("text/plain", b"\xff", None),
    ];
    let reply = send(&app, "kimi-k3", &parts).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    expect![[r#"
        [File: good.docx]
        as it should be
        [Error processing file bomb.docx: Unpacked, it is larger than 64 MB together with the other files.]
        [Error processing file: It is damaged: its XML is not well-formed.]
        [Error processing file half.epub: It is damaged, or was cut short.]
        [Error processing file: It is neither text in UTF-8 nor a PDF, DOCX, PPTX, XLSX, XLS, ODT, ODP, ODS or EPUB file; send its text instead.]"#]].assert_eq(&texts(&app));
}

#[tokio::test]
async fn what_is_no_file_at_all_is_refused() {
    let app = TestApp::start().await;
    let no_base64 = json!({"type": "file", "file": {"file_data": "data:text/plain;base64,*"}});
    let parts = [file(PDF_TYPE, b"no PDF", None), no_base64];
    let reply = send(&app, "kimi-k3", &parts).await;
    assert_eq!(reply.status, 400);
    let body = reply.json();
    let line = |issue: &Value| format!("{} {}", issue["path"], issue["message"]);
    let lines: Vec<String> = body["issues"].as_array().unwrap().iter().map(line).collect();
    expect![[r#"
        ["messages",0,"content",0] "Supplied file did not pass validation checks. It is not a PDF."
        ["messages",0,"content",1] "Supplied file did not pass validation checks. It is not valid base64.""#]].assert_eq(&lines.join("\n"));
    assert!(app.upstream.received_bodies().is_empty());
    assert_eq!(app.verify_spent().await.nanos(), 0);
}

#[tokio::test]
async fn the_documents_of_a_request_share_their_bounds() {
    let app = TestApp::start().await;
    let comment = format!("<!--{}-->", "x".repeat(1024 * 1024));
    let large = docx(&format!("little{}", comment.repeat(30)));
    let message = json!({"role": "user", "content": [file(ZIP, &large, None)]});
    let messages = [&message, &message, &message];
    let body = json!({"model": "kimi-k3", "messages": messages});
    let reply = app.admin().post(PATH, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    expect![[r#"
        little
        little
        [Error processing file: Unpacked, it is larger than 64 MB together with the other files.]"#]].assert_eq(&texts(&app));
}

#[tokio::test]
async fn the_text_of_a_pdf_reaches_models_that_cannot_read_one() {
    let app = TestApp::start().await;
    let parts = [
        file(PDF_TYPE, PDF, Some("a.pdf")),
        file("application/octet-stream", RESTRICTED_PDF, None),
        file(PDF_TYPE, ENCRYPTED_PDF, Some("secret.pdf")),
        file(PDF_TYPE, SCANNED_PDF, Some("scan.pdf")),
        file(PDF_TYPE, &PDF[..PDF.len() / 4], None),
    ];
    let reply = send(&app, "kimi-k3", &parts).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    expect![[r#"
        [File: a.pdf]
        Name:	Ada Lovelace

        City:	London
        Balance on 15 November: 1,234.56
        [Error processing file secret.pdf: It cannot be opened without its password; save it without one.]
        [Error processing file scan.pdf: Its pages are pictures without text, as scans are; send them as images, or run text recognition on it first.]
        [Error processing file: It is damaged, or was cut short.]"#]].assert_eq(&texts(&app));
}

#[tokio::test]
async fn a_pdf_goes_to_models_that_read_it_and_its_text_to_those_that_stand_in() {
    let few = r#""vision", "multiple_images"]"#;
    let more = r#""vision", "multiple_images", "documents"]"#;
    let app = TestApp::with_changed_fixture(|fixture| fixture.replace(few, more)).await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": {"message": "broken"}})));
    let content = [file(PDF_TYPE, PDF, Some("a.pdf")), file("text/plain", PDF, None)];
    let messages = json!([{"role": "user", "content": content}]);
    let fallbacks = json!([{"model": "qwen3:4b"}]);
    let body = json!({"model": "kimi-k3", "fallbacks": fallbacks, "messages": messages});
    let reply = app.admin().post(PATH, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let seen = app.upstream.received_bodies();
    let passed_on = |request: &Value| request["messages"][1]["content"].clone();
    let data = format!("data:application/pdf;base64,{}", STANDARD.encode(PDF));
    let first = passed_on(seen.first().unwrap());
    assert_eq!(first[0]["file"], json!({"filename": "a.pdf", "file_data": data}));
    assert_eq!(first[1]["file"]["file_data"], data, "as what it is");
    let last = passed_on(seen.last().unwrap());
    let text = "Name:\tAda Lovelace\n\nCity:\tLondon";
    assert_eq!(last[0]["text"], format!("[File: a.pdf]\n{text}"));
    assert_eq!(last[1]["text"], text);
}

/// A question about files, in the format of the Responses API.
fn input(files: &[Value]) -> Value {
    let question = json!({"type": "input_text", "text": "Compare these."});
    let parts = [std::slice::from_ref(&question), files].concat();
    json!([{"role": "user", "content": parts}])
}

fn input_file(media_type: &str, bytes: &[u8], name: &str) -> Value {
    let data = format!("data:{media_type};base64,{}", STANDARD.encode(bytes));
    json!({"type": "input_file", "file_data": data, "filename": name})
}

#[tokio::test]
async fn files_of_responses_are_read_as_those_of_chats() {
    let app = TestApp::start().await;
    let files = [
        input_file(PDF_TYPE, PDF, "a.pdf"),
        input_file(ZIP, &docx("Hello"), "b.docx"),
        input_file(PDF_TYPE, SCANNED_PDF, "c.pdf"),
    ];
    let body = json!({"model": "kimi-k3", "input": input(&files)});
    let reply = app.admin().post("/responses", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    expect![[r#"
        Compare these.
        [File: a.pdf]
        Name:	Ada Lovelace

        City:	London
        [File: b.docx]
        Hello
        [Error processing file c.pdf: Its pages are pictures without text, as scans are; send them as images, or run text recognition on it first.]"#]].assert_eq(&texts(&app));
    let chat = json!({"model": "kimi-k3", "input": input(&files),
        "service_parameters": {"include_service_system_prompt": false}});
    let reply = app.admin().post(PATH, &chat).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let seen = app.upstream.received_bodies();
    assert_eq!(seen[0]["messages"], seen[1]["messages"], "the same, in the words of either");
}

#[tokio::test]
async fn a_pdf_of_a_response_goes_to_models_that_read_it() {
    let few = r#""vision", "multiple_images"]"#;
    let more = r#""vision", "multiple_images", "documents"]"#;
    let app = TestApp::with_changed_fixture(|fixture| fixture.replace(few, more)).await;
    app.upstream.queue_script(UpstreamScript::json(500, &json!({"error": {"message": "broken"}})));
    let files = [
        input_file(ZIP, &docx("Hello"), "b.docx"),
        input_file(PDF_TYPE, SCANNED_PDF, "scan.pdf"),
        input_file(PDF_TYPE, PDF, "a.pdf"),
    ];
    let fallbacks = json!([{"model": "qwen3:4b"}]);
    let body = json!({"model": "kimi-k3", "fallbacks": fallbacks, "input": input(&files)});
    let reply = app.admin().post("/responses", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let seen = app.upstream.received_bodies();
    let parts = |request: &Value| request["messages"][0]["content"].clone();
    let (first, last) = (parts(seen.first().unwrap()), parts(seen.last().unwrap()));
    let kinds = |parts: &Value| -> Vec<Value> {
        parts.as_array().unwrap().iter().map(|part| part["type"].clone()).collect()
    };
    assert_eq!(kinds(&first), ["text", "text", "file", "file"]);
    assert_eq!(first[3]["file"]["filename"], "a.pdf");
    assert_eq!(kinds(&last), ["text"; 4]);
    let scan = last[2]["text"].as_str().unwrap();
    assert!(scan.starts_with("[Error processing file scan.pdf: Its pages are pictures"), "{scan}");
    assert_eq!(last[3]["text"], "[File: a.pdf]\nName:\tAda Lovelace\n\nCity:\tLondon");
    let elsewhere = json!({"type": "input_file", "file_url": "https://example.com/a.pdf"});
    let body = json!({"model": "kimi-k3", "input": input(std::slice::from_ref(&elsewhere))});
    let reply = app.admin().post("/responses", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let sent = parts(app.upstream.received_bodies().last().unwrap());
    assert_eq!(sent[1]["file"]["file_data"], "https://example.com/a.pdf");
}

#[tokio::test]
async fn files_that_a_response_cannot_have_are_refused_where_they_stand() {
    let app = TestApp::start().await;
    let at = |url: &str| json!({"type": "input_file", "file_url": url});
    let text = input_file("text/plain", b"a", "a.txt");
    let from_assistant = json!({"role": "assistant", "content": [&text]});
    let files = [
        json!({"type": "input_file", "file_id": "file-1"}),
        at("http://localhost/a.pdf"),
        input_file(PDF_TYPE, b"no PDF", "a.pdf"),
        json!({"type": "input_file", "file_data": "data:text/plain;base64,*"}),
        text.clone(),
        text,
    ];
    let mut items = input(&files);
    items.as_array_mut().unwrap().push(from_assistant);
    let reply = app.admin().post("/responses", &json!({"model": "kimi-k3", "input": items})).await;
    check_issues(
        &reply,
        expect![[r#"
        ["input",0,"content",1] "Files are not stored; send this one as `file_data`, a data URL"
        ["input",0,"content",2] "Supplied file did not pass validation checks. Its URL must name a public host; send a data URL instead."
        ["input",0,"content",3] "Supplied file did not pass validation checks. It is not a PDF."
        ["input",0,"content",4] "Supplied file did not pass validation checks. It is not valid base64."
        ["input",0,"content",6] "A message may have at most 5 files"
        ["input",1,"content",0] "Only messages of the user may have parts but text""#]],
    );
    let elsewhere = input(&[at("https://example.com/a.pdf")]);
    let body = json!({"model": "kimi-k3", "input": elsewhere});
    check_issues(
        &app.admin().post("/responses", &body).await,
        expect![[
            r#"["input"] "This model does not fetch files; send the file as a data URL, such as data:text/plain;base64,…""#
        ]],
    );
    assert!(app.upstream.received_bodies().is_empty());
}

#[track_caller]
fn check_issues(reply: &TestReply, expected: Expect) {
    assert_eq!(reply.status, 400, "{}", reply.text());
    let body = reply.json();
    let line = |issue: &Value| format!("{} {}", issue["path"], issue["message"]);
    let lines: Vec<String> = body["issues"].as_array().unwrap().iter().map(line).collect();
    expected.assert_eq(&lines.join("\n"));
}

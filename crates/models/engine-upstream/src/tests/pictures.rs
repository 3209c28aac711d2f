//! Images of every protocol: requests, responses and cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use engine::{
    CutOutRequest, EditRequest, EngineError, FileKind, ImageAnswer, ImageEngine, ImageFile,
    ImageRequest, PictureSize, RequestedImageSize, StyleReference, UpscaleRequest,
};
use expect_test::{expect, expect_file};
use serde_json::{Value, json};

use super::golden::folder;
use super::stub::{StubAction, StubRecord, StubServer, json as reply, patient};
use crate::openai::{edit_fields, read_image, write_image};
use crate::{ComfyWorkflow, ProviderProtocol, ServerQuirks, a1111, comfyui, fal, sdcpp};

const FILE: &[u8] = b"a picture";

fn plain() -> ImageRequest {
    ImageRequest {
        prompt: "a red fox".to_owned(),
        negative_prompt: None,
        frame: RequestedImageSize {
            size: PictureSize { width: 1024, height: 768 },
            aspect_ratio: None,
            resolution: None,
        },
        steps: None,
        cfg_scale: None,
        seed: 7,
        quality: None,
        adapter_strength: None,
        web_search: false,
        style_references: Vec::new(),
    }
}

fn everything() -> ImageRequest {
    ImageRequest {
        negative_prompt: Some("dogs".to_owned()),
        frame: RequestedImageSize {
            aspect_ratio: Some("4:3".to_owned()),
            resolution: Some("1K".to_owned()),
            ..plain().frame
        },
        steps: Some(20),
        cfg_scale: Some(3.5),
        seed: -1,
        quality: Some("high"),
        adapter_strength: Some(50),
        web_search: true,
        ..plain()
    }
}

fn picture(bytes: &'static [u8]) -> ImageFile {
    ImageFile {
        bytes: Bytes::from_static(bytes),
        kind: FileKind { extension: "png", mime: "image/png" },
        size: PictureSize { width: 300, height: 200 },
    }
}

fn edit() -> EditRequest {
    EditRequest {
        prompt: "make it blue".to_owned(),
        pictures: vec![picture(b"one")],
        mask: None,
        frame: plain().frame,
        quality: Some("low"),
        seed: 7,
    }
}

fn upscale() -> UpscaleRequest {
    UpscaleRequest {
        picture: picture(b"one"),
        scale: 2.0,
        size: PictureSize { width: 600, height: 400 },
        creativity: Some(0.25),
        prompt: Some("sharper".to_owned()),
    }
}

#[test]
fn every_wish_is_written_as_each_protocol_reads_it() {
    let masked = EditRequest { mask: Some(picture(b"mask")), ..edit() };
    let two = EditRequest { pictures: vec![picture(b"one"), picture(b"two")], ..edit() };
    let written: Vec<(String, Value)> = [("plain", plain()), ("everything", everything())]
        .into_iter()
        .flat_map(|(name, request)| {
            [
                (
                    format!("{name}.openai"),
                    write_image(&request, "gpt-image-1", ServerQuirks::OPENAI),
                ),
                (format!("{name}.vllm"), write_image(&request, "m", ServerQuirks::VLLM)),
                (format!("{name}.sdcpp"), sdcpp::encode_generation(&request)),
                (format!("{name}.a1111"), a1111::encode_generation(&request, "m", "task-1")),
                (format!("{name}.fal"), fal::encode_generation(&request)),
            ]
        })
        .chain([
            ("edit.sdcpp".to_owned(), sdcpp::encode_edit(&two)),
            ("edit-masked.sdcpp".to_owned(), sdcpp::encode_edit(&masked)),
            ("edit.a1111".to_owned(), a1111::encode_edit(&edit(), "m", "task-1")),
            ("edit-masked.a1111".to_owned(), a1111::encode_edit(&masked, "m", "task-1")),
            ("edit.fal".to_owned(), fal::encode_edit(&edit())),
            ("edit-two.fal".to_owned(), fal::encode_edit(&two)),
            ("upscale.a1111".to_owned(), a1111::encode_upscale(&upscale(), "R-ESRGAN 4x+")),
            ("upscale.fal".to_owned(), fal::encode_upscale(&upscale())),
        ])
        .collect();
    for (name, value) in written {
        let text = serde_json::to_string_pretty(&value).unwrap() + "\n";
        expect_file![folder("image").join(format!("{name}.json"))].assert_eq(&text);
    }
    let fields = format!(
        "{:?}\n{:?}\n",
        edit_fields(&edit(), "m", ServerQuirks::VLLM),
        edit_fields(&edit(), "gpt-image-1", ServerQuirks::OPENAI)
    );
    expect![[r#"
        [("model", "m"), ("prompt", "make it blue"), ("n", "1"), ("size", "1024x768"), ("quality", "low"), ("response_format", "b64_json"), ("seed", "7")]
        [("model", "gpt-image-1"), ("prompt", "make it blue"), ("n", "1"), ("size", "1024x768"), ("quality", "low")]
    "#]]
    .assert_eq(&fields);
}

fn told<T: std::fmt::Debug>(outcome: Result<T, EngineError>) -> String {
    match outcome {
        Ok(value) => format!("{value:?}"),
        Err(error) => super::tell::error(&error),
    }
}

#[test]
fn answers_that_are_no_pictures_are_failures() {
    let openai = |body: &str| told(read_image(body.as_bytes()));
    assert_eq!(openai(r#"{"data":[{"b64_json":"eA=="}]}"#), "Inline(\"eA==\")");
    assert_eq!(openai(r#"{"data":[{"b64_json":null,"url":"data:,"}]}"#), "At(\"data:,\")");
    assert!(openai(r#"{"data":[]}"#).contains("it has no image"));
    assert!(openai(r#"{"data":[{}]}"#).contains("its picture is missing"));
    assert!(openai("<html>").contains("it is not a list of pictures"));
    let flagged = r#"{"error":{"code":"moderation_blocked","message":"no"}}"#;
    assert!(openai(flagged).contains("bad answer"), "{}", openai(flagged));
    let job = |body: &str| told(sdcpp::read_job(body.as_bytes()));
    assert_eq!(job(r#"{"id":"1","status":"queued"}"#), "None");
    // The engine's message may repeat the prompt, and is not logged.
    assert_eq!(
        job(r#"{"id":"1","status":"failed","error":{"message":"no memory"}}"#),
        "error: the engine gave a bad answer: status 500"
    );
    assert!(job(r#"{"id":"1","status":"cancelled"}"#).contains("its job is \"cancelled\""));
    assert!(
        job(r#"{"id":"1","status":"completed","result":{"images":[]}}"#)
            .contains("made no picture")
    );
    let list = |body: &str| told(a1111::read_list(body.as_bytes()));
    assert!(list(r#"{"images":[]}"#).contains("it has no image"));
    assert!(list(r#"{"images":["?"]}"#).contains("not base64"));
    let history = |body: &str| told(comfyui::read_output_file(body.as_bytes(), "p1"));
    assert_eq!(history("{}"), "None");
    let failed = r#"{"p1":{"status":{"status_str":"error","messages":[["execution_error",{"exception_message":"no model"}]]}}}"#;
    assert!(history(failed).contains("no model"), "{}", history(failed));
    assert!(history(r#"{"p1":{"outputs":{}}}"#).contains("returned no image"));
    let made = |body: &str| told(fal::read_picture(body.as_bytes()));
    assert!(
        made(r#"{"image":{"url":"https://a/b"},"has_nsfw_concepts":[true]}"#)
            .contains("is_adult: Some(true)")
    );
    assert!(made("{}").contains("it has no image"));
    assert!(told(fal::is_done(br#"{"status":"LOST"}"#)).contains("LOST"));
}

/// A server with responses by path, and 404 for all others.
fn server(answers: impl Fn(&str, usize) -> Option<Value> + Send + Sync + 'static) -> StubServer {
    let count = AtomicUsize::new(0);
    StubServer::start(move |request| {
        let line = request.lines().next().unwrap_or_default();
        let number = count.fetch_add(1, Ordering::SeqCst);
        let said = if line.contains("/view?") || line.contains("/files/") {
            let mut head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: {}\r\n\r\n",
                FILE.len()
            )
            .into_bytes();
            head.extend_from_slice(FILE);
            head
        } else {
            match answers(line, number) {
                Some(value) => reply("200 OK", &value.to_string()),
                None => reply("404 Not Found", "{}"),
            }
        };
        vec![StubAction::Say(said), StubAction::NextRequest]
    })
}

fn engine(
    stub: &StubServer,
    protocol: ProviderProtocol,
    workflow: Option<&ComfyWorkflow>,
) -> Arc<dyn ImageEngine> {
    stub.upstream_with(protocol, patient()).create_image_engine("owner/model", workflow).unwrap()
}

/// The first lines of the requests that a server received.
fn lines(stub: &StubServer, count: usize) -> Vec<String> {
    let line = |seen| match seen {
        StubRecord::Request(text) => text.lines().next().unwrap_or_default().to_owned(),
        StubRecord::Close => String::new(),
    };
    (0..count).map(|_| line(stub.next_seen())).map(|it| it.replace(" HTTP/1.1", "")).collect()
}

fn file() -> Result<Bytes, EngineError> {
    Ok(Bytes::from_static(FILE))
}

fn only_file(answer: Result<ImageAnswer, EngineError>) -> Result<Bytes, EngineError> {
    answer.map(|it| it.file)
}

#[tokio::test]
async fn openai_gives_base64_or_an_address_of_its_own() {
    let stub = server(|line, _| {
        let at = line
            .contains("generations")
            .then(|| json!({"data": [{"b64_json": BASE64_STANDARD.encode(FILE)}]}));
        at.or_else(|| Some(json!({"data": [{"url": "http://elsewhere.example/files/a.png"}]})))
    });
    let engine = engine(&stub, ProviderProtocol::OpenAi(ServerQuirks::VLLM), None);
    assert_eq!(only_file(engine.generate(Arc::new(plain())).await), file());
    let elsewhere = engine.edit(Arc::new(edit())).await.unwrap_err().to_string();
    assert!(elsewhere.contains("where we do not go"), "{elsewhere}");
    let seen = lines(&stub, 2);
    assert_eq!(seen, ["POST /v1/images/generations", "POST /v1/images/edits"]);
    let upscaled = engine.upscale(Arc::new(upscale())).await;
    assert!(matches!(upscaled, Err(EngineError::Misconfigured { .. })), "{upscaled:?}");
    assert!(!engine.can_be_stopped());
}

#[tokio::test]
async fn a_job_of_stable_diffusion_cpp_is_asked_about_until_it_is_done() {
    let stub = server(|line, number| {
        let image = json!({"index": 0, "b64_json": BASE64_STANDARD.encode(FILE)});
        Some(match (line.contains("img_gen"), number) {
            (true, _) => json!({"id": "job_1", "kind": "img_gen", "status": "queued"}),
            (false, 1) => json!({"id": "job_1", "status": "queued", "queue_position": 2}),
            (false, 2) => json!({"id": "job_1", "status": "generating"}),
            (false, _) => json!({"id": "job_1", "status": "completed", "created": 100,
                "started": 103, "completed": 110, "result": {"images": [image]}}),
        })
    });
    let answer =
        engine(&stub, ProviderProtocol::SdCpp, None).generate(Arc::new(plain())).await.unwrap();
    assert_eq!((answer.file, answer.waited), (file().unwrap(), Some(Duration::from_secs(3))));
    let mut expected = vec!["POST /v1/sdcpp/v1/img_gen"];
    expected.extend(["GET /v1/sdcpp/v1/jobs/job_1"; 3]);
    assert_eq!(lines(&stub, 4), expected);
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_is_cancelled() {
    let stub = server(|line, _| {
        Some(if line.contains("img_gen") {
            json!({"id": "job_1", "status": "queued"})
        } else {
            json!({"id": "job_1", "status": "generating"})
        })
    });
    let engine = engine(&stub, ProviderProtocol::SdCpp, None);
    assert!(engine.can_be_stopped());
    let asking = engine.generate(Arc::new(plain()));
    assert!(tokio::time::timeout(Duration::from_millis(300), asking).await.is_err());
    let stopped = tokio::task::spawn_blocking(move || {
        (0..32).any(|_| lines(&stub, 1) == ["POST /v1/sdcpp/v1/jobs/job_1/cancel"])
    });
    assert!(stopped.await.unwrap());
}

#[tokio::test]
async fn names_of_jobs_cannot_lead_elsewhere() {
    for name in ["../admin", "a/b", "", "..", "a?b=c", "a b"] {
        let stub = server(move |_, _| Some(json!({"id": name, "status": "queued"})));
        let answer = engine(&stub, ProviderProtocol::SdCpp, None).generate(Arc::new(plain())).await;
        assert!(matches!(answer, Err(EngineError::BadAnswer { .. })), "{name:?}: {answer:?}");
        assert_eq!(stub.requests_seen(), 1, "{name:?}");
    }
}

#[tokio::test]
async fn the_web_interface_makes_edits_enlarges_and_cuts_out() {
    let stub = server(|line, _| {
        let text = BASE64_STANDARD.encode(FILE);
        let is_one = line.contains("extra-single-image") || line.contains("rembg");
        Some(if is_one { json!({"image": text}) } else { json!({"images": [text], "info": "{}"}) })
    });
    let engine = engine(&stub, ProviderProtocol::A1111, None);
    assert_eq!(only_file(engine.generate(Arc::new(plain())).await), file());
    assert_eq!(only_file(engine.edit(Arc::new(edit())).await), file());
    assert_eq!(only_file(engine.upscale(Arc::new(upscale())).await), file());
    let cut = Arc::new(CutOutRequest { picture: picture(b"one") });
    assert_eq!(only_file(engine.cut_out(cut).await), file());
    let expected = [
        "POST /v1/sdapi/v1/txt2img",
        "POST /v1/sdapi/v1/img2img",
        "POST /v1/sdapi/v1/extra-single-image",
        "POST /v1/rembg",
    ];
    assert_eq!(lines(&stub, 4), expected);
}

#[tokio::test]
async fn a_workflow_is_filled_in_queued_and_its_picture_fetched() {
    let workflow = r#"{
        "1": {"class_type": "LoadImage", "inputs": {"image": "{{image}}"}},
        "2": {"class_type": "KSampler", "inputs": {"seed": "{{seed}}", "text": "{{prompt}}"}}
    }"#;
    let workflow = ComfyWorkflow::parse(workflow).unwrap();
    let stub = server(|line, number| {
        let preview = json!({"filename": "t.png", "subfolder": "", "type": "temp"});
        let output = json!({"filename": "a b&.png", "subfolder": "x", "type": "output"});
        Some(if line.contains("/upload/image") {
            json!({"name": "tollgate (1).png", "subfolder": "", "type": "input"})
        } else if line.contains("/prompt") {
            json!({"prompt_id": "p1", "number": 1, "node_errors": {}})
        } else if number < 3 {
            json!({})
        } else {
            json!({"p1": {"status": {"status_str": "success"},
                "outputs": {"9": {"images": [preview]}, "10": {"images": [output]}}}})
        })
    });
    let engine = engine(&stub, ProviderProtocol::ComfyUi, Some(&workflow));
    assert_eq!(only_file(engine.edit(Arc::new(edit())).await), file());
    let mut seen = Vec::new();
    for _ in 0..5 {
        let StubRecord::Request(text) = stub.next_seen() else { panic!("a close") };
        seen.push(text);
    }
    let queued = seen[1].split("\r\n\r\n").nth(1).unwrap();
    let queued: Value = serde_json::from_str(queued).unwrap();
    assert_eq!(queued["prompt"]["1"]["inputs"]["image"], "tollgate (1).png");
    assert_eq!(queued["prompt"]["2"]["inputs"], json!({"seed": 7, "text": "make it blue"}));
    let view = "GET /v1/view?filename=a%20b%26%2Epng&subfolder=x&type=output ";
    assert!(seen[4].starts_with(view), "{}", seen[4]);
    let two = EditRequest { pictures: vec![picture(b"one"), picture(b"two")], ..edit() };
    let refused = engine.edit(Arc::new(two)).await;
    let message = "This model takes no `image_2`.".to_owned();
    assert_eq!(refused, Err(EngineError::Rejected { message }));
}

#[tokio::test]
async fn a_picture_whose_style_is_wanted_is_uploaded_for_its_slot() {
    let workflow = r#"{
        "1": {"class_type": "LoadImage", "inputs": {"image": "{{style_image}}"}},
        "2": {"class_type": "IPAdapter", "inputs": {"weight": "{{style_strength}}", "text": "{{prompt}}"}}
    }"#;
    let workflow = ComfyWorkflow::parse(workflow).unwrap();
    let stub = server(|line, _| {
        let output = json!({"filename": "a.png", "subfolder": "", "type": "output"});
        Some(if line.contains("/upload/image") {
            json!({"name": "style.png", "subfolder": "", "type": "input"})
        } else if line.contains("/prompt") {
            json!({"prompt_id": "p1", "number": 1, "node_errors": {}})
        } else {
            json!({"p1": {"status": {"status_str": "success"}, "outputs": {"9": {"images": [output]}}}})
        })
    });
    let engine = engine(&stub, ProviderProtocol::ComfyUi, Some(&workflow));
    assert!(engine.takes_style_references());
    let style = StyleReference { picture: picture(b"one"), strength: 0.5 };
    let styled = |count: usize| {
        Arc::new(ImageRequest { style_references: vec![style.clone(); count], ..plain() })
    };
    assert_eq!(only_file(engine.generate(styled(1)).await), file());
    let _upload = stub.next_seen();
    let StubRecord::Request(queued) = stub.next_seen() else { panic!("a close") };
    let queued: Value = serde_json::from_str(queued.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(queued["prompt"]["1"]["inputs"]["image"], "style.png");
    assert_eq!(queued["prompt"]["2"]["inputs"]["weight"], 0.5);
    let none = engine.generate(styled(0)).await;
    assert_eq!(none.err(), Some(EngineError::FieldMissing { field: "style_references" }));
    let two = engine.generate(styled(2)).await;
    assert!(matches!(two, Err(EngineError::Rejected { .. })), "{two:?}");
}

#[tokio::test]
async fn a_request_of_fal_is_followed_on_its_own_server_only() {
    let stub = StubServer::start(|request| {
        let line = request.lines().next().unwrap_or_default().to_owned();
        let host = request
            .lines()
            .find_map(|it| it.to_lowercase().strip_prefix("host: ").map(str::to_owned));
        let base = format!("http://{}", host.unwrap_or_default());
        let at = |rest: &str| format!("{base}/owner/requests/1{rest}");
        let said = if line.starts_with("POST /v1/owner/model ") {
            json!({"request_id": "1", "status_url": at("/status"), "response_url": at(""),
                "cancel_url": at("/cancel")})
        } else if line.contains("/status") {
            json!({"status": "COMPLETED"})
        } else {
            json!({"images": [{"url": format!("data:image/png;base64,{}", BASE64_STANDARD.encode(FILE))}],
                "has_nsfw_concepts": [true]})
        };
        vec![StubAction::Say(reply("200 OK", &said.to_string())), StubAction::NextRequest]
    });
    let answer =
        engine(&stub, ProviderProtocol::Fal, None).generate(Arc::new(plain())).await.unwrap();
    assert_eq!((answer.file, answer.is_adult), (file().unwrap(), Some(true)));
    let StubRecord::Request(first) = stub.next_seen() else { panic!("a close") };
    assert!(first.to_lowercase().contains("authorization: key sk-secret"), "{first}");
    let away = "http://evil.example/owner/requests/1";
    let stub = server(move |_, _| {
        Some(json!({"status_url": away, "response_url": away, "cancel_url": away}))
    });
    let answer = engine(&stub, ProviderProtocol::Fal, None).generate(Arc::new(plain())).await;
    assert!(told(answer).contains("another server"));
    assert_eq!(stub.requests_seen(), 1);
}

#[test]
fn what_a_provider_needs_is_told_at_the_start() {
    let stub = StubServer::saying("");
    let upstream = |protocol| stub.upstream_with(protocol, patient());
    let told = |protocol, model: &str| {
        upstream(protocol)
            .create_image_engine(model, None)
            .err()
            .map(|it| it.to_string())
            .unwrap_or_default()
    };
    assert!(told(ProviderProtocol::ComfyUi, "m").contains("needs a `workflow`"));
    assert!(told(ProviderProtocol::Fal, "a b").contains("cannot be part of a URL"));
    assert!(told(ProviderProtocol::WhisperCpp, "m").contains("its protocol has no pictures"));
    assert!(upstream(ProviderProtocol::SdCpp).create_chat_engine("m", 1).is_err());
}

//! Music and videos: encoded requests, and complete exchanges over a socket.
//!
//! - `golden/queued/<request>.<provider>.json`: the encoded request for each provider.
//! - `golden/queued/<provider>-<case>.json` → `.txt`: a provider's job status, decoded.

use std::fs;
use std::path::Path;

use engine::{
    EngineError, KeyframeImage, MediaEngine, MediaRequest, MediaStatus, MediaTicket, MusicRequest,
    VideoRequest,
};
use expect_test::expect_file;
use futures_util::TryStreamExt;
use serde_json::Value;

use super::stub::{StubAction, StubServer};
use crate::media_jobs::{acestep, builtin, comfyui, fal, openai, sdcpp};
use crate::upstream::MediaWork;
use crate::{
    ComfyWorkflow, MediaRoute, MediaRoutes, ProviderProtocol, ServerQuirks, UpstreamTimeouts,
};

pub(super) fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/queued")
}

pub(super) fn clip() -> VideoRequest {
    VideoRequest {
        prompt: "a boat at dawn".into(),
        duration_s: Some(5),
        aspect_ratio: Some("16:9".into()),
        resolution: Some("720p".into()),
        seed: 7,
        ..VideoRequest::default()
    }
}

pub(super) fn moved_picture() -> VideoRequest {
    let image = Some("data:image/png;base64,iVBORw0KGgo=".into());
    VideoRequest { image, duration_s: Some(2), ..clip() }
}

pub(super) fn song() -> MusicRequest {
    MusicRequest {
        prompt: "calm piano".into(),
        lyrics: Some("la la".into()),
        duration_s: Some(60),
        language: Some("en".into()),
        format: Some("wav".into()),
        seed: 7,
        ..MusicRequest::default()
    }
}

pub(super) fn instrumental() -> MusicRequest {
    MusicRequest { lyrics: None, is_instrumental: true, language: None, ..song() }
}

#[track_caller]
fn check(name: &str, body: Result<Value, EngineError>) {
    let text = serde_json::to_string_pretty(&body.unwrap()).unwrap() + "\n";
    expect_file![folder().join(format!("{name}.json"))].assert_eq(&text);
}

#[test]
fn every_request_is_written_as_each_provider_reads_it() {
    check("clip.openai", openai::encode_request(&clip(), "sora"));
    check("moved-picture.openai", openai::encode_request(&moved_picture(), "sora"));
    check("clip.sdcpp", sdcpp::encode_request(&clip()));
    check("moved-picture.sdcpp", sdcpp::encode_request(&moved_picture()));
    check("song.acestep", acestep::encode_request(&song(), Some("la la"), "turbo"));
    check("instrumental.acestep", acestep::encode_request(&instrumental(), None, "turbo"));
    check("clip.builtin", builtin::encode_request("job-1", "pictor-motion", &clip()));
    let moved = builtin::encode_request("job-1", "pictor-motion", &moved_picture());
    check("moved-picture.builtin", moved);
    check("clip.fal", fal::encode_video(&clip()));
    check("moved-picture.fal", fal::encode_video(&moved_picture()));
    check("instrumental.fal", fal::encode_music(&instrumental()));
}

#[test]
fn what_a_provider_has_no_word_for_is_refused() {
    let references = VideoRequest { reference_images: vec!["x".into()], ..clip() };
    let ending = VideoRequest { end_image: moved_picture().image, ..clip() };
    let enlarged = VideoRequest { upscale_factor: Some(2), ..clip() };
    let framed = VideoRequest { keyframes: vec![KeyframeImage::default()], ..clip() };
    let documented = VideoRequest { reference_documents: vec!["x".into()], ..clip() };
    let tasked = VideoRequest { reference_task: Some("edit".into()), ..clip() };
    let languages = fal::encode_music(&song());
    for body in [
        openai::encode_request(&references, "m"),
        openai::encode_request(&enlarged, "m"),
        sdcpp::encode_request(&references),
        sdcpp::encode_request(&enlarged),
        fal::encode_video(&references),
        fal::encode_video(&framed),
        fal::encode_video(&documented),
        fal::encode_video(&tasked),
        builtin::encode_request("job-1", "m", &framed),
        builtin::encode_request("job-1", "m", &references),
        builtin::encode_request("job-1", "m", &ending),
        languages,
    ] {
        assert!(matches!(body, Err(EngineError::Rejected { .. })));
    }
    let address = VideoRequest { image: Some("https://example.com/a.png".into()), ..clip() };
    assert!(matches!(sdcpp::encode_request(&address), Err(EngineError::Rejected { .. })));
    let fast = MusicRequest { speed: Some(2.0), ..song() };
    assert!(matches!(acestep::encode_request(&fast, None, "m"), Err(EngineError::Rejected { .. })));
}

#[test]
fn every_word_about_a_job_is_read() {
    let mut seen = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let Some((provider, _)) = name.split_once('-').filter(|_| !name.contains('.')) else {
            continue;
        };
        if path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        let body = fs::read(&path).unwrap();
        let read = match provider {
            "openai" => openai::parse_status(&body),
            "sdcpp" => sdcpp::parse_status(&body),
            "fal" => fal::parse_status(&body),
            "comfyui" => {
                let read = comfyui::parse_status(&body, "1", MediaWork::Video);
                expect_file![path.with_extension("txt")].assert_eq(&format!("{read:?}\n"));
                seen += 1;
                continue;
            }
            _ => serde_json::from_slice::<Vec<acestep::AceStepJob>>(&body)
                .map_err(|error| EngineError::BadAnswer { cause: error.to_string() })
                .and_then(|found| acestep::parse_status(&found)),
        };
        let told = match read {
            Ok(progress) => format!("{progress:?}\n"),
            Err(error) => super::tell::error(&error) + "\n",
        };
        expect_file![path.with_extension("txt")].assert_eq(&told);
        seen += 1;
    }
    assert!(8 <= seen, "{seen} files");
}

pub(super) fn http(status: &str, kind: &str, body: &str) -> Vec<StubAction> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    );
    vec![StubAction::Say(head.into_bytes())]
}

pub(super) fn json(body: &str) -> Vec<StubAction> {
    http("200 OK", "application/json", body)
}

pub(super) async fn fetched(engine: &dyn MediaEngine, ticket: &MediaTicket) -> Vec<u8> {
    let file = engine.download(ticket).await.unwrap_or_else(|error| panic!("{error}"));
    let pieces: Vec<bytes::Bytes> = file.bytes.try_collect().await.unwrap();
    pieces.concat()
}

fn engine(stub: &StubServer, protocol: ProviderProtocol, work: MediaWork) -> MediaRoutes {
    engine_with(stub, protocol, work, None)
}

pub(super) fn engine_with(
    stub: &StubServer,
    protocol: ProviderProtocol,
    work: MediaWork,
    workflow: Option<&ComfyWorkflow>,
) -> MediaRoutes {
    let upstream = stub.upstream_with(protocol, UpstreamTimeouts::default());
    let engine = upstream.create_media_engine("m", work, workflow).unwrap().unwrap();
    MediaRoutes(vec![MediaRoute { provider: "p".into(), engine }])
}

#[tokio::test]
async fn a_video_is_handed_in_asked_about_and_fetched_from_an_openai_server() {
    let stub = StubServer::start(|request| match request.lines().next().unwrap_or_default() {
        line if line.starts_with("POST /v1/videos ") => {
            json(r#"{"id":"video_1","status":"queued"}"#)
        }
        line if line.starts_with("GET /v1/videos/video_1 ") => {
            json(r#"{"id":"video_1","status":"completed"}"#)
        }
        line if line.starts_with("GET /v1/videos/video_1/content ") => {
            http("200 OK", "video/mp4", "moving pictures")
        }
        line if line.starts_with("GET /v1/videos/gone ") => {
            http("404 Not Found", "text/plain", "no")
        }
        line => panic!("{line}"),
    });
    let engine = engine(&stub, ProviderProtocol::OpenAi(ServerQuirks::VLLM), MediaWork::Video);
    let ticket = engine.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(&engine, &ticket).await, b"moving pictures");
    let gone = MediaTicket(ticket.0.replace("video_1", "gone"));
    assert_eq!(engine.poll_status(&gone).await, Ok(MediaStatus::Lost));
    let elsewhere = MediaTicket(ticket.0.replace("\"p\"", "\"q\""));
    assert!(matches!(engine.poll_status(&elsewhere).await, Err(EngineError::Unreachable { .. })));
}

/// A fal server whose job has ended with this result.
fn fal_server(result: fn(&str) -> Vec<StubAction>) -> StubServer {
    StubServer::start(move |request| {
        let line = request.lines().next().unwrap_or_default().to_owned();
        let host = request
            .lines()
            .find_map(|it| it.to_lowercase().strip_prefix("host: ").map(str::to_owned));
        let base = format!("http://{}", host.unwrap_or_default());
        let at = |rest: &str| format!("{base}/m/requests/1{rest}");
        if line.starts_with("POST /v1/m ") {
            let (status, response, cancel) = (at("/status"), at(""), at("/cancel"));
            return json(&format!(
                r#"{{"request_id":"1","status_url":"{status}","response_url":"{response}","cancel_url":"{cancel}"}}"#
            ));
        }
        match line.split(' ').nth(1).unwrap_or_default() {
            "/m/requests/1/status" => json(r#"{"status":"COMPLETED"}"#),
            "/m/requests/1" => result(&base),
            "/m/requests/1/cancel" => http("202 Accepted", "application/json", "{}"),
            "/files/a.mp4" => http("200 OK", "video/mp4", "moving pictures"),
            other => panic!("{other}"),
        }
    })
}

#[tokio::test]
async fn a_video_is_made_by_fal_and_fetched_from_where_it_says() {
    let stub = fal_server(|base| json(&format!(r#"{{"video":{{"url":"{base}/files/a.mp4"}}}}"#)));
    let engine = engine(&stub, ProviderProtocol::Fal, MediaWork::Video);
    let ticket = engine.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(&engine, &ticket).await, b"moving pictures");
    assert_eq!(engine.cancel(&ticket).await, Ok(true));
}

#[tokio::test]
async fn what_fal_did_not_want_to_make_is_told_and_never_fetched_from_inside() {
    let refused = fal_server(|_| {
        http(
            "422 Unprocessable Entity",
            "application/json",
            r#"{"detail":[{"loc":["body","prompt"],"msg":"The content could not be processed.","type":"content_policy_violation"}]}"#,
        )
    });
    let engine_of = |stub: &StubServer| engine(stub, ProviderProtocol::Fal, MediaWork::Video);
    let refusing = engine_of(&refused);
    let ticket = refusing.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    let told = refusing.poll_status(&ticket).await;
    assert!(matches!(told, Ok(MediaStatus::Refused(_) | MediaStatus::Failed { .. })), "{told:?}");
    let inside = fal_server(|_| json(r#"{"video":{"url":"http://169.254.169.254/a.mp4"}}"#));
    let inside = engine_of(&inside);
    let ticket = inside.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    assert!(matches!(inside.download(&ticket).await, Err(EngineError::BadAnswer { .. })));
}

#[tokio::test]
async fn a_result_that_fal_will_never_have_ends_the_work_and_one_that_it_may_have_does_not() {
    let never =
        |_: &str| http("500 Internal Server Error", "application/json", r#"{"detail":"x"}"#);
    let stub = fal_server(never);
    let made = engine(&stub, ProviderProtocol::Fal, MediaWork::Video);
    let ticket = made.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    let told = made.poll_status(&ticket).await;
    assert!(matches!(told, Ok(MediaStatus::Rejected { .. })), "{told:?}");
    let later = |_: &str| http("502 Bad Gateway", "text/html", "soon");
    let stub = fal_server(later);
    let made = engine(&stub, ProviderProtocol::Fal, MediaWork::Video);
    let ticket = made.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    assert!(made.poll_status(&ticket).await.is_err());
}

#[tokio::test]
async fn a_song_is_made_by_an_acestep_server() {
    let stub = StubServer::start(|request| match request.lines().next().unwrap_or_default() {
        line if line.starts_with("POST /v1/release_task ") => {
            json(r#"{"data":{"task_id":"t-1","status":"queued"},"code":200,"error":null}"#)
        }
        line if line.starts_with("POST /v1/query_result ") => json(
            r#"{"data":[{"task_id":"t-1","status":1,"result":"[{\"file\":\"/v1/audio?path=%2Ftmp%2Fa.mp3\"}]"}],"code":200}"#,
        ),
        line if line.starts_with("GET /v1/v1/audio?path=%2Ftmp%2Fa%2Emp3 ") => {
            http("200 OK", "audio/mpeg", "ID3 sound")
        }
        line => panic!("{line}"),
    });
    let engine = engine(&stub, ProviderProtocol::AceStep, MediaWork::Music);
    let ticket = engine.submit("x", &MediaRequest::Music(song())).await.unwrap();
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(&engine, &ticket).await, b"ID3 sound");
}

#[tokio::test]
async fn a_video_is_made_by_stable_diffusion_cpp() {
    let stub = StubServer::start(|request| match request.lines().next().unwrap_or_default() {
        line if line.starts_with("POST /v1/sdcpp/v1/vid_gen ") => {
            http("202 Accepted", "application/json", r#"{"id":"job_1","status":"queued"}"#)
        }
        line if line.starts_with("GET /v1/sdcpp/v1/jobs/job_1 ") => json(
            r#"{"id":"job_1","status":"completed","result":{"b64_json":"d2VibQ==","mime_type":"video/webm"}}"#,
        ),
        line if line.starts_with("POST /v1/sdcpp/v1/jobs/job_1/cancel ") => {
            json(r#"{"id":"job_1","status":"cancelled"}"#)
        }
        line => panic!("{line}"),
    });
    let engine = engine(&stub, ProviderProtocol::SdCpp, MediaWork::Video);
    let ticket = engine.submit("x", &MediaRequest::Video(clip())).await.unwrap();
    assert_eq!(engine.poll_status(&ticket).await, Ok(MediaStatus::Done));
    assert_eq!(fetched(&engine, &ticket).await, b"webm");
    assert_eq!(engine.cancel(&ticket).await, Ok(true));
}

#[tokio::test]
async fn a_provider_that_has_no_word_for_something_is_passed_over() {
    let silent = StubServer::start(|request| panic!("{request}"));
    let stub = StubServer::start(|_| json(r#"{"id":"video_1","status":"queued"}"#));
    let mut engine =
        engine(&silent, ProviderProtocol::OpenAi(ServerQuirks::VLLM), MediaWork::Video);
    let refused = VideoRequest { negative_prompt: Some("rain".into()), ..clip() };
    let refused = MediaRequest::Video(refused);
    assert!(matches!(engine.check(&refused), Err(EngineError::Rejected { .. })));
    let second = stub.upstream_with(ProviderProtocol::SdCpp, UpstreamTimeouts::default());
    let second = second.create_media_engine("m", MediaWork::Video, None).unwrap().unwrap();
    engine.0.push(MediaRoute { provider: "q".into(), engine: second });
    assert_eq!(engine.check(&refused), Ok(()));
    let ticket = engine.submit("x", &refused).await.unwrap();
    assert!(ticket.0.contains("\"q\""), "{ticket:?}");
}

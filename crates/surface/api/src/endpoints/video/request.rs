//! Turns a request for a video into an engine request.

use domain::catalogue::{VideoKind, VideoSpec};
use domain::media;
use engine::{KeyframeImage, VideoElement, VideoRequest};
use http_frame::hosts::CheckedHosts;
use http_frame::refusal::Refusal;
use schema_check::{PathStep, ValidationFaults};
use wire::video::{self as wire_video, Resolution, VideoDuration, VideoQueueRequest};

const AUDIO_BYTES_MAX: usize = 15 * 1024 * 1024;
const AUDIO_TYPES: [&str; 5] =
    ["audio/wav", "audio/wave", "audio/x-wav", "audio/mpeg", "audio/mp3"];

/// Frame rate that keyframe indexes refer to.
const FRAMES_PER_SECOND: u64 = 24;

/// The kind of file in a field.
#[derive(Debug, Clone, Copy)]
enum FileKind {
    /// The first or last frame: fetched here if the engine does not fetch URLs.
    Frame,
    Picture,
    Video,
    Audio,
    Document,
}

/// A file of the request, with its path.
struct SentFile<'a> {
    path: Vec<PathStep>,
    kind: FileKind,
    file: &'a str,
}

/// Checks the fields against the model, and all files. Reports every fault at once.
pub(super) fn build_video_request(
    body: VideoQueueRequest,
    spec: &VideoSpec,
    hosts: &CheckedHosts,
    takes_addresses: bool,
) -> Result<VideoRequest, Refusal> {
    let mut faults = ValidationFaults::default();
    check_duration(body.duration, spec, &mut faults);
    check_choices(&body, spec, &mut faults);
    check_starts(&body, spec, &mut faults);
    check_keyframes(&body, spec, &mut faults);
    for given in list_files(&body) {
        if let Some(fault) = file_fault(&given, hosts, takes_addresses) {
            faults.at(given.path).push(fault);
        }
    }
    let resolution = choose_resolution(body.resolution, spec, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let aspect_ratio = body.aspect_ratio.map(|it| it.name().to_owned());
    let keyframe = |it: wire_video::VideoKeyframe| KeyframeImage {
        image: it.image_url,
        frame: it.frame_index,
    };
    let element = |it: wire_video::VideoElement| VideoElement {
        frontal_image: it.frontal_image_url,
        reference_images: it.reference_image_urls.unwrap_or_default(),
        video: it.video_url,
    };
    Ok(VideoRequest {
        prompt: body.prompt,
        negative_prompt: body.negative_prompt.filter(|it| !it.is_empty()),
        duration_s: body.duration.seconds(),
        aspect_ratio: aspect_ratio.or_else(|| spec.aspect_ratios.first().cloned()),
        resolution,
        upscale_factor: body.upscale_factor,
        has_audio: spec.audio_configurable.then(|| body.audio.unwrap_or(true)),
        image: body.image_url,
        end_image: body.end_image_url,
        audio: body.audio_url,
        video: body.video_url,
        reference_images: body.reference_image_urls.unwrap_or_default(),
        reference_videos: body.reference_video_urls.unwrap_or_default(),
        reference_audios: body.reference_audio_urls.unwrap_or_default(),
        scene_images: body.scene_image_urls.unwrap_or_default(),
        elements: body.elements.unwrap_or_default().into_iter().map(element).collect(),
        keyframes: body.keyframes.unwrap_or_default().into_iter().map(keyframe).collect(),
        reference_documents: body.reference_document_urls.unwrap_or_default(),
        reference_task: body.omni_reference_task_type.map(|it| it.short_name().to_owned()),
        seed: 0,
    })
}

/// All file URLs of the request, data URLs included.
pub(super) fn list_urls(body: &VideoQueueRequest) -> Vec<&str> {
    list_files(body).into_iter().map(|given| given.file).collect()
}

pub(super) fn check_duration(
    asked: VideoDuration,
    spec: &VideoSpec,
    faults: &mut ValidationFaults,
) {
    if !spec.durations.iter().any(|it| it == asked.name()) {
        let made = spec.durations.join(", ");
        faults.at(["duration"]).push(format!("This model supports the durations {made}"));
    }
}

/// The requested resolution, or the model's first.
pub(super) fn choose_resolution(
    asked: Option<Resolution>,
    spec: &VideoSpec,
    faults: &mut ValidationFaults,
) -> Option<String> {
    let Some(asked) = asked else { return spec.resolutions.first().cloned() };
    if spec.resolutions.is_empty() {
        faults.at(["resolution"]).push("This model has no resolutions to choose from");
    } else if !spec.resolutions.iter().any(|it| it == asked.name()) {
        let made = spec.resolutions.join(", ");
        faults.at(["resolution"]).push(format!("This model has the resolutions {made}"));
    }
    Some(asked.name().to_owned())
}

pub(super) fn has_audio(asked: Option<bool>, spec: &VideoSpec) -> bool {
    spec.audio && asked.unwrap_or(true)
}

fn check_choices(body: &VideoQueueRequest, spec: &VideoSpec, faults: &mut ValidationFaults) {
    let most = spec.prompt_characters_max;
    if most < body.prompt.chars().count() as u64 {
        faults.at(["prompt"]).push(format!("This model takes at most {most} characters"));
    }
    let ratios = || spec.aspect_ratios.join(", ");
    match body.aspect_ratio {
        Some(_) if spec.aspect_ratios.is_empty() => {
            faults.at(["aspect_ratio"]).push("This model has no aspect ratios to choose from");
        }
        Some(asked) if !spec.aspect_ratios.iter().any(|it| it == asked.name()) => {
            faults.at(["aspect_ratio"]).push(format!("This model has the ratios {}", ratios()));
        }
        _ => {}
    }
    let is_enlarging = spec.resolutions.iter().any(|it| it == "2x" || it == "4x");
    if let Some(factor) = body.upscale_factor {
        if !is_enlarging {
            faults.at(["upscale_factor"]).push("This model does not upscale videos");
        } else if factor == 3 {
            faults.at(["upscale_factor"]).push("Choose 1, 2 or 4");
        }
    }
    if body.audio.is_some() && !spec.audio_configurable {
        faults
            .at(["audio"])
            .push("The sound of this model cannot be turned off or on; leave the field out");
    }
    let consent = body.consents.as_ref().and_then(|it| it.seedance.as_ref());
    let is_refused = |it: &wire_video::SeedanceConsent| {
        !(it.confirmed_terms_and_privacy
            && it.confirmed_legal_right
            && it.confirmed_screening_acknowledged)
    };
    if consent.is_some_and(is_refused) {
        faults.at(["consents", "seedance"]).push("Each must be confirmed");
    }
}

/// Checks that required inputs are present, and that unsupported ones are not.
fn check_starts(body: &VideoQueueRequest, spec: &VideoSpec, faults: &mut ValidationFaults) {
    if spec.kind == VideoKind::ImageToVideo && body.image_url.is_none() {
        faults.at(["image_url"]).push("This model starts from a picture");
    }
    let any = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
    let takes_pictures = spec.kind != VideoKind::TextToVideo;
    let has_elements = body.elements.as_ref().is_some_and(|list| !list.is_empty());
    let mut gate = |field: &'static str, is_given: bool, is_taken: bool| {
        if is_given && !is_taken {
            faults.at([field]).push(format!("This model does not take `{field}`"));
        }
    };
    gate("image_url", body.image_url.is_some(), spec.takes_pictures());
    gate("end_image_url", body.end_image_url.is_some(), takes_pictures);
    gate("elements", has_elements, takes_pictures);
    gate("scene_image_urls", any(&body.scene_image_urls), takes_pictures);
    gate("audio_url", body.audio_url.is_some(), spec.audio_input);
    gate("video_url", body.video_url.is_some(), spec.video_input);
    gate("reference_video_urls", any(&body.reference_video_urls), spec.video_input);
    gate("reference_audio_urls", any(&body.reference_audio_urls), spec.per_reference_audio);
    let has_reference = any(&body.reference_image_urls) || any(&body.reference_video_urls);
    if any(&body.reference_audio_urls) && !has_reference {
        let message = "Audio references require a reference image or a reference video";
        faults.at(["reference_audio_urls"]).push(message);
    }
}

/// Checks that keyframes lie within the video, each frame at most once.
fn check_keyframes(body: &VideoQueueRequest, spec: &VideoSpec, faults: &mut ValidationFaults) {
    let keyframes = body.keyframes.as_deref().unwrap_or_default();
    if !keyframes.is_empty() && spec.kind == VideoKind::TextToVideo {
        faults.at(["keyframes"]).push("This model does not take `keyframes`");
    }
    let last = body.duration.seconds().map(|seconds| seconds * FRAMES_PER_SECOND);
    for (index, keyframe) in keyframes.iter().enumerate() {
        let path = [PathStep::from("keyframes"), index.into(), "frame_index".into()];
        let frame = keyframe.frame_index;
        if let Some(last) = last.filter(|last| *last < u64::from(frame)) {
            faults.at(path).push(format!("Must be at most {last} for this duration"));
        } else if keyframes[..index].iter().any(|it| it.frame_index == frame) {
            faults.at(path).push("Another keyframe has the same frame");
        }
    }
    let any = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
    let has_reference = any(&body.reference_image_urls)
        || any(&body.reference_video_urls)
        || any(&body.reference_document_urls);
    if body.omni_reference_task_type.is_some() && !has_reference {
        let message = "This field needs references; send some, or leave it out";
        faults.at(["omni_reference_task_type"]).push(message);
    }
}

fn list_files(body: &VideoQueueRequest) -> Vec<SentFile<'_>> {
    let single = [
        ("image_url", FileKind::Frame, &body.image_url),
        ("end_image_url", FileKind::Frame, &body.end_image_url),
        ("audio_url", FileKind::Audio, &body.audio_url),
        ("video_url", FileKind::Video, &body.video_url),
    ];
    let lists = [
        ("reference_image_urls", FileKind::Picture, &body.reference_image_urls),
        ("reference_video_urls", FileKind::Video, &body.reference_video_urls),
        ("reference_audio_urls", FileKind::Audio, &body.reference_audio_urls),
        ("scene_image_urls", FileKind::Picture, &body.scene_image_urls),
        ("reference_document_urls", FileKind::Document, &body.reference_document_urls),
    ];
    let mut found = Vec::new();
    for (field, kind, file) in single {
        found.extend(file.as_deref().map(|file| SentFile { path: vec![field.into()], kind, file }));
    }
    for (field, kind, list) in lists {
        for (index, file) in list.iter().flatten().enumerate() {
            found.push(SentFile { path: vec![field.into(), index.into()], kind, file });
        }
    }
    for (index, keyframe) in body.keyframes.iter().flatten().enumerate() {
        let path = vec!["keyframes".into(), index.into(), "image_url".into()];
        found.push(SentFile { path, kind: FileKind::Picture, file: &keyframe.image_url });
    }
    for (index, element) in body.elements.iter().flatten().enumerate() {
        let at = |field: &'static str| vec![PathStep::from("elements"), index.into(), field.into()];
        let picture = element.frontal_image_url.as_deref();
        let path = at("frontal_image_url");
        found.extend(picture.map(|file| SentFile { path, kind: FileKind::Picture, file }));
        let path = at("video_url");
        let video = element.video_url.as_deref();
        found.extend(video.map(|file| SentFile { path, kind: FileKind::Video, file }));
        for (number, file) in element.reference_image_urls.iter().flatten().enumerate() {
            let mut path = at("reference_image_urls");
            path.push(number.into());
            found.push(SentFile { path, kind: FileKind::Picture, file });
        }
    }
    found
}

fn file_fault(given: &SentFile<'_>, hosts: &CheckedHosts, takes_addresses: bool) -> Option<String> {
    let checked = match given.kind {
        FileKind::Frame | FileKind::Picture => {
            media::check_picture(given.file).map_err(|fault| fault.to_string())
        }
        FileKind::Video => media::check_video(given.file).map_err(|fault| fault.to_string()),
        FileKind::Audio => check_audio(given.file),
        FileKind::Document => {
            media::parse_source(given.file).map(drop).map_err(|fault| fault.to_string())
        }
    };
    if let Err(fault) = checked {
        return Some(fault);
    }
    let is_address = media::parse_host(given.file).is_some();
    let is_fetched_here = matches!(given.kind, FileKind::Frame);
    if is_address && !takes_addresses && !is_fetched_here {
        return Some(
            "This model's engine does not download files; send a data URL instead.".to_owned(),
        );
    }
    hosts.fault(given.file).map(str::to_owned)
}

fn check_audio(file: &str) -> Result<(), String> {
    let source = media::parse_source(file).map_err(|fault| fault.to_string())?;
    let media::MediaSource::Inline(inline) = source else { return Ok(()) };
    if !AUDIO_TYPES.contains(&inline.media_type.as_str()) {
        return Err("Its media type must be audio/wav or audio/mpeg.".to_owned());
    }
    let bytes = inline.decode_bytes().map_err(|fault| fault.to_string())?;
    if AUDIO_BYTES_MAX < bytes.len() {
        return Err("It exceeds the maximum allowed size of 15 MB.".to_owned());
    }
    Ok(())
}

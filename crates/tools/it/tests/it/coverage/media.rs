//! Example calls of the operations for images, queues, the web and characters.

use axum::http::Method;
use serde_json::{Value, json};

use super::{Content, Example, Sent, example, get, send};
use crate::{audio_queue, augment, characters, image_tools, images, video_queue};

pub(super) fn pictures() -> Vec<Example> {
    let post = |path, body| send(Method::POST, path, body);
    let picture = images::base64(&images::png(256, 256));
    let without_prompt = json!({"image": picture});
    let edit = json!({"image": picture, "prompt": "x"});
    vec![
        example("list_image_styles", get("/image/styles"), None),
        example(
            "generate_image",
            post(images::PATH, json!({"model": "default", "prompt": "a fox"})),
            Some(post(images::PATH, json!({"model": "default", "prompt": ""}))),
        ),
        example(
            "create_image",
            post("/images/generations", json!({"prompt": "a fox"})),
            Some(post("/images/generations", json!({"prompt": "a fox", "n": 2}))),
        ),
        example(
            "edit_image",
            post("/image/edit", edit.clone()),
            Some(post("/image/edit", without_prompt.clone())),
        ),
        example(
            "multi_edit_image",
            post("/image/multi-edit", json!({"images": [picture], "prompt": "x"})),
            Some(post("/image/multi-edit", json!({"images": [], "prompt": "x"}))),
        ),
        example(
            "create_image_edit",
            post("/images/edits", edit),
            Some(post("/images/edits", without_prompt)),
        ),
        example(
            "create_image_variation",
            post("/images/variations", json!({"image": picture})),
            Some(post("/images/variations", json!({"image": "junk"}))),
        ),
        example(
            "upscale_image",
            post(image_tools::UPSCALE, json!({"image": picture})),
            Some(post(image_tools::UPSCALE, json!({"image": picture, "scale": 9}))),
        ),
        example(
            "remove_image_background",
            post(image_tools::CUT_OUT, json!({"image": picture})),
            Some(post(image_tools::CUT_OUT, json!({}))),
        ),
    ]
}

pub(super) fn queues() -> Vec<Example> {
    let post = |path: &'static str, body: Value| send(Method::POST, path, body);
    let quoted = |duration: Value| json!({"model": "ace-step-15", "duration_seconds": duration});
    let clip = |duration: &str| json!({"model": "wan-2-7", "duration": duration});
    let music = |id: &str| json!({"model": "ace-step-15", "queue_id": id});
    let video = |id: &str| json!({"model": "wan-2-7", "queue_id": id});
    let delete = |path| Sent { method: Method::DELETE, path, body: Content::Nothing };
    let pair =
        |operation, path, good, bad| example(operation, post(path, good), Some(post(path, bad)));
    let unlinked = "/media/x?expires=soon";
    vec![
        pair("quote_audio", "/audio/quote", quoted(json!(60)), quoted(json!("x"))),
        pair("queue_audio", "/audio/queue", audio_queue::song(), json!({"prompt": "x"})),
        pair("retrieve_audio", "/audio/retrieve", music("{music}"), music("x")),
        pair("complete_audio", "/audio/complete", music("{music}"), music("x")),
        pair("quote_video", "/video/quote", clip("5s"), clip("5 seconds")),
        pair("queue_video", "/video/queue", video_queue::clip(), json!({"prompt": "x"})),
        pair("retrieve_video", "/video/retrieve", video("{video}"), video("x")),
        pair("complete_video", "/video/complete", video("{video}"), video("x")),
        example("download_media", get("{link}"), Some(get(unlinked))),
        example("revoke_media", delete("{link}"), Some(delete(unlinked))),
    ]
}

pub(super) fn augment_examples() -> Vec<Example> {
    let ask = |path, body| send(Method::POST, path, body);
    let parse =
        |file| Sent { method: Method::POST, path: augment::PARSE, body: Content::File(file) };
    vec![
        example(
            "scrape_page",
            ask(augment::SCRAPE, json!({"url": "http://site.example.com/page"})),
            Some(ask(augment::SCRAPE, json!({"url": 1}))),
        ),
        example(
            "search_web",
            ask(augment::SEARCH, json!({"query": "ferries"})),
            Some(ask(augment::SEARCH, json!({"query": ""}))),
        ),
        example("parse_document", parse(b"A text."), Some(parse(b"\0\0"))),
    ]
}

pub(super) fn character_examples() -> Vec<Example> {
    let card = || characters::card("Another", &json!({}));
    let managed = "/admin/characters/mara";
    vec![
        example("list_characters", get("/characters"), Some(get("/characters?limit=0"))),
        example("get_character", get("/characters/mara"), Some(get("/characters/%ff"))),
        example(
            "get_character_photo",
            get("/characters/mara/photo"),
            Some(get("/characters/%ff/photo")),
        ),
        example(
            "list_character_reviews",
            get("/characters/mara/reviews"),
            Some(get("/characters/mara/reviews?page=0")),
        ),
        example(
            "create_character_review",
            send(Method::POST, "/characters/mara/reviews", json!({"rating": 5})),
            Some(send(Method::POST, "/characters/mara/reviews", json!({"rating": 0}))),
        ),
        example(
            "list_managed_characters",
            get("/admin/characters"),
            Some(get("/admin/characters?limit=0")),
        ),
        example(
            "create_character",
            send(Method::POST, "/admin/characters", card()),
            Some(send(Method::POST, "/admin/characters", json!({"card": {}}))),
        ),
        example("get_managed_character", get(managed), Some(get("/admin/characters/%ff"))),
        example(
            "update_character",
            send(Method::PATCH, managed, json!({"featured": true})),
            Some(send(Method::PATCH, managed, json!({"featured": 1}))),
        ),
        example(
            "delete_character",
            send(Method::DELETE, managed, json!({})),
            Some(send(Method::DELETE, "/admin/characters/%ff", json!({}))),
        ),
    ]
}

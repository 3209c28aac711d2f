//! Checks images, audio, videos and documents in a chat.
//!
//! They are checked once for all models that may get them, because checking decodes large data.

use domain::media;
use http_frame::hosts::CheckedHosts;
use schema_check::{PathStep, ValidationFaults};
use wire::chat::{ContentPart, Message, MessageContent};

use crate::endpoints::document::{InlineFile, describe_failed_check};

/// Every fault, each at its part.
pub(super) fn check_media(messages: &[Message], hosts: &CheckedHosts) -> ValidationFaults {
    let mut faults = ValidationFaults::default();
    for (index, message) in messages.iter().enumerate() {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for (position, part) in parts.iter().enumerate() {
            let Some(told) = find_part_fault(part, hosts) else { continue };
            let (messages, content) = (PathStep::from("messages"), PathStep::from("content"));
            let place = [messages, index.into(), content, position.into()];
            faults.at(place).push(told);
        }
    }
    faults
}

/// Replaces every URL by its parsed form, so that the engine fetches what was checked.
pub(super) fn normalise_urls(messages: &mut [Message]) {
    for message in messages {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for part in parts {
            match part {
                ContentPart::ImageUrl { image_url, .. } => media::normalise_url(&mut image_url.url),
                ContentPart::VideoUrl { video_url, .. } => media::normalise_url(&mut video_url.url),
                ContentPart::File(part) => media::normalise_url(&mut part.file.file_data),
                ContentPart::Text(_) | ContentPart::InputAudio { .. } => {}
            }
        }
    }
}

/// The URLs of the user's images, videos and documents, data URLs included.
pub(super) fn list_urls(messages: &[Message]) -> impl Iterator<Item = &str> {
    let parts = messages.iter().flat_map(|message| match message {
        Message::User { content: MessageContent::Parts(parts), .. } => parts.as_slice(),
        _ => &[],
    });
    parts.filter_map(part_url)
}

/// The documents sent as data URLs, moved out of the request.
pub(super) fn take_inline_files(messages: &mut [Message]) -> Vec<InlineFile> {
    let mut files = Vec::new();
    for (index, message) in messages.iter_mut().enumerate() {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for (position, part) in parts.iter_mut().enumerate() {
            let ContentPart::File(part) = part else { continue };
            files.extend(InlineFile::take((index, position), &mut part.file.file_data));
        }
    }
    files
}

fn find_part_fault(part: &ContentPart, hosts: &CheckedHosts) -> Option<String> {
    let (what, checked) = match part {
        ContentPart::ImageUrl { image_url, .. } => ("image", media::check_picture(&image_url.url)),
        ContentPart::VideoUrl { video_url, .. } => ("video", media::check_video(&video_url.url)),
        ContentPart::InputAudio { input_audio, .. } => {
            ("audio", media::decode_base64(&input_audio.data).map(drop))
        }
        // The content of a document is checked when it is read.
        ContentPart::File(_) => ("file", Ok(())),
        ContentPart::Text(_) => return None,
    };
    if let Err(fault) = checked {
        return Some(describe_failed_check(what, fault));
    }
    part_url(part)
        .and_then(|address| hosts.fault(address))
        .map(|fault| describe_failed_check(what, fault))
}

fn part_url(part: &ContentPart) -> Option<&str> {
    match part {
        ContentPart::ImageUrl { image_url, .. } => Some(&image_url.url),
        ContentPart::VideoUrl { video_url, .. } => Some(&video_url.url),
        ContentPart::File(part) => Some(&part.file.file_data),
        ContentPart::Text(_) | ContentPart::InputAudio { .. } => None,
    }
}

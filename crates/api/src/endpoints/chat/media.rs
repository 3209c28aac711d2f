//! Checks images, audio, videos and documents in a chat.
//!
//! They are checked once for all models that may get them, because checking decodes large data.

use domain::media;
use schema_check::{Faults, PathStep};
use wire::chat::{ContentPart, Message, MessageContent};

use crate::endpoints::document::{File, not_passed};
use crate::hosts::Judged;

/// Every fault, each at its part.
pub(super) fn faults(messages: &[Message], hosts: &Judged) -> Faults {
    let mut faults = Faults::default();
    for (index, message) in messages.iter().enumerate() {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for (position, part) in parts.iter().enumerate() {
            let Some(told) = fault(part, hosts) else { continue };
            let (messages, content) = (PathStep::from("messages"), PathStep::from("content"));
            let place = [messages, index.into(), content, position.into()];
            faults.at(place).push(told);
        }
    }
    faults
}

/// Replaces every URL by its parsed form, so that the engine fetches what was checked.
pub(super) fn normalise(messages: &mut [Message]) {
    for message in messages {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for part in parts {
            match part {
                ContentPart::ImageUrl { image_url, .. } => media::normalise(&mut image_url.url),
                ContentPart::VideoUrl { video_url, .. } => media::normalise(&mut video_url.url),
                ContentPart::File(part) => media::normalise(&mut part.file.file_data),
                ContentPart::Text(_) | ContentPart::InputAudio { .. } => {}
            }
        }
    }
}

/// The URLs of the user's images, videos and documents, data URLs included.
pub(super) fn addresses(messages: &[Message]) -> impl Iterator<Item = &str> {
    let parts = messages.iter().flat_map(|message| match message {
        Message::User { content: MessageContent::Parts(parts), .. } => parts.as_slice(),
        _ => &[],
    });
    parts.filter_map(address)
}

/// The documents sent as data URLs, moved out of the request.
pub(super) fn taken(messages: &mut [Message]) -> Vec<File> {
    let mut files = Vec::new();
    for (index, message) in messages.iter_mut().enumerate() {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for (position, part) in parts.iter_mut().enumerate() {
            let ContentPart::File(part) = part else { continue };
            files.extend(File::take((index, position), &mut part.file.file_data));
        }
    }
    files
}

fn fault(part: &ContentPart, hosts: &Judged) -> Option<String> {
    let (what, checked) = match part {
        ContentPart::ImageUrl { image_url, .. } => ("image", media::check_picture(&image_url.url)),
        ContentPart::VideoUrl { video_url, .. } => ("video", media::check_video(&video_url.url)),
        ContentPart::InputAudio { input_audio, .. } => {
            ("audio", media::decode(&input_audio.data).map(drop))
        }
        // The content of a document is checked when it is read.
        ContentPart::File(_) => ("file", Ok(())),
        ContentPart::Text(_) => return None,
    };
    if let Err(fault) = checked {
        return Some(not_passed(what, fault));
    }
    address(part).and_then(|address| hosts.fault(address)).map(|fault| not_passed(what, fault))
}

fn address(part: &ContentPart) -> Option<&str> {
    match part {
        ContentPart::ImageUrl { image_url, .. } => Some(&image_url.url),
        ContentPart::VideoUrl { video_url, .. } => Some(&video_url.url),
        ContentPart::File(part) => Some(&part.file.file_data),
        ContentPart::Text(_) | ContentPart::InputAudio { .. } => None,
    }
}

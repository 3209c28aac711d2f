//! Images and documents of a translated request: their checks, and the texts of documents.

use domain::media;
use engine::{ChatContent, ChatContentPart, ChatMessage, ChatRequest, PartKind};
use http_frame::hosts::CheckedHosts;
use schema_check::ValidationFaults;
use wire::chat::FileData;

use super::fields::FieldPath;
use crate::endpoints::document::{
    InlineFile, PartPosition, RequestDocuments, describe_failed_check,
};

/// One image or document, with its place in the chat.
struct MediaPart<'a> {
    position: PartPosition,
    part: &'a mut ChatContentPart,
}

/// Replaces every URL by its parsed form, so that the engine fetches what was checked.
pub(super) fn normalise_urls(chat: &mut ChatRequest) {
    for MediaPart { part, .. } in list_media(chat) {
        if let PartKind::Image { url, .. } | PartKind::Document { url, .. } = &mut part.kind {
            media::normalise_url(url);
        }
    }
}

/// The URLs of all images and documents, data URLs included.
pub(super) fn list_urls(chat: &ChatRequest) -> impl Iterator<Item = &str> {
    chat.messages.iter().flat_map(user_parts).filter_map(|part| match &part.kind {
        PartKind::Image { url, .. } | PartKind::Document { url, .. } => Some(url.as_str()),
        _ => None,
    })
}

/// The documents sent as data, moved out of the request.
pub(super) fn take_inline_files(chat: &mut ChatRequest) -> Vec<InlineFile> {
    let documents = list_media(chat).filter_map(|MediaPart { position, part }| {
        let PartKind::Document { url, .. } = &mut part.kind else { return None };
        InlineFile::take(position, url)
    });
    documents.collect()
}

/// Every fault of an image or of an address, at its block.
pub(super) fn check_media(
    chat: &ChatRequest,
    paths: &[FieldPath],
    hosts: &CheckedHosts,
) -> ValidationFaults {
    let mut faults = ValidationFaults::default();
    let parts = chat.messages.iter().flat_map(user_parts).filter(|part| is_media(part));
    for (part, path) in parts.zip(paths) {
        let (what, url, checked) = match &part.kind {
            PartKind::Image { url, .. } => ("image", url, media::check_picture(url)),
            PartKind::Document { url, .. } => ("file", url, Ok(())),
            _ => continue,
        };
        if let Err(fault) = checked {
            path.push_fault(&mut faults, describe_failed_check(what, fault));
        } else if let Some(fault) = hosts.fault(url) {
            path.push_fault(&mut faults, describe_failed_check(what, fault));
        }
    }
    faults
}

/// Replaces documents by what the model can read.
pub(super) fn place_documents(
    chat: &mut ChatRequest,
    documents: &RequestDocuments,
    reads_documents: bool,
    paths: &[FieldPath],
) -> ValidationFaults {
    let mut faults = ValidationFaults::default();
    for (MediaPart { position, part }, path) in list_media(chat).zip(paths) {
        let PartKind::Document { url, name } = &mut part.kind else { continue };
        let file = FileData { file_data: std::mem::take(url), filename: name.take() };
        match documents.prompt_part(position, &file, reads_documents) {
            Ok(kind) => part.kind = kind,
            Err(problem) => path.push_fault(&mut faults, problem),
        }
    }
    faults
}

fn is_media(part: &ChatContentPart) -> bool {
    matches!(part.kind, PartKind::Image { .. } | PartKind::Document { .. })
}

pub(super) fn is_image(part: &ChatContentPart) -> bool {
    matches!(part.kind, PartKind::Image { .. })
}

/// Only messages of the user have parts that are not text.
pub(super) fn user_parts(message: &ChatMessage) -> &[ChatContentPart] {
    match message {
        ChatMessage::User { content: ChatContent::Parts(parts), .. } => parts,
        _ => &[],
    }
}

fn list_media(chat: &mut ChatRequest) -> impl Iterator<Item = MediaPart<'_>> {
    chat.messages.iter_mut().enumerate().flat_map(|(index, message)| {
        let parts = match message {
            ChatMessage::User { content: ChatContent::Parts(parts), .. } => parts.as_mut_slice(),
            _ => &mut [],
        };
        let parts = parts.iter_mut().enumerate().filter(|(_, part)| is_media(part));
        parts.map(move |(number, part)| MediaPart { position: (index, number), part })
    })
}

//! Pictures, recordings, videos and documents in a chat: whether they may be passed on.
//!
//! They are checked once, whichever models may get them: the largest are decoded for it.

use std::fmt::Display;

use domain::media::{self, MediaFault};
use shape::{Faults, Step};
use wire::chat::{ContentPart, Message, MessageContent};

/// Every fault at once, each at its part.
pub(super) fn faults(messages: &[Message]) -> Faults {
    let mut faults = Faults::default();
    for (index, message) in messages.iter().enumerate() {
        let Message::User { content: MessageContent::Parts(parts), .. } = message else { continue };
        for (position, part) in parts.iter().enumerate() {
            let Some((what, fault)) = fault(part) else { continue };
            let (messages, content) = (Step::from("messages"), Step::from("content"));
            let place = [messages, index.into(), content, position.into()];
            faults.at(place).push(told(what, fault));
        }
    }
    faults
}

/// What a caller is told of something that does not pass.
pub(in crate::endpoints) fn told(what: &str, fault: impl Display) -> String {
    format!("Supplied {what} did not pass validation checks. {fault}")
}

fn fault(part: &ContentPart) -> Option<(&'static str, MediaFault)> {
    let (what, checked) = match part {
        ContentPart::ImageUrl { image_url, .. } => ("image", media::check_picture(&image_url.url)),
        ContentPart::VideoUrl { video_url, .. } => ("video", media::check_video(&video_url.url)),
        ContentPart::InputAudio { input_audio, .. } => {
            ("audio", media::decode(&input_audio.data).map(drop))
        }
        // A document is checked when it is read.
        ContentPart::Text(_) | ContentPart::File(_) => return None,
    };
    checked.err().map(|fault| (what, fault))
}

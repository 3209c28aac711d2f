//! Checks a request against the capabilities of a model, and adapts it to the model.

use domain::catalogue::{Capability, TextSpec};
use engine::{ChatRequest, Content, Message, Part, PartKind, Reasoning, ResponseFormat};
use schema_check::{Faults, PathStep};

use super::turns::StandIn;

/// The request for one model, or every reason why the model cannot take it.
pub(super) fn fit(
    chat: &ChatRequest,
    stand_ins: &[StandIn],
    text: &TextSpec,
) -> Result<ChatRequest, Faults> {
    let mut faults = faults(chat, text);
    let mut chat = chat.clone();
    if !text.has(Capability::Documents) {
        stand_in(&mut chat, stand_ins, &mut faults);
    }
    faults.into_result()?;
    Ok(fitted(chat, text))
}

/// Replaces documents by parts that the model can read.
fn stand_in(chat: &mut ChatRequest, stand_ins: &[StandIn], faults: &mut Faults) {
    let parts = chat.messages.iter_mut().flat_map(|message| match message {
        Message::User { content: Content::Parts(parts), .. } => parts.as_mut_slice(),
        _ => &mut [],
    });
    let documents = parts.filter(|part| matches!(part.kind, PartKind::Document { .. }));
    for (part, stand_in) in documents.zip(stand_ins) {
        match stand_in {
            Ok(kind) => part.kind = kind.clone(),
            Err(problem) => faults.at(["input"]).push(problem.as_str()),
        }
    }
}

/// Every fault, each at its field.
fn faults(chat: &ChatRequest, text: &TextSpec) -> Faults {
    let mut faults = Faults::default();
    if text.has(Capability::E2ee) {
        let message = "This model is for chats encrypted end to end; use /chat/completions";
        faults.at(["model"]).push(message);
    }
    let images = images(chat, text);
    if 0 < images && !text.has(Capability::Vision) {
        faults.at(["input"]).push("This model does not support images");
    }
    if let Some(max) = text.images_max
        && max < images
    {
        let message = format!("This model takes at most {max} images in a request");
        faults.at(["input"]).push(message);
    }
    if !chat.tools.is_empty() && !text.has(Capability::Tools) {
        faults.at(["tools"]).push("This model does not support tools");
    }
    if chat.x_search.is_some() && !text.has(Capability::XSearch) {
        faults.at(["tools"]).push("This model does not support X search");
    }
    let is_text = matches!(chat.response_format, ResponseFormat::Text);
    if !is_text && !text.has(Capability::JsonSchema) {
        let place = [PathStep::from("text"), PathStep::from("format")];
        faults.at(place).push("This model does not support structured answers");
    }
    if let (Some(asked), Some(max)) = (chat.completion_tokens_max, text.max_completion_tokens)
        && max < asked
    {
        let message = format!("This model answers with at most {max} tokens");
        faults.at(["max_output_tokens"]).push(message);
    }
    faults
}

/// Removes reasoning options for models without reasoning, and all but the latest images for models
/// without `MultipleImages`.
fn fitted(mut chat: ChatRequest, text: &TextSpec) -> ChatRequest {
    if !text.has(Capability::Reasoning) {
        chat.reasoning = Reasoning::default();
    }
    if !text.has(Capability::MultipleImages) {
        let latest = chat.messages.iter().rposition(|message| 0 < images_in(message));
        for message in chat.messages.iter_mut().take(latest.unwrap_or(0)) {
            drop_images(message);
        }
    }
    chat
}

/// The number of images that the model would get.
fn images(chat: &ChatRequest, text: &TextSpec) -> u64 {
    let mut counts = chat.messages.iter().map(images_in).filter(|count| 0 < *count);
    if text.has(Capability::MultipleImages) {
        counts.sum()
    } else {
        counts.next_back().unwrap_or(0)
    }
}

fn images_in(message: &Message) -> u64 {
    let Message::User { content: Content::Parts(parts), .. } = message else { return 0 };
    u64::try_from(parts.iter().filter(|part| is_image(part)).count()).unwrap_or(u64::MAX)
}

fn drop_images(message: &mut Message) {
    if let Message::User { content: Content::Parts(parts), .. } = message {
        parts.retain(|part| !is_image(part));
    }
}

fn is_image(part: &Part) -> bool {
    matches!(part.kind, PartKind::Image { .. })
}

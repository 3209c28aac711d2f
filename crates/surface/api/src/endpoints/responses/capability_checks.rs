//! Checks a request against the capabilities of a model, and adapts it to the model.

use domain::catalogue::{TextCapability, TextSpec};
use engine::{
    ChatContent, ChatContentPart, ChatMessage, ChatRequest, ChatResponseFormat, PartKind,
    ReasoningParameters,
};
use schema_check::{PathStep, ValidationFaults};

use super::turns::DocumentReplacement;

/// The request for one model, or every reason why the model cannot take it.
pub(super) fn fit_to_model(
    chat: &ChatRequest,
    stand_ins: &[DocumentReplacement],
    text: &TextSpec,
) -> Result<ChatRequest, ValidationFaults> {
    let mut faults = check_capabilities(chat, text);
    let mut chat = chat.clone();
    if !text.has_capability(TextCapability::Documents) {
        replace_documents(&mut chat, stand_ins, &mut faults);
    }
    faults.into_result()?;
    Ok(drop_unsupported(chat, text))
}

/// Replaces documents by parts that the model can read.
fn replace_documents(
    chat: &mut ChatRequest,
    stand_ins: &[DocumentReplacement],
    faults: &mut ValidationFaults,
) {
    let parts = chat.messages.iter_mut().flat_map(|message| match message {
        ChatMessage::User { content: ChatContent::Parts(parts), .. } => parts.as_mut_slice(),
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
fn check_capabilities(chat: &ChatRequest, text: &TextSpec) -> ValidationFaults {
    let mut faults = ValidationFaults::default();
    if text.has_capability(TextCapability::E2ee) {
        let message = "This model is for chats encrypted end to end; use /chat/completions";
        faults.at(["model"]).push(message);
    }
    let images = count_images(chat, text);
    if 0 < images && !text.has_capability(TextCapability::Vision) {
        faults.at(["input"]).push("This model does not support images");
    }
    if let Some(max) = text.images_max
        && max < images
    {
        let message = format!("This model takes at most {max} images in a request");
        faults.at(["input"]).push(message);
    }
    if !chat.tools.is_empty() && !text.has_capability(TextCapability::Tools) {
        faults.at(["tools"]).push("This model does not support tools");
    }
    if chat.x_search.is_some() && !text.has_capability(TextCapability::XSearch) {
        faults.at(["tools"]).push("This model does not support X search");
    }
    let is_text = matches!(chat.response_format, ChatResponseFormat::Text);
    if !is_text && !text.has_capability(TextCapability::JsonSchema) {
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
fn drop_unsupported(mut chat: ChatRequest, text: &TextSpec) -> ChatRequest {
    if !text.has_capability(TextCapability::Reasoning) {
        chat.reasoning = ReasoningParameters::default();
    }
    if !text.has_capability(TextCapability::MultipleImages) {
        let latest = chat.messages.iter().rposition(|message| 0 < count_message_images(message));
        for message in chat.messages.iter_mut().take(latest.unwrap_or(0)) {
            drop_images(message);
        }
    }
    chat
}

/// The number of images that the model would get.
fn count_images(chat: &ChatRequest, text: &TextSpec) -> u64 {
    let mut counts = chat.messages.iter().map(count_message_images).filter(|count| 0 < *count);
    if text.has_capability(TextCapability::MultipleImages) {
        counts.sum()
    } else {
        counts.next_back().unwrap_or(0)
    }
}

fn count_message_images(message: &ChatMessage) -> u64 {
    let ChatMessage::User { content: ChatContent::Parts(parts), .. } = message else { return 0 };
    u64::try_from(parts.iter().filter(|part| is_image(part)).count()).unwrap_or(u64::MAX)
}

fn drop_images(message: &mut ChatMessage) {
    if let ChatMessage::User { content: ChatContent::Parts(parts), .. } = message {
        parts.retain(|part| !is_image(part));
    }
}

fn is_image(part: &ChatContentPart) -> bool {
    matches!(part.kind, PartKind::Image { .. })
}

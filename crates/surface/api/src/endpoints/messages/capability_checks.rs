//! Checks a translated request against the capabilities of a model, and adapts it to the model.

use domain::catalogue::{TextCapability, TextSpec};
use engine::{ChatContent, ChatMessage, ChatRequest, ChatResponseFormat, ReasoningParameters};
use schema_check::ValidationFaults;

use super::media::{is_image, user_parts};

/// The longest answer of a model, at most its context.
pub(in crate::endpoints) fn answer_tokens_max(text: &TextSpec) -> u64 {
    text.max_completion_tokens.unwrap_or(text.context_tokens).min(text.context_tokens)
}

/// Cuts the answer to the model's bound.
pub(super) fn bound_answer(chat: &mut ChatRequest, text: &TextSpec) {
    let max = answer_tokens_max(text).max(1);
    chat.completion_tokens_max = Some(chat.completion_tokens_max.unwrap_or(max).min(max));
}

/// Every reason why the model cannot take the request, each at its field.
pub(super) fn check_capabilities(chat: &ChatRequest, text: &TextSpec) -> ValidationFaults {
    let mut faults = ValidationFaults::default();
    if text.has_capability(TextCapability::E2ee) {
        let message = "This model is for chats encrypted end to end; use /chat/completions";
        faults.at(["model"]).push(message);
    }
    let images = count_images(chat, text);
    if 0 < images && !text.has_capability(TextCapability::Vision) {
        faults.at(["messages"]).push("This model does not support images");
    }
    if let Some(max) = text.images_max
        && max < images
    {
        let message = format!("This model takes at most {max} images in a request");
        faults.at(["messages"]).push(message);
    }
    if !chat.tools.is_empty() && !text.has_capability(TextCapability::Tools) {
        faults.at(["tools"]).push("This model does not support tools");
    }
    let is_text = matches!(chat.response_format, ChatResponseFormat::Text);
    if !is_text && !text.has_capability(TextCapability::JsonSchema) {
        let message = "This model does not support structured answers";
        faults.at(["output_config", "format"]).push(message);
    }
    faults
}

/// Removes reasoning options for models without reasoning, and all but the latest images for models
/// without `MultipleImages`.
pub(super) fn drop_unsupported(chat: &mut ChatRequest, text: &TextSpec) {
    if !text.has_capability(TextCapability::Reasoning) {
        chat.reasoning = ReasoningParameters::default();
    }
    if text.has_capability(TextCapability::MultipleImages) {
        return;
    }
    let latest = chat.messages.iter().rposition(|message| 0 < count_message_images(message));
    for message in chat.messages.iter_mut().take(latest.unwrap_or(0)) {
        if let ChatMessage::User { content: ChatContent::Parts(parts), .. } = message {
            parts.retain(|part| !is_image(part));
        }
    }
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
    let images = user_parts(message).iter().filter(|part| is_image(part)).count();
    u64::try_from(images).unwrap_or(u64::MAX)
}

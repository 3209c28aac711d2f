//! The ids of responses and conversations as callers know them.

use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use ledger_core::OwnerId;
use store::conversation::{ConversationId, ConversationRecord};
use store::model_response::ResponseId;
use uuid::Uuid;

const RESPONSE: &str = "resp_";
const CONVERSATION: &str = "conv_";

pub(in crate::endpoints) fn response_name(id: ResponseId) -> String {
    format!("{RESPONSE}{}", id.0.simple())
}

pub(in crate::endpoints) fn conversation_name(id: ConversationId) -> String {
    format!("{CONVERSATION}{}", id.0.simple())
}

pub(in crate::endpoints) fn parse_response_id(name: &str) -> Result<ResponseId, Refusal> {
    let id = parse_id(name, RESPONSE).map(ResponseId);
    id.ok_or_else(|| refuse_unknown_response(name))
}

pub(in crate::endpoints) fn parse_conversation_id(name: &str) -> Result<ConversationId, Refusal> {
    let id = parse_id(name, CONVERSATION).map(ConversationId);
    id.ok_or_else(|| refuse_unknown_conversation(name))
}

/// Accepts 32 lower-case digits only, so that an id has one form.
fn parse_id(name: &str, prefix: &str) -> Option<Uuid> {
    let digits = name.strip_prefix(prefix)?;
    let id = Uuid::try_parse(digits).ok()?;
    (id.simple().to_string() == digits).then_some(id)
}

/// The same words for ids that never were, were deleted, or are another owner's.
pub(in crate::endpoints) fn refuse_unknown_response(name: &str) -> Refusal {
    let name: String = name.chars().take(80).collect();
    Refusal::not_found("Response not found", format!("Response with id '{name}' not found."))
}

pub(in crate::endpoints) fn refuse_unknown_conversation(name: &str) -> Refusal {
    let name: String = name.chars().take(80).collect();
    let message = format!("Conversation with id '{name}' not found.");
    Refusal::not_found("Conversation not found", message)
}

/// A conversation of an owner that has not expired.
pub(in crate::endpoints) async fn find_conversation(
    app: &AppState,
    owner: OwnerId,
    id: ConversationId,
) -> Result<ConversationRecord, Refusal> {
    let found = app.store.find_conversation(owner, id).await.map_err(Refusal::unavailable)?;
    let now = app.clock.now();
    let found = found.filter(|it| now < it.expires);
    found.ok_or_else(|| refuse_unknown_conversation(&conversation_name(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_form() {
        let id = ResponseId(Uuid::from_u128(0xabc));
        let name = response_name(id);
        assert_eq!(parse_response_id(&name).unwrap(), id);
        let digits = &name[RESPONSE.len()..];
        for wrong in [
            digits.to_owned(),
            format!("conv_{digits}"),
            format!("resp_{}", digits.to_uppercase()),
            format!("resp_{}", id.0),
            "resp_".to_owned(),
            format!("resp_{digits}0"),
        ] {
            assert!(parse_response_id(&wrong).is_err(), "{wrong}");
        }
    }
}

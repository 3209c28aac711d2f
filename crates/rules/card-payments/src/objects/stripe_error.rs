//! An error of Stripe's API.

use super::STRIPE_ANSWER_BYTES_MAX;
use crate::lenient::{StripeObject, parse_json};
use crate::stripe_id::StripeId;

const TEXT_CHARACTERS_MAX: usize = 100;
const MESSAGE_CHARACTERS_MAX: usize = 500;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StripeError {
    /// The type, such as `card_error`.
    pub kind: String,
    pub code: Option<String>,
    pub decline_code: Option<String>,
    /// The PaymentIntent that was made and not paid.
    pub intent: Option<StripeId>,
    /// For the operator's log.
    pub message: String,
}

impl StripeError {
    /// Reads the body of a failed request; empty if it has another form.
    pub fn parse(bytes: &[u8]) -> StripeError {
        let Ok(value) = parse_json(bytes, STRIPE_ANSWER_BYTES_MAX) else {
            return StripeError::default();
        };
        let Some(error) = value.get("error").and_then(|it| StripeObject::new("error", it).ok())
        else {
            return StripeError::default();
        };
        let cut = |text: &str, characters: usize| text.chars().take(characters).collect::<String>();
        let text = |field| error.text(field).map(|text| cut(text, TEXT_CHARACTERS_MAX));
        StripeError {
            kind: text("type").unwrap_or_default(),
            code: text("code"),
            decline_code: text("decline_code"),
            intent: error.reference("payment_intent"),
            message: cut(error.text("message").unwrap_or_default(), MESSAGE_CHARACTERS_MAX),
        }
    }
}

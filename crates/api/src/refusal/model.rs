//! Refusals of a model's name.

use domain::catalogue::Unresolved;

use crate::refusal::Refusal;

/// The refusal of a model name that cannot be resolved.
pub(crate) fn refuse_model(unresolved: Unresolved) -> Refusal {
    let message = unresolved.to_string();
    match unresolved {
        Unresolved::NotFound { .. } => Refusal::not_found("Model not found", message),
        Unresolved::Gone { .. } => Refusal::gone(message),
        Unresolved::WrongType { .. } => Refusal::bad_request("Invalid model specified", message),
        Unresolved::Offline { .. } => Refusal::model_offline(message),
        Unresolved::Restricted { .. } => Refusal::forbidden(message),
        Unresolved::NotPrivate { .. } => Refusal::not_private(message),
    }
}

//! Refusals of a model's name.

use domain::catalogue::ModelResolveError;

use crate::refusal::Refusal;

/// The refusal of a model name that cannot be resolved.
pub fn refuse_model(unresolved: ModelResolveError) -> Refusal {
    let message = unresolved.to_string();
    match unresolved {
        ModelResolveError::NotFound { .. } => Refusal::not_found("Model not found", message),
        ModelResolveError::Gone { .. } => Refusal::gone(message),
        ModelResolveError::WrongType { .. } => {
            Refusal::bad_request("Invalid model specified", message)
        }
        ModelResolveError::Offline { .. } => Refusal::model_offline(message),
        ModelResolveError::Restricted { .. } => Refusal::forbidden(message),
        ModelResolveError::NotPrivate { .. } => Refusal::not_private(message),
    }
}

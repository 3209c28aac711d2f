//! `/tee/*`: proofs that a model runs in a trusted execution environment.

pub(super) mod attestation;
mod quote;
pub(super) mod signature;

use domain::catalogue::{CatalogueModel, TextCapability, TextSpec};
use http_frame::refusal::Refusal;

/// Refuses models without attestation.
fn require_enclave(model: &CatalogueModel) -> Result<(), Refusal> {
    let is_attested = |text: &TextSpec| {
        text.has_capability(TextCapability::TeeAttestation)
            || text.has_capability(TextCapability::E2ee)
    };
    if model.text_spec().is_some_and(is_attested) {
        return Ok(());
    }
    let message = format!(
        "The model {} does not run in a trusted execution environment. Models that do have \
         supportsTeeAttestation in GET /models.",
        model.id
    );
    Err(Refusal::bad_request("Model has no attestation", message))
}

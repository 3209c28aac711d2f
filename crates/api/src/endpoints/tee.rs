//! `/tee/*`: proofs that a model runs in a trusted execution environment.

pub(super) mod attestation;
mod quote;
pub(super) mod signature;

use domain::catalogue::{Capability, Model, TextSpec};

use crate::refusal::Refusal;

/// Refuses models without attestation.
fn require_enclave(model: &Model) -> Result<(), Refusal> {
    let is_attested =
        |text: &TextSpec| text.has(Capability::TeeAttestation) || text.has(Capability::E2ee);
    if model.text().is_some_and(is_attested) {
        return Ok(());
    }
    let message = format!(
        "The model {} does not run in a trusted execution environment. Models that do have \
         supportsTeeAttestation in GET /models.",
        model.id
    );
    Err(Refusal::bad_request("Model has no attestation", message))
}

//! `GET /tee/attestation`: a fresh proof of the hardware that a model runs on.

use domain::catalogue::ModelType;
use domain::limits::tiers::LimitClass;
use engine::{EnclaveAttestation, EngineError};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::model_headers;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use moment::Clock;
use wire::tee::{AttestationQuery, AttestationReport};

use super::{quote, require_enclave};

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/tee/attestation", get_attestation)
        .tag("TEE")
        .summary("Get an attestation of a model's enclave")
        .limit(LimitClass::Attestation)
        .refuses(404, "The model does not exist; the message lists similar names")
        .refuses(410, "The model was removed and has no replacement")
        .refuses(502, "No enclave of the model returned an attestation")
        .build()
}

async fn get_attestation(
    app: SharedApp,
    call: ApiCall<AnyCaller, QueryParameters<AttestationQuery>>,
) -> Result<WithHeaders<AttestationReport>, Refusal> {
    let QueryParameters(query) = call.input;
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve_model(&query.model, ModelType::Text, call.now);
    let resolved = resolved.map_err(refuse_model)?;
    require_enclave(resolved.model)?;
    let engines = app.engines.attested_engines(resolved.model);
    let mut failure = EngineError::Misconfigured { cause: "no route to an enclave".to_owned() };
    for (index, engine) in engines.iter().enumerate() {
        let attestation = match engine.attest(&query.nonce).await {
            Ok(attestation) => attestation,
            Err(error) => {
                failure = error;
                continue;
            }
        };
        let asked = AttestationRequest {
            model: &resolved.model.id,
            nonce: &query.nonce,
            routes: index + 1,
        };
        let answer = WithHeaders::new(build_report(attestation, &asked, app.clock.as_ref()));
        return Ok(model_headers::write_model_headers(answer, &resolved));
    }
    Err(Refusal::attestation_failed(failure))
}

struct AttestationRequest<'a> {
    model: &'a str,
    nonce: &'a str,
    /// Routes tried, including the one that answered.
    routes: usize,
}

fn build_report(
    attestation: EnclaveAttestation,
    asked: &AttestationRequest<'_>,
    clock: &dyn Clock,
) -> AttestationReport {
    let started = clock.now();
    let mut checked = quote::check_quote(&attestation, asked.nonce, started);
    let took_ms = clock.now().since(started).as_millis();
    checked.verification_duration_ms = u64::try_from(took_ms).unwrap_or(u64::MAX);
    AttestationReport {
        verified: quote::is_verified(&checked),
        nonce: asked.nonce.to_owned(),
        model: asked.model.to_owned(),
        tee_provider: attestation.provider,
        intel_quote: attestation.intel_quote,
        nvidia_payload: attestation.nvidia_payload,
        signing_key: attestation.signing_key,
        signing_address: attestation.signing_address,
        signing_algo: "ecdsa",
        tee_hardware: "intel-tdx",
        upstream_model: attestation.model,
        nonce_source: "client",
        candidates_evaluated: asked.routes,
        candidates_available: attestation.enclaves,
        server_verification: checked,
    }
}

//! `GET /tee/signature`: an enclave's signature for one of its answers.

use domain::catalogue::ModelType;
use domain::limits::tiers::LimitClass;
use engine::EngineError;
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::AnyCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::QueryParameters;
use http_frame::model_headers;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use http_frame::reply::WithHeaders;
use wire::tee::{ExchangeSignature, SignatureQuery, SignatureReceipt, VerificationHint};

use super::require_enclave;

const HOW_TO_CHECK: &str = "Recover the signer of `text` (EIP-191) and compare it with the \
     signing_address of a fresh attestation.";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::get("/tee/signature", get_signature)
        .tag("TEE")
        .summary("Get the enclave's signature of an answer")
        .limit(LimitClass::Attestation)
        .refuses(404, "The model does not exist; the message lists similar names")
        .refuses(410, "The model was removed and has no replacement")
        .refuses(502, "No enclave of the model returned a signature of the answer")
        .build()
}

async fn get_signature(
    app: SharedApp,
    call: ApiCall<AnyCaller, QueryParameters<SignatureQuery>>,
) -> Result<WithHeaders<ExchangeSignature>, Refusal> {
    let QueryParameters(query) = call.input;
    let catalogue = app.catalogue.get();
    let resolved = catalogue.resolve_model(&query.model, ModelType::Text, call.now);
    let resolved = resolved.map_err(refuse_model)?;
    require_enclave(resolved.model)?;
    let ours = query.request_id.strip_prefix("chatcmpl-").unwrap_or(&query.request_id);
    // After a restart the mapping is lost; then the caller may send the enclave's own id.
    let upstream_id = app.engines.answer_names.find(ours);
    let upstream_id = upstream_id.unwrap_or_else(|| query.request_id.clone());
    let mut failure = EngineError::Misconfigured { cause: "no route to an enclave".to_owned() };
    for engine in app.engines.attested_engines(resolved.model) {
        match engine.fetch_signature(&upstream_id).await {
            Ok(signed) => {
                let answer = WithHeaders::new(ExchangeSignature {
                    text: signed.text,
                    signature: signed.signature,
                    signing_address: signed.signing_address,
                    signing_algo: "ecdsa",
                    model: resolved.model.id.clone(),
                    requested_request_id: query.request_id,
                    tee_provider: signed.provider,
                    receipt: SignatureReceipt {
                        upstream_request_id: upstream_id,
                        upstream_model: signed.model,
                    },
                    verification: VerificationHint {
                        attestation_endpoint: format!(
                            "{}/api/v1/tee/attestation",
                            app.settings.public_url
                        ),
                        description: HOW_TO_CHECK,
                    },
                });
                return Ok(model_headers::write_model_headers(answer, &resolved));
            }
            Err(error) => failure = error,
        }
    }
    Err(Refusal::signature_failed(failure))
}

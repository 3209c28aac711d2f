//! Attestation by the proxies in front of vLLM in an enclave.

use engine::{
    AttestedEngine, ChatEncryptionKeys, EnclaveAttestation, EngineError, ExchangeSignature,
};
use futures_util::future::BoxFuture;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use crate::transport::{UpstreamEndpoint, bad_answer};

const ALGORITHM: &str = "ecdsa";

/// One model in an enclave of one provider.
pub(crate) struct OpenAiAttested {
    pub(crate) provider: String,
    pub(crate) report: UpstreamEndpoint,
    /// The completion's id is appended to this URL.
    pub(crate) signatures: UpstreamEndpoint,
    pub(crate) model: String,
}

impl AttestedEngine for OpenAiAttested {
    fn attest<'a>(
        &'a self,
        nonce: &'a str,
    ) -> BoxFuture<'a, Result<EnclaveAttestation, EngineError>> {
        Box::pin(async move {
            let model = percent_encode(&self.model);
            let query =
                format!("?model={model}&nonce={}&signing_algo={ALGORITHM}", percent_encode(nonce));
            let body = self.report.get_bytes(&query).await?;
            let (report, enclaves) = read_report(&body)?;
            Ok(EnclaveAttestation {
                provider: self.provider.clone(),
                model: self.model.clone(),
                signing_address: report.signing_address,
                signing_key: report.signing_public_key.or(report.signing_key),
                intel_quote: report.intel_quote,
                nvidia_payload: report.nvidia_payload,
                nonce: report.request_nonce.or(report.nonce),
                enclaves,
            })
        })
    }

    fn fetch_signature<'a>(
        &'a self,
        upstream_id: &'a str,
    ) -> BoxFuture<'a, Result<ExchangeSignature, EngineError>> {
        Box::pin(async move {
            let (id, model) = (percent_encode(upstream_id), percent_encode(&self.model));
            let rest = format!("/{id}?model={model}&signing_algo={ALGORITHM}");
            let body = self.signatures.get_bytes(&rest).await?;
            let signed: SignatureBody = parse_body(&body)?;
            Ok(ExchangeSignature {
                provider: self.provider.clone(),
                model: self.model.clone(),
                text: signed.text,
                signature: signed.signature,
                signing_address: signed.signing_address,
            })
        })
    }
}

/// Adds the headers that carry the keys of an encrypted chat.
pub(super) fn add_seal_headers(
    endpoint: &UpstreamEndpoint,
    seal: &ChatEncryptionKeys,
) -> Result<UpstreamEndpoint, EngineError> {
    let mut headers = HeaderMap::new();
    let named = [
        ("x-signing-algo", ALGORITHM),
        ("x-client-pub-key", &seal.client_key),
        ("x-model-pub-key", &seal.model_key),
    ];
    for (name, value) in named {
        let value = HeaderValue::from_str(value).map_err(|_| EngineError::Rejected {
            message: "A key of the encryption cannot be sent in a header.".to_owned(),
        })?;
        headers.insert(HeaderName::from_static(name), value);
    }
    let mut endpoint = endpoint.clone();
    endpoint.target.set_headers(headers);
    Ok(endpoint)
}

/// A report is the response itself, or the first of a list besides the gateway's report.
#[derive(Deserialize)]
#[serde(untagged)]
enum AttestationResponse {
    Listed {
        model_attestations: Vec<AttestationBody>,
    },
    Alone {
        #[serde(flatten)]
        report: Box<AttestationBody>,
        #[serde(default)]
        all_attestations: Vec<Value>,
    },
}

#[derive(Deserialize)]
struct AttestationBody {
    signing_address: String,
    signing_public_key: Option<String>,
    signing_key: Option<String>,
    intel_quote: String,
    nvidia_payload: Option<Value>,
    request_nonce: Option<String>,
    nonce: Option<String>,
}

#[derive(Deserialize)]
struct SignatureBody {
    text: String,
    signature: String,
    signing_address: String,
}

fn read_report(body: &[u8]) -> Result<(AttestationBody, usize), EngineError> {
    match parse_body(body)? {
        AttestationResponse::Alone { report, all_attestations } => {
            Ok((*report, all_attestations.len().max(1)))
        }
        AttestationResponse::Listed { model_attestations } => {
            let enclaves = model_attestations.len();
            let first = model_attestations.into_iter().next();
            first.map(|report| (report, enclaves)).ok_or_else(|| bad_answer("no enclave answered"))
        }
    }
}

fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("no such report: {error}")))
}

fn percent_encode(value: &str) -> PercentEncode<'_> {
    utf8_percent_encode(value, NON_ALPHANUMERIC)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn enclave(address: &str) -> Value {
        json!({"signing_address": address, "intel_quote": "0400", "info": {"app": 1}})
    }

    #[track_caller]
    fn check(body: &Value, address: &str, enclaves: usize) {
        let (report, count) = read_report(body.to_string().as_bytes()).unwrap();
        assert_eq!((report.signing_address.as_str(), count), (address, enclaves));
    }

    #[test]
    fn one_enclave_or_several_may_answer() {
        check(&enclave("0x1"), "0x1", 1);
        let mut all = enclave("0x1");
        all["all_attestations"] = json!([enclave("0x1"), enclave("0x2")]);
        check(&all, "0x1", 2);
        let listed = json!({"gateway_attestation": enclave("0x9"),
            "model_attestations": [enclave("0x3"), enclave("0x4")]});
        check(&listed, "0x3", 2);
    }

    #[test]
    fn what_is_no_report_is_a_bad_answer() {
        for body in [json!({}), json!([]), json!({"model_attestations": []}), json!("0400")] {
            let read = read_report(body.to_string().as_bytes());
            assert!(matches!(read.map(|_| ()), Err(EngineError::BadAnswer { .. })), "{body}");
        }
    }
}

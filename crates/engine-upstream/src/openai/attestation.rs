//! Attestation by the proxies in front of vLLM in an enclave.

use engine::{Attestation, AttestedEngine, EngineError, ExchangeSignature, Seal};
use futures_util::future::BoxFuture;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use crate::transport::{Endpoint, bad_answer};

const ALGORITHM: &str = "ecdsa";

/// One model in an enclave of one provider.
pub(crate) struct OpenAiAttested {
    pub(crate) provider: String,
    pub(crate) report: Endpoint,
    /// The completion's id is appended to this URL.
    pub(crate) signatures: Endpoint,
    pub(crate) model: String,
}

impl AttestedEngine for OpenAiAttested {
    fn attest<'a>(&'a self, nonce: &'a str) -> BoxFuture<'a, Result<Attestation, EngineError>> {
        Box::pin(async move {
            let model = encoded(&self.model);
            let query = format!("?model={model}&nonce={}&signing_algo={ALGORITHM}", encoded(nonce));
            let body = self.report.fetch(&query).await?;
            let (report, enclaves) = read_report(&body)?;
            Ok(Attestation {
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

    fn signature<'a>(
        &'a self,
        upstream_id: &'a str,
    ) -> BoxFuture<'a, Result<ExchangeSignature, EngineError>> {
        Box::pin(async move {
            let (id, model) = (encoded(upstream_id), encoded(&self.model));
            let rest = format!("/{id}?model={model}&signing_algo={ALGORITHM}");
            let body = self.signatures.fetch(&rest).await?;
            let signed: Signed = read(&body)?;
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
pub(super) fn sealed(endpoint: &Endpoint, seal: &Seal) -> Result<Endpoint, EngineError> {
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
    endpoint.target.put(headers);
    Ok(endpoint)
}

/// A report is the response itself, or the first of a list besides the gateway's report.
#[derive(Deserialize)]
#[serde(untagged)]
enum Reports {
    Listed {
        model_attestations: Vec<Report>,
    },
    Alone {
        #[serde(flatten)]
        report: Box<Report>,
        #[serde(default)]
        all_attestations: Vec<Value>,
    },
}

#[derive(Deserialize)]
struct Report {
    signing_address: String,
    signing_public_key: Option<String>,
    signing_key: Option<String>,
    intel_quote: String,
    nvidia_payload: Option<Value>,
    request_nonce: Option<String>,
    nonce: Option<String>,
}

#[derive(Deserialize)]
struct Signed {
    text: String,
    signature: String,
    signing_address: String,
}

fn read_report(body: &[u8]) -> Result<(Report, usize), EngineError> {
    match read(body)? {
        Reports::Alone { report, all_attestations } => Ok((*report, all_attestations.len().max(1))),
        Reports::Listed { model_attestations } => {
            let enclaves = model_attestations.len();
            let first = model_attestations.into_iter().next();
            first.map(|report| (report, enclaves)).ok_or_else(|| bad_answer("no enclave answered"))
        }
    }
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("no such report: {error}")))
}

fn encoded(value: &str) -> PercentEncode<'_> {
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

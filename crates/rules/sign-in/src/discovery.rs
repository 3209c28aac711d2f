//! A provider's metadata: OpenID Connect Discovery.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::algorithm::TokenAlgorithm;
use crate::encoding::{parse_object, text_field, text_list};
use crate::provider_url::{IssuerUrl, ProviderUrl};

/// The largest document that is parsed; usual ones have 2 to 8 kB.
pub const DISCOVERY_BYTES_MAX: usize = 128 * 1024;

/// The part of a provider's metadata that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderMetadata {
    pub authorization_endpoint: ProviderUrl,
    pub token_endpoint: ProviderUrl,
    pub jwks_uri: ProviderUrl,
    pub userinfo_endpoint: Option<ProviderUrl>,
    pub end_session_endpoint: Option<ProviderUrl>,
    /// The accepted algorithms among those that the provider signs with.
    pub algorithms: Vec<TokenAlgorithm>,
    pub client_authentication: ClientAuthentication,
    /// True if the provider promises to name itself in the browser's return (RFC 9207).
    pub names_issuer: bool,
}

/// The way in which our secret is sent to the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// In the header `Authorization`.
    Basic,
    /// In the form.
    Post,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DiscoveryFault {
    #[error("the provider's metadata is not a JSON object, or too large")]
    Malformed,
    #[error(
        "the provider calls itself {named}, and the configuration {configured}: set `issuer` to \
         the provider's own name, with the id of your tenant where it has tenants"
    )]
    OtherIssuer { named: String, configured: String },
    #[error("`{0}` in the provider's metadata is missing or not an https address")]
    Endpoint(&'static str),
    #[error("the provider offers no authorization code flow")]
    NoCodeFlow,
    #[error("the provider signs with none of the accepted algorithms")]
    NoAlgorithm,
    #[error("the provider accepts our secret neither in a header nor in a form")]
    NoClientAuthentication,
}

impl ProviderMetadata {
    pub fn parse(issuer: &IssuerUrl, bytes: &[u8]) -> Result<ProviderMetadata, DiscoveryFault> {
        let document = parse_object(bytes, DISCOVERY_BYTES_MAX).ok_or(DiscoveryFault::Malformed)?;
        let named = text_field(&document, "issuer").unwrap_or_default();
        if named != issuer.as_str() {
            return Err(DiscoveryFault::OtherIssuer {
                named: named.chars().filter(|it| !it.is_control()).take(200).collect(),
                configured: issuer.as_str().to_owned(),
            });
        }
        let flows = text_list(&document, "response_types_supported");
        if flows.is_some_and(|flows| !flows.contains(&"code")) {
            return Err(DiscoveryFault::NoCodeFlow);
        }
        Ok(ProviderMetadata {
            authorization_endpoint: require_url(&document, "authorization_endpoint")?,
            token_endpoint: require_url(&document, "token_endpoint")?,
            jwks_uri: require_url(&document, "jwks_uri")?,
            userinfo_endpoint: optional_url(&document, "userinfo_endpoint")?,
            end_session_endpoint: optional_url(&document, "end_session_endpoint")?,
            algorithms: choose_algorithms(&document)?,
            client_authentication: choose_authentication(&document)?,
            names_issuer: document.get("authorization_response_iss_parameter_supported")
                == Some(&Value::Bool(true)),
        })
    }
}

fn require_url(
    document: &Map<String, Value>,
    name: &'static str,
) -> Result<ProviderUrl, DiscoveryFault> {
    optional_url(document, name)?.ok_or(DiscoveryFault::Endpoint(name))
}

fn optional_url(
    document: &Map<String, Value>,
    name: &'static str,
) -> Result<Option<ProviderUrl>, DiscoveryFault> {
    match document.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let url = value.as_str().and_then(ProviderUrl::parse);
            url.map(Some).ok_or(DiscoveryFault::Endpoint(name))
        }
    }
}

/// A provider that does not name its algorithms may use any accepted one.
fn choose_algorithms(document: &Map<String, Value>) -> Result<Vec<TokenAlgorithm>, DiscoveryFault> {
    let Some(names) = text_list(document, "id_token_signing_alg_values_supported") else {
        return Ok(TokenAlgorithm::ALL.to_vec());
    };
    let mut algorithms: Vec<_> = names.into_iter().filter_map(TokenAlgorithm::parse).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    if algorithms.is_empty() { Err(DiscoveryFault::NoAlgorithm) } else { Ok(algorithms) }
}

/// The header, which is the default of the standard, unless the provider names only the form.
fn choose_authentication(
    document: &Map<String, Value>,
) -> Result<ClientAuthentication, DiscoveryFault> {
    let Some(methods) = text_list(document, "token_endpoint_auth_methods_supported") else {
        return Ok(ClientAuthentication::Basic);
    };
    if methods.contains(&"client_secret_basic") {
        Ok(ClientAuthentication::Basic)
    } else if methods.contains(&"client_secret_post") || methods.contains(&"none") {
        Ok(ClientAuthentication::Post)
    } else {
        Err(DiscoveryFault::NoClientAuthentication)
    }
}

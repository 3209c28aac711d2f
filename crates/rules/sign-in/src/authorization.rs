//! The address that a browser is sent to for signing in.

use crate::attempt::{AttemptSigner, SignInAttempt};
use crate::discovery::ProviderMetadata;
use crate::provider::{ClientCredentials, SignInProviderId};
use crate::provider_url::ProviderUrl;

/// The endpoint and the fields that differ between kinds of providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorizationRequest<'a> {
    pub endpoint: &'a ProviderUrl,
    pub scope: &'a str,
    /// True for OpenID Connect: the nonce comes back in the ID token.
    pub has_nonce: bool,
}

impl<'a> AuthorizationRequest<'a> {
    pub fn of_oidc(metadata: &'a ProviderMetadata) -> AuthorizationRequest<'a> {
        AuthorizationRequest {
            endpoint: &metadata.authorization_endpoint,
            scope: "openid email profile",
            has_nonce: true,
        }
    }
}

/// The callback address of a provider, which the operator registers there. `public_url` has no slash
/// at its end.
pub fn build_callback_url(public_url: &str, provider: &SignInProviderId) -> String {
    format!("{public_url}/console/sign-in/{}/callback", provider.as_str())
}

/// The address to send the browser to: an authorization code with PKCE, `state` and, for OpenID
/// Connect, a nonce.
pub fn build_authorization_url(
    request: AuthorizationRequest<'_>,
    client: &ClientCredentials,
    callback_url: &str,
    signer: &AttemptSigner,
    attempt: &SignInAttempt,
) -> String {
    let (state, challenge) = (signer.state(attempt), signer.code_challenge(attempt));
    let nonce = signer.nonce(attempt);
    let mut parameters = vec![
        ("response_type", "code"),
        ("client_id", client.id.as_str()),
        ("redirect_uri", callback_url),
        ("scope", request.scope),
        ("state", state.as_str()),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    if request.has_nonce {
        parameters.push(("nonce", nonce.as_str()));
    }
    request.endpoint.with_parameters(&parameters)
}

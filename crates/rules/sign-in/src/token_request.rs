//! The request that exchanges a code for tokens.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::attempt::{AttemptSigner, SignInAttempt};
use crate::callback::AuthorizationCode;
use crate::discovery::ClientAuthentication;
use crate::provider::ClientCredentials;
use crate::provider_url::ProviderUrl;

/// A POST of a form (`application/x-www-form-urlencoded`) with `Accept: application/json`. It
/// contains secrets, so its texts are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenRequest {
    pub url: ProviderUrl,
    pub form: String,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

impl TokenRequest {
    /// `callback_url` must be the one of the authorization.
    pub fn new(
        endpoint: &ProviderUrl,
        authentication: ClientAuthentication,
        client: &ClientCredentials,
        callback_url: &str,
        code: &AuthorizationCode,
        verifier: &CodeVerifier,
    ) -> TokenRequest {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "authorization_code")
            .append_pair("code", &code.0)
            .append_pair("redirect_uri", callback_url)
            .append_pair("code_verifier", &verifier.0);
        let mut authorization = None;
        match (&client.secret, authentication) {
            (Some(secret), ClientAuthentication::Basic) => {
                authorization = Some(write_basic(&client.id, secret));
            }
            (Some(secret), ClientAuthentication::Post) => {
                form.append_pair("client_id", &client.id).append_pair("client_secret", secret);
            }
            (None, _) => {
                form.append_pair("client_id", &client.id);
            }
        }
        TokenRequest { url: endpoint.clone(), form: form.finish(), authorization }
    }
}

/// The verifier of an attempt.
#[derive(Clone)]
pub struct CodeVerifier(String);

impl CodeVerifier {
    pub fn of_attempt(signer: &AttemptSigner, attempt: &SignInAttempt) -> CodeVerifier {
        CodeVerifier(signer.code_verifier(attempt))
    }
}

/// Both parts are form-encoded before they are joined (RFC 6749, 2.3.1): a colon or a percent sign in
/// a secret would otherwise be read as something else.
fn write_basic(id: &str, secret: &str) -> String {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encode(id), encode(secret))))
}

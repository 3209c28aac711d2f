//! The browser's return from a provider.

use std::fmt;

use thiserror::Error;
use url::form_urlencoded;

use crate::attempt::{AttemptSigner, SignInAttempt};
use crate::encoding::{is_same_secret, is_visible_ascii};
use crate::provider::SignInProviderId;

/// The longest query that is parsed.
pub const CALLBACK_BYTES_MAX: usize = 8 * 1024;

const CODE_BYTES_MAX: usize = 4 * 1024;
const ERROR_CHARACTERS_MAX: usize = 64;

/// The terms that the return must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallbackRules<'a> {
    /// The provider in the path that the browser returned to.
    pub provider: &'a SignInProviderId,
    /// The value of `iss`, if the provider has one. GitHub has none that we configure; its own
    /// callback path keeps its codes apart from those of others.
    pub issuer: Option<&'a str>,
    /// True if the provider announces `iss`, which is then required.
    pub is_issuer_required: bool,
}

/// A code to exchange. Its text is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthorizationCode(pub(crate) String);

impl fmt::Debug for AuthorizationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthorizationCode")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallbackRefusal {
    #[error("The provider's answer cannot be read: sign in again")]
    Malformed,
    #[error("This sign-in was begun in another browser, or for another provider: sign in again")]
    OtherAttempt,
    #[error("The answer is from another provider: sign in again")]
    OtherIssuer,
    #[error("The sign-in was declined at the provider")]
    Declined,
    /// The provider's error, with the characters of error codes alone.
    #[error("The provider could not sign you in: {0}")]
    Provider(String),
}

/// Reads the query of the callback for the attempt in the browser's cookie.
pub fn read_callback(
    query: &str,
    rules: CallbackRules<'_>,
    signer: &AttemptSigner,
    attempt: &SignInAttempt,
) -> Result<AuthorizationCode, CallbackRefusal> {
    let answer = CallbackAnswer::parse(query).ok_or(CallbackRefusal::Malformed)?;
    let state = answer.state.as_deref().unwrap_or_default();
    let is_ours = is_same_secret(state.as_bytes(), signer.state(attempt).as_bytes());
    if !is_ours || attempt.provider != *rules.provider {
        return Err(CallbackRefusal::OtherAttempt);
    }
    let is_from = match (rules.issuer, answer.issuer.as_deref()) {
        (Some(expected), Some(named)) => expected == named,
        (Some(_), None) => !rules.is_issuer_required,
        (None, _) => true,
    };
    if !is_from {
        return Err(CallbackRefusal::OtherIssuer);
    }
    if let Some(error) = answer.error {
        return Err(read_error(&error));
    }
    let code = answer.code.ok_or(CallbackRefusal::Malformed)?;
    let is_sound = !code.is_empty() && code.len() <= CODE_BYTES_MAX && is_visible_ascii(&code);
    if is_sound { Ok(AuthorizationCode(code)) } else { Err(CallbackRefusal::Malformed) }
}

#[derive(Default)]
struct CallbackAnswer {
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
}

impl CallbackAnswer {
    /// None for a query that is too long or repeats a parameter: two readers could choose different
    /// ones.
    fn parse(query: &str) -> Option<CallbackAnswer> {
        if CALLBACK_BYTES_MAX < query.len() {
            return None;
        }
        let mut answer = CallbackAnswer::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let field = match name.as_ref() {
                "code" => &mut answer.code,
                "state" => &mut answer.state,
                "iss" => &mut answer.issuer,
                "error" => &mut answer.error,
                _ => continue,
            };
            if field.replace(value.into_owned()).is_some() {
                return None;
            }
        }
        Some(answer)
    }
}

fn read_error(error: &str) -> CallbackRefusal {
    if error == "access_denied" {
        return CallbackRefusal::Declined;
    }
    let is_code_character = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.');
    CallbackRefusal::Provider(
        error.chars().filter(is_code_character).take(ERROR_CHARACTERS_MAX).collect(),
    )
}

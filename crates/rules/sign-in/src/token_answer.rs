//! The answer of a token endpoint.

use std::fmt;

use thiserror::Error;

use crate::encoding::{is_visible_ascii, parse_object, text_field};

/// The largest answer that is parsed.
pub const TOKEN_ANSWER_BYTES_MAX: usize = 64 * 1024;

const ACCESS_TOKEN_BYTES_MAX: usize = 16 * 1024;
const ERROR_CHARACTERS_MAX: usize = 64;

/// The tokens, whose texts are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenAnswer {
    pub access_token: Option<String>,
    /// Not verified yet.
    pub id_token: Option<String>,
}

impl fmt::Debug for TokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenAnswer")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TokenAnswerFault {
    #[error("the provider's answer to the code is not a JSON object with a token, or too large")]
    Malformed,
    /// The code is unknown, was used or has expired, or is another attempt's.
    #[error("the provider does not know this code")]
    CodeRefused,
    /// The operator's configuration is wrong.
    #[error("the provider does not accept our client id or secret")]
    ClientRefused,
    #[error("the provider refused the code: {0}")]
    Refused(String),
}

impl TokenAnswer {
    /// Reads the body whatever the status: GitHub sends errors with 200.
    pub fn parse(bytes: &[u8]) -> Result<TokenAnswer, TokenAnswerFault> {
        let answer =
            parse_object(bytes, TOKEN_ANSWER_BYTES_MAX).ok_or(TokenAnswerFault::Malformed)?;
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(read_error(text_field(&answer, "error").unwrap_or_default()));
        }
        let is_bearer =
            text_field(&answer, "token_type").is_none_or(|it| it.eq_ignore_ascii_case("bearer"));
        // The token becomes a header.
        let access_token = text_field(&answer, "access_token")
            .filter(|it| is_bearer && it.len() <= ACCESS_TOKEN_BYTES_MAX && is_visible_ascii(it))
            .filter(|it| !it.is_empty())
            .map(str::to_owned);
        let id_token = text_field(&answer, "id_token").map(str::to_owned);
        if access_token.is_none() && id_token.is_none() {
            return Err(TokenAnswerFault::Malformed);
        }
        Ok(TokenAnswer { access_token, id_token })
    }
}

fn read_error(error: &str) -> TokenAnswerFault {
    match error {
        "invalid_grant" | "bad_verification_code" => TokenAnswerFault::CodeRefused,
        "invalid_client" | "unauthorized_client" | "incorrect_client_credentials" => {
            TokenAnswerFault::ClientRefused
        }
        other => {
            let is_code_character = |it: &char| it.is_ascii_alphanumeric() || *it == '_';
            TokenAnswerFault::Refused(
                other.chars().filter(is_code_character).take(ERROR_CHARACTERS_MAX).collect(),
            )
        }
    }
}

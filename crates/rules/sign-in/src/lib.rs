//! Signs people in by OpenID Connect, by GitHub and by links in mails: pure functions of the bytes,
//! the entropy and the time.
//!
//! A sign-in at a provider:
//! 1. [`ProviderMetadata::parse`] and [`KeySet::parse`] read the provider's documents; [`KeySetCache`]
//!    decides when the keys are fetched.
//! 2. [`AttemptSigner::seal_attempt`] makes the browser's cookie of a [`SignInAttempt`], and
//!    [`build_authorization_url`] the address that the browser is sent to.
//! 3. [`read_callback`] checks the browser's return, [`TokenRequest::new`] exchanges its code, and
//!    [`TokenAnswer::parse`] reads the answer.
//! 4. [`verify_id_token`] returns [`IdentityClaims`], or the verdict to fetch the keys again;
//!    [`add_user_info`] adds an address. GitHub has no ID token: [`read_github_user`].
//!
//! A sign-in by mail: [`MailLinkSecret::mint_link`] makes the link, [`MailLinkSecret::decide_link`] and
//! [`MailLinkSecret::decide_code`] judge what comes back.
//!
//! Both end in [`decide_arrival`]: a person is found by an [`PersonIdentity`] (issuer and subject) alone, never
//! by a mail address. There is no clock, randomness or I/O in here.

mod algorithm;
mod arrival;
mod attempt;
mod attempt_cookie;
mod authorization;
mod callback;
mod discovery;
mod encoding;
mod github;
mod id_token;
mod identity;
mod key_cache;
mod key_set;
mod mail_address;
mod mail_link;
mod mail_quota;
mod provider;
mod provider_url;
mod purpose_mac;
mod return_path;
mod sign_out;
mod sign_up;
mod token_answer;
mod token_request;
mod user_info;

#[cfg(test)]
mod tests;

pub use algorithm::TokenAlgorithm;
pub use arrival::{
    AddressHolder, ArrivalDecision, ArrivalFacts, ArrivalRefusal, LINKING_AGE_S_MAX,
    LinkingSession, decide_arrival,
};
pub use attempt::{
    ATTEMPT_COOKIE_CHARACTERS_MAX, ATTEMPT_LIFETIME_S, AttemptPurpose, AttemptSigner, SignInAttempt,
};
pub use attempt_cookie::{attempt_cookie_name, clear_attempt_cookie, set_attempt_cookie};
pub use authorization::{AuthorizationRequest, build_authorization_url, build_callback_url};
pub use callback::{
    AuthorizationCode, CALLBACK_BYTES_MAX, CallbackRefusal, CallbackRules, read_callback,
};
pub use discovery::{ClientAuthentication, DISCOVERY_BYTES_MAX, DiscoveryFault, ProviderMetadata};
pub use github::{
    GITHUB_ANSWER_BYTES_MAX, GithubEndpoints, GithubFault, read_github_addresses, read_github_user,
};
pub use id_token::{
    CLOCK_SKEW_S, ID_TOKEN_BYTES_MAX, IdTokenRefusal, IdTokenRules, IdTokenVerdict, verify_id_token,
};
pub use identity::{
    ClaimedAddress, IdentityClaims, MAIL_ISSUER, PersonId, PersonIdentity, SUBJECT_BYTES_MAX,
};
pub use key_cache::{KEYS_FETCH_INTERVAL_S, KEYS_FRESH_S, KeySetCache};
pub use key_set::{KEY_SET_BYTES_MAX, KEYS_MAX, KeySet, KeySetFault};
pub use mail_address::{MAIL_ADDRESS_BYTES_MAX, MailAddress, MailAddressFault, MailDomain};
pub use mail_link::{
    CODE_TRIES_MAX, CodeDecision, INVITATION_LIFETIME_S, LinkDecision, LinkRefusal,
    MAIL_LINK_LIFETIME_S, MailLinkDraft, MailLinkRow, MailLinkSecret, MailLinkState, MailPurpose,
    MintedLink,
};
pub use mail_quota::{MAILS_PER_HOUR_MAX, decide_mail};
pub use provider::{
    ClientCredentials, OidcProvider, ProviderListFault, SignInProvider, SignInProviderId,
    SignInProviderKind, SignInProviders,
};
pub use provider_url::{IssuerUrl, ProviderUrl};
pub use return_path::{RETURN_PATH_BYTES_MAX, ReturnPath};
pub use sign_out::{SessionGeneration, build_end_session_url};
pub use sign_up::{SignUpApplicant, SignUpDecision, SignUpPolicy, SignUpRefusal, decide_sign_up};
pub use token_answer::{TOKEN_ANSWER_BYTES_MAX, TokenAnswer, TokenAnswerFault};
pub use token_request::{CodeVerifier, TokenRequest};
pub use user_info::{USER_INFO_BYTES_MAX, UserInfoFault, add_user_info};

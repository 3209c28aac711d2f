//! Sign-in with a wallet: a signed text with our domain, a time, and a nonce.

mod challenge;
mod domain;
mod message;
mod payload;
mod refusal;
mod verify;

pub use challenge::{CHALLENGE_LIFETIME_S, Challenge, ChallengeInfo, SupportedChain};
pub use message::{AccountKind, SignInMessage, Statement};
pub use payload::SignIn;
pub use refusal::SignInRefusal;
pub use verify::{SIGN_IN_AGE_S_MAX, SIGN_IN_SKEW_S_MAX, SignInRules, SignedIn, verify_sign_in};

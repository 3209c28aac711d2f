//! Sign-in with a wallet: a signed text with our domain, a time, and a nonce.

mod challenge;
mod domain;
mod message;
mod payload;
mod refusal;
mod verify;

pub use challenge::{CHALLENGE_LIFETIME_S, ChallengeInfo, SupportedChain, WalletChallenge};
pub use message::{AccountKind, SignInMessage, SignInStatement};
pub use payload::SignIn;
pub use refusal::SignInRefusal;
pub use verify::{
    SIGN_IN_AGE_S_MAX, SIGN_IN_SKEW_S_MAX, SignInRules, VerifiedSignIn, verify_sign_in,
};

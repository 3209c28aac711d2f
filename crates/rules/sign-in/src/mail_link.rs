//! Links in mails: signing in, invitations, changes of an address.
//!
//! Programs that scan mails open links, follow scripts and press buttons. So a link completes only in
//! the browser that asked for it, which has a cookie. Elsewhere it shows a code of six digits, which
//! the person types into the browser that asked.

use std::time::Duration;

use moment::Timestamp;
use thiserror::Error;

use crate::encoding::{decode_base64url, encode_base64url, is_same_secret};
use crate::mail_address::MailAddress;
use crate::purpose_mac::PurposeMac;

/// Validity of a link for signing in or changing an address, in seconds.
pub const MAIL_LINK_LIFETIME_S: u64 = 15 * 60;
/// Validity of an invitation, in seconds.
pub const INVITATION_LIFETIME_S: u64 = 7 * 24 * 3600;
/// Wrong codes after which a link is void.
pub const CODE_TRIES_MAX: u8 = 5;

const TOKEN_BYTES: usize = 32;
/// 32 bytes in base64.
const TOKEN_CHARACTERS: usize = 43;
const CODE_DIGITS: usize = 6;
const CODES: u32 = 1_000_000;

/// The use of a link. A token of one purpose is unknown for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailPurpose {
    SignIn,
    Invitation,
    AddressChange,
}

impl MailPurpose {
    pub const ALL: [MailPurpose; 3] =
        [MailPurpose::SignIn, MailPurpose::Invitation, MailPurpose::AddressChange];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            MailPurpose::SignIn => "sign_in",
            MailPurpose::Invitation => "invitation",
            MailPurpose::AddressChange => "address_change",
        }
    }

    pub fn parse(name: &str) -> Option<MailPurpose> {
        MailPurpose::ALL.into_iter().find(|it| it.name() == name)
    }

    fn lifetime(self) -> Duration {
        Duration::from_secs(match self {
            MailPurpose::SignIn | MailPurpose::AddressChange => MAIL_LINK_LIFETIME_S,
            MailPurpose::Invitation => INVITATION_LIFETIME_S,
        })
    }
}

/// The row of a link. The store has no token, only its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailLinkRow {
    pub id: [u8; 16],
    pub purpose: MailPurpose,
    pub address: MailAddress,
    pub token_digest: [u8; 32],
    /// The digest of the asking browser's cookie; None for an invitation, which another person asked
    /// for.
    pub browser_digest: Option<[u8; 32]>,
    pub expires: Timestamp,
    pub state: MailLinkState,
    /// True once the code was shown. Before that no code is accepted, so that who asks for links to
    /// other people's mailboxes cannot guess.
    pub is_code_shown: bool,
    pub wrong_codes: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailLinkState {
    Open,
    /// It was completed: links are valid once.
    Used,
    /// A newer link of the same purpose and address was asked for.
    Replaced,
}

/// The random parts of a link.
#[derive(Clone)]
pub struct MailLinkDraft {
    pub id: [u8; 16],
    pub token: [u8; 32],
    pub browser: [u8; 32],
}

/// A new link: the row to store, the token for the mail, and the cookie for the browser that asked.
#[derive(Clone)]
pub struct MintedLink {
    pub row: MailLinkRow,
    /// For the part of the address behind `#`, which browsers do not send.
    pub token: String,
    pub browser_cookie: Option<String>,
}

/// The result of pressing the button behind a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkDecision {
    /// The address is proven. The caller marks the row as used, if it is still open, in the same
    /// transaction as what follows.
    Complete,
    /// It is another browser: note that the code is shown, and show it for the one that asked.
    ShowCode(String),
    Refused(LinkRefusal),
}

/// The result of typing a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeDecision {
    /// As [`LinkDecision::Complete`].
    Complete,
    /// The caller counts the try before it answers.
    WrongCode {
        tries_left: u8,
    },
    Refused(LinkRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LinkRefusal {
    #[error("This link is not valid: ask for a new one")]
    Unknown,
    #[error("This link has expired: ask for a new one")]
    Expired,
    #[error("This link was used: ask for a new one")]
    Used,
    #[error("A newer link was sent: use that one")]
    Replaced,
    #[error("Too many wrong codes: ask for a new link")]
    TooManyTries,
    #[error("Open the link in the mail first: it shows the code")]
    CodeNotShown,
    #[error("Enter the code in the browser in which you asked for the mail")]
    OtherBrowser,
}

/// Digests tokens and derives codes.
#[derive(Clone)]
pub struct MailLinkSecret(PurposeMac);

impl MailLinkSecret {
    /// `secret` is the same on every node; it may be that of the console's sessions.
    pub fn new(secret: &[u8; 32]) -> MailLinkSecret {
        MailLinkSecret(PurposeMac::new(secret))
    }

    /// A link that is valid from now on. Everything in `draft` must be random.
    pub fn mint_link(
        &self,
        purpose: MailPurpose,
        address: MailAddress,
        draft: &MailLinkDraft,
        now: Timestamp,
    ) -> MintedLink {
        let is_for_browser = purpose != MailPurpose::Invitation;
        let row = MailLinkRow {
            id: draft.id,
            purpose,
            address,
            token_digest: self.compute_token_digest(purpose, &draft.token),
            browser_digest: is_for_browser
                .then(|| self.0.compute_code("mail link browser", &[&draft.browser])),
            expires: now.plus(purpose.lifetime()),
            state: MailLinkState::Open,
            is_code_shown: false,
            wrong_codes: 0,
        };
        let browser_cookie = is_for_browser.then(|| encode_base64url(&draft.browser));
        MintedLink { row, token: encode_base64url(&draft.token), browser_cookie }
    }

    /// The digest by which the row of a token is found. None for a text that is no token of ours.
    pub fn digest_token(&self, purpose: MailPurpose, token: &str) -> Option<[u8; 32]> {
        Some(self.compute_token_digest(purpose, &decode_secret(token)?))
    }

    /// The digest by which the newest row of a browser is found, for a code that is typed.
    pub fn digest_browser(&self, cookie: &str) -> Option<[u8; 32]> {
        Some(self.0.compute_code("mail link browser", &[&decode_secret(cookie)?]))
    }

    /// Judges a token for the row that has its digest.
    pub fn decide_link(
        &self,
        row: &MailLinkRow,
        token: &str,
        browser_cookie: Option<&str>,
        now: Timestamp,
    ) -> LinkDecision {
        let digest = self.digest_token(row.purpose, token);
        if !digest.is_some_and(|digest| is_same_secret(&digest, &row.token_digest)) {
            return LinkDecision::Refused(LinkRefusal::Unknown);
        }
        if let Some(refusal) = find_refusal(row, now) {
            return LinkDecision::Refused(refusal);
        }
        if row.browser_digest.is_none() || self.is_asking_browser(row, browser_cookie) {
            LinkDecision::Complete
        } else {
            LinkDecision::ShowCode(self.derive_code(row))
        }
    }

    /// Judges a code that was typed in the browser with this cookie. A browser that did not ask
    /// cannot use up the tries.
    pub fn decide_code(
        &self,
        row: &MailLinkRow,
        code: &str,
        browser_cookie: Option<&str>,
        now: Timestamp,
    ) -> CodeDecision {
        if !self.is_asking_browser(row, browser_cookie) {
            return CodeDecision::Refused(LinkRefusal::OtherBrowser);
        }
        if let Some(refusal) = find_refusal(row, now) {
            return CodeDecision::Refused(refusal);
        }
        if !row.is_code_shown {
            return CodeDecision::Refused(LinkRefusal::CodeNotShown);
        }
        let typed: String = code.chars().filter(|it| !it.is_whitespace()).take(16).collect();
        if is_same_secret(typed.as_bytes(), self.derive_code(row).as_bytes()) {
            CodeDecision::Complete
        } else {
            CodeDecision::WrongCode { tries_left: CODE_TRIES_MAX - row.wrong_codes - 1 }
        }
    }

    fn is_asking_browser(&self, row: &MailLinkRow, cookie: Option<&str>) -> bool {
        let shown = cookie.and_then(|cookie| self.digest_browser(cookie));
        match (shown, row.browser_digest) {
            (Some(shown), Some(asked)) => is_same_secret(&shown, &asked),
            _ => false,
        }
    }

    fn compute_token_digest(&self, purpose: MailPurpose, token: &[u8; 32]) -> [u8; 32] {
        self.0.compute_code("mail link token", &[purpose.name().as_bytes(), token])
    }

    /// The code of a row, in six digits. Only the mail's token leads to it.
    fn derive_code(&self, row: &MailLinkRow) -> String {
        let code = self.0.compute_code("mail link code", &[&row.id, &row.token_digest]);
        // 64 bits modulo a million: no code is noticeably likelier than another.
        let bits = u64::from_be_bytes(code[..8].try_into().unwrap_or_default());
        format!("{:0CODE_DIGITS$}", bits % u64::from(CODES))
    }
}

fn find_refusal(row: &MailLinkRow, now: Timestamp) -> Option<LinkRefusal> {
    match row.state {
        MailLinkState::Used => Some(LinkRefusal::Used),
        MailLinkState::Replaced => Some(LinkRefusal::Replaced),
        MailLinkState::Open if row.expires <= now => Some(LinkRefusal::Expired),
        MailLinkState::Open if CODE_TRIES_MAX <= row.wrong_codes => Some(LinkRefusal::TooManyTries),
        MailLinkState::Open => None,
    }
}

fn decode_secret(text: &str) -> Option<[u8; TOKEN_BYTES]> {
    if text.len() != TOKEN_CHARACTERS {
        return None;
    }
    decode_base64url(text)?.try_into().ok()
}

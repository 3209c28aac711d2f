//! The identity of a person, and what a provider claims about it.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::encoding::{clean_label, text_field};
use crate::mail_address::MailAddress;

/// The issuer of identities that are proven by a mail link; the subject is the address.
pub const MAIL_ISSUER: &str = "mail";
/// The longest subject, as the standard has it.
pub const SUBJECT_BYTES_MAX: usize = 255;

const NAME_CHARACTERS_MAX: usize = 100;

/// A person of this service, who can have several identities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonId(pub Uuid);

/// The key of a person: an issuer and the subject there, both compared exactly. Never a mail
/// address or a login, which providers give to others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PersonIdentity {
    issuer: String,
    subject: String,
}

impl PersonIdentity {
    /// None for a subject that is empty, too long or has control characters.
    pub(crate) fn new(issuer: &str, subject: &str) -> Option<PersonIdentity> {
        let is_sound = (1..=SUBJECT_BYTES_MAX).contains(&subject.len())
            && !subject.chars().any(char::is_control);
        is_sound.then(|| PersonIdentity { issuer: issuer.to_owned(), subject: subject.to_owned() })
    }

    /// The identity of the reader of a mailbox.
    pub fn of_mailbox(address: &MailAddress) -> PersonIdentity {
        PersonIdentity { issuer: MAIL_ISSUER.to_owned(), subject: address.as_str().to_owned() }
    }

    /// The identity in two columns of the store.
    pub fn from_stored(issuer: String, subject: String) -> PersonIdentity {
        PersonIdentity { issuer, subject }
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub fn subject(&self) -> &str {
        &self.subject
    }
}

/// An identity that was proven, with what its provider says about the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityClaims {
    pub identity: PersonIdentity,
    /// None if the provider names none, or one that no mail can be sent to.
    pub address: Option<ClaimedAddress>,
    /// For display, at most 100 characters.
    pub name: Option<String>,
}

/// A mail address, and whether the provider has verified it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedAddress {
    pub address: MailAddress,
    pub is_verified: bool,
}

impl IdentityClaims {
    /// The address, if it is verified.
    pub fn verified_address(&self) -> Option<&MailAddress> {
        self.address.as_ref().filter(|it| it.is_verified).map(|it| &it.address)
    }
}

/// Reads `email` and `email_verified`. Verified is only what is JSON `true`; where the provider says
/// nothing, `trusts_addresses` decides.
pub(crate) fn read_address(
    claims: &Map<String, Value>,
    trusts_addresses: bool,
) -> Option<ClaimedAddress> {
    let address = MailAddress::parse(text_field(claims, "email")?).ok()?;
    let is_verified = match claims.get("email_verified") {
        Some(said) => *said == Value::Bool(true),
        None => trusts_addresses,
    };
    Some(ClaimedAddress { address, is_verified })
}

pub(crate) fn read_name(claims: &Map<String, Value>, fields: &[&str]) -> Option<String> {
    let texts = fields.iter().filter_map(|field| text_field(claims, field));
    texts.filter_map(|text| clean_label(text, NAME_CHARACTERS_MAX)).next()
}

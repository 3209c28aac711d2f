//! Mail addresses in the one form in which they are stored and compared.

use std::fmt;

use thiserror::Error;
use url::Host;

/// The longest address that mail servers accept.
pub const MAIL_ADDRESS_BYTES_MAX: usize = 254;

const LOCAL_BYTES_MAX: usize = 64;
const DOMAIN_BYTES_MAX: usize = 253;
/// The characters of an unquoted local part besides letters, digits and the dot.
const LOCAL_SIGNS: &[u8] = b"!#$%&'*+-/=?^_`{|}~";

/// A mail address in lower case, with its domain in the form of DNS. Dots and what follows a plus
/// stay: only the mailbox's own server knows whether they count.
///
/// The part before the `@` is plain ASCII. Other letters have look-alikes, and some become ASCII when
/// they are lower-cased, which would give one person's address to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailAddress {
    text: String,
    at: usize,
}

/// The domain of addresses, in the form of DNS (`xn--…` for letters beyond ASCII), lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailDomain(String);

/// The reason why a text is no address, as a sentence for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MailAddressFault {
    #[error("A mail address must have at most 254 characters.")]
    TooLong,
    #[error("A mail address must have the form name@example.com.")]
    Form,
    #[error("The part before the @ must have at most 64 ASCII letters, digits and signs.")]
    LocalPart,
    #[error("The part after the @ must be the name of a domain.")]
    Domain,
}

impl MailAddress {
    /// Parses a bare address; spaces around it are dropped.
    pub fn parse(text: &str) -> Result<MailAddress, MailAddressFault> {
        if MAIL_ADDRESS_BYTES_MAX < text.len() {
            return Err(MailAddressFault::TooLong);
        }
        let (local, domain) = text.trim_ascii().rsplit_once('@').ok_or(MailAddressFault::Form)?;
        if !is_local_part(local) {
            return Err(MailAddressFault::LocalPart);
        }
        let domain = MailDomain::parse(domain).ok_or(MailAddressFault::Domain)?;
        let text = format!("{}@{}", local.to_ascii_lowercase(), domain.0);
        // The form of DNS may be longer.
        if MAIL_ADDRESS_BYTES_MAX < text.len() {
            return Err(MailAddressFault::TooLong);
        }
        Ok(MailAddress { text, at: local.len() })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn domain(&self) -> MailDomain {
        MailDomain(self.text[self.at + 1..].to_owned())
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl MailDomain {
    /// None unless the text is a name of DNS with at least two labels.
    pub fn parse(text: &str) -> Option<MailDomain> {
        // Characters that a parser of URLs would decode.
        let is_bare = text.len() <= DOMAIN_BYTES_MAX
            && !text.contains(|it: char| matches!(it, '%' | '[' | ']') || it.is_whitespace());
        if !is_bare {
            return None;
        }
        let Host::Domain(name) = Host::parse(text).ok()? else { return None };
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let is_whole = name.len() <= DOMAIN_BYTES_MAX
            && 2 <= name.split('.').count()
            && name.split('.').all(is_label);
        is_whole.then_some(MailDomain(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MailDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_local_part(local: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || LOCAL_SIGNS.contains(&byte);
    local.len() <= LOCAL_BYTES_MAX
        && local.split('.').all(|part| !part.is_empty() && part.bytes().all(is_plain))
}

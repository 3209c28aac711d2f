//! Countries from which a model may not be used.

use std::fmt;

use super::{Resolved, Unresolved};

/// A country by its two capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Country([u8; 2]);

impl Country {
    /// Parses two letters in either case. Proxies send other values for clients that they cannot
    /// locate, such as `T1` for Tor; those are not countries.
    pub fn parse(text: &str) -> Option<Country> {
        let letters: [u8; 2] = text.trim().as_bytes().try_into().ok()?;
        letters
            .iter()
            .all(u8::is_ascii_alphabetic)
            .then(|| Country(letters.map(|it| it.to_ascii_uppercase())))
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Country([first, second]) = self;
        write!(f, "{}{}", char::from(*first), char::from(*second))
    }
}

impl Resolved<'_> {
    /// Returns the model unless it is restricted in the caller's country. Callers from an unknown
    /// country are served.
    pub fn served_in(self, country: Option<Country>) -> Result<Self, Unresolved> {
        let Some(country) = country else { return Ok(self) };
        let name = country.to_string();
        if self.model.region_restrictions.contains(&name) {
            return Err(Unresolved::Restricted { id: self.model.id.clone(), country: name });
        }
        Ok(self)
    }
}

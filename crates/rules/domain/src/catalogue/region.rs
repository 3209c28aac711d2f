//! Countries from which a model may not be used.

use std::fmt;

use super::{ModelResolveError, ResolvedModel};

/// A country by its two capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountryCode([u8; 2]);

impl CountryCode {
    /// Parses two letters in either case. Proxies send other values for clients that they cannot
    /// locate, such as `T1` for Tor; those are not countries.
    pub fn parse(text: &str) -> Option<CountryCode> {
        let letters: [u8; 2] = text.trim().as_bytes().try_into().ok()?;
        letters
            .iter()
            .all(u8::is_ascii_alphabetic)
            .then(|| CountryCode(letters.map(|it| it.to_ascii_uppercase())))
    }
}

impl fmt::Display for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CountryCode([first, second]) = self;
        write!(f, "{}{}", char::from(*first), char::from(*second))
    }
}

impl ResolvedModel<'_> {
    /// Returns the model unless it is restricted in the caller's country. Callers from an unknown
    /// country are served.
    pub fn check_region(self, country: Option<CountryCode>) -> Result<Self, ModelResolveError> {
        let Some(country) = country else { return Ok(self) };
        let name = country.to_string();
        if self.model.region_restrictions.contains(&name) {
            return Err(ModelResolveError::Restricted { id: self.model.id.clone(), country: name });
        }
        Ok(self)
    }
}

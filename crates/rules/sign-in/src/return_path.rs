//! The page that a person returns to after a sign-in: a path of this service, never another origin.

use std::fmt;

use url::Url;

pub const RETURN_PATH_BYTES_MAX: usize = 1024;

/// Stands for any origin that the service may have.
const SOME_ORIGIN: &str = "https://service.invalid";

/// A path on our own origin, possibly with a query and a fragment. It is kept and sent as text; no
/// browser reads it as an address of another origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnPath(String);

impl ReturnPath {
    /// The page of the console that people start at.
    pub fn start() -> ReturnPath {
        ReturnPath("/".to_owned())
    }

    /// None unless the text is a path of printable ASCII. Backslashes, which browsers read as
    /// slashes, and empty segments, which can become the `//` of an address, are refused.
    pub fn parse(text: &str) -> Option<ReturnPath> {
        let is_plain = text.len() <= RETURN_PATH_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let path = text.split(['?', '#']).next().unwrap_or_default();
        if !is_plain || !path.starts_with('/') || path.contains("//") {
            return None;
        }
        let base = Url::parse(SOME_ORIGIN).ok()?;
        let reached = base.join(text).ok()?;
        let is_own = reached.origin() == base.origin() && !reached.path().starts_with("//");
        is_own.then(|| ReturnPath(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReturnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

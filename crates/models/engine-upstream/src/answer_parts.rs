//! Parts of an answer that the decoders of all protocols read in the same way.

use engine::{EngineUsage, UsageReport};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tracing::warn;

/// Token counts in the form of one protocol.
pub(crate) trait TokenCountBody: DeserializeOwned {
    /// None if counts are missing.
    fn into_report(self) -> Option<UsageReport>;
}

/// Parses a usage object. Returns `None` if it is malformed, empty or implausible; the tokens are
/// then estimated here.
pub(crate) fn read_token_counts<T: TokenCountBody>(usage: &RawValue) -> Option<EngineUsage> {
    match serde_json::from_str::<Option<T>>(usage.get()) {
        Ok(body) => check_report(body?.into_report()?),
        Err(error) => {
            warn!(%error, "an engine's usage is malformed; counting the tokens here");
            None
        }
    }
}

/// Returns `None` if the counts are implausible.
pub(crate) fn check_report(report: UsageReport) -> Option<EngineUsage> {
    match EngineUsage::from_report(report) {
        Ok(usage) => Some(usage),
        Err(error) => {
            warn!(%error, "counting the tokens here");
            None
        }
    }
}

/// A text that is joined from pieces: None if there were none.
pub(crate) fn some_text(text: String) -> Option<String> {
    if text.is_empty() { None } else { Some(text) }
}

//! Removes a provider's configured host from its messages, in forms that no general rule knows:
//! `vllm77:8000` looks like `max_tokens:4096`.

use engine::EngineError;

use super::addresses::HIDDEN;

/// The host of a provider's URL, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnHost(String);

impl OwnHost {
    pub(crate) fn new(host: &str) -> OwnHost {
        OwnHost(host.to_ascii_lowercase())
    }

    pub(crate) fn remove_from_error(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Rejected { message } => {
                EngineError::Rejected { message: self.remove_from_text(&message) }
            }
            EngineError::ContextOverflow { message } => {
                EngineError::ContextOverflow { message: self.remove_from_text(&message) }
            }
            EngineError::ContentPolicy { message } => {
                EngineError::ContentPolicy { message: self.remove_from_text(&message) }
            }
            other => other,
        }
    }

    /// Replaces the host where it is a whole word, together with a port. A host of letters only may
    /// be an ordinary word, such as `model`, so it is replaced only with a port.
    fn remove_from_text(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let lower = text.to_ascii_lowercase();
        let is_distinct = !self.0.bytes().all(|it| it.is_ascii_alphabetic());
        let mut clean = String::with_capacity(text.len());
        let mut copied = 0;
        for (start, _) in lower.match_indices(self.0.as_str()) {
            let end = start + self.0.len();
            let is_word =
                !lower[..start].ends_with(is_name_part) && !lower[end..].starts_with(is_name_part);
            let port = port_length(&lower[end..]);
            if start < copied || !is_word || !(is_distinct || 0 < port) {
                continue;
            }
            clean.push_str(&text[copied..start]);
            clean.push_str(HIDDEN);
            copied = end + port;
        }
        clean.push_str(&text[copied..]);
        clean
    }
}

fn is_name_part(it: char) -> bool {
    it.is_alphanumeric() || it == '-' || it == '_'
}

/// Bytes of a leading `:8000`; 0 if there is none.
fn port_length(rest: &str) -> usize {
    let digits = rest.strip_prefix(':').unwrap_or_default();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 { 0 } else { count + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_host_is_removed_and_similar_words_stay() {
        for (host, said, kept) in [
            ("vllm77", "Cannot connect to host vllm77:8000 now", "Cannot connect to host […] now"),
            ("VLLM77", "lookup Vllm77 on x, vllm77's", "lookup […] on x, […]'s"),
            ("vllm77", "vllm770:80 and my-vllm77", "vllm770:80 and my-vllm77"),
            ("vllm77", "max_tokens:4096", "max_tokens:4096"),
            ("api.example.com", "see api.example.com/v1", "see […]/v1"),
            ("model", "the model is at model:8000", "the model is at […]"),
            ("é7", "é7é7 é7", "é7é7 […]"),
        ] {
            assert_eq!(OwnHost::new(host).remove_from_text(said), kept, "{host}: {said}");
        }
    }
}

//! The texts of the documents of one request.

use std::time::Duration;

use documents::Budget;
use serde::{Deserialize, Serialize};

use super::Task;
use crate::Bounds;

/// All documents of a request, one after the other in the bytes: they share one budget.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// In bytes, of each.
    pub lengths: Vec<usize>,
}

/// For each document the length of its text in the bytes, or why it cannot be read, as a sentence
/// for the caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    pub texts: Vec<Result<usize, String>>,
}

impl Task for Request {
    type Outcome = Outcome;

    const BOUNDS: Bounds = Bounds {
        // What may be unpacked at once, what was sent, and what is built of both.
        memory_bytes: 512 * 1024 * 1024,
        cpu_s: 8,
        time: Duration::from_secs(20),
        answer_bytes: 16 * 1024 * 1024,
    };

    fn perform(self, mut bytes: &[u8]) -> (Outcome, Vec<u8>) {
        let mut budget = Budget::default();
        let (mut texts, mut answer) = (Vec::new(), Vec::new());
        for length in self.lengths {
            let (document, rest) = bytes.split_at(length.min(bytes.len()));
            bytes = rest;
            texts.push(match documents::read(document, &mut budget) {
                Ok(text) => {
                    answer.extend_from_slice(text.as_bytes());
                    Ok(text.len())
                }
                Err(fault) => Err(fault.to_string()),
            });
        }
        (Outcome { texts }, answer)
    }
}

impl Outcome {
    /// The documents' texts, each by itself.
    pub fn split(self, bytes: &[u8]) -> Vec<Result<String, String>> {
        let mut rest = bytes;
        let text = |length: usize| {
            let (text, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            String::from_utf8_lossy(text).into_owned()
        };
        let mut text = text;
        self.texts.into_iter().map(|it| it.map(&mut text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_keeps_its_text_or_its_fault() {
        let request = Request { lengths: vec![5, 2, 3] };
        let (outcome, bytes) = request.perform(b"first\xff\xfetwo");
        let texts = outcome.split(&bytes);
        assert_eq!(texts[0].as_deref(), Ok("first"));
        assert!(texts[1].is_err());
        assert_eq!(texts[2].as_deref(), Ok("two"));
    }
}

//! Extracts the main content of a web page.

use std::time::Duration;

use pages::{Page, ScriptNeed};
use serde::{Deserialize, Serialize};

use super::Task;
use crate::Bounds;

/// The page itself is in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    pub content_type: Option<String>,
    /// The page's URL, the base of its links.
    pub address: String,
}

/// The extracted content, or an error as a sentence for the caller. The Markdown is in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Content {
    title: String,
    alternate: Option<String>,
    script_need: ScriptNeed,
    is_bare: bool,
}

impl Task for Request {
    type Outcome = Result<Content, String>;

    const BOUNDS: Bounds = Bounds {
        memory_bytes: 512 * 1024 * 1024,
        cpu_s: 10,
        time: Duration::from_secs(20),
        answer_bytes: 64 * 1024 * 1024,
    };

    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>) {
        let html = pages::decode(bytes, self.content_type.as_deref());
        match pages::read(&html, &self.address) {
            Ok(Page { title, markdown, alternate, script_need, is_bare }) => {
                (Ok(Content { title, alternate, script_need, is_bare }), markdown.into_bytes())
            }
            Err(fault) => (Err(fault.0.to_owned()), Vec::new()),
        }
    }
}

impl Content {
    /// Combines the outcome with its bytes.
    pub fn with(self, markdown: &[u8]) -> Page {
        let Content { title, alternate, script_need, is_bare } = self;
        let markdown = String::from_utf8_lossy(markdown).into_owned();
        Page { title, markdown, alternate, script_need, is_bare }
    }
}

//! Extracts the main content of a web page.

use std::time::Duration;

use pages::{PageContent, ScriptNeed};
use serde::{Deserialize, Serialize};

use super::ReaderTask;
use crate::TaskBounds;

/// The page itself is in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PageTask {
    pub content_type: Option<String>,
    /// The page's URL, the base of its links.
    pub address: String,
}

/// The extracted content, or an error as a sentence for the caller. The Markdown is in the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExtractedPage {
    title: String,
    alternate: Option<String>,
    script_need: ScriptNeed,
    is_bare: bool,
}

impl ReaderTask for PageTask {
    type Outcome = Result<ExtractedPage, String>;

    const BOUNDS: TaskBounds = TaskBounds {
        memory_bytes: 512 * 1024 * 1024,
        cpu_s: 10,
        time: Duration::from_secs(20),
        answer_bytes: 64 * 1024 * 1024,
    };

    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>) {
        let html = pages::decode_html(bytes, self.content_type.as_deref());
        match pages::read_page(&html, &self.address) {
            Ok(PageContent { title, markdown, alternate, script_need, is_bare }) => (
                Ok(ExtractedPage { title, alternate, script_need, is_bare }),
                markdown.into_bytes(),
            ),
            Err(fault) => (Err(fault.0.to_owned()), Vec::new()),
        }
    }
}

impl ExtractedPage {
    /// Combines the outcome with its bytes.
    pub fn combine_with(self, markdown: &[u8]) -> PageContent {
        let ExtractedPage { title, alternate, script_need, is_bare } = self;
        let markdown = String::from_utf8_lossy(markdown).into_owned();
        PageContent { title, markdown, alternate, script_need, is_bare }
    }
}

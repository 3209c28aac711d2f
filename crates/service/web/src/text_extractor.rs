//! Extracts text from pages and documents that were fetched or uploaded. They may be malicious, so
//! the sandboxed reader processes parse them.

use std::sync::Arc;

use bytes::Bytes;
use pages::PageContent;
use sandbox::tasks::{document, page};
use sandbox::{CallerId, InputReader, ReaderError};

/// Has untrusted bytes parsed. The error is a sentence for the caller.
#[derive(Clone)]
pub struct TextExtractor {
    reader: Arc<dyn InputReader>,
}

impl TextExtractor {
    pub fn new(reader: Arc<dyn InputReader>) -> TextExtractor {
        TextExtractor { reader }
    }

    pub async fn read_page(
        &self,
        caller: CallerId,
        bytes: Bytes,
        content_type: Option<String>,
        address: String,
    ) -> Result<PageContent, String> {
        let request = page::PageTask { content_type, address };
        let read = sandbox::run_task(self.reader.as_ref(), caller, request, bytes).await;
        let (content, markdown) = read.map_err(error_message)?;
        Ok(content?.combine_with(&markdown))
    }

    pub async fn read_document(&self, caller: CallerId, bytes: Bytes) -> Result<String, String> {
        let request = document::DocumentTask::default();
        let read = sandbox::run_task(self.reader.as_ref(), caller, request, bytes).await;
        let (outcome, text) = read.map_err(error_message)?;
        outcome.combine_with(&text)
    }
}

fn error_message(error: ReaderError) -> String {
    match error {
        ReaderError::TooMuch { .. } => "Reading it exceeds the limit of memory or time.".to_owned(),
        ReaderError::Busy => "Too many files are waiting to be read; try again shortly.".to_owned(),
        ReaderError::Unavailable { cause } => {
            tracing::error!("the reader process cannot be used: {cause}");
            unreadable_message()
        }
    }
}

fn unreadable_message() -> String {
    "It could not be read.".to_owned()
}

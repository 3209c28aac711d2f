//! Extracts text from pages and documents that were fetched or uploaded. They may be malicious, so
//! the sandboxed reader processes parse them.

use std::sync::Arc;

use bytes::Bytes;
use pages::Page;
use reader::tasks::{document, page};
use reader::{CallerId, Reader, ReaderError};

/// Has untrusted bytes parsed. The error is a sentence for the caller.
#[derive(Clone)]
pub struct Reading {
    reader: Arc<dyn Reader>,
}

impl Reading {
    pub fn new(reader: Arc<dyn Reader>) -> Reading {
        Reading { reader }
    }

    pub async fn page(
        &self,
        caller: CallerId,
        bytes: Bytes,
        content_type: Option<String>,
        address: String,
    ) -> Result<Page, String> {
        let request = page::Request { content_type, address };
        let read = reader::ask(self.reader.as_ref(), caller, request, bytes).await;
        let (content, markdown) = read.map_err(message)?;
        Ok(content?.with(&markdown))
    }

    pub async fn document(&self, caller: CallerId, bytes: Bytes) -> Result<String, String> {
        let request = document::Request::default();
        let read = reader::ask(self.reader.as_ref(), caller, request, bytes).await;
        let (outcome, text) = read.map_err(message)?;
        outcome.with(&text)
    }
}

fn message(error: ReaderError) -> String {
    match error {
        ReaderError::TooMuch { .. } => {
            "Reading it takes more memory or time than it may.".to_owned()
        }
        ReaderError::Busy => "Too much is waiting to be read; try again shortly.".to_owned(),
        ReaderError::Unavailable { cause } => {
            tracing::error!("nothing can be read: {cause}");
            told_nothing()
        }
    }
}

fn told_nothing() -> String {
    "It could not be read.".to_owned()
}

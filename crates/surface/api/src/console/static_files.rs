//! The files of the console and the documentation, built once and shared by all responses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http_frame::static_content::StaticContent;
use serde_json::{Value, json};

use crate::console::assets::{DocumentationPage, StaticAsset};

const JSON: &str = "application/json";

/// All static files.
pub(super) struct StaticFiles {
    /// The titles of all pages.
    pub(super) index: StaticContent,
    /// The texts of all pages, for the search in the browser.
    pub(super) search: StaticContent,
    /// Created at the first request, because it contains the service's URL.
    llms: OnceLock<StaticContent>,
    /// By ETag, so one per embedded file.
    files: Mutex<HashMap<&'static str, Arc<StaticContent>>>,
}

impl StaticFiles {
    pub(super) fn new(pages: &[DocumentationPage]) -> StaticFiles {
        let title = |page: &DocumentationPage| {
            let DocumentationPage { slug, title, is_for_operators, .. } = page;
            json!({"slug": slug, "title": title, "isForOperators": is_for_operators})
        };
        let text = |page: &DocumentationPage| {
            let DocumentationPage { slug, title, markdown, .. } = page;
            json!({"slug": slug, "title": title, "text": markdown})
        };
        let listing = |entries: Vec<Value>| StaticContent::new(JSON, json!(entries).to_string());
        StaticFiles {
            index: listing(pages.iter().map(title).collect()),
            search: listing(pages.iter().map(text).collect()),
            llms: OnceLock::new(),
            files: Mutex::default(),
        }
    }

    pub(super) fn llms(&self, write: impl FnOnce() -> String) -> &StaticContent {
        self.llms.get_or_init(|| StaticContent::new("text/plain; charset=utf-8", write()))
    }

    pub(super) fn file(
        &self,
        asset: StaticAsset,
        content_type: &'static str,
    ) -> Arc<StaticContent> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files
            .entry(asset.tag)
            .or_insert_with(|| Arc::new(StaticContent::new(content_type, asset.bytes)));
        Arc::clone(file)
    }
}

//! The files of the console and the documentation as they are sent: built once, shared by all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Value, json};

use crate::console::assets::{Asset, Page};
use crate::static_content::StaticContent;

const JSON: &str = "application/json";

/// Everything that pages are made of.
pub(super) struct StaticFiles {
    /// The titles of all pages.
    pub(super) index: StaticContent,
    /// The texts of all pages, for the search in the browser.
    pub(super) search: StaticContent,
    /// Made when it is first asked for: it names the service's address.
    llms: OnceLock<StaticContent>,
    /// By tag, which a file has for its content: as many as the program carries.
    files: Mutex<HashMap<&'static str, Arc<StaticContent>>>,
}

impl StaticFiles {
    pub(super) fn new(pages: &[Page]) -> StaticFiles {
        let title = |page: &Page| json!({"slug": page.slug, "title": page.title});
        let text = |page: &Page| {
            let Page { slug, title, markdown, .. } = page;
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

    pub(super) fn file(&self, asset: Asset, content_type: &'static str) -> Arc<StaticContent> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files
            .entry(asset.tag)
            .or_insert_with(|| Arc::new(StaticContent::new(content_type, asset.bytes)));
        Arc::clone(file)
    }
}

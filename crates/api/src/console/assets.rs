//! Files embedded in the binary: the built pages and the documentation.

/// Returns a file of the built console, if it exists.
pub type FindFile = fn(&str) -> Option<Asset>;

#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub bytes: &'static [u8],
    /// Changes with the content; used as ETag.
    pub tag: &'static str,
}

/// A page of the documentation, as in the repository.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Its path below `/docs/`, without an extension.
    pub slug: &'static str,
    pub title: &'static str,
    pub markdown: &'static str,
    pub tag: &'static str,
}

#[derive(Debug, Clone)]
pub struct Assets {
    pub file: FindFile,
    pub pages: Vec<Page>,
}

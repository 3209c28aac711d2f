//! The files that the program carries: the built pages and the documentation.

/// A file of the built console, or none.
pub type FindFile = fn(&str) -> Option<Asset>;

#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub bytes: &'static [u8],
    /// Changes with the content.
    pub tag: &'static str,
}

/// A page of the documentation, as it stands in the repository.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Its address below `/docs/`, without an ending.
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

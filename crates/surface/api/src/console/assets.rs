//! Files embedded in the binary: the built pages and the documentation.

/// Returns a file of the built console, if it exists.
pub type FindFile = fn(&str) -> Option<StaticAsset>;

#[derive(Debug, Clone, Copy)]
pub struct StaticAsset {
    pub bytes: &'static [u8],
    /// Changes with the content; used as ETag.
    pub tag: &'static str,
}

/// A page of the documentation, as in the repository.
#[derive(Debug, Clone, Copy)]
pub struct DocumentationPage {
    /// Its path below `/docs/`, without an extension.
    pub slug: &'static str,
    pub title: &'static str,
    pub markdown: &'static str,
    pub tag: &'static str,
    /// True for pages about running the service; the console lists them for operators only.
    pub is_for_operators: bool,
}

#[derive(Debug, Clone)]
pub struct ConsoleAssets {
    pub file: FindFile,
    pub pages: Vec<DocumentationPage>,
}

//! The built console and the documentation, embedded in the program.
//!
//! The console's bundle is committed, so that a build needs no Node; `scripts/console.sh` rebuilds
//! it and the tests compare. A separate crate, so that a change to a documentation page recompiles
//! only this crate.

/// A file of the built console.
#[derive(Debug)]
pub struct ConsoleFile {
    pub path: &'static str,
    pub bytes: &'static [u8],
    /// Changes with the content.
    pub tag: &'static str,
}

/// A page of the documentation.
#[derive(Debug)]
pub struct EmbeddedPage {
    /// Its path below `/docs/`, without an extension.
    pub slug: &'static str,
    pub title: &'static str,
    pub markdown: &'static str,
    pub tag: &'static str,
    /// True for pages about running the service.
    pub is_for_operators: bool,
}

/// The set-up of coding agents: JSON with the slots `%SITE%`, `%KEY%` and `%MODEL%`. The console
/// is built with the same file.
pub static AGENT_SET_UPS: &str = include_str!("../../../../docs/agents.json");

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A file by its path in the bundle, such as `assets/index.js`.
pub fn find_file(path: &str) -> Option<&'static ConsoleFile> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_has_its_page_and_everything_that_the_page_names() {
        let page = find_file("index.html").expect("the console was built and committed");
        let page = std::str::from_utf8(page.bytes).unwrap();
        let named: Vec<&str> = page.split('"').filter(|it| it.starts_with("/assets/")).collect();
        assert!(!named.is_empty(), "{page}");
        for path in named {
            assert!(find_file(path.trim_start_matches('/')).is_some(), "{path} is missing");
        }
        assert!(!page.contains("<script>"), "a script in the page is against its own policy");
    }

    #[test]
    fn every_page_of_the_documentation_has_a_title() {
        assert!(PAGES.iter().any(|page| page.slug == "readme"));
        for page in PAGES {
            assert!(page.title != page.slug, "{} has no heading", page.slug);
        }
    }
}

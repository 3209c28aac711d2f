//! The main content of a web page as Markdown.
//!
//! Bytes come in and text goes out: nothing is fetched, and no script runs. What stands around the
//! content is removed, and the element that holds the rest is looked for. If the rules of readers'
//! modes find nearly as much, theirs is taken: it has less beside an article. They keep one post of
//! a thread and no cards of a shop, so where they find less, all of the element is given.

mod charset;
mod depth;
mod frame;
mod region;
mod script_need;
mod texts;

use dom_query::Document;
use dom_smoothie::{Config, Readability};
use html_to_markdown_rs::{
    ConversionOptions, HiddenContent, InlineDataMedia, PreprocessingOptions,
};

pub use charset::decode;
pub use script_need::ScriptNeed;
use script_need::ScriptSigns;

/// More than any page has that is worth reading.
const ELEMENTS_MAX: usize = 50_000;
/// Deeper than any page that a person wrote.
const DEPTH_MAX: usize = 256;
/// A reader's mode that finds less than this part of the content has lost some of it. Chosen by the
/// pages in docs/benchmarks.md.
const ARTICLE_MIN_PERCENT: usize = 80;

/// What was read off a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    pub markdown: String,
    /// Where the page says that its Markdown lies.
    pub alternate: Option<String>,
    pub script_need: ScriptNeed,
    /// It says nothing but its title, or is a frame that scripts have not filled.
    pub is_bare: bool,
}

/// Why nothing was read, as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

/// Reads a page that lies at `address`.
pub fn read(html: &str, address: &str) -> Result<Page, Unreadable> {
    if DEPTH_MAX < depth::of(html) {
        return Err(Unreadable("Its elements are nested too deeply."));
    }
    let document = Document::from(html);
    let alternate = document
        .select("link[rel~=alternate][type='text/markdown']")
        .attr("href")
        .map(|href| href.to_string());
    let signs = ScriptSigns::find(&document);
    let title = document.select("title").text().trim().to_owned();
    // The names in a declaration may be links, and Markdown shows those in code as they are written.
    document.select("pre").strip_elements(&["a"]);
    frame::remove(&document);
    let content = content(&document, address);
    let (title, markdown) = match article(document, address) {
        Some((title, article)) => {
            let is_whole = words(&content) * ARTICLE_MIN_PERCENT <= words(&article) * 100;
            (title, if is_whole { article } else { content })
        }
        None => (title, content),
    };
    let said = words(&markdown);
    let (script_need, is_bare) = (signs.judge(&markdown, said), signs.is_bare(&markdown, said));
    let markdown = with_title(&title, &markdown);
    Ok(Page { title, markdown, alternate, script_need, is_bare })
}

/// All that the element with the content holds.
fn content(document: &Document, address: &str) -> String {
    let Some(body) = document.body() else { return String::new() };
    let region = region::find(body);
    frame::remove_links(region);
    to_markdown(&region.inner_html(), address).unwrap_or_default()
}

/// The title and the text that the rules of readers' modes find.
fn article(document: Document, address: &str) -> Option<(String, String)> {
    let config =
        Config { keep_classes: true, max_elements_to_parse: ELEMENTS_MAX, ..Config::default() };
    let mut readability = Readability::with_document(document, Some(address), Some(config)).ok()?;
    let article = readability.parse().ok()?;
    let markdown = to_markdown(&article.content, address)?;
    Some((article.title, markdown))
}

fn to_markdown(html: &str, address: &str) -> Option<String> {
    let options = ConversionOptions {
        extract_metadata: false,
        max_depth: Some(DEPTH_MAX),
        base_url: Some(address.to_owned()),
        // What is in a tab or behind a click is part of the text; a picture's bytes are not.
        hidden_content: HiddenContent::Reachable,
        inline_data_media: InlineDataMedia::AltTextOnly,
        preprocessing: PreprocessingOptions { enabled: false, ..PreprocessingOptions::default() },
        ..ConversionOptions::default()
    };
    html_to_markdown_rs::convert(html, options).ok()?.content
}

/// Japanese and Chinese are written without spaces: each of their characters counts as a word.
fn words(text: &str) -> usize {
    let is_character = |it: &char| matches!(it, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
    let spaced = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    spaced.map(|word| word.chars().filter(is_character).count().max(1)).sum()
}

/// A text without a heading of its own gets the page's title as one.
fn with_title(title: &str, markdown: &str) -> String {
    let markdown = markdown.trim();
    // Every second piece between fences is code, where such a line is a comment.
    let prose = markdown.split("```").step_by(2);
    let has_heading = prose.flat_map(str::lines).any(|line| line.starts_with("# "));
    if title.is_empty() || has_heading {
        return markdown.to_owned();
    }
    format!("# {title}\n\n{markdown}").trim_end().to_owned()
}

#[cfg(test)]
mod tests;

//! Extracts the main content of a web page as Markdown.
//!
//! Nothing is fetched, and no script runs. Frame elements are removed, then the element with the
//! main content is located. If Readability's rules find nearly as much text, their result is used,
//! because it has less noise around an article. They keep only one post of a thread and no product
//! cards, so if they find less, the whole element is used.

mod boilerplate;
mod charset;
mod depth;
mod region;
mod script_need;
mod texts;

use dom_query::Document;
use dom_smoothie::{Config, Readability};
use html_to_markdown_rs::{
    ConversionOptions, HiddenContent, InlineDataMedia, PreprocessingOptions,
};

pub use charset::decode_html;
pub use script_need::ScriptNeed;
use script_need::ScriptSigns;

/// More elements than any useful page has.
const ELEMENTS_MAX: usize = 50_000;
/// Deeper nesting than any hand-written page has.
const DEPTH_MAX: usize = 256;
/// If Readability finds less than this share of the content, it has lost some. Chosen with the
/// pages in docs/benchmarks.md.
const ARTICLE_MIN_PERCENT: usize = 80;

/// The content of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageContent {
    pub title: String,
    pub markdown: String,
    /// The URL of the page's Markdown version, if it links one.
    pub alternate: Option<String>,
    pub script_need: ScriptNeed,
    /// Set if the page has scripts, and no text but its title or an almost empty shell.
    pub is_bare: bool,
}

/// The reason why nothing was read, as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageReadError(pub &'static str);

/// Reads a page; `address` is its URL.
pub fn read_page(html: &str, address: &str) -> Result<PageContent, PageReadError> {
    if DEPTH_MAX < depth::measure_depth(html) {
        return Err(PageReadError("Its elements are nested too deeply."));
    }
    let document = Document::from(html);
    let alternate = document
        .select("link[rel~=alternate][type='text/markdown']")
        .attr("href")
        .map(|href| href.to_string());
    let signs = ScriptSigns::find(&document);
    let title = document.select("title").text().trim().to_owned();
    // Names in code may be links, which Markdown would show literally in a code block.
    document.select("pre").strip_elements(&["a"]);
    boilerplate::remove_boilerplate(&document);
    let content = extract_content(&document, address);
    let (title, markdown) = match extract_article(document, address) {
        Some((title, article)) => {
            let is_whole =
                count_words(&content) * ARTICLE_MIN_PERCENT <= count_words(&article) * 100;
            (title, if is_whole { article } else { content })
        }
        None => (title, content),
    };
    let said = count_words(&markdown);
    let (script_need, is_bare) =
        (signs.classify_need(&markdown, said), signs.is_bare(&markdown, said));
    let markdown = with_title(&title, &markdown);
    Ok(PageContent { title, markdown, alternate, script_need, is_bare })
}

/// All content of the main element.
fn extract_content(document: &Document, address: &str) -> String {
    let Some(body) = document.body() else { return String::new() };
    let region = region::find_main_region(body);
    boilerplate::remove_links(region);
    to_markdown(&region.inner_html(), address).unwrap_or_default()
}

/// Title and text as found by Readability's rules.
fn extract_article(document: Document, address: &str) -> Option<(String, String)> {
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
        // Tabs and collapsed content are part of the text; inline image data is not.
        hidden_content: HiddenContent::Reachable,
        inline_data_media: InlineDataMedia::AltTextOnly,
        preprocessing: PreprocessingOptions { enabled: false, ..PreprocessingOptions::default() },
        ..ConversionOptions::default()
    };
    html_to_markdown_rs::convert(html, options).ok()?.content
}

/// Counts words. Japanese and Chinese are written without spaces: each character counts as a word.
fn count_words(text: &str) -> usize {
    let is_character = |it: &char| matches!(it, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
    let spaced = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    spaced.map(|word| word.chars().filter(is_character).count().max(1)).sum()
}

/// Adds the page's title as a heading if the text has none.
fn with_title(title: &str, markdown: &str) -> String {
    let markdown = markdown.trim();
    // Every second part between fences is code, where a line with `# ` is a comment.
    let prose = markdown.split("```").step_by(2);
    let has_heading = prose.flat_map(str::lines).any(|line| line.starts_with("# "));
    if title.is_empty() || has_heading {
        return markdown.to_owned();
    }
    format!("# {title}\n\n{markdown}").trim_end().to_owned()
}

#[cfg(test)]
mod tests;

//! The main content of a web page as Markdown.
//!
//! Bytes come in and text goes out: nothing is fetched, and no script runs. Menus, banners and
//! footers are left out by the rules of readers' modes; a page in which those rules find next to
//! nothing, such as an index, is given whole, without its frame.

mod charset;

use dom_query::Document;
use dom_smoothie::{Config, Readability};
use html_to_markdown_rs::ConversionOptions;

pub use charset::decode;

/// More than any page has that is worth reading.
const ELEMENTS_MAX: usize = 50_000;
/// Deeper than any page that a person wrote.
const DEPTH_MAX: usize = 256;
/// If less than this part of the visible text is found, it was not the main content.
const SHARE_MIN_PERCENT: usize = 25;
/// A page with fewer words than this, and scripts, is likely built by them.
const WORDS_FEW: usize = 80;
/// What stands around the content.
const FRAME: &str = "script, style, noscript, template, nav, header, footer, aside, form, svg, \
                     [role=navigation], [role=banner], [role=contentinfo], [aria-hidden=true]";
/// Marks beside headings by which they can be linked to.
const ANCHORS: &str = "a.headerlink, a.anchor, a.heading-anchor, a.hash-link";
/// Where scripts put what they build.
const SHELLS: &str = "#root:empty, #app:empty, #__next:empty, #__nuxt:empty, app-root:empty";

/// What was read off a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    pub markdown: String,
    /// Where the page says that its Markdown lies.
    pub alternate: Option<String>,
    /// It says little, and has scripts that may say more.
    pub needs_scripts: bool,
}

/// Why nothing was read, as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

/// Reads a page that lies at `address`.
pub fn read(html: &str, address: &str) -> Result<Page, Unreadable> {
    if depth(html) > DEPTH_MAX {
        return Err(Unreadable("Its elements are nested too deeply."));
    }
    let document = Document::from(html);
    let alternate = document
        .select("link[rel~=alternate][type='text/markdown']")
        .attr("href")
        .map(|href| href.to_string());
    let has_scripts = document.select("script").exists();
    let has_shell = document.select(SHELLS).exists();
    document.select(ANCHORS).remove();
    document.select("script:not([type='application/ld+json']), style, template").remove();
    let title = document.select("title").text().trim().to_owned();
    let visible = visible_text(&document);
    let visible_words = words(&visible);
    let article = article(document, address);
    let found = article.as_ref().map_or(0, |(_, markdown)| words(markdown));
    let is_main = visible_words * SHARE_MIN_PERCENT <= found * 100;
    let (title, markdown) = match article.filter(|_| is_main && 0 < found) {
        Some(article) => article,
        None => (title, whole(html, address)),
    };
    let markdown = with_title(&title, &markdown);
    let needs_scripts = has_scripts && (words(&markdown) < WORDS_FEW || has_shell);
    Ok(Page { title, markdown, alternate, needs_scripts })
}

fn article(document: Document, address: &str) -> Option<(String, String)> {
    let config =
        Config { keep_classes: true, max_elements_to_parse: ELEMENTS_MAX, ..Config::default() };
    let mut readability = Readability::with_document(document, Some(address), Some(config)).ok()?;
    let article = readability.parse().ok()?;
    let markdown = to_markdown(&article.content, address)?;
    Some((article.title, markdown))
}

/// All of the page but its frame.
fn whole(html: &str, address: &str) -> String {
    let document = Document::from(html);
    document.select(FRAME).remove();
    document.select(ANCHORS).remove();
    to_markdown(&document.select("body").html(), address).unwrap_or_default()
}

fn to_markdown(html: &str, address: &str) -> Option<String> {
    let options = ConversionOptions {
        extract_metadata: false,
        max_depth: Some(DEPTH_MAX),
        base_url: Some(address.to_owned()),
        ..ConversionOptions::default()
    };
    html_to_markdown_rs::convert(html, options).ok()?.content
}

fn visible_text(document: &Document) -> String {
    let body = document.select("body");
    body.select("script, style, template, noscript").remove();
    body.text().to_string()
}

fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// A text without a heading of its own gets the page's title as one.
fn with_title(title: &str, markdown: &str) -> String {
    let markdown = markdown.trim();
    let has_heading = markdown.lines().any(|line| line.starts_with("# "));
    if title.is_empty() || has_heading {
        return markdown.to_owned();
    }
    format!("# {title}\n\n{markdown}").trim_end().to_owned()
}

/// How deeply elements are nested, if every one of them is closed. The tree is walked by functions
/// that call themselves, so this is known before it is built.
fn depth(html: &str) -> usize {
    const VOID: [&str; 14] = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    ];
    /// Elements that the next of their kind closes.
    const CLOSED_BY_NEXT: [&str; 11] =
        ["p", "li", "dt", "dd", "tr", "td", "th", "option", "thead", "tbody", "tfoot"];
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let is_end = rest.starts_with('/');
        let name_at = rest.strip_prefix('/').unwrap_or(rest);
        let length = name_at.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let name = name_at[..length].to_ascii_lowercase();
        if name.is_empty()
            || VOID.contains(&name.as_str())
            || CLOSED_BY_NEXT.contains(&name.as_str())
        {
            continue;
        }
        if !is_end && matches!(name.as_str(), "script" | "style") {
            // What is in them is no markup, whatever it looks like.
            rest = rest.find("</").map_or("", |end| &rest[end..]);
            while !rest.is_empty() && !is_end_of(rest, &name) {
                rest = rest[2..].find("</").map_or("", |end| &rest[2 + end..]);
            }
            continue;
        }
        if is_end {
            depth = depth.saturating_sub(1);
        } else {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

fn is_end_of(rest: &str, name: &str) -> bool {
    rest.get(2..2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;

//! EPUB books: reads their pages in reading order.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;

use crate::archive::{Archive, check_count};
use crate::fault::{self, Unreadable};
use crate::markup::{Mark, Markup, MarkupKind};
use crate::office::resolve;
use crate::page::Page;

/// Names the book's package file.
pub(crate) const CONTAINER: &str = "META-INF/container.xml";
const ENCRYPTION: &str = "META-INF/encryption.xml";

pub(crate) fn read(archive: &mut Archive<'_>, page: &mut Page<'_>) -> Result<(), Unreadable> {
    let package = package(archive)?;
    let encrypted = encrypted(archive)?;
    for name in pages(archive, &package)? {
        if encrypted.contains(&name) {
            return Err(fault::ENCRYPTED);
        }
        page.end_part()?;
        read_page(archive.markup(&name, MarkupKind::Html)?, page)?;
    }
    Ok(())
}

fn package(archive: &mut Archive<'_>) -> Result<String, Unreadable> {
    let mut markup = archive.markup(CONTAINER, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let Mark::Open(element) = mark else { continue };
        if element.name() == "rootfile" {
            return element.plain("full-path").ok_or(fault::MISSING_PART);
        }
    }
    Err(fault::MISSING_PART)
}

/// Names of encrypted parts. Many books encrypt only fonts and can be read nevertheless.
fn encrypted(archive: &mut Archive<'_>) -> Result<HashSet<String>, Unreadable> {
    let mut names = HashSet::new();
    if !archive.has(ENCRYPTION) {
        return Ok(names);
    }
    let mut markup = archive.markup(ENCRYPTION, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let Mark::Open(element) = mark else { continue };
        if element.name() == "CipherReference" {
            check_count(names.len())?;
            names.extend(element.plain("URI").map(|name| decoded(&name)));
        }
    }
    Ok(names)
}

/// The names of the pages, in the order of the book's spine.
fn pages(archive: &mut Archive<'_>, package: &str) -> Result<Vec<String>, Unreadable> {
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: HashMap<String, String> = HashMap::new();
    let mut spine = Vec::new();
    let mut markup = archive.markup(package, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let Mark::Open(element) = mark else { continue };
        match element.name() {
            "item" => {
                let is_page = element.plain("media-type").is_some_and(|it| it.contains("html"));
                if let (true, Some(id), Some(name)) =
                    (is_page, element.plain("id"), element.plain("href"))
                {
                    check_count(parts.len())?;
                    parts.insert(id, resolve(folder, &decoded(&name)));
                }
            }
            "itemref" => {
                check_count(spine.len())?;
                spine.extend(element.plain("idref"));
            }
            _ => {}
        }
    }
    Ok(spine.iter().filter_map(|id| parts.get(id).cloned()).collect())
}

fn decoded(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn read_page(mut markup: Markup<'_>, page: &mut Page<'_>) -> Result<(), Unreadable> {
    let mut preformatted = 0_usize;
    while let Some(mark) = markup.next()? {
        match mark {
            Mark::Text(text) if 0 < preformatted => page.write(&text)?,
            Mark::Text(text) => page.write_words(&text)?,
            Mark::Open(element) => match element.name() {
                "head" | "script" | "style" | "svg" => markup.skip()?,
                "td" | "th" => page.open_cell(),
                name => {
                    preformatted += usize::from(name == "pre");
                    if ends_line(name) {
                        page.end_line()?;
                    }
                }
            },
            Mark::Close(name) => match name.as_str() {
                "td" | "th" => page.close_cell(),
                "tr" => page.close_row()?,
                name => {
                    preformatted = preformatted.saturating_sub(usize::from(name == "pre"));
                    if ends_line(name) {
                        page.end_line()?;
                    }
                }
            },
        }
    }
    Ok(())
}

/// True for elements that form their own line.
fn ends_line(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "li"
            | "ul"
            | "ol"
            | "dl"
            | "dt"
            | "dd"
            | "br"
            | "hr"
            | "pre"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "blockquote"
            | "section"
            | "article"
            | "aside"
            | "header"
            | "footer"
            | "nav"
            | "figure"
            | "figcaption"
            | "table"
            | "caption"
            | "tr"
            | "body"
    )
}

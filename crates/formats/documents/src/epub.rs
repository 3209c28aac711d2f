//! EPUB books: reads their pages in reading order.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;

use crate::archive::{DocumentArchive, check_count};
use crate::fault::{self, DocumentReadError};
use crate::markup::{MarkupEvent, MarkupKind, MarkupParser};
use crate::office::resolve_part_name;
use crate::text_output::TextOutput;

/// Names the book's package file.
pub(crate) const CONTAINER: &str = "META-INF/container.xml";
const ENCRYPTION: &str = "META-INF/encryption.xml";

pub(crate) fn read_epub(
    archive: &mut DocumentArchive<'_>,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let package = find_package(archive)?;
    let encrypted = find_encrypted_parts(archive)?;
    for name in list_pages(archive, &package)? {
        if encrypted.contains(&name) {
            return Err(fault::ENCRYPTED);
        }
        page.end_part()?;
        read_page(archive.open_markup(&name, MarkupKind::Html)?, page)?;
    }
    Ok(())
}

fn find_package(archive: &mut DocumentArchive<'_>) -> Result<String, DocumentReadError> {
    let mut markup = archive.open_markup(CONTAINER, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let MarkupEvent::Open(element) = mark else { continue };
        if element.name() == "rootfile" {
            return element.plain_attribute("full-path").ok_or(fault::MISSING_PART);
        }
    }
    Err(fault::MISSING_PART)
}

/// Names of encrypted parts. Many books encrypt only fonts and can be read nevertheless.
fn find_encrypted_parts(
    archive: &mut DocumentArchive<'_>,
) -> Result<HashSet<String>, DocumentReadError> {
    let mut names = HashSet::new();
    if !archive.has(ENCRYPTION) {
        return Ok(names);
    }
    let mut markup = archive.open_markup(ENCRYPTION, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let MarkupEvent::Open(element) = mark else { continue };
        if element.name() == "CipherReference" {
            check_count(names.len())?;
            names.extend(element.plain_attribute("URI").map(|name| decode_part_name(&name)));
        }
    }
    Ok(names)
}

/// The names of the pages, in the order of the book's spine.
fn list_pages(
    archive: &mut DocumentArchive<'_>,
    package: &str,
) -> Result<Vec<String>, DocumentReadError> {
    let folder = package.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: HashMap<String, String> = HashMap::new();
    let mut spine = Vec::new();
    let mut markup = archive.open_markup(package, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let MarkupEvent::Open(element) = mark else { continue };
        match element.name() {
            "item" => {
                let is_page =
                    element.plain_attribute("media-type").is_some_and(|it| it.contains("html"));
                if let (true, Some(id), Some(name)) =
                    (is_page, element.plain_attribute("id"), element.plain_attribute("href"))
                {
                    check_count(parts.len())?;
                    parts.insert(id, resolve_part_name(folder, &decode_part_name(&name)));
                }
            }
            "itemref" => {
                check_count(spine.len())?;
                spine.extend(element.plain_attribute("idref"));
            }
            _ => {}
        }
    }
    Ok(spine.iter().filter_map(|id| parts.get(id).cloned()).collect())
}

fn decode_part_name(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

fn read_page(
    mut markup: MarkupParser<'_>,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let mut preformatted = 0_usize;
    while let Some(mark) = markup.next()? {
        match mark {
            MarkupEvent::Text(text) if 0 < preformatted => page.write(&text)?,
            MarkupEvent::Text(text) => page.write_words(&text)?,
            MarkupEvent::Open(element) => match element.name() {
                "head" | "script" | "style" | "svg" => markup.skip_element()?,
                "td" | "th" => page.open_cell(),
                name => {
                    preformatted += usize::from(name == "pre");
                    if ends_line(name) {
                        page.end_line()?;
                    }
                }
            },
            MarkupEvent::Close(name) => match name.as_str() {
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

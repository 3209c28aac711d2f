//! Word, PowerPoint and Excel files: finds their parts and reads them in order.

use std::collections::HashMap;

use crate::archive::{Archive, check_count};
use crate::fault::{self, Unreadable};
use crate::markup::{Mark, MarkupKind};
use crate::page::Page;
use crate::{flow, sheet};

/// The table of part types.
pub(crate) const TYPES: &str = "[Content_Types].xml";

pub(crate) fn read(archive: &mut Archive<'_>, page: &mut Page<'_>) -> Result<(), Unreadable> {
    let types = types(archive)?;
    let main = types.iter().find(|it| it.media_type.ends_with(".main+xml"));
    let main = main.ok_or(fault::UNKNOWN_ARCHIVE)?;
    // Files with macros have another type; the program's name is in both.
    let is_of = |words: [&str; 2]| words.iter().any(|word| main.media_type.contains(word));
    if is_of(["wordprocessingml", "ms-word"]) {
        return read_document(archive, &types, &main.name, page);
    }
    if is_of(["presentationml", "ms-powerpoint"]) {
        return read_slides(archive, &main.name, page);
    }
    if is_of(["spreadsheetml", "ms-excel"]) {
        return sheet::read(archive, &main.name, page);
    }
    Err(fault::UNKNOWN_ARCHIVE)
}

/// A part and its media type.
struct PartType {
    name: String,
    media_type: String,
}

fn types(archive: &mut Archive<'_>) -> Result<Vec<PartType>, Unreadable> {
    let mut types = Vec::new();
    let mut markup = archive.markup(TYPES, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let Mark::Open(element) = mark else { continue };
        if let (Some(name), Some(media_type)) =
            (element.plain("PartName"), element.plain("ContentType"))
        {
            check_count(types.len())?;
            types.push(PartType { name: name.trim_start_matches('/').to_owned(), media_type });
        }
    }
    Ok(types)
}

/// Reads the text, then footnotes and endnotes.
fn read_document(
    archive: &mut Archive<'_>,
    types: &[PartType],
    main: &str,
    page: &mut Page<'_>,
) -> Result<(), Unreadable> {
    flow::read(archive.markup(main, MarkupKind::Xml)?, page)?;
    for kind in ["footnotes+xml", "endnotes+xml"] {
        for part in types.iter().filter(|it| it.media_type.ends_with(kind)) {
            page.end_part()?;
            flow::read(archive.markup(&part.name, MarkupKind::Xml)?, page)?;
        }
    }
    Ok(())
}

/// Reads each slide with its speaker notes.
fn read_slides(
    archive: &mut Archive<'_>,
    main: &str,
    page: &mut Page<'_>,
) -> Result<(), Unreadable> {
    let relations = Relations::of(archive, main)?;
    let mut slides = Vec::new();
    let mut markup = archive.markup(main, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let Mark::Open(element) = mark else { continue };
        if element.name() == "sldId" {
            check_count(slides.len())?;
            slides.extend(element.prefixed("id"));
        }
    }
    drop(markup);
    for (index, id) in slides.iter().enumerate() {
        let slide = relations.target(id).ok_or(fault::MISSING_PART)?;
        page.end_part()?;
        page.write(&format!("Slide {}", index + 1))?;
        page.end_line()?;
        flow::read(archive.markup(slide, MarkupKind::Xml)?, page)?;
        if let Some(notes) = Relations::of(archive, slide)?.of_kind("/notesSlide") {
            page.end_line()?;
            page.write("Notes:\n")?;
            flow::read(archive.markup(notes, MarkupKind::Xml)?, page)?;
        }
    }
    Ok(())
}

/// References of a part to other parts, by id.
pub(crate) struct Relations(HashMap<String, Relation>);

struct Relation {
    kind: String,
    target: String,
}

impl Relations {
    pub(crate) fn of(archive: &mut Archive<'_>, part: &str) -> Result<Relations, Unreadable> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = resolve(folder, &format!("_rels/{file}.rels"));
        let mut relations = HashMap::new();
        if !archive.has(&name) {
            return Ok(Relations(relations));
        }
        let mut markup = archive.markup(&name, MarkupKind::Xml)?;
        while let Some(mark) = markup.next()? {
            let Mark::Open(element) = mark else { continue };
            // References outside the file are not followed.
            if element.plain("TargetMode").as_deref() == Some("External") {
                continue;
            }
            if let (Some(id), Some(kind), Some(target)) =
                (element.plain("Id"), element.plain("Type"), element.plain("Target"))
            {
                check_count(relations.len())?;
                let target = resolve(folder, &target);
                relations.insert(id, Relation { kind, target });
            }
        }
        Ok(Relations(relations))
    }

    pub(crate) fn target(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(|relation| relation.target.as_str())
    }

    /// The first part of a given kind.
    pub(crate) fn of_kind(&self, kind: &str) -> Option<&str> {
        let mut of_kind = self.0.values().filter(|relation| relation.kind.ends_with(kind));
        of_kind.next().map(|relation| relation.target.as_str())
    }
}

/// Resolves a part's name relative to a folder.
pub(crate) fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            _ => steps.push(step),
        }
    }
    steps.join("/")
}

//! Word, PowerPoint and Excel files: finds their parts and reads them in order.

use std::collections::HashMap;

use crate::archive::{DocumentArchive, check_count};
use crate::fault::{self, DocumentReadError};
use crate::markup::{MarkupEvent, MarkupKind};
use crate::text_output::TextOutput;
use crate::{office_text, xlsx};

/// The table of part types.
pub(crate) const TYPES: &str = "[Content_Types].xml";

pub(crate) fn read_office(
    archive: &mut DocumentArchive<'_>,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let types = read_part_types(archive)?;
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
        return xlsx::read_workbook(archive, &main.name, page);
    }
    Err(fault::UNKNOWN_ARCHIVE)
}

/// A part and its media type.
struct PartType {
    name: String,
    media_type: String,
}

fn read_part_types(archive: &mut DocumentArchive<'_>) -> Result<Vec<PartType>, DocumentReadError> {
    let mut types = Vec::new();
    let mut markup = archive.open_markup(TYPES, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let MarkupEvent::Open(element) = mark else { continue };
        if let (Some(name), Some(media_type)) =
            (element.plain_attribute("PartName"), element.plain_attribute("ContentType"))
        {
            check_count(types.len())?;
            types.push(PartType { name: name.trim_start_matches('/').to_owned(), media_type });
        }
    }
    Ok(types)
}

/// Reads the text, then footnotes and endnotes.
fn read_document(
    archive: &mut DocumentArchive<'_>,
    types: &[PartType],
    main: &str,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    office_text::read_text(archive.open_markup(main, MarkupKind::Xml)?, page)?;
    for kind in ["footnotes+xml", "endnotes+xml"] {
        for part in types.iter().filter(|it| it.media_type.ends_with(kind)) {
            page.end_part()?;
            office_text::read_text(archive.open_markup(&part.name, MarkupKind::Xml)?, page)?;
        }
    }
    Ok(())
}

/// Reads each slide with its speaker notes.
fn read_slides(
    archive: &mut DocumentArchive<'_>,
    main: &str,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let relations = PartRelations::read_relations(archive, main)?;
    let mut slides = Vec::new();
    let mut markup = archive.open_markup(main, MarkupKind::Xml)?;
    while let Some(mark) = markup.next()? {
        let MarkupEvent::Open(element) = mark else { continue };
        if element.name() == "sldId" {
            check_count(slides.len())?;
            slides.extend(element.prefixed_attribute("id"));
        }
    }
    drop(markup);
    for (index, id) in slides.iter().enumerate() {
        let slide = relations.target(id).ok_or(fault::MISSING_PART)?;
        page.end_part()?;
        page.write(&format!("Slide {}", index + 1))?;
        page.end_line()?;
        office_text::read_text(archive.open_markup(slide, MarkupKind::Xml)?, page)?;
        if let Some(notes) = PartRelations::read_relations(archive, slide)?.of_kind("/notesSlide") {
            page.end_line()?;
            page.write("Notes:\n")?;
            office_text::read_text(archive.open_markup(notes, MarkupKind::Xml)?, page)?;
        }
    }
    Ok(())
}

/// References of a part to other parts, by id.
pub(crate) struct PartRelations(HashMap<String, PartRelation>);

struct PartRelation {
    kind: String,
    target: String,
}

impl PartRelations {
    pub(crate) fn read_relations(
        archive: &mut DocumentArchive<'_>,
        part: &str,
    ) -> Result<PartRelations, DocumentReadError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = resolve_part_name(folder, &format!("_rels/{file}.rels"));
        let mut relations = HashMap::new();
        if !archive.has(&name) {
            return Ok(PartRelations(relations));
        }
        let mut markup = archive.open_markup(&name, MarkupKind::Xml)?;
        while let Some(mark) = markup.next()? {
            let MarkupEvent::Open(element) = mark else { continue };
            // References outside the file are not followed.
            if element.plain_attribute("TargetMode").as_deref() == Some("External") {
                continue;
            }
            if let (Some(id), Some(kind), Some(target)) = (
                element.plain_attribute("Id"),
                element.plain_attribute("Type"),
                element.plain_attribute("Target"),
            ) {
                check_count(relations.len())?;
                let target = resolve_part_name(folder, &target);
                relations.insert(id, PartRelation { kind, target });
            }
        }
        Ok(PartRelations(relations))
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
pub(crate) fn resolve_part_name(folder: &str, target: &str) -> String {
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

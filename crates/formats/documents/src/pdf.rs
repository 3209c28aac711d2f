//! Extracts text from PDF files, in reading order.
//!
//! A PDF gives the position of each glyph and usually its characters. Words, lines and columns are
//! derived from the positions. Fonts are not rendered, and images are ignored.

mod accent;
mod aes256_key;
mod annotation;
mod cipher;
mod content;
mod encryption;
mod file;
mod filter;
mod font;
mod layout;
mod lexer;
mod matrix;
mod object;
mod object_stream;
mod predictor;
mod run;
mod security;
mod string;
mod table;
mod tree;
mod work_limit;

use self::content::{ContentInterpreter, PageObservations};
use self::file::PdfFile;
use self::font::FontCache;
use self::object::PdfObject;
use self::tree::{PageCursor, PageNode};
use crate::fault::{self, DocumentReadError};
use crate::text_output::TextOutput;

/// Maximum content streams per page. Programs write one or a few.
const CONTENTS_MAX: usize = 10_000;
/// Cost of a content stream, in steps.
const CONTENT_STEPS: usize = 16;
/// Cost of ordering a run of text among the others, in steps.
const RUN_STEPS: usize = 64;

pub(crate) fn read_pdf(
    bytes: &[u8],
    unpacked_bytes_left: &mut u64,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let mut file = PdfFile::open(bytes, unpacked_bytes_left)?;
    let mut pages = PageCursor::new(&mut file)?;
    let mut fonts = FontCache::default();
    let mut seen = PageObservations::default();
    let mut has_text = false;
    while let Some(node) = pages.next(&mut file)? {
        let (text, of_page) = read_page(&mut file, &mut fonts, &node, page.bytes_left())?;
        has_text |= !text.trim().is_empty();
        seen.has_picture |= of_page.has_picture;
        seen.unknown_glyphs += of_page.unknown_glyphs;
        page.end_part()?;
        page.write_block(&text)?;
    }
    match (has_text, seen) {
        (true, _) => Ok(()),
        (false, PageObservations { unknown_glyphs: 1.., .. }) => Err(fault::UNKNOWN_GLYPHS),
        (false, PageObservations { has_picture: true, .. }) => Err(fault::SCANNED),
        (false, _) => Err(fault::NO_TEXT),
    }
}

fn read_page(
    file: &mut PdfFile<'_>,
    fonts: &mut FontCache,
    node: &PageNode,
    text_bytes_max: usize,
) -> Result<(String, PageObservations), DocumentReadError> {
    let content = read_content(file, node)?;
    let mut painter = ContentInterpreter::new(file, fonts, text_bytes_max);
    painter.interpret_content(&content, &node.resources)?;
    annotation::draw_annotations(&mut painter, &node.dict)?;
    let seen = painter.seen;
    let runs = painter.runs.finish();
    file.effort.spend(RUN_STEPS * runs.len())?;
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 360")]
    let rotation = node.rotation as i32;
    Ok((layout::arrange_text(runs, rotation), seen))
}

/// A page's content may be split into streams between any two tokens.
fn read_content(file: &mut PdfFile<'_>, node: &PageNode) -> Result<Vec<u8>, DocumentReadError> {
    let contents = file.get(&node.dict, "Contents")?;
    let parts = match &contents {
        PdfObject::Array(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    let mut content = Vec::new();
    for part in parts.iter().take(CONTENTS_MAX) {
        file.effort.spend(CONTENT_STEPS)?;
        let PdfObject::Stream(stream) = file.resolve(part)? else { continue };
        let Some(unpacked) = file.unpack_stream(&stream)? else { continue };
        if content.is_empty() {
            content = unpacked;
        } else {
            content.push(b'\n');
            content.extend(unpacked);
        }
    }
    Ok(content)
}

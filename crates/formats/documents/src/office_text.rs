//! Running text of Word documents and PowerPoint slides, which use the same element names.

use crate::fault::DocumentReadError;
use crate::markup::{MarkupEvent, MarkupParser};
use crate::text_output::TextOutput;

pub(crate) fn read_text(
    mut markup: MarkupParser<'_>,
    page: &mut TextOutput<'_>,
) -> Result<(), DocumentReadError> {
    let mut is_text = false;
    while let Some(mark) = markup.next()? {
        match mark {
            MarkupEvent::Text(text) if is_text => page.write(&text)?,
            MarkupEvent::Text(_) => {}
            MarkupEvent::Open(element) => match element.name() {
                "t" => is_text = true,
                "br" | "cr" => page.write("\n")?,
                "tab" => page.write("\t")?,
                "noBreakHyphen" => page.write("-")?,
                "tc" => page.open_cell(),
                "fld" if element.plain_attribute("type").as_deref() == Some("slidenum") => {
                    markup.skip_element()?
                }
                // Properties, where a tab is a ruler position, and fallback content, which
                // duplicates the text for older programs.
                "pPr" | "rPr" | "tblPr" | "sectPr" | "Fallback" => markup.skip_element()?,
                _ => {}
            },
            MarkupEvent::Close(name) => match name.as_str() {
                "t" => is_text = false,
                "p" => page.end_line()?,
                "tc" => page.close_cell(),
                "tr" => page.close_row()?,
                _ => {}
            },
        }
    }
    Ok(())
}

//! Running text of Word documents and PowerPoint slides, which use the same element names.

use crate::fault::Unreadable;
use crate::markup::{Mark, Markup};
use crate::page::Page;

pub(crate) fn read(mut markup: Markup<'_>, page: &mut Page<'_>) -> Result<(), Unreadable> {
    let mut is_text = false;
    while let Some(mark) = markup.next()? {
        match mark {
            Mark::Text(text) if is_text => page.write(&text)?,
            Mark::Text(_) => {}
            Mark::Open(element) => match element.name() {
                "t" => is_text = true,
                "br" | "cr" => page.write("\n")?,
                "tab" => page.write("\t")?,
                "noBreakHyphen" => page.write("-")?,
                "tc" => page.open_cell(),
                "fld" if element.plain("type").as_deref() == Some("slidenum") => markup.skip()?,
                // Properties, where a tab is a ruler position, and fallback content, which
                // duplicates the text for older programs.
                "pPr" | "rPr" | "tblPr" | "sectPr" | "Fallback" => markup.skip()?,
                _ => {}
            },
            Mark::Close(name) => match name.as_str() {
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

//! XML as a row of opened elements, closed ones and texts. Prefixes are not looked at: the formats
//! that are read here use the same local names for the same things.

use std::borrow::Cow;
use std::io::BufReader;

use quick_xml::XmlVersion;
use quick_xml::escape::{resolve_html5_entity, resolve_xml_entity};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Error, Reader};

use crate::archive::{Unpacked, of_io};
use crate::fault::{self, Unreadable};

/// Real documents stay below a hundred.
const DEPTH_MAX: usize = 256;

/// Whose rules the text follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkupKind {
    Xml,
    /// Pages of books: written by hand and by old programs, with the entities of HTML.
    Html,
}

pub(crate) struct Markup<'a> {
    reader: Reader<BufReader<Unpacked<'a>>>,
    kind: MarkupKind,
    buffer: Vec<u8>,
    depth: usize,
}

/// One step through a document.
pub(crate) enum Mark<'a> {
    Open(Element<'a>),
    /// The local name of an element that ends.
    Close(String),
    Text(Cow<'a, str>),
}

pub(crate) struct Element<'a>(BytesStart<'a>);

impl<'a> Markup<'a> {
    pub(crate) fn new(part: BufReader<Unpacked<'a>>, kind: MarkupKind) -> Markup<'a> {
        let mut reader = Reader::from_reader(part);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        if kind == MarkupKind::Html {
            config.check_end_names = false;
            config.allow_unmatched_ends = true;
            config.allow_dangling_amp = true;
        }
        Markup { reader, kind, buffer: Vec::new(), depth: 0 }
    }

    /// The next step, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Mark<'_>>, Unreadable> {
        // A loop around the borrow of the buffer does not pass the borrow checker, so what is of
        // no interest becomes an empty text.
        self.buffer.clear();
        self.reader.get_mut().get_mut().mark();
        let event = self.reader.read_event_into(&mut self.buffer);
        let mark = match event.map_err(|error| of_xml(&error))? {
            Event::Eof => return end(self.kind, self.depth),
            Event::Start(start) => {
                self.depth += 1;
                if DEPTH_MAX < self.depth {
                    return Err(fault::TOO_DEEP);
                }
                Mark::Open(Element(start))
            }
            Event::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                Mark::Close(end.local_name().into_inner().to_owned())
            }
            Event::Text(text) => Mark::Text(text.xml10_content()),
            Event::CData(data) => Mark::Text(data.xml10_content()),
            Event::GeneralRef(reference) => Mark::Text(resolve(&reference, self.kind)?),
            Event::DocType(declaration) if declaration.contains('[') => {
                return Err(fault::DECLARATIONS);
            }
            Event::Empty(_)
            | Event::DocType(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_) => Mark::Text(Cow::Borrowed("")),
        };
        Ok(Some(mark))
    }

    /// Passes over the rest of the element that was just opened.
    pub(crate) fn skip(&mut self) -> Result<(), Unreadable> {
        let outside = self.depth.saturating_sub(1);
        while outside < self.depth && self.next()?.is_some() {}
        Ok(())
    }

    /// All text up to the end of the element that was just opened.
    pub(crate) fn text(&mut self, into: &mut String) -> Result<(), Unreadable> {
        let outside = self.depth.saturating_sub(1);
        while outside < self.depth {
            match self.next()? {
                Some(Mark::Text(text)) => into.push_str(&text),
                Some(Mark::Open(_) | Mark::Close(_)) => {}
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Many pages of books leave elements open; in an office file it means that the rest is missing.
fn end<'a>(kind: MarkupKind, depth: usize) -> Result<Option<Mark<'a>>, Unreadable> {
    let is_whole = depth == 0 || kind == MarkupKind::Html;
    if is_whole { Ok(None) } else { Err(fault::MARKUP) }
}

impl Element<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// An attribute without a prefix.
    pub(crate) fn plain(&self, name: &str) -> Option<String> {
        self.attribute(name, false)
    }

    /// An attribute under any prefix.
    pub(crate) fn prefixed(&self, name: &str) -> Option<String> {
        self.attribute(name, true)
    }

    fn attribute(&self, name: &str, has_prefix: bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        // Comparing each name with all others would take long for thousands of them.
        let found = attributes.with_checks(false).flatten().find(|attribute| {
            let (local, prefix) = attribute.key.decompose();
            local.into_inner() == name && prefix.is_some() == has_prefix
        })?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
    }
}

fn resolve(reference: &BytesRef<'_>, kind: MarkupKind) -> Result<Cow<'static, str>, Unreadable> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| of_xml(&error))? {
        return Ok(Cow::Owned(character.to_string()));
    }
    let known = match kind {
        MarkupKind::Xml => resolve_xml_entity(reference),
        MarkupKind::Html => resolve_html5_entity(reference),
    };
    match (known, kind) {
        (Some(text), _) => Ok(Cow::Borrowed(text)),
        // Browsers show it as it is written.
        (None, MarkupKind::Html) => Ok(Cow::Owned(format!("&{};", &**reference))),
        (None, MarkupKind::Xml) => Err(fault::MARKUP),
    }
}

fn of_xml(error: &Error) -> Unreadable {
    match error {
        Error::Io(error) => of_io(error),
        _ => fault::MARKUP,
    }
}

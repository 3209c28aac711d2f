//! Parses XML to a sequence of start tags, end tags and texts. Prefixes are ignored: the supported
//! formats use the same local names for the same things.

use std::borrow::Cow;
use std::io::BufReader;

use quick_xml::XmlVersion;
use quick_xml::escape::{resolve_html5_entity, resolve_xml_entity};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Error, Reader};

use crate::archive::{PartReader, map_io_error};
use crate::fault::{self, DocumentReadError};

/// Real documents nest less than a hundred levels.
const DEPTH_MAX: usize = 256;

/// The syntax rules of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkupKind {
    Xml,
    /// Pages of books, which may be hand-written or old and use HTML entities.
    Html,
}

pub(crate) struct MarkupParser<'a> {
    reader: Reader<BufReader<PartReader<'a>>>,
    kind: MarkupKind,
    buffer: Vec<u8>,
    depth: usize,
}

/// One event of the parser.
pub(crate) enum MarkupEvent<'a> {
    Open(MarkupElement<'a>),
    /// The local name of an element that ends.
    Close(String),
    Text(Cow<'a, str>),
}

pub(crate) struct MarkupElement<'a>(BytesStart<'a>);

impl<'a> MarkupParser<'a> {
    pub(crate) fn new(part: BufReader<PartReader<'a>>, kind: MarkupKind) -> MarkupParser<'a> {
        let mut reader = Reader::from_reader(part);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        if kind == MarkupKind::Html {
            config.check_end_names = false;
            config.allow_unmatched_ends = true;
            config.allow_dangling_amp = true;
        }
        MarkupParser { reader, kind, buffer: Vec::new(), depth: 0 }
    }

    /// The next event; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<MarkupEvent<'_>>, DocumentReadError> {
        // A loop around the borrow of the buffer does not pass the borrow checker, so irrelevant
        // events become an empty text.
        self.buffer.clear();
        self.reader.get_mut().get_mut().mark_token_end();
        let event = self.reader.read_event_into(&mut self.buffer);
        let mark = match event.map_err(|error| map_xml_error(&error))? {
            Event::Eof => return check_end(self.kind, self.depth),
            Event::Start(start) => {
                self.depth += 1;
                if DEPTH_MAX < self.depth {
                    return Err(fault::TOO_DEEP);
                }
                MarkupEvent::Open(MarkupElement(start))
            }
            Event::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                MarkupEvent::Close(end.local_name().into_inner().to_owned())
            }
            Event::Text(text) => MarkupEvent::Text(text.xml10_content()),
            Event::CData(data) => MarkupEvent::Text(data.xml10_content()),
            Event::GeneralRef(reference) => {
                MarkupEvent::Text(resolve_entity(&reference, self.kind)?)
            }
            Event::DocType(declaration) if declaration.contains('[') => {
                return Err(fault::DECLARATIONS);
            }
            Event::Empty(_)
            | Event::DocType(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_) => MarkupEvent::Text(Cow::Borrowed("")),
        };
        Ok(Some(mark))
    }

    /// Skips the rest of the element that was just opened.
    pub(crate) fn skip_element(&mut self) -> Result<(), DocumentReadError> {
        let outside = self.depth.saturating_sub(1);
        while outside < self.depth && self.next()?.is_some() {}
        Ok(())
    }

    /// Appends all text up to the end of the element that was just opened.
    pub(crate) fn read_text(&mut self, into: &mut String) -> Result<(), DocumentReadError> {
        let outside = self.depth.saturating_sub(1);
        while outside < self.depth {
            match self.next()? {
                Some(MarkupEvent::Text(text)) => into.push_str(&text),
                Some(MarkupEvent::Open(_) | MarkupEvent::Close(_)) => {}
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Pages of books often leave elements open; in an office file it means a truncated part.
fn check_end<'a>(
    kind: MarkupKind,
    depth: usize,
) -> Result<Option<MarkupEvent<'a>>, DocumentReadError> {
    let is_whole = depth == 0 || kind == MarkupKind::Html;
    if is_whole { Ok(None) } else { Err(fault::MARKUP) }
}

impl MarkupElement<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// An attribute without a prefix.
    pub(crate) fn plain_attribute(&self, name: &str) -> Option<String> {
        self.find_attribute(name, false)
    }

    /// An attribute under any prefix.
    pub(crate) fn prefixed_attribute(&self, name: &str) -> Option<String> {
        self.find_attribute(name, true)
    }

    fn find_attribute(&self, name: &str, has_prefix: bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        // The duplicate check compares each name with all others, which is slow for thousands of
        // attributes.
        let found = attributes.with_checks(false).flatten().find(|attribute| {
            let (local, prefix) = attribute.key.decompose();
            local.into_inner() == name && prefix.is_some() == has_prefix
        })?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
    }
}

fn resolve_entity(
    reference: &BytesRef<'_>,
    kind: MarkupKind,
) -> Result<Cow<'static, str>, DocumentReadError> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| map_xml_error(&error))? {
        return Ok(Cow::Owned(character.to_string()));
    }
    let known = match kind {
        MarkupKind::Xml => resolve_xml_entity(reference),
        MarkupKind::Html => resolve_html5_entity(reference),
    };
    match (known, kind) {
        (Some(text), _) => Ok(Cow::Borrowed(text)),
        // Unknown entities stay as written, as in browsers.
        (None, MarkupKind::Html) => Ok(Cow::Owned(format!("&{};", &**reference))),
        (None, MarkupKind::Xml) => Err(fault::MARKUP),
    }
}

fn map_xml_error(error: &Error) -> DocumentReadError {
    match error {
        Error::Io(error) => map_io_error(error),
        _ => fault::MARKUP,
    }
}

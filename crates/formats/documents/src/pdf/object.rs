//! PDF values. Clones share their content.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum PdfObject {
    Null,
    Bool(bool),
    Number(f64),
    Name(Rc<[u8]>),
    Text(Rc<[u8]>),
    Array(Rc<[PdfObject]>),
    Dict(PdfDict),
    Stream(PdfStream),
    /// A reference to the object of this number.
    Ref(u32),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PdfDict(Rc<BTreeMap<Rc<[u8]>, PdfObject>>);

/// The object that contains a value. Encryption uses a key per object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PdfObjectId {
    pub(super) number: u32,
    pub(super) generation: u32,
}

/// Encoded data with its dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PdfStream {
    pub(super) owner: PdfObjectId,
    pub(super) dict: PdfDict,
    /// The range in the file.
    pub(super) data: Range<usize>,
}

impl PdfObject {
    pub(super) fn as_number(&self) -> Option<f64> {
        match self {
            PdfObject::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A non-negative integer, used as a count or index.
    pub(super) fn as_index(&self) -> Option<usize> {
        let number = self.as_number()?;
        let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        is_whole.then_some(number as usize)
    }

    pub(super) fn as_name(&self) -> Option<&[u8]> {
        match self {
            PdfObject::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn as_text(&self) -> Option<&[u8]> {
        match self {
            PdfObject::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&Rc<[PdfObject]>> {
        match self {
            PdfObject::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The dictionary itself, or that of a stream.
    pub(super) fn as_dict(&self) -> Option<&PdfDict> {
        match self {
            PdfObject::Dict(dict) => Some(dict),
            PdfObject::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    /// Replaces all strings, including nested ones.
    pub(super) fn with_texts<E>(
        self,
        change: &mut impl FnMut(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<PdfObject, E> {
        Ok(match self {
            PdfObject::Text(text) => PdfObject::Text(change(&text)?.into()),
            PdfObject::Array(items) => {
                let items = items.iter().map(|item| item.clone().with_texts(change));
                PdfObject::Array(items.collect::<Result<_, E>>()?)
            }
            PdfObject::Dict(dict) => PdfObject::Dict(dict.with_texts(change)?),
            PdfObject::Stream(stream) => {
                PdfObject::Stream(PdfStream { dict: stream.dict.with_texts(change)?, ..stream })
            }
            other => other,
        })
    }

    /// Approximate memory, in values including itself.
    pub(super) fn weight(&self) -> usize {
        /// Characters that take as much memory as a value.
        const LETTERS: usize = 32;
        match self {
            PdfObject::Array(items) => 1 + items.iter().map(PdfObject::weight).sum::<usize>(),
            PdfObject::Dict(dict) | PdfObject::Stream(PdfStream { dict, .. }) => dict.weight(),
            PdfObject::Name(text) | PdfObject::Text(text) => 1 + text.len() / LETTERS,
            PdfObject::Null | PdfObject::Bool(_) | PdfObject::Number(_) | PdfObject::Ref(_) => 1,
        }
    }
}

impl PdfDict {
    pub(super) fn new(entries: BTreeMap<Rc<[u8]>, PdfObject>) -> PdfDict {
        PdfDict(Rc::new(entries))
    }

    /// The value as stored, which may be a reference.
    pub(super) fn raw(&self, key: &str) -> &PdfObject {
        self.raw_bytes(key.as_bytes())
    }

    pub(super) fn raw_bytes(&self, key: &[u8]) -> &PdfObject {
        self.0.get(key).unwrap_or(&PdfObject::Null)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key.as_bytes())
    }

    pub(super) fn is_a(&self, kind: &str) -> bool {
        self.raw("Type").as_name() == Some(kind.as_bytes())
    }

    fn with_texts<E>(
        &self,
        change: &mut impl FnMut(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<PdfDict, E> {
        let changed = |(key, value): (&Rc<[u8]>, &PdfObject)| {
            Ok((Rc::clone(key), value.clone().with_texts(change)?))
        };
        Ok(PdfDict::new(self.0.iter().map(changed).collect::<Result<_, E>>()?))
    }

    fn weight(&self) -> usize {
        1 + self.0.values().map(|value| 2 + value.weight()).sum::<usize>()
    }
}

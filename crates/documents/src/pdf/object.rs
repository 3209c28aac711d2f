//! PDF values. Clones share their content.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Number(f64),
    Name(Rc<[u8]>),
    Text(Rc<[u8]>),
    Array(Rc<[Object]>),
    Dict(Dict),
    Stream(Stream),
    /// A reference to the object of this number.
    Ref(u32),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Dict(Rc<BTreeMap<Rc<[u8]>, Object>>);

/// The object that contains a value. Encryption uses a key per object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) number: u32,
    pub(super) generation: u32,
}

/// Encoded data with its dictionary.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stream {
    pub(super) owner: Owner,
    pub(super) dict: Dict,
    /// The range in the file.
    pub(super) data: Range<usize>,
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Object::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A non-negative integer, used as a count or index.
    pub(super) fn index(&self) -> Option<usize> {
        let number = self.number()?;
        let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        is_whole.then_some(number as usize)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Object::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Object::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn array(&self) -> Option<&Rc<[Object]>> {
        match self {
            Object::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The dictionary itself, or that of a stream.
    pub(super) fn dict(&self) -> Option<&Dict> {
        match self {
            Object::Dict(dict) => Some(dict),
            Object::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    /// Replaces all strings, including nested ones.
    pub(super) fn with_texts<E>(
        self,
        change: &mut impl FnMut(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<Object, E> {
        Ok(match self {
            Object::Text(text) => Object::Text(change(&text)?.into()),
            Object::Array(items) => {
                let items = items.iter().map(|item| item.clone().with_texts(change));
                Object::Array(items.collect::<Result<_, E>>()?)
            }
            Object::Dict(dict) => Object::Dict(dict.with_texts(change)?),
            Object::Stream(stream) => {
                Object::Stream(Stream { dict: stream.dict.with_texts(change)?, ..stream })
            }
            other => other,
        })
    }

    /// Approximate memory, in values including itself.
    pub(super) fn weight(&self) -> usize {
        /// Characters that take as much memory as a value.
        const LETTERS: usize = 32;
        match self {
            Object::Array(items) => 1 + items.iter().map(Object::weight).sum::<usize>(),
            Object::Dict(dict) | Object::Stream(Stream { dict, .. }) => dict.weight(),
            Object::Name(text) | Object::Text(text) => 1 + text.len() / LETTERS,
            Object::Null | Object::Bool(_) | Object::Number(_) | Object::Ref(_) => 1,
        }
    }
}

impl Dict {
    pub(super) fn new(entries: BTreeMap<Rc<[u8]>, Object>) -> Dict {
        Dict(Rc::new(entries))
    }

    /// The value as stored, which may be a reference.
    pub(super) fn raw(&self, key: &str) -> &Object {
        self.raw_bytes(key.as_bytes())
    }

    pub(super) fn raw_bytes(&self, key: &[u8]) -> &Object {
        self.0.get(key).unwrap_or(&Object::Null)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key.as_bytes())
    }

    pub(super) fn is_a(&self, kind: &str) -> bool {
        self.raw("Type").name() == Some(kind.as_bytes())
    }

    fn with_texts<E>(
        &self,
        change: &mut impl FnMut(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<Dict, E> {
        let changed = |(key, value): (&Rc<[u8]>, &Object)| {
            Ok((Rc::clone(key), value.clone().with_texts(change)?))
        };
        Ok(Dict::new(self.0.iter().map(changed).collect::<Result<_, E>>()?))
    }

    fn weight(&self) -> usize {
        1 + self.0.values().map(|value| 2 + value.weight()).sum::<usize>()
    }
}

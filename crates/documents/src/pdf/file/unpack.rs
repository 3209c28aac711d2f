//! Decrypts and unpacks stream data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::filter;
use super::super::object::{Dict, Object, Stream};
use super::super::security::Method;
use super::{DECRYPT_STEPS, File};
use crate::fault::Unreadable;

/// Cost of starting to unpack, in steps, besides the bytes.
const UNPACK_STEPS: usize = 4_096;
/// The filter that selects a stream's encryption.
const CRYPT: &[u8] = b"Crypt";

impl File<'_> {
    /// Unpacks a stream. `None` for images and unknown filters.
    pub(in crate::pdf) fn unpack(
        &mut self,
        stream: &Stream,
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some(filters) = self.filters(&stream.dict)? else { return Ok(None) };
        let Some(method) = self.method(stream, &filters)? else { return Ok(None) };
        let raw = self.bytes.get(stream.data.clone()).unwrap_or_default();
        let mut bytes = match (method, self.lock.clone()) {
            (Method::Plain, _) | (_, None) => Cow::Borrowed(raw),
            (method, Some(lock)) => {
                self.effort.spend(DECRYPT_STEPS + method.steps(raw.len()))?;
                Cow::Owned(lock.key.decrypt(method, stream.owner, raw))
            }
        };
        let mut is_counted = false;
        for (name, parameters) in &filters {
            if name.name() == Some(CRYPT) {
                continue;
            }
            self.effort.spend(UNPACK_STEPS)?;
            let name = name.name().unwrap_or_default();
            match filter::undo(name, parameters, &bytes, &mut self.effort)? {
                Some(unpacked) => bytes = Cow::Owned(unpacked),
                None => return Ok(None),
            }
            is_counted = true;
        }
        if !is_counted {
            self.effort.unpacked(bytes.len())?;
        }
        Ok(Some(bytes.into_owned()))
    }

    /// The filters of a stream with their parameters; `None` if there are too many.
    fn filters(&mut self, dict: &Dict) -> Result<Option<Vec<(Object, Dict)>>, Unreadable> {
        let names = self.list(dict, "Filter", "F")?;
        let parameters = self.list(dict, "DecodeParms", "DP")?;
        if filter::FILTERS_MAX < names.len() {
            return Ok(None);
        }
        let mut filters = Vec::new();
        for (position, name) in names.iter().enumerate() {
            let name = self.resolve(name)?;
            let parameters = parameters.get(position).unwrap_or(&Object::Null);
            let parameters = self.resolve(parameters)?.dict().cloned().unwrap_or_default();
            filters.push((name, self.flat(&parameters)?));
        }
        Ok(Some(filters))
    }

    /// The encryption method of a stream. Cross-reference streams are never encrypted; others may
    /// override the default.
    fn method(
        &mut self,
        stream: &Stream,
        filters: &[(Object, Dict)],
    ) -> Result<Option<Method>, Unreadable> {
        let Some(lock) = self.lock.clone() else { return Ok(Some(Method::Plain)) };
        if stream.dict.is_a("XRef") {
            return Ok(Some(Method::Plain));
        }
        match filters.iter().find(|(name, _)| name.name() == Some(CRYPT)) {
            Some((_, parameters)) => lock.named(self, parameters),
            None => Ok(Some(lock.streams)),
        }
    }

    /// A single value or an array as a list.
    fn list(&mut self, dict: &Dict, key: &str, short: &str) -> Result<Rc<[Object]>, Unreadable> {
        let key = if dict.has(key) { key } else { short };
        Ok(match self.get(dict, key)? {
            Object::Null => Rc::new([]),
            Object::Array(items) => items,
            one => Rc::new([one]),
        })
    }

    /// A filter's parameters with references resolved.
    fn flat(&mut self, parameters: &Dict) -> Result<Dict, Unreadable> {
        const KEYS: [&str; 6] =
            ["Predictor", "Colors", "BitsPerComponent", "Columns", "EarlyChange", "Name"];
        let mut entries = BTreeMap::new();
        for key in KEYS.into_iter().filter(|key| parameters.has(key)) {
            entries.insert(Rc::from(key.as_bytes()), self.get(parameters, key)?);
        }
        Ok(Dict::new(entries))
    }
}

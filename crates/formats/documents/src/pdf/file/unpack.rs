//! Decrypts and unpacks stream data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::filter;
use super::super::object::{PdfDict, PdfObject, PdfStream};
use super::super::security::CipherMethod;
use super::{DECRYPT_STEPS, PdfFile};
use crate::fault::DocumentReadError;

/// Cost of starting to unpack, in steps, besides the bytes.
const UNPACK_STEPS: usize = 4_096;
/// The filter that selects a stream's encryption.
const CRYPT: &[u8] = b"Crypt";

impl PdfFile<'_> {
    /// Unpacks a stream. `None` for images and unknown filters.
    pub(in crate::pdf) fn unpack_stream(
        &mut self,
        stream: &PdfStream,
    ) -> Result<Option<Vec<u8>>, DocumentReadError> {
        let Some(filters) = self.read_filters(&stream.dict)? else { return Ok(None) };
        let Some(method) = self.encryption_method(stream, &filters)? else { return Ok(None) };
        let raw = self.bytes.get(stream.data.clone()).unwrap_or_default();
        let mut bytes = match (method, self.lock.clone()) {
            (CipherMethod::Plain, _) | (_, None) => Cow::Borrowed(raw),
            (method, Some(lock)) => {
                self.effort.spend(DECRYPT_STEPS + method.steps(raw.len()))?;
                Cow::Owned(lock.key.decrypt(method, stream.owner, raw))
            }
        };
        let mut is_counted = false;
        for (name, parameters) in &filters {
            if name.as_name() == Some(CRYPT) {
                continue;
            }
            self.effort.spend(UNPACK_STEPS)?;
            let name = name.as_name().unwrap_or_default();
            match filter::decode_filter(name, parameters, &bytes, &mut self.effort)? {
                Some(unpacked) => bytes = Cow::Owned(unpacked),
                None => return Ok(None),
            }
            is_counted = true;
        }
        if !is_counted {
            self.effort.spend_unpacked(bytes.len())?;
        }
        Ok(Some(bytes.into_owned()))
    }

    /// The filters of a stream with their parameters; `None` if there are too many.
    fn read_filters(
        &mut self,
        dict: &PdfDict,
    ) -> Result<Option<Vec<(PdfObject, PdfDict)>>, DocumentReadError> {
        let names = self.get_list(dict, "Filter", "F")?;
        let parameters = self.get_list(dict, "DecodeParms", "DP")?;
        if filter::FILTERS_MAX < names.len() {
            return Ok(None);
        }
        let mut filters = Vec::new();
        for (position, name) in names.iter().enumerate() {
            let name = self.resolve(name)?;
            let parameters = parameters.get(position).unwrap_or(&PdfObject::Null);
            let parameters = self.resolve(parameters)?.as_dict().cloned().unwrap_or_default();
            filters.push((name, self.resolve_parameters(&parameters)?));
        }
        Ok(Some(filters))
    }

    /// The encryption method of a stream. Cross-reference streams are never encrypted; others may
    /// override the default.
    fn encryption_method(
        &mut self,
        stream: &PdfStream,
        filters: &[(PdfObject, PdfDict)],
    ) -> Result<Option<CipherMethod>, DocumentReadError> {
        let Some(lock) = self.lock.clone() else { return Ok(Some(CipherMethod::Plain)) };
        if stream.dict.is_a("XRef") {
            return Ok(Some(CipherMethod::Plain));
        }
        match filters.iter().find(|(name, _)| name.as_name() == Some(CRYPT)) {
            Some((_, parameters)) => lock.find_filter_method(self, parameters),
            None => Ok(Some(lock.streams)),
        }
    }

    /// A single value or an array as a list.
    fn get_list(
        &mut self,
        dict: &PdfDict,
        key: &str,
        short: &str,
    ) -> Result<Rc<[PdfObject]>, DocumentReadError> {
        let key = if dict.has(key) { key } else { short };
        Ok(match self.get(dict, key)? {
            PdfObject::Null => Rc::new([]),
            PdfObject::Array(items) => items,
            one => Rc::new([one]),
        })
    }

    /// A filter's parameters with references resolved.
    fn resolve_parameters(&mut self, parameters: &PdfDict) -> Result<PdfDict, DocumentReadError> {
        const KEYS: [&str; 6] =
            ["Predictor", "Colors", "BitsPerComponent", "Columns", "EarlyChange", "Name"];
        let mut entries = BTreeMap::new();
        for key in KEYS.into_iter().filter(|key| parameters.has(key)) {
            entries.insert(Rc::from(key.as_bytes()), self.get(parameters, key)?);
        }
        Ok(PdfDict::new(entries))
    }
}

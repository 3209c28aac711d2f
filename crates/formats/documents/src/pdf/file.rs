//! A PDF as a store of numbered objects. Broken objects read as null; exceeded limits are errors.

mod unpack;

use std::collections::HashMap;
use std::rc::Rc;

use super::encryption::{self, PdfEncryption};
use super::lexer::{PdfLexer, PdfToken};
use super::object::{PdfDict, PdfObject, PdfObjectId, PdfStream};
use super::object_stream::ObjectStream;
use super::security::CipherMethod;
use super::table::{self, ObjectLocation, ObjectTable};
use super::work_limit::PdfWorkLimit;
use crate::fault::DocumentReadError;

/// Maximum chain of references, and nesting of lookups of lengths.
const HOPS_MAX: usize = 16;
/// Maximum total weight of cached values.
const KEPT_WEIGHT_MAX: usize = 400_000;
/// Maximum objects in all object streams, whose locations are kept.
const PACKED_OBJECTS_MAX: usize = 500_000;
/// Cost of a value, in steps, besides its bytes.
const NODE_STEPS: usize = 16;
/// Cost of starting a decryption (a digest and a cipher setup), in steps, besides the bytes.
const DECRYPT_STEPS: usize = 512;

pub(super) struct PdfFile<'a> {
    bytes: &'a [u8],
    pub(super) effort: PdfWorkLimit<'a>,
    table: ObjectTable,
    /// The encryption of the file, if any.
    lock: Option<Rc<PdfEncryption>>,
    /// Set if the object table was rebuilt by scanning the file.
    is_rebuilt: bool,
    kept: HashMap<u32, PdfObject>,
    kept_weight: usize,
    packed: HashMap<u32, Rc<ObjectStream>>,
    packed_objects_left: usize,
    hops: usize,
}

impl<'a> PdfFile<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        unpacked_left: &'a mut u64,
    ) -> Result<PdfFile<'a>, DocumentReadError> {
        let mut file = PdfFile {
            bytes,
            effort: PdfWorkLimit::new(unpacked_left),
            table: ObjectTable::default(),
            lock: None,
            is_rebuilt: false,
            kept: HashMap::new(),
            kept_weight: 0,
            packed: HashMap::new(),
            packed_objects_left: PACKED_OBJECTS_MAX,
            hops: 0,
        };
        match table::read_tables(&mut file)? {
            Some(table) => {
                let trailer = table.trailer.clone();
                file.table = table;
                file.read_encryption(&trailer)?;
            }
            None => file.rebuild_table()?,
        }
        if file.page_tree_root()?.is_none() && !file.is_rebuilt {
            file.rebuild_table()?;
        }
        Ok(file)
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The root of the page tree.
    pub(super) fn page_tree_root(&mut self) -> Result<Option<PdfDict>, DocumentReadError> {
        let trailer = self.table.trailer.clone();
        let root = self.get(&trailer, "Root")?;
        let Some(root) = root.as_dict() else { return Ok(None) };
        Ok(self.get(root, "Pages")?.as_dict().cloned())
    }

    /// The value of a key, with references resolved.
    pub(super) fn get(
        &mut self,
        dict: &PdfDict,
        key: &str,
    ) -> Result<PdfObject, DocumentReadError> {
        self.resolve(dict.raw(key))
    }

    pub(super) fn get_dict(
        &mut self,
        dict: &PdfDict,
        key: &str,
    ) -> Result<PdfDict, DocumentReadError> {
        Ok(self.get(dict, key)?.as_dict().cloned().unwrap_or_default())
    }

    pub(super) fn resolve(&mut self, object: &PdfObject) -> Result<PdfObject, DocumentReadError> {
        let mut object = object.clone();
        for _ in 0..HOPS_MAX {
            let PdfObject::Ref(number) = object else { return Ok(object) };
            object = self.load_object(number)?;
        }
        Ok(PdfObject::Null)
    }

    fn load_object(&mut self, number: u32) -> Result<PdfObject, DocumentReadError> {
        if let Some(object) = self.kept.get(&number) {
            return Ok(object.clone());
        }
        if HOPS_MAX <= self.hops {
            return Ok(PdfObject::Null);
        }
        self.hops += 1;
        let object = self.read_object(number);
        self.hops -= 1;
        let object = object?;
        self.cache_object(number, &object);
        Ok(object)
    }

    fn cache_object(&mut self, number: u32, object: &PdfObject) {
        let weight = object.weight();
        if KEPT_WEIGHT_MAX < self.kept_weight + weight {
            self.kept.clear();
            self.kept_weight = 0;
        }
        self.kept_weight += weight;
        self.kept.insert(number, object.clone());
    }

    fn read_object(&mut self, number: u32) -> Result<PdfObject, DocumentReadError> {
        let found = match self.table.places.get(&number) {
            None | Some(ObjectLocation::Nowhere) => return Ok(PdfObject::Null),
            Some(ObjectLocation::At(at)) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                self.parse_indirect(at)?
                    .filter(|(found, _)| *found == number)
                    .map(|(_, object)| object)
            }
            Some(ObjectLocation::Packed { stream, index }) => {
                let (stream, index) = (*stream, *index);
                self.packed_object(stream, number, index)?
            }
        };
        if found.is_some() || self.is_rebuilt {
            return Ok(found.unwrap_or(PdfObject::Null));
        }
        // The object table is wrong; rebuild it by scanning the file.
        self.rebuild_table()?;
        self.read_object(number)
    }

    /// Parses the object at an offset, with its number.
    pub(super) fn parse_indirect(
        &mut self,
        at: usize,
    ) -> Result<Option<(u32, PdfObject)>, DocumentReadError> {
        let mut lexer = PdfLexer::new(self.bytes, at);
        let header = [lexer.next_token(), lexer.next_token(), lexer.next_token()];
        let [
            Some(PdfToken::Number(number)),
            Some(PdfToken::Number(generation)),
            Some(PdfToken::Word(b"obj")),
        ] = header
        else {
            self.effort.spend(lexer.offset().saturating_sub(at) + 1)?;
            return Ok(None);
        };
        let whole = |it| PdfObject::Number(it).as_index().and_then(|it| u32::try_from(it).ok());
        let Some(number) = whole(number) else { return Ok(None) };
        let owner = PdfObjectId { number, generation: whole(generation).unwrap_or(0) };
        let object = lexer.parse_object().unwrap_or(PdfObject::Null);
        self.effort.spend(lexer.offset().saturating_sub(at) + 1 + NODE_STEPS * lexer.nodes())?;
        let object = self.decrypt_strings(object, owner)?;
        let PdfObject::Dict(dict) = object else { return Ok(Some((number, object))) };
        let before = lexer.offset();
        if lexer.next_token() != Some(PdfToken::Word(b"stream")) {
            self.effort.spend(lexer.offset().saturating_sub(before))?;
            return Ok(Some((number, PdfObject::Dict(dict))));
        }
        let start = lexer.offset() + line_end(lexer.rest());
        let data = start..self.stream_end(&dict, start)?;
        Ok(Some((number, PdfObject::Stream(PdfStream { owner, dict, data }))))
    }

    /// Strings of an object are encrypted individually; those within object streams are encrypted
    /// with the stream.
    fn decrypt_strings(
        &mut self,
        object: PdfObject,
        owner: PdfObjectId,
    ) -> Result<PdfObject, DocumentReadError> {
        let Some(lock) = self.lock.clone() else { return Ok(object) };
        let is_table = object.as_dict().is_some_and(|dict| dict.is_a("XRef"));
        if lock.texts == CipherMethod::Plain || is_table {
            return Ok(object);
        }
        object.with_texts(&mut |text| {
            self.effort.spend(DECRYPT_STEPS + lock.texts.steps(text.len()))?;
            Ok(lock.key.decrypt(lock.texts, owner, text))
        })
    }

    /// The end of a stream's data. The declared length is verified, because some are wrong.
    fn stream_end(&mut self, dict: &PdfDict, start: usize) -> Result<usize, DocumentReadError> {
        const MARK: &[u8] = b"endstream";
        if let Some(length) = self.get(dict, "Length")?.as_index()
            && let Some(end) = start.checked_add(length).filter(|end| *end <= self.bytes.len())
        {
            let mut lexer = PdfLexer::new(self.bytes, end);
            lexer.skip_space();
            self.effort.spend(lexer.offset() - end)?;
            if lexer.rest().starts_with(MARK) {
                return Ok(end);
            }
        }
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = memchr::memmem::find(rest, MARK).unwrap_or(rest.len());
        self.effort.spend(length)?;
        Ok(start + length)
    }

    fn packed_object(
        &mut self,
        stream: u32,
        number: u32,
        index: u32,
    ) -> Result<Option<PdfObject>, DocumentReadError> {
        let packed = match self.packed.get(&stream) {
            Some(packed) => packed.clone(),
            None => {
                let PdfObject::Stream(unread) = self.load_object(stream)? else { return Ok(None) };
                let packed = Rc::new(self.unpack_objects(&unread)?);
                self.packed.insert(stream, packed.clone());
                packed
            }
        };
        let (object, steps) = packed.find_object(number, index);
        self.effort.spend(steps)?;
        Ok(object)
    }

    pub(super) fn unpack_objects(
        &mut self,
        stream: &PdfStream,
    ) -> Result<ObjectStream, DocumentReadError> {
        let first = self.get(&stream.dict, "First")?.as_index().unwrap_or(0);
        let bytes = self.unpack_stream(stream)?.unwrap_or_default();
        let packed = ObjectStream::new(bytes, first, self.packed_objects_left);
        self.packed_objects_left -= packed.numbers().count();
        Ok(packed)
    }

    fn rebuild_table(&mut self) -> Result<(), DocumentReadError> {
        self.is_rebuilt = true;
        self.clear_cache();
        self.table = table::rebuild_table(self)?;
        // Lookups during the rebuild may have missed objects, so the cache is cleared.
        self.clear_cache();
        Ok(())
    }

    /// Determines the encryption. A trailer without an entry leaves the known one.
    pub(super) fn read_encryption(&mut self, trailer: &PdfDict) -> Result<(), DocumentReadError> {
        if !trailer.has("Encrypt") {
            return Ok(());
        }
        self.lock = None;
        self.clear_cache();
        self.lock = encryption::read_encryption(self, trailer)?.map(Rc::new);
        // Lookups so far were made without the key, so the cache is cleared.
        self.clear_cache();
        Ok(())
    }

    fn clear_cache(&mut self) {
        self.kept.clear();
        self.packed.clear();
        self.kept_weight = 0;
    }

    /// Makes objects available while the table is still being built.
    pub(super) fn set_table(&mut self, table: ObjectTable) {
        self.table = table;
    }
}

/// Length of the line end after the keyword `stream`.
fn line_end(rest: &[u8]) -> usize {
    match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [b' ', b'\r', b'\n', ..] => 3,
        [b' ', b'\n', ..] => 2,
        _ => 0,
    }
}

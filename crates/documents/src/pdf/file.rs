//! A PDF as a store of numbered objects. Broken objects read as null; exceeded limits are errors.

mod unpack;

use std::collections::HashMap;
use std::rc::Rc;

use super::effort::Effort;
use super::lexer::{Lexer, Token};
use super::lock::{self, Lock};
use super::object::{Dict, Object, Owner, Stream};
use super::packed::Packed;
use super::security::Method;
use super::table::{self, ObjectLocation, Table};
use crate::fault::Unreadable;

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

pub(super) struct File<'a> {
    bytes: &'a [u8],
    pub(super) effort: Effort<'a>,
    table: Table,
    /// The encryption of the file, if any.
    lock: Option<Rc<Lock>>,
    /// Set if the object table was rebuilt by scanning the file.
    is_rebuilt: bool,
    kept: HashMap<u32, Object>,
    kept_weight: usize,
    packed: HashMap<u32, Rc<Packed>>,
    packed_objects_left: usize,
    hops: usize,
}

impl<'a> File<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        unpacked_left: &'a mut u64,
    ) -> Result<File<'a>, Unreadable> {
        let mut file = File {
            bytes,
            effort: Effort::new(unpacked_left),
            table: Table::default(),
            lock: None,
            is_rebuilt: false,
            kept: HashMap::new(),
            kept_weight: 0,
            packed: HashMap::new(),
            packed_objects_left: PACKED_OBJECTS_MAX,
            hops: 0,
        };
        match table::read(&mut file)? {
            Some(table) => {
                let trailer = table.trailer.clone();
                file.table = table;
                file.unlock(&trailer)?;
            }
            None => file.rebuild()?,
        }
        if file.pages()?.is_none() && !file.is_rebuilt {
            file.rebuild()?;
        }
        Ok(file)
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The root of the page tree.
    pub(super) fn pages(&mut self) -> Result<Option<Dict>, Unreadable> {
        let trailer = self.table.trailer.clone();
        let root = self.get(&trailer, "Root")?;
        let Some(root) = root.dict() else { return Ok(None) };
        Ok(self.get(root, "Pages")?.dict().cloned())
    }

    /// The value of a key, with references resolved.
    pub(super) fn get(&mut self, dict: &Dict, key: &str) -> Result<Object, Unreadable> {
        self.resolve(dict.raw(key))
    }

    pub(super) fn dict(&mut self, dict: &Dict, key: &str) -> Result<Dict, Unreadable> {
        Ok(self.get(dict, key)?.dict().cloned().unwrap_or_default())
    }

    pub(super) fn resolve(&mut self, object: &Object) -> Result<Object, Unreadable> {
        let mut object = object.clone();
        for _ in 0..HOPS_MAX {
            let Object::Ref(number) = object else { return Ok(object) };
            object = self.object(number)?;
        }
        Ok(Object::Null)
    }

    fn object(&mut self, number: u32) -> Result<Object, Unreadable> {
        if let Some(object) = self.kept.get(&number) {
            return Ok(object.clone());
        }
        if HOPS_MAX <= self.hops {
            return Ok(Object::Null);
        }
        self.hops += 1;
        let object = self.read(number);
        self.hops -= 1;
        let object = object?;
        self.keep(number, &object);
        Ok(object)
    }

    fn keep(&mut self, number: u32, object: &Object) {
        let weight = object.weight();
        if KEPT_WEIGHT_MAX < self.kept_weight + weight {
            self.kept.clear();
            self.kept_weight = 0;
        }
        self.kept_weight += weight;
        self.kept.insert(number, object.clone());
    }

    fn read(&mut self, number: u32) -> Result<Object, Unreadable> {
        let found = match self.table.places.get(&number) {
            None | Some(ObjectLocation::Nowhere) => return Ok(Object::Null),
            Some(ObjectLocation::At(at)) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                self.indirect(at)?.filter(|(found, _)| *found == number).map(|(_, object)| object)
            }
            Some(ObjectLocation::Packed { stream, index }) => {
                let (stream, index) = (*stream, *index);
                self.packed_object(stream, number, index)?
            }
        };
        if found.is_some() || self.is_rebuilt {
            return Ok(found.unwrap_or(Object::Null));
        }
        // The object table is wrong; rebuild it by scanning the file.
        self.rebuild()?;
        self.read(number)
    }

    /// Parses the object at an offset, with its number.
    pub(super) fn indirect(&mut self, at: usize) -> Result<Option<(u32, Object)>, Unreadable> {
        let mut lexer = Lexer::new(self.bytes, at);
        let header = [lexer.token(), lexer.token(), lexer.token()];
        let [
            Some(Token::Number(number)),
            Some(Token::Number(generation)),
            Some(Token::Word(b"obj")),
        ] = header
        else {
            self.effort.spend(lexer.at().saturating_sub(at) + 1)?;
            return Ok(None);
        };
        let whole = |it| Object::Number(it).index().and_then(|it| u32::try_from(it).ok());
        let Some(number) = whole(number) else { return Ok(None) };
        let owner = Owner { number, generation: whole(generation).unwrap_or(0) };
        let object = lexer.object().unwrap_or(Object::Null);
        self.effort.spend(lexer.at().saturating_sub(at) + 1 + NODE_STEPS * lexer.nodes())?;
        let object = self.decrypted(object, owner)?;
        let Object::Dict(dict) = object else { return Ok(Some((number, object))) };
        let before = lexer.at();
        if lexer.token() != Some(Token::Word(b"stream")) {
            self.effort.spend(lexer.at().saturating_sub(before))?;
            return Ok(Some((number, Object::Dict(dict))));
        }
        let start = lexer.at() + line_end(lexer.rest());
        let data = start..self.stream_end(&dict, start)?;
        Ok(Some((number, Object::Stream(Stream { owner, dict, data }))))
    }

    /// Strings of an object are encrypted individually; those within object streams are encrypted
    /// with the stream.
    fn decrypted(&mut self, object: Object, owner: Owner) -> Result<Object, Unreadable> {
        let Some(lock) = self.lock.clone() else { return Ok(object) };
        let is_table = object.dict().is_some_and(|dict| dict.is_a("XRef"));
        if lock.texts == Method::Plain || is_table {
            return Ok(object);
        }
        object.with_texts(&mut |text| {
            self.effort.spend(DECRYPT_STEPS + lock.texts.steps(text.len()))?;
            Ok(lock.key.decrypt(lock.texts, owner, text))
        })
    }

    /// The end of a stream's data. The declared length is verified, because some are wrong.
    fn stream_end(&mut self, dict: &Dict, start: usize) -> Result<usize, Unreadable> {
        const MARK: &[u8] = b"endstream";
        if let Some(length) = self.get(dict, "Length")?.index()
            && let Some(end) = start.checked_add(length).filter(|end| *end <= self.bytes.len())
        {
            let mut lexer = Lexer::new(self.bytes, end);
            lexer.skip_space();
            self.effort.spend(lexer.at() - end)?;
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
    ) -> Result<Option<Object>, Unreadable> {
        let packed = match self.packed.get(&stream) {
            Some(packed) => packed.clone(),
            None => {
                let Object::Stream(unread) = self.object(stream)? else { return Ok(None) };
                let packed = Rc::new(self.unpack_objects(&unread)?);
                self.packed.insert(stream, packed.clone());
                packed
            }
        };
        let (object, steps) = packed.object(number, index);
        self.effort.spend(steps)?;
        Ok(object)
    }

    pub(super) fn unpack_objects(&mut self, stream: &Stream) -> Result<Packed, Unreadable> {
        let first = self.get(&stream.dict, "First")?.index().unwrap_or(0);
        let bytes = self.unpack(stream)?.unwrap_or_default();
        let packed = Packed::new(bytes, first, self.packed_objects_left);
        self.packed_objects_left -= packed.numbers().count();
        Ok(packed)
    }

    fn rebuild(&mut self) -> Result<(), Unreadable> {
        self.is_rebuilt = true;
        self.forget();
        self.table = table::rebuild(self)?;
        // Lookups during the rebuild may have missed objects, so the cache is cleared.
        self.forget();
        Ok(())
    }

    /// Determines the encryption. A trailer without an entry leaves the known one.
    pub(super) fn unlock(&mut self, trailer: &Dict) -> Result<(), Unreadable> {
        if !trailer.has("Encrypt") {
            return Ok(());
        }
        self.lock = None;
        self.forget();
        self.lock = lock::open(self, trailer)?.map(Rc::new);
        // Lookups so far were made without the key, so the cache is cleared.
        self.forget();
        Ok(())
    }

    fn forget(&mut self) {
        self.kept.clear();
        self.packed.clear();
        self.kept_weight = 0;
    }

    /// Makes objects available while the table is still being built.
    pub(super) fn set_table(&mut self, table: Table) {
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

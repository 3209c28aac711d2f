//! Reads the encryption dictionary of a PDF, which is itself not encrypted.

use super::file::File;
use super::long_key::{self, LONG_KEY_STEPS};
use super::object::{Dict, Object};
use super::security::{Key, Method, Terms};
use crate::fault::{self, Unreadable};

/// Cost of deriving and verifying a key, and per byte of the file id, in steps.
const KEY_STEPS: usize = 40_000;
const NAME_STEPS: usize = 8;
/// Key lengths of versions before 5.
const KEY_BITS: std::ops::RangeInclusive<usize> = 40..=128;
const KEY_BITS_OLD: usize = 40;
const KEY_BITS_USUAL: usize = 128;
/// From this version, keys have 256 bits and the cipher is always AES.
const LONG_VERSION: usize = 5;
/// The filter without encryption.
const IDENTITY: &[u8] = b"Identity";

/// Key and encryption methods of a file.
pub(super) struct Lock {
    pub(super) key: Key,
    pub(super) streams: Method,
    pub(super) texts: Method,
    encrypt: Dict,
}

/// `None` if the file, or all data that we read, is not encrypted.
pub(super) fn open(file: &mut File<'_>, trailer: &Dict) -> Result<Option<Lock>, Unreadable> {
    let encrypt = match file.get(trailer, "Encrypt")? {
        Object::Null => return Ok(None),
        Object::Dict(encrypt) => encrypt,
        _ => return Err(fault::DAMAGED),
    };
    if file.get(&encrypt, "Filter")?.name() != Some(b"Standard") {
        return Err(fault::ENCRYPTED_PDF);
    }
    let version = file.get(&encrypt, "V")?.index();
    let (streams, texts) = match version {
        Some(1 | 2) => (Some(Method::Rc4), Some(Method::Rc4)),
        Some(4 | 5) => (default(file, &encrypt, "StmF")?, default(file, &encrypt, "StrF")?),
        _ => (None, None),
    };
    let (Some(streams), Some(texts)) = (streams, texts) else { return Err(fault::ENCRYPTED_PDF) };
    if (streams, texts) == (Method::Plain, Method::Plain) {
        return Ok(None);
    }
    let key = match version {
        Some(LONG_VERSION) => long_key(file, &encrypt)?,
        _ => key(file, trailer, &encrypt)?,
    };
    Ok(Some(Lock { key, streams, texts, encrypt }))
}

impl Lock {
    /// The method named by the parameters of a `Crypt` filter. `None` if unknown.
    pub(super) fn named(
        &self,
        file: &mut File<'_>,
        parameters: &Dict,
    ) -> Result<Option<Method>, Unreadable> {
        method(file, &self.encrypt, parameters.raw("Name").name().unwrap_or(IDENTITY))
    }
}

/// The default method for streams or strings.
fn default(file: &mut File<'_>, encrypt: &Dict, key: &str) -> Result<Option<Method>, Unreadable> {
    let name = file.get(encrypt, key)?;
    method(file, encrypt, name.name().unwrap_or(IDENTITY))
}

fn method(file: &mut File<'_>, encrypt: &Dict, name: &[u8]) -> Result<Option<Method>, Unreadable> {
    if name == IDENTITY {
        return Ok(Some(Method::Plain));
    }
    let filter = crypt_filter(file, encrypt, name)?;
    let is_long = file.get(encrypt, "V")?.index() == Some(LONG_VERSION);
    let method = match (is_long, file.get(&filter, "CFM")?.name()) {
        (false, Some(b"V2")) => Some(Method::Rc4),
        (false, Some(b"AESV2")) => Some(Method::Aes),
        (true, Some(b"AESV3")) => Some(Method::LongAes),
        _ => None,
    };
    Ok(method)
}

fn crypt_filter(file: &mut File<'_>, encrypt: &Dict, name: &[u8]) -> Result<Dict, Unreadable> {
    let filters = file.dict(encrypt, "CF")?;
    Ok(file.resolve(filters.raw_bytes(name))?.dict().cloned().unwrap_or_default())
}

fn long_key(file: &mut File<'_>, encrypt: &Dict) -> Result<Key, Unreadable> {
    file.effort.spend(LONG_KEY_STEPS)?;
    let [revision, proof, wrapped] = ["R", "U", "UE"].map(|key| file.get(encrypt, key));
    let (proof, wrapped) = (proof?, wrapped?);
    let revision = revision?.index().and_then(long_key::Revision::of);
    let revision = revision.ok_or(fault::ENCRYPTED_PDF)?;
    let (proof, wrapped) = (proof.text().unwrap_or_default(), wrapped.text().unwrap_or_default());
    long_key::without_password(revision, proof, wrapped).map(Key)
}

fn key(file: &mut File<'_>, trailer: &Dict, encrypt: &Dict) -> Result<Key, Unreadable> {
    let [revision, permissions, owner, proof] =
        ["R", "P", "O", "U"].map(|key| file.get(encrypt, key));
    let (owner, proof) = (owner?, proof?);
    let revision = revision?.index().filter(|it| (2..=4).contains(it));
    let revision = revision.ok_or(fault::ENCRYPTED_PDF)?;
    let ids = file.get(trailer, "ID")?;
    let id = file.resolve(ids.array().and_then(|ids| ids.first()).unwrap_or(&Object::Null))?;
    let id = id.text().unwrap_or_default();
    file.effort.spend(KEY_STEPS + NAME_STEPS * id.len())?;
    let terms = Terms {
        revision,
        key_bytes: key_bits(file, encrypt, revision)? / 8,
        owner: owner.text().unwrap_or_default(),
        proof: proof.text().unwrap_or_default(),
        permissions: low_bytes(permissions?.number().unwrap_or(0.0)),
        encrypts_metadata: file.get(encrypt, "EncryptMetadata")? != Object::Bool(false),
        id,
    };
    Key::without_password(&terms)
}

/// The key length in bits. It is stated in one of two places; the second may count bytes or bits.
fn key_bits(file: &mut File<'_>, encrypt: &Dict, revision: usize) -> Result<usize, Unreadable> {
    let bits = match (revision, file.get(encrypt, "Length")?.index()) {
        (2, _) => KEY_BITS_OLD,
        (_, Some(bits)) => bits,
        (3, None) => KEY_BITS_OLD,
        (_, None) => {
            let name = file.get(encrypt, "StmF")?;
            let filter = crypt_filter(file, encrypt, name.name().unwrap_or_default())?;
            match file.get(&filter, "Length")?.index() {
                Some(bytes @ 5..=16) => 8 * bytes,
                Some(bits) => bits,
                None => KEY_BITS_USUAL,
            }
        }
    };
    if KEY_BITS.contains(&bits) && bits % 8 == 0 { Ok(bits) } else { Err(fault::DAMAGED) }
}

/// The low 32 bits of a number, signed or unsigned.
fn low_bytes(number: f64) -> [u8; 4] {
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is no permission")]
    let [a, b, c, d, ..] = (number as i64).to_le_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_the_same_with_and_without_a_sign() {
        assert_eq!(low_bytes(-44.0), [0xd4, 0xff, 0xff, 0xff]);
        assert_eq!(low_bytes(4_294_967_252.0), [0xd4, 0xff, 0xff, 0xff]);
        assert_eq!(low_bytes(f64::NAN), [0; 4]);
    }
}

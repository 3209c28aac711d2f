//! Reads the encryption dictionary of a PDF, which is itself not encrypted.

use super::aes256_key::{self, LONG_KEY_STEPS};
use super::file::PdfFile;
use super::object::{PdfDict, PdfObject};
use super::security::{CipherMethod, EncryptionParameters, PdfFileKey};
use crate::fault::{self, DocumentReadError};

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
pub(super) struct PdfEncryption {
    pub(super) key: PdfFileKey,
    pub(super) streams: CipherMethod,
    pub(super) texts: CipherMethod,
    encrypt: PdfDict,
}

/// `None` if the file, or all data that we read, is not encrypted.
pub(super) fn read_encryption(
    file: &mut PdfFile<'_>,
    trailer: &PdfDict,
) -> Result<Option<PdfEncryption>, DocumentReadError> {
    let encrypt = match file.get(trailer, "Encrypt")? {
        PdfObject::Null => return Ok(None),
        PdfObject::Dict(encrypt) => encrypt,
        _ => return Err(fault::DAMAGED),
    };
    if file.get(&encrypt, "Filter")?.as_name() != Some(b"Standard") {
        return Err(fault::ENCRYPTED_PDF);
    }
    let version = file.get(&encrypt, "V")?.as_index();
    let (streams, texts) = match version {
        Some(1 | 2) => (Some(CipherMethod::Rc4), Some(CipherMethod::Rc4)),
        Some(4 | 5) => (
            find_default_method(file, &encrypt, "StmF")?,
            find_default_method(file, &encrypt, "StrF")?,
        ),
        _ => (None, None),
    };
    let (Some(streams), Some(texts)) = (streams, texts) else { return Err(fault::ENCRYPTED_PDF) };
    if (streams, texts) == (CipherMethod::Plain, CipherMethod::Plain) {
        return Ok(None);
    }
    let key = match version {
        Some(LONG_VERSION) => derive_aes256_key(file, &encrypt)?,
        _ => derive_key(file, trailer, &encrypt)?,
    };
    Ok(Some(PdfEncryption { key, streams, texts, encrypt }))
}

impl PdfEncryption {
    /// The method named by the parameters of a `Crypt` filter. `None` if unknown.
    pub(super) fn find_filter_method(
        &self,
        file: &mut PdfFile<'_>,
        parameters: &PdfDict,
    ) -> Result<Option<CipherMethod>, DocumentReadError> {
        find_method(file, &self.encrypt, parameters.raw("Name").as_name().unwrap_or(IDENTITY))
    }
}

/// The default method for streams or strings.
fn find_default_method(
    file: &mut PdfFile<'_>,
    encrypt: &PdfDict,
    key: &str,
) -> Result<Option<CipherMethod>, DocumentReadError> {
    let name = file.get(encrypt, key)?;
    find_method(file, encrypt, name.as_name().unwrap_or(IDENTITY))
}

fn find_method(
    file: &mut PdfFile<'_>,
    encrypt: &PdfDict,
    name: &[u8],
) -> Result<Option<CipherMethod>, DocumentReadError> {
    if name == IDENTITY {
        return Ok(Some(CipherMethod::Plain));
    }
    let filter = crypt_filter(file, encrypt, name)?;
    let is_long = file.get(encrypt, "V")?.as_index() == Some(LONG_VERSION);
    let method = match (is_long, file.get(&filter, "CFM")?.as_name()) {
        (false, Some(b"V2")) => Some(CipherMethod::Rc4),
        (false, Some(b"AESV2")) => Some(CipherMethod::Aes),
        (true, Some(b"AESV3")) => Some(CipherMethod::LongAes),
        _ => None,
    };
    Ok(method)
}

fn crypt_filter(
    file: &mut PdfFile<'_>,
    encrypt: &PdfDict,
    name: &[u8],
) -> Result<PdfDict, DocumentReadError> {
    let filters = file.get_dict(encrypt, "CF")?;
    Ok(file.resolve(filters.raw_bytes(name))?.as_dict().cloned().unwrap_or_default())
}

fn derive_aes256_key(
    file: &mut PdfFile<'_>,
    encrypt: &PdfDict,
) -> Result<PdfFileKey, DocumentReadError> {
    file.effort.spend(LONG_KEY_STEPS)?;
    let [revision, proof, wrapped] = ["R", "U", "UE"].map(|key| file.get(encrypt, key));
    let (proof, wrapped) = (proof?, wrapped?);
    let revision = revision?.as_index().and_then(aes256_key::HandlerRevision::from_number);
    let revision = revision.ok_or(fault::ENCRYPTED_PDF)?;
    let (proof, wrapped) =
        (proof.as_text().unwrap_or_default(), wrapped.as_text().unwrap_or_default());
    aes256_key::unwrap_key(revision, proof, wrapped).map(PdfFileKey)
}

fn derive_key(
    file: &mut PdfFile<'_>,
    trailer: &PdfDict,
    encrypt: &PdfDict,
) -> Result<PdfFileKey, DocumentReadError> {
    let [revision, permissions, owner, proof] =
        ["R", "P", "O", "U"].map(|key| file.get(encrypt, key));
    let (owner, proof) = (owner?, proof?);
    let revision = revision?.as_index().filter(|it| (2..=4).contains(it));
    let revision = revision.ok_or(fault::ENCRYPTED_PDF)?;
    let ids = file.get(trailer, "ID")?;
    let id =
        file.resolve(ids.as_array().and_then(|ids| ids.first()).unwrap_or(&PdfObject::Null))?;
    let id = id.as_text().unwrap_or_default();
    file.effort.spend(KEY_STEPS + NAME_STEPS * id.len())?;
    let terms = EncryptionParameters {
        revision,
        key_bytes: key_bits(file, encrypt, revision)? / 8,
        owner: owner.as_text().unwrap_or_default(),
        proof: proof.as_text().unwrap_or_default(),
        permissions: low_bytes(permissions?.as_number().unwrap_or(0.0)),
        encrypts_metadata: file.get(encrypt, "EncryptMetadata")? != PdfObject::Bool(false),
        id,
    };
    PdfFileKey::without_password(&terms)
}

/// The key length in bits. It is stated in one of two places; the second may count bytes or bits.
fn key_bits(
    file: &mut PdfFile<'_>,
    encrypt: &PdfDict,
    revision: usize,
) -> Result<usize, DocumentReadError> {
    let bits = match (revision, file.get(encrypt, "Length")?.as_index()) {
        (2, _) => KEY_BITS_OLD,
        (_, Some(bits)) => bits,
        (3, None) => KEY_BITS_OLD,
        (_, None) => {
            let name = file.get(encrypt, "StmF")?;
            let filter = crypt_filter(file, encrypt, name.as_name().unwrap_or_default())?;
            match file.get(&filter, "Length")?.as_index() {
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

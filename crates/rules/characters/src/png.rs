//! Cards embedded in PNG images: reads their text chunks, and removes them from the image.

use std::io::Read;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;

use crate::card::CardFault;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Chunks that are kept, because they affect the visible image.
const KEPT: [&[u8; 4]; 7] = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"gAMA", b"sRGB"];
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(crate) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Returns the JSON of the card (V3 if there are two), and the image with only the visible chunks.
pub(crate) fn extract_card(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), CardFault> {
    let mut picture = SIGNATURE.to_vec();
    let (mut newer, mut older) = (None, None);
    let mut rest = &bytes[SIGNATURE.len()..];
    while !rest.is_empty() {
        let (chunk, kind, data, behind) =
            split_chunk(rest).ok_or(CardFault::Damaged("a chunk is cut"))?;
        rest = behind;
        if KEPT.iter().any(|kept| kept.as_slice() == kind) {
            picture.extend_from_slice(chunk);
        }
        if let Some((key, text)) = decode_text_chunk(kind, data) {
            match key.as_str() {
                "ccv3" => newer = newer.or(Some(text)),
                "chara" => older = older.or(Some(text)),
                _ => {}
            }
        }
        if kind == b"IEND" {
            break;
        }
    }
    let found = newer.or(older).ok_or(CardFault::NoCard("the picture has no card in it"))?;
    let packed: Vec<u8> = found.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let json = BASE64_STANDARD.decode(packed);
    let json = json.map_err(|_| CardFault::Damaged("the card in the picture is not base64"))?;
    Ok((json, picture))
}

/// A chunk: all its bytes, its type, its data, and the bytes after it.
type Chunk<'a> = (&'a [u8], &'a [u8], &'a [u8], &'a [u8]);

/// Returns the first chunk, if it is complete.
fn split_chunk(rest: &[u8]) -> Option<Chunk<'_>> {
    let length = usize::try_from(u32::from_be_bytes(rest.get(..4)?.try_into().ok()?)).ok()?;
    let end = length.checked_add(12)?;
    let chunk = rest.get(..end)?;
    Some((chunk, &chunk[4..8], &chunk[8..8 + length], &rest[end..]))
}

/// Returns the keyword and the text of a `tEXt`, `zTXt` or `iTXt` chunk.
fn decode_text_chunk(kind: &[u8], data: &[u8]) -> Option<(String, Vec<u8>)> {
    let at = data.iter().position(|byte| *byte == 0)?;
    let (key, rest) = (&data[..at], &data[at + 1..]);
    let key = String::from_utf8_lossy(key).to_lowercase();
    let text = match kind {
        b"tEXt" => rest.to_vec(),
        b"zTXt" => inflate_text(rest.get(1..)?)?,
        b"iTXt" => {
            let is_packed = *rest.first()? == 1;
            let behind = rest.get(2..)?;
            let language = behind.iter().position(|byte| *byte == 0)?;
            let behind = &behind[language + 1..];
            let translated = behind.iter().position(|byte| *byte == 0)?;
            let text = &behind[translated + 1..];
            if is_packed { inflate_text(text)? } else { text.to_vec() }
        }
        _ => return None,
    };
    Some((key, text))
}

fn inflate_text(packed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    ZlibDecoder::new(packed).take(TEXT_BYTES_MAX).read_to_end(&mut text).ok()?;
    Some(text)
}

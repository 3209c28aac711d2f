//! Card files: JSON, a PNG with an embedded card, or an archive.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::card::{CardFault, CharacterCard};
use crate::png;

pub const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;
const MEGABYTE: usize = 1024 * 1024;
/// Limit of one unpacked file of an archive.
const UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The path of the card in an archive, and the folder of images of the character.
const ARCHIVED_CARD: &str = "card.json";
const ARCHIVED_PICTURES: &str = "assets/icon/";

/// A portrait image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardPortrait {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

/// Reads a card from any supported file format.
pub fn read_card_file(bytes: &[u8]) -> Result<(CharacterCard, Option<CardPortrait>), CardFault> {
    if FILE_BYTES_MAX < bytes.len() {
        return Err(CardFault::TooLarge(FILE_BYTES_MAX / MEGABYTE));
    }
    if png::is_png(bytes) {
        let (json, picture) = png::extract_card(bytes)?;
        let picture = CardPortrait { media_type: "image/png", bytes: picture };
        return Ok((parse_card(&json)?, Some(picture)));
    }
    // A ZIP archive may be appended to an image.
    if let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) {
        let json = read_archive_entry(&mut archive, ARCHIVED_CARD)
            .ok_or(CardFault::NoCard("the archive has no card.json"))?;
        return Ok((parse_card(&json)?, find_archived_portrait(&mut archive)));
    }
    Ok((parse_card(bytes)?, None))
}

fn parse_card(json: &[u8]) -> Result<CharacterCard, CardFault> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let value = serde_json::from_slice(json);
    CharacterCard::from_json(value.map_err(|_| CardFault::NoCard("it is not JSON"))?)
}

fn read_archive_entry(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Option<Vec<u8>> {
    let file = archive.by_name(name).ok()?;
    let mut bytes = Vec::new();
    file.take(UNPACKED_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    let is_whole = u64::try_from(bytes.len()).is_ok_and(|length| length <= UNPACKED_BYTES_MAX);
    is_whole.then_some(bytes)
}

/// Returns the first file that is a PNG, JPEG or WebP image.
fn find_archived_portrait(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Option<CardPortrait> {
    let names = archive.file_names().filter_map(|name| name.ok().map(|it| it.into_owned()));
    let mut names: Vec<String> = names.filter(|name| name.contains(ARCHIVED_PICTURES)).collect();
    names.sort();
    names.into_iter().find_map(|name| {
        let bytes = read_archive_entry(archive, &name)?;
        let media_type = match bytes.as_slice() {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return None,
        };
        Some(CardPortrait { media_type, bytes })
    })
}

//! Images sent by callers: as files, in base64, as data URLs or as URLs.

use bytes::Bytes;
use domain::media::{self, Source};
use engine::Picture;
use pictures::{Bounds, Order, Resize, Writing};
use schema_check::{Fault, Faults};

use crate::input::{FILE_BYTES_MAX, Upload};
use crate::picture_work::{self, Studio};
use crate::refusal::Refusal;

/// The specification's limits.
const PIXELS_MIN: u64 = 65_536;
pub(in crate::endpoints) const PIXELS_MAX: u64 = 33_177_600;
/// The shortest side that engines can use.
pub(in crate::endpoints) const SIDE_MIN: u32 = 64;
const BASE64_TOO_LARGE: usize = FILE_BYTES_MAX.div_ceil(3) * 4;

/// An image that was not decoded yet, with its request field.
#[derive(Debug)]
pub(in crate::endpoints) struct SentPicture {
    field: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Bytes(Bytes),
    Address(String),
}

impl SentPicture {
    pub(super) fn file(upload: Upload) -> SentPicture {
        let field = upload.field.trim_end_matches("[]").to_owned();
        SentPicture { field, content: Content::Bytes(upload.bytes) }
    }

    /// Parses base64, a data URL or a URL.
    pub(in crate::endpoints) fn text(
        field: impl Into<String>,
        text: &str,
    ) -> Result<SentPicture, Refusal> {
        let field = field.into();
        let wrong =
            |fault: &dyn std::fmt::Display| Refusal::no_picture(format!("`{field}`: {fault}"));
        let is_long = BASE64_TOO_LARGE < text.len();
        let has_scheme = text.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:"))
            || text.contains("://");
        let base64 = if has_scheme {
            match media::source(text).map_err(|fault| wrong(&fault))? {
                Source::Inline(inline) => inline.base64,
                Source::Address => {
                    return Ok(SentPicture { field, content: Content::Address(text.to_owned()) });
                }
            }
        } else {
            text
        };
        if is_long && BASE64_TOO_LARGE < base64.len() {
            return Err(Refusal::file_too_large());
        }
        let bytes = media::decode(base64).map_err(|fault| wrong(&fault))?;
        Ok(SentPicture { field, content: Content::Bytes(bytes.into()) })
    }

    /// Decodes the image within the limits of edits, and encodes it for engines.
    pub(super) async fn open(self, studio: &Studio) -> Result<Picture, Refusal> {
        let bounds = Bounds { pixels_min: PIXELS_MIN, pixels_max: PIXELS_MAX, side_min: SIDE_MIN };
        self.open_within(studio, bounds, None).await
    }

    /// The same within other limits, scaled down if `resize` says so.
    pub(in crate::endpoints) async fn open_within(
        self,
        studio: &Studio,
        bounds: Bounds,
        resize: Option<Resize>,
    ) -> Result<Picture, Refusal> {
        let bytes = match self.content {
            Content::Bytes(bytes) => bytes,
            Content::Address(address) => {
                let fetched = studio.fetch(&address).await?;
                let refuse = |told| Refusal::no_picture(format!("`{}`: {told}", self.field));
                fetched.map_err(refuse)?
            }
        };
        let order = Order {
            bounds,
            is_strict: true,
            resize,
            blur: false,
            mark: None,
            write: Writing::ForEngines,
            facts: None,
        };
        let outcome = studio.carry_out(order, bytes).await?;
        let outcome = outcome.map_err(|fault| Refusal::unreadable_picture(&self.field, &fault))?;
        Ok(picture_work::for_engines(outcome))
    }
}

/// The only image of a request, as a file or as text.
pub(super) fn one(
    files: Vec<Upload>,
    field: &'static str,
    text: Option<&str>,
) -> Result<SentPicture, Refusal> {
    let mut given: Vec<SentPicture> = named(files, field).map(SentPicture::file).collect();
    if let Some(text) = text {
        given.push(SentPicture::text(field, text)?);
    }
    let mut given = given.into_iter();
    match (given.next(), given.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Refusal::invalid(&Faults::one([field], Fault::missing("string")))),
        (Some(_), Some(_)) => Err(Refusal::no_picture(format!("Send one `{field}`, not several."))),
    }
}

/// The files of one field, with or without `[]` in its name.
pub(super) fn named(files: Vec<Upload>, field: &'static str) -> impl Iterator<Item = Upload> {
    files.into_iter().filter(move |it| it.field.trim_end_matches("[]") == field)
}
